"""Safety: what a command line would do, told without running it. It informs the reward; the fence is the sandbox."""

from termgym.safety.privilege import PrivilegeWatch, checks_capability, is_privileged
from termgym.safety.rules import RULES, violations

__all__ = ["RULES", "PrivilegeWatch", "checks_capability", "is_privileged", "violations"]
