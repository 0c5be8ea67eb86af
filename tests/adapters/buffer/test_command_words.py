"""Which paths a command names."""

from __future__ import annotations

import time

import pytest

from rolf_adapters.buffer.command_words import Meant, named_in

HOME = "/home/agent"
CWD = f"{HOME}/work"


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("cat a.txt", ["a.txt"]),
        ("cat ~/work/a.txt $HOME/work/b.txt ${PWD}/c.txt", ["a.txt", "b.txt", "c.txt"]),
        ("cat '../work/a.txt' \"$PWD/b.txt\" c\\.txt", ["a.txt", "b.txt", "c.txt"]),
        ("wc -l *.txt", ["a.txt", "b.txt", "c.txt"]),
        ("cat [ab].txt", ["a.txt", "b.txt"]),
        ("grep -r x .", ["a.txt", "b.txt", "c.txt", "d/e", "run.sh"]),
        ("tar cf - d", ["d/e"]),
        ("cat d/*", ["d/e"]),
        ("cd d && cat e", ["d/e"]),
        ("cd d; cd ..; cat a.txt", ["a.txt"]),
        ("cd; cat work/a.txt", ["a.txt"]),
        ("./run.sh", ["run.sh"]),
        ("bash run.sh", ["run.sh"]),
        ("if test -f a.txt; then echo yes; fi", ["a.txt"]),
        ("[ -s b.txt ] && echo", ["b.txt"]),
        ("[[ a.txt -nt b.txt ]]", ["a.txt", "b.txt"]),
        ("for f in a.txt b.txt; do echo $f; done", ["a.txt", "b.txt"]),
        ("sort < a.txt", ["a.txt"]),
        ("sort < a.txt > b.txt", ["a.txt"]),
        ("echo x >> a.txt", ["a.txt"]),
        ("echo x > a.txt", []),
        ("echo x &> a.txt", []),
        ("cat <<'X'\na.txt\nX", []),
        ("cat $(ls b.txt) | tee a.txt", ["b.txt", "a.txt"]),
        ("dd if=a.txt of=/dev/null", ["a.txt"]),
        ("tool --file=a.txt -x", ["a.txt"]),
        ("tool --a.txt", []),
        ("a.txt", []),
        ("ls /home", []),
        ("ls /", []),
        ("echo 'unfinished", []),
        ("", []),
        (")(", []),
    ],
)
def test_what_a_command_reads(command: str, read: list[str]) -> None:
    words = named_in(command, CWD, HOME)
    files = ["a.txt", "b.txt", "c.txt", "d/e", "run.sh"]
    meant = Meant(word for word in words if word.read)
    found = [file for file in files if f"{CWD}/{file}" in meant]
    assert sorted(found) == sorted(read)


@pytest.mark.parametrize(
    ("command", "written"),
    [("echo > a", ["a"]), ("echo >> d/a", ["d/a"]), ("echo >| a 2> b", ["a", "b"]), ("cat a", []), ("cat < a", [])],
)
def test_what_is_redirected_to(command: str, written: list[str]) -> None:
    words = named_in(command, CWD, HOME)
    assert sorted(word.path for word in words if word.written) == sorted(f"{CWD}/{each}" for each in written)


def test_a_folder_stands_for_what_is_in_it_where_it_is_asked_for() -> None:
    """By its name or by a pattern; not by the beginning of a name."""
    words = named_in("ls d e*", CWD, HOME)
    for path, deep, exact in (("d", True, True), ("d/x", True, False), ("dx", False, False), ("eee/f/g", True, False)):
        assert (f"{CWD}/{path}" in Meant(words)) is deep
        assert (f"{CWD}/{path}" in Meant(words, inside=False)) is exact


@pytest.mark.parametrize(
    "command",
    [
        "$(" * 3_000,
        "a=(" * 30_000,
        "a " * 100_000,
        "x?y* " * 30_000,
        "((((" * 2_000,
        "\udcff /\udcfe",
        "\0",
        "*" * 200,
        "*?" * 99,
    ],
    ids=range(9),
)
def test_a_hostile_command_costs_little(command: str) -> None:
    """Whatever an agent writes is looked at, after every step, for all that has changed."""
    began = time.process_time()
    meant = Meant(named_in(command, CWD, HOME))
    assert sum(f"{CWD}/{number}b/{'c' * 99}" in meant for number in range(500)) in (0, 500)
    assert time.process_time() - began < 5
