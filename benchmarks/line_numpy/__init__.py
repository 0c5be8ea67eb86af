"""The plant of docs/reference/plant.md in vectorised NumPy: the honest competitor of the compiled kernel.

Written as one would who means it: stations of all lines lie in flat arrays without gaps (lines sorted by length, so
that all first stations are neighbours, then all second ones), rare events work on index lists, random numbers are drawn
only where they are used and in pieces that stay in the cache. All lines begin together, so the tick is one number.
"""
