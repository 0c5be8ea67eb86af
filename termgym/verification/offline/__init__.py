"""Tools for verifiers that want to fetch pytest, uv or curl at run time, where there is no network."""
