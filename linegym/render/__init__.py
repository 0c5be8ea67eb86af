"""What a person sees of a line: a picture, or the same as text."""
