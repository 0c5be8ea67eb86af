"""What verifiers are shown as their tools. Nothing here is imported by termgym; it runs inside, without it."""
