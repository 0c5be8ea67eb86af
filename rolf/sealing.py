"""Sealing: private splits that their organiser cannot choose afterwards, nor anybody else know beforehand.

The organiser publishes a commitment first: which public split is drawn from, how many variants, and the SHA-256 of a
secret. Variant number i gets the seed HMAC-SHA256(secret, "name:i"); who knows the secret can draw the split, nobody
else. When it retires, the secret is revealed, and everybody can see that the split was the one committed to.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import stat
from dataclasses import asdict, dataclass, fields, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Self

from rolf.evaluation.origin import reseeded
from rolf.splitting import LONGEST_NAME, MOST_ATTEMPTS, as_json, check_distinct, check_object
from rolf.variant import SEEDS, Split

FORMAT = "rolf-commitment/1"
REVEALED = "rolf-secret/1"
SECRET_BYTES = 32
"""Fewer could be guessed."""
LARGEST_SECRET = 1 << 16
"""[bytes]"""
MOST_VARIANTS = 100_000
SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Commitment:
    """What the organiser of a private split publishes beforehand."""

    name: str
    """Of the private split."""
    base: str
    """Name of the public split whose problems it has, with other random numbers."""
    base_digest: str
    count: int
    """Variants; more than the base has take its problems several times."""
    attempts: int
    commitment: str
    """SHA-256 of the secret."""

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, plain: Any) -> Self:
        """Return what `as_json` told.

        Raises:
            ValueError: it told something else.
        """
        kinds = {"format": str, **{each.name: int if each.type == "int" else str for each in fields(cls)}}
        check_object(plain, "the commitment", kinds, tuple(kinds))
        if plain["format"] != FORMAT:
            raise ValueError(f"format is {plain['format']!r:.60}; this version reads {FORMAT!r}")
        for key in ("commitment", "base_digest"):
            if not SHA256.fullmatch(plain[key]):
                raise ValueError(f"{key} is {plain[key]!r:.80}; expected a SHA-256 in hexadecimal")
        _check(plain["name"], plain["count"], plain["attempts"])
        return cls(**{key: value for key, value in plain.items() if key != "format"})


def seal(name: str, base: Split, count: int, attempts: int, secret: bytes) -> Commitment:
    """Return what to publish of a private split.

    Raises:
        ValueError: name, count or attempts are not possible.
    """
    _check(name, count, attempts)
    return Commitment(name, base.name, base.digest, count, attempts, hashlib.sha256(secret).hexdigest())


def draw(commitment: Commitment, secret: bytes, base: Split) -> Split:
    """Return the private split.

    Args:
        commitment: What was published.
        secret: What it commits to.
        base: The split that it names.

    Raises:
        ValueError: the secret or the base is another.
    """
    if not hmac.compare_digest(hashlib.sha256(secret).hexdigest(), commitment.commitment):
        raise ValueError(
            f"this is not the secret of {commitment.name!r}: its SHA-256 is {hashlib.sha256(secret).hexdigest()}, the "
            f"commitment says {commitment.commitment}"
        )
    if base.digest != commitment.base_digest:
        raise ValueError(
            f"{base.name!r} is not what it was when {commitment.name!r} was sealed: its digest is {base.digest}, the "
            f"commitment says {commitment.base_digest}; use the versions that were used then"
        )
    seeds = (seed(secret, commitment.name, number) for number in range(commitment.count))
    variants = tuple(map(reseeded, cycle(base.variants), seeds))
    check_distinct(variants)
    labels = tuple(islice(cycle(base.labels), commitment.count))
    return replace(base, name=commitment.name, variants=variants, labels=labels, attempts=commitment.attempts)


def seed(secret: bytes, name: str, number: int) -> int:
    """Return the seed of one variant of a private split."""
    return int.from_bytes(hmac.digest(secret, f"{name}:{number}".encode(), "sha256")[:8], "big") % SEEDS


def differences(split: Split, drawn: Split) -> list[str]:
    """Return in what a split differs from the one that was committed to."""
    told, true = as_json(split), as_json(drawn)
    found = [key for key in told if key not in ("variants", "labels") and told[key] != true[key]]
    lines = [f"{key} is {told[key]!r:.100}, the commitment makes it {true[key]!r:.100}" for key in found]
    if len(split) != len(drawn):
        lines.append(f"it has {len(split)} variants, the commitment makes {len(drawn)}")
    for key in ("variants", "labels"):
        pairs = enumerate(zip(told[key], true[key], strict=False))
        lines += [
            f"{key}[{number}] is not the one that the secret makes" for number, (one, other) in pairs if one != other
        ]
    return lines


def make_secret(path: Path) -> bytes:
    """Return the secret that lies in a file which only its owner can read; made if there is none.

    Raises:
        ValueError: it cannot be made, or is not fit; says why.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_secret(path)
    except OSError as error:
        raise ValueError(f"secret {str(path)!r}: {error.strerror}; give a file that can be written") from error
    with os.fdopen(handle, "wb") as file:
        file.write(os.urandom(SECRET_BYTES))
        file.flush()
        os.fsync(file.fileno())
    return read_secret(path)


def read_secret(path: Path, *, revealed: bool = False) -> bytes:
    """Return a secret.

    Args:
        path: Its file, or what `reveal` wrote.
        revealed: Whether everybody may know it by now.

    Raises:
        ValueError: there is none, or it is none that could be kept or used.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(LARGEST_SECRET + 1)
    except OSError as error:
        raise ValueError(f"secret {str(path)!r}: {error.strerror}; give a file that can be read") from error
    published = _published(content)
    if published is None and not revealed and stat.S_IMODE(mode) & 0o077:
        wrong = f"secret {str(path)!r} can be read by others (mode {stat.S_IMODE(mode):04o})"
        raise ValueError(f"{wrong}; chmod 600 it, or take another if they may have read it")
    secret = content if published is None else published
    if not SECRET_BYTES <= len(secret) <= LARGEST_SECRET:
        size = f"{len(secret)} bytes" if len(secret) < SECRET_BYTES else f"over {LARGEST_SECRET} bytes"
        raise ValueError(f"secret {str(path)!r} has {size}; expected {SECRET_BYTES} random bytes or more")
    return secret


def reveal(commitment: Commitment, secret: bytes) -> dict[str, Any]:
    """Return what to publish when a private split retires."""
    return {"format": REVEALED, "name": commitment.name, "secret": secret.hex()}


def _published(content: bytes) -> bytes | None:
    """Return the secret in what `reveal` wrote; None: it is none of that, but may be a secret itself."""
    try:
        plain = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(plain, dict) or plain.get("format") != REVEALED:
        return None
    try:
        return bytes.fromhex(plain.get("secret", ""))
    except (TypeError, ValueError) as error:
        raise ValueError("the revealed secret is not written in hexadecimal") from error


def _check(name: str, count: int, attempts: int) -> None:
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or "[:" in name:
        raise ValueError(f"name is {name!r:.60}; expected 1 to {LONGEST_NAME} printable characters, without '[:'")
    if not 1 <= count <= MOST_VARIANTS:
        raise ValueError(f"count is {count}; expected a whole number from 1 to {MOST_VARIANTS}")
    if not 1 <= attempts <= MOST_ATTEMPTS:
        raise ValueError(f"attempts is {attempts}; expected a whole number from 1 to {MOST_ATTEMPTS}")
