"""Texts in a wrong encoding: what must count as repaired, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.encoding_repair import OWN, scene
from termgym.tasks.world import World

SEED = 4
CAUSES = ("code-page", "mixed", "marked", "line-ends", "twice")
PASTE = "mkdir -p out; for text in texts/*; do echo == ${text#texts/}; cat $text; done > out/all.txt"
LATIN = "for text in {texts}; do iconv -f L1 -t UTF-8 $text > /tmp/x && cat /tmp/x > $text; done; " + PASTE


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("encoding-repair", "", SEED))
    task = make_task(f"encoding-repair/{cause}", SEED)
    repair = task.oracle[1].command
    names = repair.partition(" in ")[2].partition(";")[0]
    words = (command.replace("{texts}", names).replace("ORACLE", repair) for command in commands)
    return attempt(task, f"cd {at.root}", *words)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("code-page", ("for text in {texts}; do LC_ALL=C sed -i 's/[^ -~]//g' $text; done; ./collect",)),
        ("code-page", ("for text in {texts}; do LC_ALL=C sed -i 's/[^ -~]/?/g' $text; done; ./collect",)),
        ("code-page", (LATIN,)),
        ("code-page", ("rm {texts}; ./collect",)),
        ("code-page", ("sed -i 's/\"utf-8\")$/\"utf-8\", \"replace\")/' collect; ./collect", PASTE)),
        ("mixed", ("for text in {texts}; do iconv -c -f UTF-8 -t UTF-8 $text > /tmp/x; cat /tmp/x > $text; done",
                   "./collect")),
        ("mixed", (LATIN.replace("L1", "CP1252"),)),
        ("marked", ("ORACLE; ./collect; sed -i 's/$/ /' attachments/letter.eml",)),
        ("line-ends", ("sed -i 's/\\r//' texts/* attachments/*; ./collect",)),
        ("line-ends", ("printf '\\r\\n' >> STYLE; ./collect",)),
        ("line-ends", ("ORACLE; ./collect; sed -i '1i#' STYLE",)),
        ("line-ends", ("ORACLE; ./collect; echo '# seen' >> collect",)),
        ("line-ends", ("ORACLE; ./collect; cp texts/* out/; cp out/$(ls out | head -1) texts/more",)),
        ("line-ends", ("ORACLE; ./collect; sed -i 's/$/\\r/' {texts}",)),
        ("twice", ("ORACLE",)),
        ("twice", ("for text in {texts}; do LC_ALL=C sed -i 's/[^ -~]//g' $text; done; ./collect",)),
        ("twice", ("for text in texts/*; do iconv -c -f UTF-8 -t CP1252 $text > /tmp/x; cat /tmp/x > $text; done",
                   "./collect")),
    ],
)  # fmt: skip
def test_what_loses_or_bends_a_letter_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Letters thrown away, a code page guessed wrong, sound texts converted, a program that was made to look away."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize("cause", CAUSES)
def test_one_program_for_all_causes_counts_too(attempt: Callable[..., bool], cause: str) -> None:
    """The outcome counts; whoever looks at each line needs no other knowledge than STYLE."""
    script = (
        "import pathlib\n"
        f"own = set({OWN!r}) | set(map(chr, range(32, 127)))\n"
        "def right(line):\n"
        "    for way in (lambda: line.decode(), lambda: line.decode().encode('cp1252').decode(),\n"
        "                lambda: line.decode().encode('latin-1').decode(), lambda: line.decode('cp1252')):\n"
        "        try:\n"
        "            if set(way()) <= own: return way()\n"
        "        except UnicodeError: pass\n"
        "    raise SystemExit(repr(line))\n"
        "for path in pathlib.Path('texts').iterdir():\n"
        "    data = path.read_bytes()\n"
        "    if data[:2] in (b'\\xff\\xfe', b'\\xfe\\xff'): data = data.decode('utf-16').encode()\n"
        "    data = data.removeprefix(b'\\xef\\xbb\\xbf').replace(b'\\r\\n', b'\\n').replace(b'\\r', b'\\n')\n"
        "    path.write_text('\\n'.join(map(right, data.split(b'\\n'))))\n"
    )
    assert _play(attempt, cause, (f"python3 - <<'END'\n{script}END", "./collect"))


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_to_a_text_is_refused(seed: int) -> None:
    """Each damaged text by itself: one that `collect` takes as it is would be a repair nobody can know of."""
    at = scene(World("encoding-repair", "", seed))
    allowed = set(OWN) | set(map(chr, range(32, 127))) | {"\n"}
    for cause in CAUSES:
        task = make_task(f"encoding-repair/{cause}", seed)
        bodies = {file.path: file.content for file in task.files if "/texts/" in file.path}
        damaged = [body for path, body in bodies.items() if body != at.texts[path.rpartition("/")[2]].encode()]
        assert len(damaged) >= 2
        for body in damaged:
            assert not set(body.decode("utf-8", "replace")) <= allowed
