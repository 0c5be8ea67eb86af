"""Leaderboard: submissions validated, ranked and shown; what `rolf board` does."""
