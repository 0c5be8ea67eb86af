"""Page: a leaderboard as one HTML file that opens from disk, and in which no text of a stranger's can do anything."""

from rolf.leaderboard.page.document import page

__all__ = ["page"]
