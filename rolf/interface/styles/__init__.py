"""The styles, one a module; ``rolf.interface.catalogue`` says which are for training and which are held out."""
