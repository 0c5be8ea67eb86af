"""The verbs of the command line, one a file; what they do lies elsewhere, so that ``rolf --help`` is quick."""
