"""A real Linux terminal as a Gymnasium environment."""
