"""Snapshots: put a tree back as it was, and say what changed."""
