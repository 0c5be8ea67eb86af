"""Write the schemas anew."""

from rolf.leaderboard.schemas import write

write()
