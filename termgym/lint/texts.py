"""Rules about texts: limits that nobody set, keys that should not be there, files that the instruction makes up."""

from __future__ import annotations

import re
from collections.abc import Iterator

from termgym.lint.dockerfile import fetches
from termgym.lint.finding import Finding
from termgym.lint.layout import Layout, files, read_text

_SECRETS = {
    "a private key": r"-----BEGIN (?:RSA |EC |DSA |OPENSSH |PGP )?PRIVATE KEY",
    "an AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{40,})",
    "an OpenAI or Anthropic key": r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{34}\b",
    "a Google key": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "a Slack token": r"\bxox[abpr]-[0-9A-Za-z-]{20,}",
}
"""What keys look like that their makers made easy to find; see GitHub's secret scanning patterns."""
_TIME_LIMITS = {
    True: (("agent", "timeout_sec"), ("verifier", "timeout_sec")),
    False: (("max_agent_timeout_sec",), ("max_test_timeout_sec",)),
}
_LIMITS = (("cpus",), ("memory_mb", "memory"))
_SYSTEM = ("/bin/", "/dev/", "/etc/", "/lib", "/logs/", "/proc/", "/run/", "/sbin/", "/sys/", "/usr/", "/var/")


def text_findings(at: Layout) -> Iterator[Finding]:
    """Yield what is wrong with a folder's configuration, its instruction, and in any of its texts."""
    yield from _limits(at)
    yield from _secrets(at)
    yield from _missing(at)


def _limits(at: Layout) -> Iterator[Finding]:
    """Yield what the configuration leaves open; nothing if it cannot be read or a step may say it."""
    if not at.values:
        return
    name = at.name(at.config)
    open_ended = [".".join(path) for path in _TIME_LIMITS[at.harbor] if not _said(at, path)]
    if open_ended:
        yield Finding("no-time-limit", name, None, f"no {', no '.join(open_ended)}")
    environment = at.values.get("environment", {})
    if at.harbor and isinstance(environment, dict):
        unlimited = [names[0] for names in _LIMITS if not any(each in environment for each in names)]
        if unlimited:
            yield Finding("no-limits", name, None, f"no environment.{', no environment.'.join(unlimited)}")


def _said(at: Layout, path: tuple[str, ...]) -> bool:
    """Return whether a value is set, for all or for each step."""
    steps = at.values.get("steps")
    tables = [at.values, *(steps if isinstance(steps, list) else [])]

    def there(table: object) -> bool:
        for key in path:
            table = table.get(key) if isinstance(table, dict) else None
        return table is not None

    return there(tables[0]) or (len(tables) > 1 and all(there(table) for table in tables[1:]))


def _secrets(at: Layout) -> Iterator[Finding]:
    for path in files(at.root):
        text = read_text(path)
        for kind, pattern in _SECRETS.items():
            found = re.search(pattern, text) if text is not None else None
            if text is not None and found is not None:
                yield Finding("secret", at.name(path), text.count("\n", 0, found.start()) + 1, f"looks like {kind}")


def _missing(at: Layout) -> Iterator[Finding]:
    """Yield files that an instruction names and nothing else does; silent where the image may bring them."""
    if fetches(at):
        return
    others = [path for path in files(at.root) if path not in at.instructions]
    known = "\n".join((*(path.name for path in others), *(read_text(path) or "" for path in others)))
    for path in at.instructions if at.harbor else ():
        text = read_text(path) or ""
        for found in re.finditer(r"(?<![\w/.~$}])((?:/[\w.-]+)+/[\w-]+\.[A-Za-z]\w{0,5})(?![\w/*])", text):
            named = found[1]
            if not named.startswith(_SYSTEM) and named.rpartition("/")[2] not in known:
                yield Finding("missing-file", at.name(path), text.count("\n", 0, found.start()) + 1, named)
