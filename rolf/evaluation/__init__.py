"""Evaluation: play a policy on a split, write down every episode, and lose none of them to a crash."""
