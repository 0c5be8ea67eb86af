"""A port that is taken: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.port_in_use import scene
from termgym.tasks.world import World

SEED = 3
END = (
    "for entry in /proc/[0-9]*; do if tr '\\0' ' ' 2> /dev/null < $entry/cmdline | grep -q '{what}'; then "
    "kill ${{entry#/proc/}}; while kill -0 ${{entry#/proc/}} 2> /dev/null; do sleep 0.02; done; fi; done"
)
OLD = END.replace("{what}", "^python3 .*releases/{old}/server")
ALL = END.replace("{what}", "server.py")
KEEPER = END.replace("{what}", "services/keep ")
FAKE = (
    "import socket; s = socket.create_server(('127.0.0.1', {port})); print('up', flush=True)\n"
    "while True:\n c = s.accept()[0]; c.recv(99); c.sendall(b'HTTP/1.0 200 OK\\r\\n\\r\\n{answer}\\n'); c.close()"
)


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("port-in-use", "", SEED))
    ours, (first, second) = at.ours, at.neighbours
    names = {
        "old": at.old, "port": ours.port, "free": 6_999, "root": ours.root, "release": ours.release,
        "first": first.root, "second": second.root, "name": ours.name,
    }  # fmt: skip
    task = make_task(f"port-in-use/{cause}", SEED)
    return attempt(task, f"cd {ours.root}", *(command.format(**names) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("stale-copy", ("sed -i 's/^port = .*/port = {free}/' service.conf", "./start")),
        ("stale-copy", (OLD,)),
        ("stale-copy", (ALL, "./start")),
        ("stale-copy", (OLD, "ln -sfn releases/{old} current", "./start")),
        ("stale-copy", ("cp current/server.py releases/{old}/server.py",)),
        ("stale-copy", (OLD, "echo '# seen' >> ../PORTS", "./start")),
        ("stale-copy", (OLD, "echo '# seen' >> current/server.py", "./start")),
        ("stale-copy", (OLD, "echo >> {first}/current/server.py; ./start")),
        ("stale-copy", (OLD, "echo >> {second}/catalogue.txt; ./start")),
        ("stale-copy", (OLD, "./start", END.replace("{what}", "{second}").replace("kill ", "kill -STOP ", 1)
                        .replace("kill -0", "false"))),
        ("neighbour", ("mkdir /tmp/c; cp catalogue.txt /tmp/c; echo 'port = {port}' > /tmp/c/conf",
                       "(python3 {root}/current/server.py /tmp/c/conf > /tmp/c/log 2>&1 &)",
                       "until grep -q listening /tmp/c/log; do sleep 0.05; done")),
        ("neighbour", ("sed -i 's/^port = .*/port = {port}/' service.conf",
                       "(python3 -c 'import time; time.sleep(60)' {root}/current/server.py > /tmp/log 2>&1 &)")),
        ("kept-copy", (OLD, "./start", "sleep 0.3", "./start")),
        ("kept-copy", (KEEPER, "./start")),
        ("neighbour", (END.replace("{what}", "{first}"), END.replace("{what}", "{second}"), "./start")),
        ("neighbour", ("sed -i 's/^port = .*/port = {free}/' service.conf", "./start")),
        (
            "neighbour",
            ("sed -i 's/{port}/{free}/' ../PORTS; sed -i 's/^port = .*/port = {free}/' service.conf", "./start"),
        ),
    ],
)  # fmt: skip
def test_what_harms_others_or_starts_nothing_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Another port, another release, or neighbours that pay for it."""
    assert not _play(attempt, cause, commands)


def test_a_stranger_that_gives_the_right_answer_does_not_count(attempt: Callable[..., bool]) -> None:
    """The release itself has to run: a listener that recites its answer is no service."""
    ours = scene(World("port-in-use", "", SEED)).ours
    answer = ours.answers.partition('" = "')[2].rstrip('"')
    fake = FAKE.format(port=ours.port, answer=answer)
    config = f"sed -i 's/^port = .*/port = {ours.port}/' {ours.root}/service.conf"
    start = f'(python3 -c "{fake}" > /tmp/fake.log 2>&1 &); until grep -q up /tmp/fake.log; do sleep 0.05; done'
    asked = f"exec 3<>/dev/tcp/127.0.0.1/{ours.port}; echo hello >&3; tail -n 1 <&3 | grep -x '{answer}' || exit 9"
    assert not attempt(make_task("port-in-use/neighbour", SEED), config, start, asked)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("stale-copy", (OLD, "(python3 {root}/releases/{release}/server.py {root}/service.conf > /tmp/log 2>&1 &)",
                        "until grep -q listening /tmp/log; do sleep 0.05; done")),
        ("kept-copy", (KEEPER, OLD, "./start")),
        ("neighbour", ("echo 'port = {port}' > service.conf", "./start")),
    ],
)  # fmt: skip
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """The outcome counts, not the script that starts it."""
    assert _play(attempt, cause, commands)
