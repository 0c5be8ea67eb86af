"""A production line as a Gymnasium environment (to come: ``LineEnv-v1``)."""
