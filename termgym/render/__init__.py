"""What a person sees of an episode: text, a live terminal, or a picture."""
