"""A report from an SQLite database fails: a bad index, a journal put aside, an old schema, or somebody's lock.

Needs Python's ``sqlite3``; the shell of the same name is not called.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileAbsent, FileHash, OutputContains, ProcessRunning
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Service, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, text

REPORT = b'''\
#!/usr/bin/env python3
"""Print what is in stock, room by room: how many items, and how much of them. Needs schema version 4."""
import pathlib, sqlite3, sys

path = pathlib.Path(__file__).resolve().parent / "stock.db"
try:
    db = sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=0.2)
    (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        sys.exit(f"report: stock.db is damaged: {found}")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version != 4:
        sys.exit(f"report: stock.db has schema version {version}, not 4")
    wrong = "SELECT name FROM items WHERE amount != (SELECT total(change) FROM moves WHERE item = items.id)"
    for (name,) in db.execute(wrong):
        sys.exit(f"report: stock.db is damaged: {name} is not what its moves add up to")
    for row in db.execute("SELECT room, unit, count(*), sum(amount) FROM items GROUP BY room, unit ORDER BY 1, 2"):
        print(*row)
except sqlite3.Error as error:
    sys.exit(f"report: {error}")
'''
FEED = b'''\
#!/usr/bin/env python3
"""usage: feed.py DATABASE     Tell the display in the hall when the stock grows. Belongs to the neighbours."""
import os, pathlib, sys, time

with open(sys.argv[1], "rb") as database:
    (pathlib.Path(__file__).parent / "run/feed.started").touch()
    while True:
        size = os.fstat(database.fileno()).st_size
        time.sleep(1)
'''
IMPORT = b'''\
#!/usr/bin/env python3
"""usage: import.py DATABASE SCANNER     Book what the scanner says, all or nothing."""
import os, pathlib, sqlite3, sys

db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
os.mkfifo(sys.argv[2])
(pathlib.Path(__file__).parent / "run/import.started").touch()
with open(sys.argv[2]) as scanner:
    for line in scanner:
        item, change = line.split()
        db.execute("INSERT INTO moves (item, change) VALUES (?, ?)", (item, change))
        db.execute("UPDATE items SET amount = amount + ? WHERE id = ?", (change, item))
db.execute("COMMIT")
'''
MIGRATIONS = (
    "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, room TEXT, amount INTEGER);\n",
    "CREATE TABLE moves (id INTEGER PRIMARY KEY, item INTEGER, change INTEGER);\n"
    "CREATE INDEX by_item ON moves (item);\n",
    "CREATE INDEX by_room ON items (room, name);\n",
    "ALTER TABLE items ADD COLUMN unit TEXT;\nUPDATE items SET unit = 'piece' WHERE amount < 100;\n"
    "UPDATE items SET unit = 'box' WHERE amount >= 100;\nCREATE INDEX by_unit ON items (unit);\n",
)
BUILD = """\
import json, os, pathlib, sqlite3, struct
world = json.loads({world!r})

def migrate(db, first, last):
    for number in range(first, last + 1):
        (script,) = pathlib.Path("migrations").glob(f"{{number:04}}-*.sql")
        db.executescript(script.read_text())

db = sqlite3.connect("stock.db", isolation_level=None)
db.execute("PRAGMA page_size = 1024")
migrate(db, 1, 2)
db.executemany("INSERT INTO items VALUES (?, ?, ?, ?)", world["items"])
db.executemany("INSERT INTO moves (item, change) VALUES (?, ?)", world["moves"])
"""
"""How the database is made up to schema version 2; the rest depends on the cause."""
ALL = 'migrate(db, 3, 4)\ndb.execute("VACUUM")\n'
HOLES = """\
ask = lambda words: db.execute(words).fetchall()
((sql, root),) = ask("SELECT sql, rootpage FROM sqlite_master WHERE name = 'INDEX'")
late = ask("SELECT * FROM TABLE ORDER BY id DESC LIMIT COUNT")
db.execute(f"DELETE FROM TABLE WHERE id >= {late[-1][0]}")
db.executescript("PRAGMA writable_schema = 1; DELETE FROM sqlite_master WHERE name = 'INDEX'")
db.close()
db = sqlite3.connect("stock.db", isolation_level=None)
db.executemany(f"INSERT INTO TABLE VALUES ({','.join('?' * len(late[0]))})", late[::-1])
db.execute("PRAGMA writable_schema = 1")
db.execute("INSERT INTO sqlite_master VALUES ('index', 'INDEX', 'TABLE', ?, ?)", (root, sql))
"""
"""Rows are written while the schema does not name the index."""
GONE = """\
((root,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'INDEX'").fetchall()
db.close()
with open("stock.db", "r+b") as file:
    file.seek((root - 1) * 1024)
    file.write(bytes(1024))
"""
"""The index's first page is wiped."""
HALF = """\
db.close()
before = pathlib.Path("stock.db").read_bytes()
db = sqlite3.connect("stock.db", isolation_level=None)
db.execute("BEGIN")
db.execute("UPDATE items SET amount = amount + 7, room = 'transit'")
db.execute("INSERT INTO moves (item, change) SELECT id, 7 FROM items")
db.execute("COMMIT")
db.close()
after = pathlib.Path("stock.db").read_bytes()
cut = lambda data, page: data[1024 * (page - 1) : 1024 * page]
pages = [page for page in range(1, len(before) // 1024 + 1) if cut(before, page) != cut(after, page)]
head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", len(pages), NONCE, len(before) // 1024, 512, 1024)
journal = head.ljust(512, b"\\0")
for page in pages:
    old = cut(before, page)
    journal += struct.pack(">I", page) + old + struct.pack(">I", (NONCE + sum(old[824:0:-200])) & 0xFFFFFFFF)
pathlib.Path("ASIDE").write_bytes(journal)
half = bytearray(after)
for page in pages[::2]:
    half[1024 * (page - 1) : 1024 * page] = cut(before, page)
pathlib.Path("stock.db").write_bytes(half)
"""
"""A transaction of which every second page was written, and its journal; see https://sqlite.org/fileformat2.html."""
SEEN = (
    "import hashlib, sqlite3; db = sqlite3.connect('file:{path}?mode=ro', uri=True, timeout=0); "
    "ask = lambda words: [tuple(row) for row in db.execute(words)]; "
    "lines = ask('SELECT * FROM items ORDER BY id') + ask('SELECT item, change FROM moves ORDER BY id'); "
    "names = [name for name, in ask('SELECT name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name')]; "
    "print(ask('PRAGMA integrity_check'), ask('PRAGMA user_version'), names, "
    "hashlib.sha256(repr(lines).encode()).hexdigest())"
)
"""Prints all that a database has to be."""


@dataclass(frozen=True)
class Scene:
    """A stock with its items and all moves that made them up."""

    name: str
    place: str
    items: tuple[tuple[int, str, str, int], ...]
    """Number, name, room, amount."""
    moves: tuple[tuple[int, int], ...]
    """Number of the item, and how its amount changed."""
    inbox: bytes
    """What the next import will be about."""

    @property
    def root(self) -> str:
        """The project's directory."""
        return f"{HOME}/{self.place}/{self.name}"

    @property
    def rows(self) -> list[tuple[int, str, str, int, str]]:
        """The items as they are at schema version 4."""
        return [(*item, "piece" if item[3] < 100 else "box") for item in self.items]

    @property
    def report(self) -> bytes:
        """What the report says."""
        groups: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for _, _, room, amount, unit in self.rows:
            groups[room, unit].append(amount)
        return text([f"{room} {unit} {len(all_)} {sum(all_)}" for (room, unit), all_ in sorted(groups.items())])

    @property
    def seen(self) -> str:
        """What `SEEN` prints if the database is as it should be."""
        names = ["by_item", "by_room", "by_unit", "items", "moves"]
        lines = [*self.rows, *self.moves]
        return f"[('ok',)] [(4,)] {names} {sha256(repr(lines).encode())}"


def scene(world: World) -> Scene:
    """Draw the stock; blind to the cause."""
    rng = world.scene
    rooms = rng.sample(("attic", "cellar", "hall", "yard", "loft", "shed", "vault", "dock"), rng.randrange(2, 5))
    items, moves = [], []
    for number in range(1, rng.randrange(50, 90)):
        changes = [rng.randrange(1, 90) for _ in range(rng.randrange(1, 5))]
        moves += [(number, change) for change in changes]
        items.append((number, f"{rng.choice(NOUNS)} {rng.choice(NOUNS)}", rng.choice(rooms), sum(changes)))
    rng.shuffle(moves)
    inbox = text([f"{rng.choice(items)[0]} {rng.randrange(1, 50)}" for _ in range(6)])
    return Scene(rng.choice(PROJECTS), rng.choice(PLACES), tuple(items), tuple(moves), inbox)


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"{at.root}/report fails. Please get it to work again and leave what it prints in report.txt next to it. "
        "stock.db has to be sound and complete in its place afterwards: nothing that was booked may get lost, and "
        "nothing may be booked that was not. The programs, migrations/ and inbox/ stay as they are, and so does "
        "what the neighbours run; the README tells more.",
        f"I can't get a report out of ~/{at.place}/{at.name}/stock.db any more, ./report there only prints an error. "
        "Find out why and put it right, then save the report as report.txt in that directory. The stock is real: no "
        "booking may vanish or be made up. Don't edit programs, migrations or the inbox, and don't stop what belongs "
        "to the neighbours (see README).",
        f"Please repair the stock in {at.root}, so that ./report runs, and put the report into report.txt there. All "
        "finished bookings have to be in stock.db, with all of its tables and indexes, and no unfinished ones. See "
        "README for what is whose; leave report, feed.py, import.py, migrations/ and inbox/ alone.",
    )


def _files(at: Scene) -> dict[str, bytes]:
    """Return what may not change."""
    names = ("items", "moves", "rooms", "units")
    readme = [
        f"# {at.name}",
        "",
        "stock.db is our stock. A move and the amount that it changes are booked together, in one transaction.",
        "`report` and `import.py` are for one schema version; migrations/ raise it step by step, each one ends with",
        "`PRAGMA user_version = N`.",
        "feed.py is the neighbours' and always runs. import.py is ours: it ends within a minute. One that hangs",
        "has booked nothing and never will; end it, and start over another day. Do not work around it.",
    ]
    return {
        "README.md": text(readme),
        "report": REPORT,
        "feed.py": FEED,
        "import.py": IMPORT,
        "inbox/next.txt": at.inbox,
        **{
            f"migrations/{number:04}-{name}.sql": f"{script}PRAGMA user_version = {number};\n".encode()
            for number, (name, script) in enumerate(zip(names, MIGRATIONS, strict=True), start=1)
        },
    }


def _goal(at: Scene) -> tuple[Check, ...]:
    return (
        FileHash(path=f"{at.root}/report.txt", sha256=sha256(at.report)),
        *(FileHash(path=f"{at.root}/{path}", sha256=sha256(body)) for path, body in _files(at).items()),
        FileAbsent(path=f"{at.root}/stock.db-journal"),
        holds(f'python3 -I -c "{SEEN.format(path=f"{at.root}/stock.db")}"', pattern=f"^{re.escape(at.seen)}$"),
        ProcessRunning(pattern=rf"{at.root}/feed\.py"),
        ProcessRunning(pattern=rf"{at.root}/import\.py", negate=True),
    )


def _task(
    world: World, at: Scene, build: str, complaint: str, repair: tuple[ActionPlan, ...], *services: Service
) -> Task:  # fmt: skip
    """Return the task whose database ``build`` finishes, after schema version 2."""
    script = BUILD.format(world=json.dumps({"items": at.items, "moves": at.moves})) + build
    feed = ("python3", f"{at.root}/feed.py", f"{at.root}/stock.db")
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(
            FileSpec(f"{at.root}/run", kind="dir", mode=0o755),
            *(
                FileSpec(f"{at.root}/{path}", body, mode=0o755 if path == "report" else 0o644)
                for path, body in _files(at).items()
            ),
        ),
        setup=f"set -euo pipefail\ncd {at.root}\npython3 - <<'END-OF-SCRIPT'\n{script}\nEND-OF-SCRIPT\n",
        services=(Service(feed, ready_path=f"{at.root}/run/feed.started", cwd=at.root), *services),
        allowed=(f"{at.root}/stock.db*", f"{at.root}/report.txt", f"{at.root}/run/**", *TOOL_TRACES),
        symptom=(act(f"{at.root}/report", OutputContains(pattern=complaint, stream="stderr"), exits=1),),
        oracle=(act(f"cd {at.root}"), *repair, act("./report > report.txt")),
    )


def _filled(script: str, words: Mapping[str, str]) -> str:
    """Return what finishes the database after schema version 2: all migrations, then a script with its words."""
    for word, value in words.items():
        script = script.replace(word, value)
    return ALL + script


def _python(script: str) -> ActionPlan:
    return act(f"python3 - <<'END'\nimport sqlite3\n{script}END")


def _index(world: World) -> Task:
    """An index lacks entries of its table, or its first page is gone."""
    at, rng = scene(world), world.twist
    name = rng.choice(("by_room", "by_item", "by_unit"))
    words = {"INDEX": name, "TABLE": "moves" if name == "by_item" else "items", "COUNT": str(rng.randrange(3, 9))}
    if rng.random() < 0.5:
        reindex = _python('sqlite3.connect("stock.db").execute("REINDEX")\n')
        return _task(world, at, _filled(HOLES, words), f"damaged: .*index {name}", (reindex,))
    rebuilt = _python(
        'old, new = sqlite3.connect("stock.db"), sqlite3.connect("/tmp/new.db")\n'
        'new.executescript("\\n".join(old.iterdump()) + "PRAGMA user_version = 4;")\n'
    )
    return _task(world, at, _filled(GONE, words), "damaged|malformed", (rebuilt, act("cat /tmp/new.db > stock.db")))


def _journal_aside(world: World) -> Task:
    """A booking broke off while it was written, and its journal was tidied away before anybody could roll it back."""
    at, rng = scene(world), world.twist
    aside = rng.choice(("stock.db-journal.old", "stock.db.tmp-journal", "stock.db-journal.bak"))
    build = _filled(HALF, {"ASIDE": aside, "NONCE": str(rng.randrange(1 << 32))})
    return _task(world, at, build, "damaged|malformed|not 4", (act(f"mv {aside} stock.db-journal"),))


def _old_schema(world: World) -> Task:
    """The database is of an older version; in some worlds the last step was begun by hand."""
    at, rng = scene(world), world.twist
    version = rng.choice((2, 3, 3))
    begun = rng.random() < 0.5 and version == 3
    build = f'migrate(db, 3, {version})\ndb.execute("VACUUM")\n'
    scripts = [
        f"migrations/000{number}-{name}.sql" for number, name in ((3, "rooms"), (4, "units")) if number > version
    ]
    if begun:
        build += 'db.execute("ALTER TABLE items ADD COLUMN unit TEXT")\n'
    skip = ".partition(chr(10))[2]" if begun else ""
    script = (
        f'db = sqlite3.connect("stock.db")\nfor name in {scripts}:\n    db.executescript(open(name).read(){skip})\n'
    )
    return _task(world, at, build, f"has schema version {version}, not 4", (_python(script),))


def _locked(world: World) -> Task:
    """An import hangs, and holds the lock that it took before it had anything to book."""
    at, rng = scene(world), world.twist
    fifo = f"/tmp/{rng.choice(('scanner', 'gun', 'desk'))}-{rng.randrange(1, 9)}"
    hung = Service(
        ("python3", f"{at.root}/import.py", f"{at.root}/stock.db", fifo),
        ready_path=f"{at.root}/run/import.started",
        cwd=at.root,
    )
    end = act(
        f"for entry in /proc/[0-9]*; do if tr '\\0' ' ' 2> /dev/null < $entry/cmdline | grep -q '{at.root}/import.py'; "
        "then kill ${entry#/proc/}; while kill -0 ${entry#/proc/} 2> /dev/null; do sleep 0.02; done; fi; done"
    )
    return _task(world, at, ALL, "database is locked", (end,), hung)


FAMILY = Family(
    name="sqlite-repair",
    summary="a report from an SQLite database fails",
    causes={"index": _index, "journal-aside": _journal_aside, "old-schema": _old_schema, "locked": _locked},
    tags=("databases",),
)
