"""Private splits: committed to before anybody plays, drawn by who has the secret, checked by everybody afterwards."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rolf.cli import main
from rolf.sealing import SECRET_BYTES, Commitment, draw, make_secret, read_secret, seal, seed
from rolf.splitting import find_split, read_split

BASE = "line-v1/iid[:4]"
SECRET = bytes(range(SECRET_BYTES))


def rolf(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["split", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private split was sealed here: sealed.json, secret."""
    monkeypatch.chdir(tmp_path)
    done = rolf("seal", "private-1", "--base", BASE, "--count", "6", "--secret", "secret", "--out", "sealed.json")
    assert done.exit_code == 0, done.stderr
    return tmp_path


def test_a_seed_is_the_mac_of_name_and_number() -> None:
    """Anybody can do it with other tools; the number is from ``openssl dgst -sha256 -mac HMAC``."""
    whole = hmac.new(SECRET, b"private-1:5", hashlib.sha256).digest()
    assert seed(SECRET, "private-1", 5) == int.from_bytes(whole[:8], "big") % 2**62
    assert seed(SECRET, "private-1", 5) == 2_218_664_344_717_262_788


def test_the_whole_life_of_a_private_split(sealed: Path) -> None:
    commitment = json.loads((sealed / "sealed.json").read_text())
    secret = (sealed / "secret").read_bytes()
    assert commitment == {
        "format": "rolf-commitment/1", "name": "private-1", "base": BASE, "base_digest": find_split(BASE).digest,
        "count": 6, "attempts": 5, "commitment": hashlib.sha256(secret).hexdigest(),
    }  # fmt: skip
    assert len(secret) == SECRET_BYTES
    assert (sealed / "secret").stat().st_mode & 0o777 == 0o600
    done = rolf("draw", "sealed.json", "--secret", "secret", "--out", "private.json")
    assert done.exit_code == 0, done.stderr
    assert (sealed / "private.json").stat().st_mode & 0o777 == 0o600
    drawn, base = read_split(sealed / "private.json"), find_split(BASE)
    assert done.stdout.strip() == drawn.digest != base.digest
    assert (drawn.name, len(drawn), drawn.attempts) == ("private-1", 6, 5)
    assert (drawn.limits, drawn.content, drawn.pinned) == (base.limits, base.content, base.pinned)
    assert [variant.kwargs for variant in drawn.variants] == [base.variants[i % 4].kwargs for i in range(6)]
    assert [variant.seed for variant in drawn.variants] == [seed(secret, "private-1", i) for i in range(6)]
    assert drawn.labels == tuple(base.labels[i % 4] for i in range(6))
    assert rolf("reveal", "sealed.json", "--secret", "secret", "--out", "revealed.json").exit_code == 0
    done = rolf("check", "sealed.json", "revealed.json", "private.json")
    assert (done.exit_code, drawn.digest in done.stdout) == (0, True), done.stderr
    assert rolf("check", "sealed.json", "secret", "private.json").exit_code == 0


def test_a_shell_is_given_other_worlds() -> None:
    """A terminal's variant is a world: a private one must be one that nobody has seen."""
    base = find_split("term-v1/unseen-cause[:3]")
    drawn = draw(seal("p", base, 3, 1, SECRET), SECRET, base)
    assert drawn.pinned, "each attempt meets the same of them, as in the base"
    for private, public in zip(drawn.variants, base.variants, strict=True):
        assert private.kwargs["task"] != public.kwargs["task"]
        assert private.kwargs["task"].partition("@")[0] == public.kwargs["task"].partition("@")[0]
        with private.make() as env:
            env.reset(seed=1)


def test_other_secrets_and_names_make_other_splits() -> None:
    base = find_split(BASE)
    made = {
        draw(seal(name, base, 4, 5, secret), secret, base).digest
        for name in ("a", "b")
        for secret in (SECRET, SECRET[::-1])
    }
    assert len(made) == 4


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_another_secret_is_refused(sealed: Path) -> None:
    make_secret(sealed / "other")
    for command in (["draw", "sealed.json"], ["reveal", "sealed.json"]):
        done = rolf(*command, "--secret", "other", "--out", "x.json")
        assert done.exit_code == 2
        assert "this is not the secret of 'private-1': its SHA-256 is " in done.stderr
    assert not (sealed / "x.json").exists()


def test_another_base_is_refused(sealed: Path) -> None:
    """A benchmark that changed in the meantime draws another split."""
    edit(sealed / "sealed.json", base="line-v1/iid[:5]")
    done = rolf("draw", "sealed.json", "--secret", "secret", "--out", "x.json")
    assert done.exit_code == 2
    assert "'line-v1/iid[:5]' is not what it was when 'private-1' was sealed" in done.stderr


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda p: p.update(name="private-2"), "name is 'private-2', the commitment makes it 'private-1'"),
        (lambda p: p.update(attempts=1), "attempts is 1, the commitment makes it 5"),
        (lambda p: p.update(limits={}), "limits is {}"),
        (lambda p: p["variants"][2].update(seed=5), "variants[2] is not the one that the secret makes"),
        (lambda p: p["labels"][3].update(cluster="easy"), "labels[3] is not the one that the secret makes"),
        (lambda p: (p["variants"].pop(), p["labels"].pop()), "it has 5 variants, the commitment makes 6"),
    ],
)
def test_a_split_that_was_chosen_afterwards_is_found_out(sealed: Path, change: Any, told: str) -> None:
    rolf("draw", "sealed.json", "--secret", "secret", "--out", "private.json")
    plain = json.loads((sealed / "private.json").read_text())
    change(plain)
    (sealed / "chosen.json").write_text(json.dumps(plain))
    done = rolf("check", "sealed.json", "secret", "chosen.json")
    assert done.exit_code == 1
    assert told in done.stdout


def test_a_secret_that_others_can_read_is_refused(sealed: Path) -> None:
    (sealed / "secret").chmod(0o640)
    done = rolf("draw", "sealed.json", "--secret", "secret", "--out", "x.json")
    assert done.exit_code == 2
    assert "can be read by others (mode 0640); chmod 600 it" in done.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"short", "has 5 bytes; expected 32 random bytes or more"),
        (b"x" * 70_000, "has over 65536 bytes"),
        (b'{"format": "rolf-secret/1", "secret": "zz"}', "is not written in hexadecimal"),
        (b'{"format": "rolf-secret/1", "secret": 5}', "is not written in hexadecimal"),
        (b'{"format": "rolf-secret/1"}', "has 0 bytes"),
    ],
)
def test_what_is_no_secret_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "secret"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ValueError, match=told):
        read_secret(path)


def test_a_secret_of_ones_own_is_taken_as_it_is(sealed: Path) -> None:
    (sealed / "mine").write_bytes(SECRET)
    (sealed / "mine").chmod(0o600)
    rolf("seal", "private-2", "--base", BASE, "--secret", "mine", "--out", "second.json")
    assert (sealed / "mine").read_bytes() == SECRET
    told = json.loads((sealed / "second.json").read_text())
    assert told["commitment"] == hashlib.sha256(SECRET).hexdigest()
    assert told["count"] == 4, "as many as the base has"


@pytest.mark.parametrize(("count", "told"), [("4", False), ("5", True)])
def test_says_that_problems_come_several_times(sealed: Path, count: str, told: bool) -> None:
    """More variants than the base has say less than as many problems would."""
    done = rolf("seal", "again", "--base", BASE, "--count", count, "--secret", "secret", "--out", "again.json")
    assert done.exit_code == 0
    assert ("variants of the 4 problems of" in done.stderr) is told


def test_a_reveal_can_be_taken_back_until_it_is_published(sealed: Path) -> None:
    done = rolf("reveal", "sealed.json", "--secret", "secret", "--out", "open.json")
    assert "once you publish it, private-1 is no private split any more" in done.stderr
    assert "until then nobody has seen it, and you may remove it" in done.stderr


def test_nothing_is_written_over(sealed: Path) -> None:
    """A commitment that was published must not be lost to a second one."""
    before = (sealed / "sealed.json").read_bytes()
    done = rolf("seal", "private-2", "--base", BASE, "--secret", "secret", "--out", "sealed.json")
    assert done.exit_code == 2
    assert "--out 'sealed.json' is there already and is never written over; give another" in done.stderr
    assert (sealed / "sealed.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["line-v1/iid"], "'line-v1/iid' is the name of a public split; give another"),
        (["a[:3]"], "expected 1 to 200 printable characters, without '[:'"),
        (["x", "--count", "1000000"], "count is 1000000; expected a whole number from 1 to 100000"),
        (["x", "--attempts", "100000"], "attempts is 100000; expected a whole number from 1 to 1000"),
        (["x", "--base", "line-v1/idd"], "did you mean 'line-v1/iid'"),
        (["x", "--secret", "/proc/nowhere/secret"], "secret '/proc/nowhere/secret': No such file or directory"),
    ],
)
def test_says_what_cannot_be_sealed(sealed: Path, arguments: list[str], told: str) -> None:
    done = rolf("seal", "--base", BASE, "--secret", "secret", "--out", "new.json", *arguments)
    assert done.exit_code == 2
    assert told in done.stderr
    assert not (sealed / "new.json").exists()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"format": "rolf-commitment/2"}, "this version reads 'rolf-commitment/1'"),
        ({"commitment": "AB"}, "commitment is 'AB'; expected a SHA-256 in hexadecimal"),
        ({"count": "6"}, "'count' is '6', expected a whole number"),
        ({"more": 1}, "unknown key 'more'"),
    ],
)
def test_says_what_is_wrong_with_a_commitment(sealed: Path, changes: dict[str, Any], told: str) -> None:
    edit(sealed / "sealed.json", **changes)
    done = rolf("draw", "sealed.json", "--secret", "secret", "--out", "x.json")
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_file_of_ones_own_may_be_the_base(sealed: Path) -> None:
    """A stranger's environment: its variants are seeded anew."""
    plain = {
        "format": "rolf-split/1", "name": "poles", "attempts": 2,
        "variants": [{"env_id": "gymnasium:CartPole-v1", "kwargs": {}, "seed": 0}],
    }  # fmt: skip
    (sealed / "poles.json").write_text(json.dumps(plain))
    done = rolf("seal", "p", "--base", "poles.json", "--count", "3", "--secret", "secret", "--out", "p.json")
    assert done.exit_code == 0, done.stderr
    assert rolf("draw", "p.json", "--secret", "secret", "--out", "x.json").exit_code == 2, "poles is no installed split"
    assert rolf("draw", "p.json", "--secret", "secret", "--out", "x.json", "--base", "poles.json").exit_code == 0
    assert len({variant.seed for variant in read_split(sealed / "x.json").variants}) == 3
    assert Commitment.from_json(json.loads((sealed / "p.json").read_text())).base == "poles"
