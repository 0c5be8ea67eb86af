"""Page: a leaderboard as one HTML file that opens from disk."""
