"""Numbers that ship with the package, each with the script or the rule that makes it again."""
