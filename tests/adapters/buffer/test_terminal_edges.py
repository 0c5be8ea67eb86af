"""What came of what in a real terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym

import termgym
from rolf_adapters.buffer.graph import Edge, Graph
from rolf_adapters.buffer.listening import listener
from rolf_adapters.buffer.terminal_edges import TerminalEdges


def heard(actions: Sequence[str], **settings: Any) -> Graph:
    """Play actions, a command each unless it is one already; return the edges."""
    env = gym.make("termgym:TermEnv-v1", **settings)
    try:
        causes = listener(env)
        assert isinstance(causes, TerminalEdges)
        seen, info = env.reset(seed=0)
        causes.begin(seen, info)
        for text in actions:
            action = text if text.startswith("{") else termgym.plan(text)
            seen, _, _, _, info = env.step(action)
            causes.step(action, seen, info)
        return causes.graph()
    finally:
        env.close()


def test_a_command_and_what_reads_its_file_later() -> None:
    """Directly, from another directory, by a pattern, as part of a folder; of two changes the later one counts."""
    graph = heard(
        [
            "mkdir -p work && cd work",  # 0
            "echo one > a.txt",  # 1
            "cat a.txt",  # 2 reads 1
            "cp a.txt b.txt",  # 3 reads 1
            "echo nothing",  # 4
            "echo two >> b.txt",  # 5 reads 3: what was there stays
            "wc -l *.txt",  # 6 reads 1 and 5
            "echo new > a.txt",  # 7 reads nothing of a.txt
            "cd /tmp; cat ~/work/a.txt",  # 8 reads 7
            "grep -r two /home/agent/work",  # 9 reads 0, 5 and 7
            "rm ~/work/b.txt",  # 10 changes what 5 changed
            "ls ~/work/b.txt",  # 11 finds that 10 removed it
        ]
    )
    assert [(edge.cause, edge.effect) for edge in graph] == [
        (0, 9),
        (1, 2),
        (1, 3),
        (1, 6),
        (3, 5),
        (5, 6),
        (5, 9),
        (5, 10),
        (7, 8),
        (7, 9),
        (10, 11),
    ]
    assert graph.names == ("file",)


def test_a_file_that_was_there_before_is_nobodys() -> None:
    """Only what the episode itself brought about is a cause."""
    graph = heard(["cat /etc/passwd", "ls ~", "cat ~/.bashrc", "cat /etc/passwd"])
    assert len(graph) == 0


def test_changes_that_no_word_tells_of_are_seen() -> None:
    """The environment says what changed, whoever did it: a program inside, or a function."""
    graph = heard(
        ["f() { python3 -c \"open('made','w').write('x')\"; }", "f", "cat made", "chmod 600 made", "stat made"]
    )
    assert list(graph) == [Edge(1, 2, "file"), Edge(1, 3, "file"), Edge(3, 4, "file")]


def test_typing_is_caused_by_what_waits() -> None:
    graph = heard(["read x; echo $x > d", termgym.keys("yes Enter"), termgym.keys("yes Enter"), "cat d"])
    assert list(graph) == [Edge(0, 1, "input"), Edge(1, 3, "file")]


def test_what_is_no_action_and_the_end_of_an_episode_are_borne() -> None:
    """The last step's machine may be gone; what it tells is in ``info``."""
    graph = heard(["{no plan", "echo x > a", "cat a", termgym.submit()], task="config-edit")
    assert Edge(1, 2, "file") in list(graph)
    graph = heard(["echo x > a", "kill -9 $$", "cat a"])
    assert list(graph) == [Edge(0, 2, "file")]
