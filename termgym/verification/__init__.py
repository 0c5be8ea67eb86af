"""Verification: a task's own script says how well it was done, out of the agent's reach."""
