"""Toy trees, what agents do to them, and the roles in which it is tried."""
