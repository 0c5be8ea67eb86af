"""A service that does not come up: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.service_does_not_start import scene
from termgym.tasks.world import World

SEED = 4
START = "../start {name}"
RUN = "(python3 {server} {conf} > /tmp/log 2>&1 &); until grep -q listening /tmp/log; do sleep 0.02; done"
RUN_COPY = RUN.replace("{server}", "/tmp/server.py").replace("{conf}", "{root}/service.conf")
RUN_ASIDE = RUN.replace("{server}", "~/services/server.py").replace("{conf}", "/tmp/conf")
END = (
    "for entry in /proc/[0-9]*; do if tr '\\0' ' ' 2> /dev/null < $entry/cmdline | grep -q '{other}/service'; "
    "then kill ${{entry#/proc/}}; while kill -0 ${{entry#/proc/}} 2> /dev/null; do sleep 0.02; done; fi; done"
)
RECITE = (
    "import socket; s = socket.create_server((\"127.0.0.1\", {port})); print(\"listening\", flush=True)\n"
    "while True:\n c = s.accept()[0]; c.recv(99); c.sendall(b\"0\" * 64 + b\"\\n\"); c.close()"
)  # fmt: skip


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("service-does-not-start", "", SEED))
    ours = at.ours
    names = {
        "name": ours.name, "root": ours.root, "port": ours.port, "run": ours.run, "other": at.neighbours[0].name,
        "server": "{server}", "conf": "{conf}",
    }  # fmt: skip
    task = make_task(f"service-does-not-start/{cause}", SEED)
    repair = task.oracle[0].command
    return attempt(task, f"cd {ours.root}", *(command.format(**names, repair=repair) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("broken-settings", ("{repair}",)),
        ("broken-settings", ("{repair}", "sed -i '/^#/d' service.conf", START)),
        ("broken-settings", ("{repair}", "sed -i '$d' service.conf", START)),
        ("broken-settings", ("{repair}", START, "sed -i '2s/ =//' service.conf")),
        ("left-mark", ("sed 's/if starting.exists/if not starting.exists/' ../server.py > /tmp/server.py", RUN_COPY)),
        ("left-mark", ("sed 's|^run = .*|run = /tmp|' service.conf > /tmp/conf", RUN_ASIDE)),
        ("no-run-directory", ("rm -f {run}; mkdir {run}; echo seen >> ../start", START)),
        ("foreign-path", ("touch /tmp/none; sed -i 's|^data = .*|data = /tmp/none|' service.conf", START)),
        ("foreign-path", ("sed 's|^data = .*|data = {root}/catalogue.txt|' service.conf > /tmp/conf", RUN_ASIDE)),
        ("foreign-port", ("{repair}", f"python3 -c '{RECITE}' python3 ~/services/server.py {{root}}/service.conf "
                          "> /tmp/log 2>&1 & until grep -q l /tmp/log; do :; done")),
        ("foreign-port", (END, START)),
        ("foreign-port", (END, "{repair}", START)),
        ("foreign-port", ("sed -i 's/^{port}  /6999  /' ../PORTS; sed -i 's/^port = .*/port = 6999/' *.conf", START)),
    ],
)  # fmt: skip
def test_what_harms_others_or_is_another_service_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Another port, program, catalogue or settings; a listener that knows no answer; neighbours that pay for it."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        (
            "broken-settings",
            ("{repair}", RUN.replace("{server}", "~/services/server.py").replace("{conf}", "{root}/service.conf")),
        ),
        ("left-mark", ("> {run}/starting", "rm -r {run}; mkdir {run}", START)),
        ("no-run-directory", ("rm -f {run}; mkdir -p {root}/log/run; ln -s {root}/log/run {run}", START)),
        ("no-run-directory", ("mkdir -p log/run; sed -i 's|^run = .*|run = {root}/log/run|' service.conf", START)),
        ("foreign-path", ("sed -i 's|^data = .*|data = {root}/../{name}/catalogue.txt|' service.conf", START)),
    ],
)
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """The outcome counts, not the script that starts it."""
    assert _play(attempt, cause, commands)
