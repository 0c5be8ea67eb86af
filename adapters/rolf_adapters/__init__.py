"""One module a framework; each imports its framework at the top."""
