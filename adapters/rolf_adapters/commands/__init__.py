"""What the adapters add to the command line, by entry points of the group ``rolf.commands``; light to import."""
