"""Sandboxes: a machine for one agent at a time."""
