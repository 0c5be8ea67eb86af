"""Change what is seen, done or paid, for any environment; one effect a file."""
