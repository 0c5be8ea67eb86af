"""Which segment a step is of, and advantages compared within segments: by hand, and on the real environments."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from linegym.actions import COMMANDS
from linegym.plant import Verb
from rolf.interface import Call
from rolf_adapters.ppo.command_segments import READ_LIMIT
from rolf_adapters.ppo.segments import (
    CLIPS,
    Segment,
    clip_ranges,
    normalised,
    of_actions,
    of_call,
    of_command,
    of_phases,
    sums,
)

NAN = float("nan")
IDENTIFY, ASSESS, DISPATCH, EXECUTE = Segment

COMMANDS_OF = {
    IDENTIFY: [
        "ls -la /srv",
        "cat /etc/passwd | grep root | sort -u",
        "find . -name '*.log' -size +1M",
        "find . -type f -exec grep -l TODO {} +",
        "sed -n 1,10p app.conf",
        "git -C /srv/app log --oneline",
        "git status",
        "git branch -a",
        "git remote -v",
        "systemctl status nginx",
        "ps aux 2>/dev/null | head -3",
        "echo $HOME",
        "sudo -u app cat /etc/shadow",
        "timeout -s KILL 5 du -sh /var",
        "bash -c 'ls; pwd'",
        "pip list",
        "apt list --installed",
        "tar tzf backup.tgz",
        "crontab -l",
        "python3 --version",
        'for f in *; do wc -l "$f"; done',
        "LC_ALL=C sort names.txt",
        "echo 'a > b; rm -rf /'",
        "",
        "# rm file",
    ],
    ASSESS: [
        "test -f done.txt && echo yes",
        "[ -x run.sh ]",
        "[[ -d build ]]",
        "diff expected.txt actual.txt",
        "sha256sum -c SHA256SUMS",
        "python -m pytest -q",
        "python3 -m json.tool config.json",
        "bash -n run.sh",
        "systemctl is-active nginx",
        "nginx -t",
        "kill -0 123",
        "curl -s http://localhost:8080/health",
        "make -C src test",
        "gzip -t a.gz",
        "apt-get install --dry-run jq",
        "git fsck",
        "cat log | grep -c ERROR && cmp a b",
    ],
    DISPATCH: [
        "apt-get install -y jq",
        "sudo apt install jq",
        "pip install --no-index requests",
        "python3 -m pip install requests",
        "systemctl restart nginx",
        "sudo systemctl daemon-reload",
        "service ssh start",
        "chmod +x run.sh",
        "chown -R app:app /srv",
        "kill -9 123",
        "pkill -f runaway",
        "usermod -aG docker app",
        "source venv/bin/activate",
        "export PATH=/opt/bin:$PATH",
        "crontab jobs.txt",
        "ls && chmod 600 key && test -f key",
    ],
    EXECUTE: [
        "echo hello > note.txt",
        "echo straße > 🙂.txt",
        "cat a b >> c",
        "sed -i 's/a/b/' app.conf",
        "sed -ni.bak /x/p app.conf",
        "rm -r build",
        "mv a b",
        "touch x",
        "mkdir -p a/b",
        "find . -name '*.tmp' -delete",
        "find . -name '*.tmp' -exec rm {} ;",
        "find . -exec grep -q x {} ; -exec rm {} ;",
        "ls | xargs -n 1 rm",
        "git commit -m done",
        "git checkout main",
        "git branch kept",
        "git remote set-url origin /srv/git/a.git",
        "tar xzf backup.tgz",
        "python fix.py",
        "make",
        "./run.sh",
        "cat > app.conf <<'EOF'\nls\nEOF",
        "apt-get install -y jq && jq . a.json > b.json",
        "bash -c \"bash -c 'touch x'\"",
        "eval 'rm x'",
        "nohup ./server &",
        "sort -o names.txt names.txt",
        "sudo -u app env A=1 tee /etc/x",
        "sqlite3 db 'update t set a = 1'",
        "f() { ls; }",
    ],
}
EXPECTED = [(command, segment) for segment, commands in COMMANDS_OF.items() for command in commands]


@pytest.mark.parametrize(("command", "segment"), EXPECTED)
def test_a_command_is_of_its_furthest_program(command: str, segment: Segment) -> None:
    assert of_command(command) is segment


@given(st.text(max_size=60) | st.text("$(){}[]'\"`;|&<> \nabc-=", max_size=60))
def test_any_text_is_of_some_segment(text: str) -> None:
    """Models write anything."""
    assert of_command(text) in Segment


@pytest.mark.parametrize(
    "text",
    [
        "(" * 4000,
        "$(" * 3000,
        "ls " * 3000,
        "bash -c " * 900,
        "find -exec " * 740,
        "eval $(" * 600 + "ls" + ")" * 600,
        "eval $(eval $(eval $(eval $(ls)))); " * 200,
        "\u0523\u04b1&{\U000cb647\u9b8e",  # killed the process
        "\udc80",
    ],
    ids=range(9),
)
def test_hostile_texts_are_read_or_left(text: str) -> None:
    """Deep, long, and no text at all."""
    assert of_command(text) in Segment
    assert of_command("ls " * READ_LIMIT) is EXECUTE


def test_a_call_of_a_terminal_is_of_its_commands_segment() -> None:
    """Checks of its own make a look a check, and do not make work less than work."""
    looks, works = {"command": "cat a"}, {"command": "rm a"}
    checks = {"validation_steps": [{"type": "exit_code", "equals": 0}]}
    assert of_call(Call("run", looks)) is IDENTIFY
    assert of_call(Call("run", looks | checks)) is ASSESS
    assert of_call(Call("run", works | checks)) is EXECUTE
    assert of_call(Call("submit")) is EXECUTE
    with pytest.raises(ValueError, match="a call of 'fly' is of; known are run, wait"):
        of_call(Call("fly"))


def test_every_tool_of_both_environments_has_a_rule() -> None:
    """The example call of each, of the worlds as they are."""
    for name in ("termgym:TermEnv-v1", "linegym:LineEnv-v1"):
        env = gym.make(name)
        for tool in env.get_wrapper_attr("tools"):
            assert of_call(Call(tool.name, tool.example)) in Segment
        env.close()


def test_actions_of_the_line_are_of_what_they_do() -> None:
    """Claims identify; inspections and orders assess; who is sent is dispatched; orders closed and speeds execute."""
    env = gym.make("linegym:LineEnv-v1")
    table = of_actions(env)
    env.close()
    by_verb = {
        Verb.NOOP: IDENTIFY,
        Verb.DIAGNOSE: IDENTIFY,
        Verb.INSPECT: ASSESS,
        Verb.ORDER: ASSESS,
        Verb.DISPATCH: DISPATCH,
        Verb.CLOSE: EXECUTE,
        Verb.THROTTLE: EXECUTE,
    }
    assert table.tolist() == [by_verb[Verb(verb)] for verb in COMMANDS[:, 0].tolist()]


def test_actions_that_are_no_calls_are_an_error() -> None:
    env = gym.make("CartPole-v1")
    with pytest.raises(TypeError, match="give an environment with Discrete actions and a method call_of"):
        of_actions(env)
    env.close()


def test_phases_of_the_line_are_its_segments() -> None:
    """With nothing to do it is watched; a real line tells a phase that is one of them."""
    assert of_phases([[0, 1], [2, 3], [4, 0]]).tolist() == [[0, 0], [1, 2], [3, 0]]
    lines = gym.make_vec("linegym:LineEnv-v1", num_envs=2)
    _, info = lines.reset(seed=1)
    assert of_phases(info["phase"]).tolist() == [0, 0]
    lines.close()
    for wrong in ([5], [-1], [0.5]):
        with pytest.raises(ValueError, match="not all whole numbers from 0 to 4"):
            of_phases(wrong)


# ---- clip ranges and the scale of advantages


def test_clip_ranges_are_looked_up() -> None:
    assert clip_ranges([[0, 3], [1, 2]]).tolist() == [[0.15, 0.12], [0.08, 0.25]]
    assert clip_ranges([2, 2], clips=[0.1, 0.1, 0.3, 0.1]).tolist() == [0.3, 0.3]
    with pytest.raises(ValueError, match="give 4 numbers above 0"):
        clip_ranges([0], clips=[0.1])
    with pytest.raises(ValueError, match="give 4 numbers above 0"):
        clip_ranges([0], clips=[0.1, 0.0, 0.1, 0.1])
    with pytest.raises(ValueError, match="not all whole numbers from 0 to 3"):
        clip_ranges([4])


def test_advantages_are_compared_within_their_segment() -> None:
    """1 and 3 are one standard deviation (of a population: 1) from their mean 2; 10 and 40 from 25 likewise."""
    found = normalised([1.0, 3, 10, 40], [0, 0, 2, 2], [1, 1, 1, 1])
    assert found.tolist() == pytest.approx([-1, 1, -1, 1], abs=1e-7)


def test_a_single_step_tells_nothing() -> None:
    """Of one step there is no deviation: its advantage is 0, where the unbiased formula says it is no number."""
    found = normalised([1.0, 3, 9, 9], [0, 0, 1, 3], [1, 1, 1, 0])
    assert found.tolist() == pytest.approx([-1, 1, 0, 0], abs=1e-7)
    assert normalised([1.0, 3, 5, 9], [0, 0, 0, 1], [1, 1, 1, 1], least=4).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("alike", [0.0, 0.1, 1e6 + 0.1])
def test_steps_that_are_alike_tell_nothing(alike: float) -> None:
    """What rounding leaves of equal numbers is not blown up to a difference."""
    assert normalised([alike] * 7, [1] * 7, [1] * 7).tolist() == [0] * 7


def test_globally_all_are_compared_and_only_unmasked_ones() -> None:
    """2, 4, 6, 8 around 5, with the deviation sqrt 5; 99 is masked, and so is a segment that there is not."""
    found = normalised([2.0, 4, 6, 8, 99], [0, 1, 2, 3, -7], [1, 1, 1, 1, 0], by="global")
    assert found.tolist() == pytest.approx([each / 5**0.5 for each in (-3, -1, 1, 3)] + [0], abs=1e-7)
    assert normalised([2.0, NAN], [0, 0], [1, 0], by="none").tolist() == [2, 0]


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(0, 40), st.sampled_from(["segment", "global"]))
@example(3414, 19, "segment")  # a segment of two that are nearly alike
def test_never_not_a_number_and_always_of_scale_one(seed: int, steps: int, by: str) -> None:
    """Whatever the sizes of the segments; masked slots hold NaN and do not matter."""
    rng = np.random.default_rng(seed)
    advantages = rng.normal(3, 10 ** rng.uniform(-3, 3), steps)
    segments, mask = rng.integers(0, 4, steps), rng.random(steps) < 0.7
    advantages[~mask] = NAN
    found = normalised(advantages, segments, mask, by)  # type: ignore[arg-type]
    assert np.isfinite(found).all()
    assert not found[~mask].any()
    for group in [mask & (segments == each) for each in range(4)] if by == "segment" else [mask]:
        if group.sum() >= 2:
            assert found[group].mean() == pytest.approx(0, abs=1e-6)
            spread = advantages[group].std()  # to which 1e-8 is added
            assert found[group].std() == pytest.approx(spread / (spread + 1e-8), abs=1e-4 if spread > 1e-5 else 1)


@pytest.mark.parametrize("by", ["segment", "global"])
def test_two_processes_compare_as_one(by: str) -> None:
    """Their sums add up, and each scales its own steps by those of both."""
    rng = np.random.default_rng(5)
    advantages, segments, mask = rng.normal(2, 3, 40), rng.integers(0, 4, 40), rng.random(40) < 0.8
    whole = normalised(advantages, segments, mask, by)  # type: ignore[arg-type]
    parts = [slice(0, 13), slice(13, 40)]
    summed = sum(sums(advantages[p], segments[p], mask[p], by) for p in parts)  # type: ignore[arg-type]
    assert isinstance(summed, np.ndarray)
    apart = [normalised(advantages[p], segments[p], mask[p], by, summed=summed) for p in parts]  # type: ignore[arg-type]
    np.testing.assert_allclose(np.concatenate(apart), whole, atol=1e-12)


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(ValueError, match=r"advantages \(2,\), segments \(3,\) and mask \(2,\) must be alike"):
        normalised([1.0, 2], [0, 0, 0], [1, 1])
    with pytest.raises(ValueError, match="by='stage' is not known; allowed are 'segment', 'global', 'none'"):
        sums([1.0], [0], [1], by="stage")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not all whole numbers from 0 to 3"):
        sums([1.0], [4], [1])


def test_the_missions_clip_ranges() -> None:
    assert dict(zip(Segment, CLIPS, strict=True)) == {IDENTIFY: 0.15, ASSESS: 0.08, DISPATCH: 0.25, EXECUTE: 0.12}
