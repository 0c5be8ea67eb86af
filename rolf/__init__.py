"""What both environment families share, and the command line."""

__version__ = "0.1.0.dev0"
