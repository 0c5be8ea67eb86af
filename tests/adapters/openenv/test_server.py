"""A real server process with real shells, and OpenEnv's own protocol in between."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
from click.testing import CliRunner

from rolf_adapters.openenv import DeadlineError, EpisodeClient, NotResetError, Told, ToolCall, write_folder
from rolf_adapters.openenv.__main__ import main

SESSIONS = 32
GONE = 20.0
"""How long a server may take to be gone with all that it has started [s]."""

pytestmark = pytest.mark.slow


class Server(NamedTuple):
    url: str
    process: psutil.Process


@contextmanager
def served(command: list[str], folder: Path) -> Iterator[Server]:
    """Run a server until the context ends, and see that nothing stays behind."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert process.stdout is not None
        yield Server(process.stdout.readline().strip(), psutil.Process(process.pid))
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=GONE)
        assert psutil.wait_procs(family, timeout=GONE)[1] == []
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    command = ["-m", "rolf_adapters.openenv", "termgym:TermEnv-v1", "--port", "0", "--sessions", str(SESSIONS)]
    with served([*command, "--deadline", "60"], tmp_path_factory.mktemp("terminal")) as server:
        yield server


def run(command: str) -> ToolCall:
    return ToolCall(tool="run", arguments={"command": command})


def test_it_listens_to_this_machine_alone(terminal: Server) -> None:
    """Whoever reaches the port has a shell."""
    ports = [each for each in terminal.process.net_connections("inet") if each.status == "LISTEN"]
    assert [each.laddr.ip for each in ports] == ["127.0.0.1"]
    assert terminal.url == f"http://127.0.0.1:{ports[0].laddr.port}"


def test_32_sessions_at_once_have_shells_of_their_own(terminal: Server) -> None:
    """Variables, files and directories of one are not those of another; one session more is refused."""

    async def session(number: int, all_there: asyncio.Barrier) -> tuple[str, bool]:
        async with EpisodeClient(base_url=terminal.url) as env:
            begun = await env.reset(seed=number)
            assert not begun.done
            assert [each["function"]["name"] for each in begun.observation.tools] == ["run", "keys", "submit"]
            await env.step(run(f"mine={number}; echo {number} >> ~/note; mkdir -p ~/{number} && cd ~/{number}"))
            await all_there.wait()
            if number == 0:
                async with EpisodeClient(base_url=terminal.url) as one_more:
                    with pytest.raises(RuntimeError, match="CAPACITY_REACHED"):
                        await one_more.reset()
            await all_there.wait()
            told = (await env.step(run("echo $mine $(cat ~/note) ${PWD##*/} $(ls ~ | wc -l)"))).observation
            ended = await env.step(ToolCall(tool="submit"))
            return told.text, ended.done

    async def together() -> list[tuple[str, bool]]:
        all_there = asyncio.Barrier(SESSIONS)
        return await asyncio.gather(*(session(number, all_there) for number in range(SESSIONS)))

    for number, (text, done) in enumerate(asyncio.run(together())):
        assert f"<stdout>\n{number} {number} {number} 2\n</stdout>" in text
        assert done


def test_errors_come_back_as_what_they_are(terminal: Server) -> None:
    """And the session lives on."""
    with EpisodeClient(base_url=terminal.url).sync() as env:
        with pytest.raises(NotResetError, match="no episode has begun; reset first"):
            env.step(run("true"))
        with pytest.raises(RuntimeError, match="reset has no sed"):
            env.reset(sed=3)
        env.reset(seed=3, episode_id="mine")
        told = env.step(run("echo here")).observation
        assert isinstance(told, Told)
        assert "<stdout>\nhere\n" in told.text
        state = env.state()
        assert (state.episode_id, state.seed, state.step_count, state.running) == ("mine", 3, 1, True)
        assert env.step(ToolCall(tool="fly")).observation.malformed.startswith("no tool is named 'fly'")


def test_openenv_finds_the_running_server_sound(terminal: Server) -> None:
    command = [sys.executable, "-m", "openenv.cli", "validate", "--url", terminal.url, "--timeout", "60"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Verdict: PASS" in done.stdout


def test_a_written_folder_is_valid_and_serves_a_line(tmp_path: Path) -> None:
    """What OpenEnv's own commands take; its server has a deadline that a client meets."""
    folder = tmp_path / "line_env"
    write_folder(folder, "linegym:LineEnv-v1", {"horizon": 2}, rewards=(-1000.0, 100.0), deadline=0.001)
    command = [sys.executable, "-m", "openenv.cli", "validate", str(folder), "--level", "static"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Verdict: PASS" in done.stdout
    with (
        served(["-m", "server.app", "--port", "0"], folder) as server,
        EpisodeClient(base_url=server.url).sync() as env,
        pytest.raises(DeadlineError, match=r"the reset took longer than 0\.001 s"),
    ):
        env.reset(seed=7)


@pytest.mark.parametrize(
    ("name", "rewards", "kind", "wrong"),
    [
        ("Line Env", (0.0, 1.0), ValueError, "the folder is called 'Line Env'; give lower-case letters"),
        ("line_env", (1.0, 1.0), ValueError, r"rewards=\(1.0, 1.0\); give the least and the greatest"),
        ("there", (0.0, 1.0), FileExistsError, "there"),
    ],
)
def test_folders_that_will_not_do(
    tmp_path: Path, name: str, rewards: tuple[float, float], kind: type[Exception], wrong: str
) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(kind, match=wrong):
        write_folder(tmp_path / name, "linegym:LineEnv-v1", rewards=rewards)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["--arguments", "{"], "is not JSON"),
        (["--arguments", "[]"], "is no object"),
        (["--sessions", "0"], "sessions=0; give at least one"),
        (["--deadline", "0"], "deadline=0.0"),
    ],
)
def test_usage_errors_are_told(arguments: list[str], wrong: str) -> None:
    done = CliRunner().invoke(main, ["linegym:LineEnv-v1", *arguments])
    assert done.exit_code == 2
    assert wrong in done.stderr


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        (["nosuch:Foo-v0"], "No module named 'nosuch'"),
        (["linegym:LineEnv-v9"], "LineEnv"),
        (["CartPole-v1"], "CartPole-v1 has no tools to be called"),
        (["linegym:LineEnv-v1", "--arguments", '{"horizn": 3}'], "did you mean 'horizon'"),
    ],
)
def test_what_cannot_be_played_is_not_served(asked: list[str], wrong: str) -> None:
    """Told to who starts the server, and not to each client."""
    done = CliRunner().invoke(main, [*asked, "--port", "0"])
    assert done.exit_code == 2
    assert wrong in done.stderr


def test_a_port_that_is_taken_is_told_in_a_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(main, ["linegym:LineEnv-v1", "--port", str(port)])
    assert done.exit_code == 1
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in done.stderr
