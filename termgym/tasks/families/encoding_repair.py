"""Texts are refused for their bytes: another encoding, wholly or partly, a mark in front, line ends, encoded twice."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, sentence, text

COLLECT = b'''\
#!/usr/bin/env python3
"""Put the texts together in out/all.txt, unless one of them is not as they all should be; see STYLE."""
import pathlib, sys

root = pathlib.Path(__file__).resolve().parent
allowed = set((root / "STYLE").read_text("utf-8").splitlines()[-1]) | set(map(chr, range(32, 127)))
whole = []
for path in sorted((root / "texts").iterdir()):
    data = path.read_bytes()
    try:
        words = data.decode("utf-8")
    except UnicodeDecodeError as error:
        sys.exit(f"collect: {path.name}: byte {error.start} is no UTF-8")
    for number, line in enumerate(words.split("\\n"), start=1):
        for letter in line:
            if letter not in allowed:
                sys.exit(f"collect: {path.name}: line {number}: U+{ord(letter):04X} is not in STYLE")
    whole.append(f"== {path.name}\\n{words}")
(root / "out").mkdir(exist_ok=True)
(root / "out/all.txt").write_text("".join(whole), "utf-8")
print(f"collected {len(whole)} texts")
'''
WESTERN = (
    "Zoë Kühn", "João Conceição", "SÃO PAULO", "Málaga", "Öland", "Übersee", "Ärmelkanal", "façade", "Åse Bjørn",
    "crème brûlée", "Weißensee", "Ærø", "niño", "naïve", "40 €", "„so“", "1999 – 2026", "d’été", "ÉCOLE", "Ñandú",
)  # fmt: skip
"""What Windows' western code page can say; none of it is cut by the five bytes that this code page leaves undefined."""
WIDER = ("Łódź", "Ελλάδα", "Škoda Žďár", "İzmir", "Ōsaka", "Київ", "Győr")
"""What it cannot say: such a text is whole, and does not survive being converted."""
OWN = "".join(sorted(set("".join((*WESTERN, *WIDER))) - set(map(chr, range(127)))))
"""The characters beyond ASCII that the texts use."""


@dataclass(frozen=True)
class Scene:
    """A collection of texts as they should be."""

    name: str
    place: str
    texts: Mapping[str, str]
    """By file name."""
    wide: tuple[str, ...]
    """Names of the texts that no code page can hold; nothing ever happens to them."""
    letter: bytes
    """An attachment, which has its line ends by right."""

    @property
    def root(self) -> str:
        """The collection's directory."""
        return f"{HOME}/{self.place}/{self.name}"

    @property
    def whole(self) -> bytes:
        """What `collect` makes of the texts."""
        return "".join(f"== {name}\n{words}" for name, words in sorted(self.texts.items())).encode()

    @property
    def style(self) -> bytes:
        """What the texts have to be."""
        return text(
            (
                "Texts are UTF-8 without a byte order mark. Lines end with a line feed and nothing else.",
                "What is in attachments/ came from outside and stays byte for byte what it was.",
                "Beyond ASCII our texts use the letters and signs of the next line, and no others:",
                OWN,
            )
        )


def scene(world: World) -> Scene:
    """Draw the collection; blind to the cause."""
    rng = world.scene
    names = [f"{noun}.txt" for noun in rng.sample(NOUNS, rng.randrange(7, 11))]
    wide = tuple(sorted(rng.sample(names, 2)))
    texts = {}
    for name in names:
        special = rng.sample(WESTERN, rng.randrange(3, 7)) + (rng.sample(WIDER, 2) if name in wide else [])
        lines = [f"{word}: {sentence(rng)}" for word in special] + [sentence(rng) for _ in range(rng.randrange(2, 6))]
        rng.shuffle(lines)
        texts[name] = text(lines).decode()
    letter = "".join(f"{line}\r\n" for line in ("Subject: Ôde", "", sentence(rng), "Grüße")).encode("cp1252")
    return Scene(rng.choice(PROJECTS), rng.choice(PLACES), texts, wide, letter)


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"{at.root}/collect refuses some of the texts there. Put the texts right, so that no character is lost or "
        "gets another, and let it write out/all.txt. STYLE in the same place says how a text has to be. The program, "
        "STYLE, the attachments and the texts that are in order must not change.",
        f"Please get ~/{at.place}/{at.name}/collect to run through. It does not take all of texts/ as they are now; "
        "those that are not what STYLE asks for need repair, in place and without losing a single letter. Leave the "
        "sound ones, attachments/, STYLE and the program as they are. I need out/all.txt.",
        f"Some files in {at.root}/texts came in damaged, and ./collect says so. I want each of them to read as its "
        "author wrote it, in the form that STYLE describes, and then the collection in out/all.txt. Do not edit "
        "collect or STYLE, and do not convert what needs no conversion.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    names = text([f"{name} f" for name in sorted(at.texts)])
    return (
        FileHash(path=f"{at.root}/out/all.txt", sha256=sha256(at.whole)),
        *(FileHash(path=f"{at.root}/texts/{name}", sha256=sha256(words.encode())) for name, words in at.texts.items()),
        holds(
            f"cd {at.root}/texts && find . -mindepth 1 -printf '%P %y\\n' | LC_ALL=C sort | sha256sum",
            pattern=sha256(names),
        ),
        FileHash(path=f"{at.root}/collect", sha256=sha256(COLLECT)),
        FileHash(path=f"{at.root}/STYLE", sha256=sha256(at.style)),
        FileHash(path=f"{at.root}/attachments/letter.eml", sha256=sha256(at.letter)),
    )


def _task(world: World, at: Scene, damage: Callable[[str], bytes], complaint: str, repair: str) -> Task:
    """Return the task in which ``damage`` came over some of the texts; ``repair`` sets $text right."""
    rng = world.twist
    chosen = sorted(rng.sample(sorted(set(at.texts) - set(at.wide)), rng.randrange(2, 5)))
    bodies = {name: damage(words) if name in chosen else words.encode() for name, words in at.texts.items()}
    loop: ActionPlan = act(f"for text in {' '.join(f'texts/{name}' for name in chosen)}; do {repair}; done")
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(
            FileSpec(f"{at.root}/collect", COLLECT, mode=0o755),
            FileSpec(f"{at.root}/STYLE", at.style),
            FileSpec(f"{at.root}/attachments/letter.eml", at.letter),
            *(FileSpec(f"{at.root}/texts/{name}", body) for name, body in bodies.items()),
        ),
        allowed=(
            *(f"{at.root}/texts/{name}" for name in at.texts),
            f"{at.root}/out",
            f"{at.root}/out/**",
            *TOOL_TRACES,
        ),
        symptom=(act(f"{at.root}/collect", OutputContains(pattern=complaint, stream="stderr"), exits=1),),
        oracle=(act(f"cd {at.root}"), loop, act("./collect", OutputContains(pattern=f"^collected {len(at.texts)} "))),
    )


def _python(line: tuple[str, str]) -> str:
    """Return the command that rewrites each ``line`` (bytes) of $text: what is tried first, and what is done else."""
    script = (
        "import pathlib, sys; path = pathlib.Path(sys.argv[1])\n"
        f"def right(line):\n    try: {line[0]}\n    except UnicodeError: {line[1]}\n"
        "path.write_bytes(b''.join(map(right, path.read_bytes().splitlines(True))))"
    )
    return f"python3 -c {shlex.quote(script)} $text"


def _through_a_copy(command: str) -> str:
    return f"{command} $text > /tmp/right && cat /tmp/right > $text"


def _code_page(world: World) -> Task:
    """Texts in the western code page of Windows: Latin-1, but for some signs such as the euro."""
    return _task(
        world, scene(world), lambda words: words.encode("cp1252"), "is no UTF-8",
        _through_a_copy("iconv -f CP1252 -t UTF-8"),
    )  # fmt: skip


def _mixed(world: World) -> Task:
    """Some lines of a text are in the code page, pasted into what was UTF-8."""
    odd = world.twist.randrange(2)

    def damage(words: str) -> bytes:
        lines = words.splitlines(keepends=True)
        special = [number for number, line in enumerate(lines) if not line.isascii()]
        pasted = special[odd::2]
        return b"".join(line.encode("cp1252" if number in pasted else "utf-8") for number, line in enumerate(lines))

    repair = _python(("line.decode(); return line", "return line.decode('cp1252').encode()"))
    return _task(world, scene(world), damage, "is no UTF-8", repair)


def _marked(world: World) -> Task:
    """A byte order mark stands in front, of UTF-8 or of UTF-16."""
    wide = world.twist.random() < 0.5
    if wide:
        order = world.twist.choice(("utf-16-le", "utf-16-be"))
        repair = _through_a_copy("iconv -f UTF-16 -t UTF-8")
        return _task(world, scene(world), lambda words: f"\ufeff{words}".encode(order), "byte 0 is no UTF-8", repair)
    return _task(
        world, scene(world), lambda words: f"\ufeff{words}".encode(), r"line 1: U\+FEFF",
        r"LC_ALL=C sed -i '1s/^\xEF\xBB\xBF//' $text",
    )  # fmt: skip


def _line_ends(world: World) -> Task:
    """Lines end as on DOS, all of them or those of one half; in some worlds as on old Macs."""
    ending = world.twist.choice(("\r\n", "\r\n", "\r"))
    half = ending == "\r\n" and world.twist.random() < 0.5

    def damage(words: str) -> bytes:
        lines = words.splitlines()
        start = len(lines) // 2 if half else 0
        return "".join(f"{line}{ending if n >= start else chr(10)}" for n, line in enumerate(lines)).encode()

    repair = r"sed -i 's/\r$//' $text" if ending == "\r\n" else _through_a_copy(r"tr '\r' '\n' <")
    return _task(world, scene(world), damage, r"U\+000D", repair)


def _twice(world: World) -> Task:
    """UTF-8 was taken for a code page and encoded again, in whole texts or from some line on."""
    page = world.twist.choice(("latin-1", "cp1252"))
    from_line = world.twist.choice((0, 3))

    def damage(words: str) -> bytes:
        lines = words.encode().splitlines(keepends=True)
        return b"".join(line.decode(page).encode() if n >= from_line else line for n, line in enumerate(lines))

    repair = _python((f"again = line.decode().encode('{page}'); again.decode(); return again", "return line"))
    return _task(world, scene(world), damage, r"line \d+: U\+[0-9A-F]{4} is not in STYLE", repair)


FAMILY = Family(
    name="encoding-repair",
    summary="texts are refused because of how they are encoded",
    causes={"code-page": _code_page, "mixed": _mixed, "marked": _marked, "line-ends": _line_ends, "twice": _twice},
    tags=("files", "text"),
)
