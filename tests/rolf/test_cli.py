"""The command line, run as a person or a script runs it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import psutil
import pytest
from machines import python_on

from rolf.trajectory import FORMAT


def rolf(
    *arguments: str, stdin: str = "", cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command of this interpreter's installation."""
    command = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", *arguments]
    environment = {**os.environ, "COLUMNS": "120", **variables}
    return subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=cwd, env=environment, timeout=110)


def wait_for_program(child: pexpect.spawn, name: str) -> None:
    """Wait until a program of that name runs anywhere below a process."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for each in psutil.Process(child.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if each.name() == name:
                    return
    raise AssertionError(f"{name!r} did not start")


def wait_for_silence(child: pexpect.spawn) -> None:
    """Wait until a process waits: a signal amid Python's handling of a keystroke is seen with the next one only."""
    deadline = time.monotonic() + 30
    while psutil.Process(child.pid).status() != psutil.STATUS_SLEEPING:
        assert time.monotonic() < deadline


def test_says_its_version() -> None:
    """Bug reports begin with it."""
    done = rolf("--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "rolf")


@pytest.mark.parametrize(
    "arguments",
    [
        ("dance",),
        ("play", "--seed", "-1"),
        ("replay",),
        ("replay", "/nowhere"),
        ("tasks", "validate", "--seeds", "0"),
        ("tasks", "validate", "no-such-task"),
        ("play", "git-dirty-pul"),
        ("play", "--reward", "gold"),
        ("play", "--backend", "elsewhere"),
        ("demo", "--task", "git-dirty-pul"),
        ("demo", "--report", "/proc/nowhere/page.html"),
        ("demo", "--report", "/proc/page.html"),
        ("demo", "--report", "/dev/null/page.html"),
        ("demo", "--lines", "0"),
        ("demo", "--lines", "many"),
    ],
)
def test_wrong_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    """Scripts tell a typing error from a failure by it; what was wrong is on stderr."""
    done = rolf(*arguments)
    assert done.returncode == 2
    assert "Error" in done.stderr
    assert done.stdout == ""


def test_list_names_tasks_and_causes() -> None:
    """What `--json` says is what `gymnasium.make` takes."""
    listed = json.loads(rolf("list", "--json").stdout)
    tasks = {task["name"]: task["causes"] for task in listed["termgym:TermEnv-v1"]["tasks"]}
    assert len(tasks["git-dirty-pull"]) >= 2
    sets = {entry["name"]: entry["summary"] for entry in listed["linegym:LineEnv-v1"]["tasks"]}
    assert sets["train"].startswith("7,000 variants")
    printed = rolf("list")
    assert "git-dirty-pull" in printed.stdout
    for env_id, environment in listed.items():
        assert env_id in printed.stdout
        assert environment["example"] in printed.stderr


def test_doctor_says_what_to_do_about_each_lack() -> None:
    """A finding that is not all well comes with advice, one that is does not."""
    done = rolf("doctor", "--json")
    findings = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"bubblewrap", "sandbox", "overlay", "limit on memory", "rsync", "terminals", "compiled kernel"} <= {
        f["subject"] for f in findings
    }
    for finding in findings:
        assert bool(finding["advice"]) == (finding["state"] != "ok"), finding
    assert done.returncode == any(finding["state"] == "missing" for finding in findings)


def test_doctor_reports_missing_programs(tmp_path: Path) -> None:
    """Without bubblewrap and rsync it names both and the line that installs them."""
    done = rolf("doctor", PATH=str(tmp_path))
    assert done.returncode == 1 or "bubblewrap" in done.stdout
    assert "apt-get install rsync" in done.stdout


def test_play_reads_commands_from_a_pipe() -> None:
    """A script can drive it: each line is a step, and what came of it is on stdout."""
    done = rolf("play", stdin="cd /tmp\necho hello from $PWD\n:diff\nls /nowhere\n:quit\necho never\n")
    assert done.returncode == 0, done.stderr
    assert "hello from /tmp" in done.stdout
    assert "nothing differs" in done.stdout
    assert "NONZERO" in done.stdout
    assert "never" not in done.stdout


def test_play_saves_and_restores() -> None:
    """`:restore` brings files and working directory back."""
    lines = "echo one > ~/kept", "cd /tmp", ":save", "rm ~/kept", "cd /", ":restore", "cat ~/kept && pwd"
    done = rolf("play", stdin="\n".join(lines))
    assert done.returncode == 0, done.stderr
    assert "one\n/tmp" in done.stdout


def test_play_answers_a_program() -> None:
    """`:keys` types into the program that waits."""
    done = rolf("play", stdin="read -p 'name? ' name; echo Hello, $name\n:keys Ada Enter\n")
    assert "WAITING_INPUT" in done.stdout
    assert "Hello, Ada" in done.stdout


def test_play_shows_why_an_action_is_malformed() -> None:
    """`:plan` passes any text on, as an agent would."""
    done = rolf("play", stdin=':plan {"command": 3}\n:plan {"command": "echo ok", "timeout": 5}\n')
    assert "MALFORMED" in done.stdout
    assert "DONE" in done.stdout


def test_play_goes_on_after_a_mistake() -> None:
    """An unknown verb, a wrong seed and a missing save are talk on stderr, not the end."""
    done = rolf("play", stdin=":dance\n:reset soon\n:restore\necho still here\n")
    assert done.returncode == 0
    assert ":dance" in done.stderr
    assert "soon" in done.stderr
    assert "nothing is saved" in done.stderr
    assert "still here" in done.stdout


def test_play_ends_the_episode_on_submit() -> None:
    """After it nothing reaches the shell until `:reset`."""
    done = rolf("play", "git-dirty-pull", stdin=":submit\necho unseen\n:reset 3\necho seen\n")
    assert "goal not reached" in done.stdout
    assert "unseen" not in done.stdout
    assert "seen" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (("play", "git-dirty-pul"), "'git-dirty-pull'"),
        (("play", "git-dirty-pull/modifed"), "'modified'"),
        (("demo", "--task", "git-dirty-pul"), "'git-dirty-pull'"),
        (("tasks", "validate", "git-dirty-pul"), "'git-dirty-pull'"),
        (("tasks", "validate", "config-edit", "git-dirty-pull/modifed"), "'modified'"),
        (("tasks", "validate", "git-dirty-pull@seven"), "git-dirty-pull@seven"),
        (("tasks", "validate", "no_such_module:TASK"), "no module 'no_such_module'"),
        (("tasks", "validate", "blank"), "has no goal"),
        (("tasks", "validate", "trian"), "'train'"),
        (("tasks", "validate", "serial/thermocouple/profinet/baring"), "bearing"),
        (("tasks", "validate", "zzzz"), "`rolf list`"),
    ],
)
def test_names_near_tasks_for_a_mistyped_one(arguments: tuple[str, ...], near: str) -> None:
    """A person mistypes; the answer is one line that helps, no traceback."""
    done = rolf(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert near in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_replay_of_an_unknown_task_is_no_difference(tmp_path: Path) -> None:
    """A file from a newer version must not look like drift."""
    kwargs = {"task": "git-dirty-pul"}
    header = {"type": "header", "format": FORMAT, "env_id": "termgym:TermEnv-v1", "kwargs": kwargs}
    path = tmp_path / "episode.jsonl"
    path.write_text(f"{json.dumps(header)}\n{json.dumps({'type': 'reset', 'seed': 0, 'options': None})}\n")
    done = rolf("replay", str(path))
    assert done.returncode == 2
    assert "'git-dirty-pull'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    path.write_text(path.read_text().replace("TermEnv-v1", "TermEnv-v0"))
    done = rolf("replay", str(path))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr


def test_play_tells_the_goal_when_it_changes() -> None:
    """Checks in each step would drown the output, and tell the person what the agent does not see."""
    lines = ":goal", "true", "ls", "rm -rf ~/dev", ":goal"
    done = rolf("play", "git-dirty-pull", "--seed", "7", stdin="\n".join(lines))
    assert "not looked at yet" in done.stdout
    told = [line.strip() for line in done.stdout.splitlines() if line.startswith("  goal: ")]
    assert len(told) == 2
    assert told[0] != told[1]
    before = done.stdout[: done.stdout.rindex("rm -rf")]
    assert "goal: file_" not in before
    assert "✗ goal: file_exists" in done.stdout


def test_play_says_which_rule_cost_something() -> None:
    """A number without a reason teaches nothing."""
    done = rolf("play", stdin="rm -rf ~/*\nsudo ls\n")
    assert "safety: broke rm_rf_root" in done.stdout
    assert "capability: a privileged operation" in done.stdout


def test_play_forecasts_as_a_plan_does() -> None:
    """An ordinary command that ends well costs nothing; one that does not says why, once."""
    done = rolf("play", stdin="true\n")
    assert "reward +0.000" in done.stdout
    done = rolf("play", stdin="false\nfalse\n")
    assert done.stdout.count("plan_quality -0.100") == 2
    assert done.stderr.count("forecasts exit code 0") == 1


def test_play_explains_keys() -> None:
    """Without text it is a question, and no step of the episode."""
    done = rolf("play", stdin=":keys\n")
    assert "usage: `:keys TEXT" in done.stderr
    assert "reward" not in done.stdout


def test_play_does_not_pass_control_sequences_on() -> None:
    """What an agent prints must not steer the terminal of the person who looks."""
    done = rolf("play", stdin=r"printf 'a\033]0;title\007b\033[2Jc\033cd\be'" + "\n")
    assert not {"\x1b", "\x07", "\b"} & set(done.stdout)


def test_play_at_a_terminal() -> None:
    """With prompt, editing and history: a person's way."""
    child = pexpect.spawn(
        sys.executable,
        ["-c", "from rolf.cli import main; main(prog_name='rolf')", "play"],
        encoding="utf-8",
        timeout=30,
    )
    child.expect_exact("/home/agent$ ")
    child.sendline("cd /tmp; echo sum $((20+22))")
    child.expect_exact("sum 42")
    child.expect_exact("/tmp$ ")
    child.sendline(":diff")
    child.expect_exact("nothing differs")
    child.expect_exact("/tmp$ ")
    child.send("echo never")
    child.expect_exact("echo never")
    wait_for_silence(child)
    child.sendcontrol("c")
    child.expect_exact("/tmp$ ")
    child.sendline("echo al''ways")
    child.expect_exact("always")
    child.expect_exact("/tmp$ ")
    child.sendline(":quit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_play_interrupts_the_command_and_goes_on() -> None:
    """^C is for the program that runs, as in any terminal; the episode and its shell stay."""
    child = pexpect.spawn(
        sys.executable,
        ["-c", "from rolf.cli import main; main(prog_name='rolf')", "play"],
        encoding="utf-8",
        timeout=30,
    )
    child.expect_exact("/home/agent$ ")
    child.sendline("kept=here; cd /tmp; sleep 300; echo never")
    wait_for_program(child, "sleep")
    child.sendcontrol("c")
    child.expect_exact("exit 130")
    child.expect_exact("/tmp$ ")
    child.sendline("echo still $kept")
    child.expect_exact("still here")
    child.expect_exact("/tmp$ ")
    child.sendline(":quit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_replay_tells_equal_from_different(tmp_path: Path) -> None:
    """Exit code 0 and 1, so that a script can watch for drift."""
    import gymnasium

    import termgym
    from rolf_wrappers.record_trajectory import RecordTrajectory

    path = tmp_path / "episode.jsonl"
    env = RecordTrajectory(gymnasium.make("termgym:TermEnv-v1"), path)
    env.reset(seed=0)
    env.step(termgym.plan("echo one two"))
    env.close()
    assert rolf("replay", str(path)).returncode == 0

    path.write_text(path.read_text().replace("one two\\n", "one three\\n"))
    done = rolf("replay", str(path))
    assert done.returncode == 1
    assert "stdout" in done.stdout

    path.write_text("no trajectory\n")
    assert rolf("replay", str(path)).returncode == 2


@pytest.mark.slow
def test_demo_shows_an_episode_and_writes_a_page(tmp_path: Path) -> None:
    """The first thing that a stranger runs."""
    done = rolf("demo", "--shells", "8", "--lines", "65", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for part in ("Goal reached", "What differs", "whole reset", "steps/s", "One work order", "65 production lines"):
        assert part in done.stdout
    page = (tmp_path / "runs" / "demo" / "report.html").read_text()
    assert "The goal is reached." in page
    assert "repaired in time" in page
    assert page.count("<svg") == 4
    assert 'src="data:image/png;base64,' in page
    assert "<script" not in page
    assert "http" not in re.sub(r'"data:[^"]*"', "", page)  # nothing to fetch


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_demo_ends_at_once_when_it_is_interrupted(tmp_path: Path) -> None:
    """Thousands of lines take a while: ^C leaves no process behind, and no page that looks like a result."""
    child = pexpect.spawn(
        sys.executable,
        ["-c", "from rolf.cli import main; main(prog_name='rolf')", "demo", "--shells", "2", "--lines", "7000"],
        cwd=str(tmp_path),
        encoding="utf-8",
        timeout=20,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a run in the background ignores ^C
    )
    child.expect(r"[1-9]\d*/4200000", timeout=200)  # the bar has moved; before it does, a kernel may be compiled
    players = psutil.Process(child.pid).children(recursive=True)
    child.sendcontrol("c")
    child.expect_exact("Aborted!")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 1
    assert not psutil.wait_procs(players, timeout=30)[1]
    assert not (tmp_path / "runs" / "demo" / "report.html").read_text()


@pytest.mark.slow
def test_demo_goes_on_without_rsync(tmp_path: Path) -> None:
    """It says which line installs it, and shows the rest."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in ("bash", "bwrap", "tar", "gzip"):
        found = next(Path(where, program) for where in ("/usr/bin", "/bin") if Path(where, program).exists())
        (folder / program).symlink_to(found)
    done = rolf("demo", "--shells", "2", "--lines", "1", cwd=tmp_path, PATH=str(folder))
    assert done.returncode == 0, done.stderr
    assert "apt-get install rsync" in done.stderr
    assert "Goal reached" in done.stdout


@pytest.mark.slow
@pytest.mark.root
def test_demo_goes_on_without_a_sandbox(tmp_path: Path) -> None:
    """A machine that cannot isolate still shows a real shell, and says which line brings the rest."""
    page = tmp_path / "page.html"
    code = f"from rolf.cli import main; main(['demo', '--shells', '2', '--lines', '1', '--report', {str(page)!r}])"
    done = python_on(code, setup=("mount --bind /dev/null $(command -v bwrap)",))
    assert done.returncode == 0, done.stderr
    assert "apt-get install bubblewrap" in done.stderr
    assert "without isolation" in done.stderr
    assert "steps/s" in done.stdout
    assert "There was no goal." in page.read_text()


@pytest.mark.slow
def test_tasks_validate_says_which_are_fit() -> None:
    """Who writes a task proves it by this; each line is for a machine."""
    done = rolf("tasks", "validate", "permission-denied", "--json")
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(verdicts) == 3
    assert all(verdict["valid"] for verdict in verdicts), verdicts
    assert done.returncode == 0


@pytest.mark.nightly
def test_tasks_validate_tells_a_fault_and_goes_on(tmp_path: Path) -> None:
    """A service that never becomes ready ends one task, not the validation of all the others."""
    (tmp_path / "mine.py").write_text(
        "from termgym.tasks import Service, make_task\nfrom dataclasses import replace\n"
        "TASK = replace(make_task('config-edit', 1), id='never/ready@0',"
        " services=(Service(('sleep', '300'), ready_port=4711),))\n"
    )
    done = rolf("tasks", "validate", "mine:TASK", "config-edit@1", "--json", cwd=tmp_path)
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert done.returncode == 1, done.stderr
    assert "'sleep', '300'] is not ready" in first["fault"]
    assert (first["valid"], first["problems"]) == (False, [])
    assert (second["valid"], second["fault"]) == (True, "")


def test_report_escapes_what_a_terminal_printed(tmp_path: Path) -> None:
    """An agent's output must not become markup of the page."""
    from rolf.demo.measure import ResetCost, Throughput
    from rolf.demo.report import Report, write
    from rolf.step import Step

    evil = "</pre><script>alert(1)</script>\udcff"
    step = Step(evil, evil, evil, evil, "DONE", 0, 1.0, {evil: 1.0}, ((evil, True),), 0.1, {"success": True})
    report = Report("id", evil, evil, [step], True, [(evil, "added", None, None)], ResetCost(1, None, 1),
                    Throughput(1, 1, 1.0), [evil])  # fmt: skip
    path = tmp_path / "sub" / "page.html"
    write(report, path)
    assert "<script" not in path.read_text(encoding="utf-8")


def distribution(folder: Path, entry: str, code: str) -> str:
    """Lay out an installed distribution with a command; return the path to import from."""
    (folder / "mine-1.0.dist-info").mkdir()
    (folder / "mine-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (folder / "mine-1.0.dist-info" / "entry_points.txt").write_text(f"[rolf.commands]\n{entry}\n")
    (folder / "mine.py").write_text(code)
    return str(folder)


def test_commands_of_other_packages_are_listed_and_run(tmp_path: Path) -> None:
    """A package plugs in a command without a change here; what it prints and how it ends is its own."""
    code = "import click\n@click.command(short_help='Whistle.')\ndef command():\n    click.echo('tune')\n"
    path = distribution(tmp_path, "whistle = mine:command", code)
    assert re.search(r"^  whistle +Whistle\.$", rolf("--help", PYTHONPATH=path).stdout, re.MULTILINE)
    done = rolf("whistle", PYTHONPATH=path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "tune\n", "")


@pytest.mark.parametrize("entry", ["whistle = mine:command", "whistle = mine.gone:command", "whistle = gone:command"])
def test_a_command_that_cannot_be_imported_says_so_and_leaves_the_others(tmp_path: Path, entry: str) -> None:
    """Somebody else's broken installation must not take `rolf --help` with it."""
    path = distribution(tmp_path, entry, "")
    listed = rolf("--help", PYTHONPATH=path)
    assert listed.returncode == 0
    assert "doctor" in listed.stdout
    done = rolf("whistle", "--loud", "now", PYTHONPATH=path)
    assert done.returncode == 1
    assert entry.partition(" = ")[2] in done.stderr
    assert "cannot be imported" in done.stderr


def test_train_is_a_command_that_costs_nothing_until_it_is_called() -> None:
    """`rolf --help` lists it without PyTorch, which takes seconds to import and may not be there."""
    code = (
        "import sys\nfrom rolf.cli import main\nmain(['--help'], standalone_mode=False)\n"
        "sys.exit(bool({'torch', 'numpy', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert re.search(r"^  train +Train an agent", done.stdout, re.MULTILINE)
    assert done.returncode == 0


def test_train_without_the_extra_says_what_to_install(tmp_path: Path) -> None:
    """The command comes with the core, what it needs does not."""
    (tmp_path / "torch.py").write_text("raise ImportError('there is no torch here')\n")
    done = rolf("train", "any.yaml", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "there is no torch here" in done.stderr
    assert "pip install 'rolf[ppo]'" in done.stderr
