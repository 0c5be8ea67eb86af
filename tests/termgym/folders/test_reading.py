from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from termgym.folders import FolderTask, find_folders, read_folder
from termgym.image import Recipe
from termgym.tasks.task import Limits

Where = Callable[[str], Path]
FIXTURES = Path(__file__).parent / "fixtures"
ALL = sorted(path.name for path in FIXTURES.iterdir())


def files(place: str) -> dict[str, str]:
    """Return the text of each file in a directory, and each link as ``-> target``."""
    top = Path(place)
    found = {}
    for path in sorted(top.rglob("*")):
        name = str(path.relative_to(top))
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        elif path.is_file():
            found[name] = path.read_text(errors="replace")
    return found


def test_there_are_enough_fixtures() -> None:
    assert len(ALL) >= 30
    assert find_folders(FIXTURES) == tuple(FIXTURES / name for name in ALL)


@pytest.mark.parametrize("name", ALL)
def test_every_fixture_is_read_and_says_its_corner(name: str, folder: Where) -> None:
    found = read_folder(folder(name))
    assert found.task.instruction.strip()
    assert (folder(name) / "README.md").read_text().count("\n") == 1
    kind, schema = (
        ("terminal-bench", {"1"}) if name.startswith("bench-") else ("harbor", {"1.0", "1.1", "1.2", "1.3", "1.4"})
    )
    assert found.kind == kind
    assert found.schema in schema
    assert found.task.verifier is not None or found.task.stages


def test_equal_content_is_an_equal_task_wherever_it_lies(altered: Callable[..., Path], folder: Where) -> None:
    assert read_folder(altered("harbor-context")).task == read_folder(folder("harbor-context")).task


def test_an_edited_folder_is_another_task_and_leaves_the_one_that_was_read(altered: Callable[..., Path]) -> None:
    path = altered("harbor-minimal")
    before = read_folder(path).task
    (path / "tests" / "test.sh").write_text("#!/bin/bash\n")
    after = read_folder(path).task
    assert before != after
    assert before.verifier is not None
    assert "reward.txt" in files(before.verifier.directory)["test.sh"]


def test_permission_bits_are_content_too(altered: Callable[..., Path], folder: Where) -> None:
    path = altered("harbor-context")
    (path / "environment" / "src" / "tool.x").chmod(0o644)
    found = read_folder(path).task.image
    assert found != read_folder(folder("harbor-context")).task.image
    assert found is not None
    assert (Path(found.context) / "src" / "tool.x").stat().st_mode & 0o777 == 0o644


def test_defaults_are_the_formats(folder: Where) -> None:
    for name in ("harbor-minimal", "harbor-empty-toml"):
        task = read_folder(folder(name)).task
        assert task.id == name
        assert task.image is not None
        assert Path(task.image.dockerfile).read_text() == "FROM debian:bookworm-slim\nWORKDIR /app\n"
        assert (task.image.timeout, task.image.env, task.image.cwd, task.image.user) == (600.0, {}, "", "")
        assert task.verifier is not None
        assert task.verifier.command == ("bash", "/tests/test.sh")
        assert (task.verifier.timeout, task.verifier.format, task.verifier.user) == (600.0, "reward", "")
        assert task.solution is not None
        assert task.solution.env == {"DEBIAN_FRONTEND": "noninteractive"}
        assert task.allowed == ("/**",)
        assert task.limits.memory_bytes == 2 << 30
        assert task.agent_timeout is None
        assert task.stages == ()


def test_the_oldest_form(folder: Where) -> None:
    found = read_folder(folder("harbor-version-1-0"))
    assert found.schema == "1.0"
    assert found.metadata["author_name"] == "A. Author"
    assert found.metadata["expert_time_estimate_min"] == 5.0
    assert found.task.tags == ("files", "beginner")
    assert found.task.agent_timeout == 120.0
    assert found.task.verifier is not None
    assert found.task.verifier.timeout == 60.0
    assert found.task.image is not None
    assert found.task.image.timeout == 300.0
    assert found.task.limits == Limits(
        memory_bytes=2 << 30, processes=1024, cpu_cores=1.0, file_bytes=10 << 30, disk_bytes=10 << 30
    )
    assert found.unknown == ()


def test_limits_in_mebibytes(folder: Where) -> None:
    limits = read_folder(folder("harbor-limits")).task.limits
    assert (limits.cpu_cores, limits.memory_bytes, limits.disk_bytes) == (1.5, 768 << 20, 2048 << 20)


def test_a_size_without_a_unit_is_passed_over(altered: Callable[..., Path]) -> None:
    path = altered("harbor-minimal", task_DOT_toml="[environment]\nmemory = 2048\nstorage_mb = 1024\n")
    limits = read_folder(path).task.limits
    assert (limits.memory_bytes, limits.disk_bytes) == (2 << 30, 1 << 30)


def test_a_package_gives_its_name_and_keywords(folder: Where) -> None:
    found = read_folder(folder("harbor-package"))
    assert found.task.id == "example-org/say-hello"
    assert found.task.tags == ("hello", "files")
    assert [author["name"] for author in found.metadata["task"]["authors"]] == ["A. Author", "B. Author"]


def test_unknown_keys_are_told_with_their_lines(folder: Where) -> None:
    assert read_folder(folder("harbor-unknown-keys")).unknown == (
        "colour (task.toml, line 2)",
        "future (task.toml, line 16)",
        "verifier.retries (task.toml, line 6)",
        "environment.flavour (task.toml, line 10)",
        "environment.healthcheck.jitter (task.toml, line 14)",
    )
    assert read_folder(folder("bench-unknown-keys")).unknown == (
        "descriptions (task.yaml, line 14)",
        "max_steps_hint (task.yaml, line 19)",
        "test_weights (task.yaml, line 17)",
    )


def test_an_image_without_a_dockerfile(folder: Where) -> None:
    assert read_folder(folder("harbor-image-only")).task.image == Recipe(reference="debian:bookworm-slim", cwd="/app")
    both = read_folder(folder("harbor-image-and-dockerfile"))
    assert both.task.image is not None
    assert both.task.image.reference == ""
    assert "the Dockerfile beside it is built instead" in both.notes[0]


def test_the_host_gives_no_variable_unasked(folder: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBOR_FIXTURE_JUDGE_KEY", "a secret")
    monkeypatch.setenv("HARBOR_FIXTURE_REGION", "us")
    found = read_folder(folder("harbor-variables"))
    assert found.task.image is not None
    assert found.task.image.env == {"MODE": "test", "REGION": "eu", "NOT_ONE": "a ${HOME} b"}
    assert found.task.verifier is not None
    assert found.task.verifier.env == {"STRICT": "1"}
    assert found.task.solution is not None
    assert found.task.solution.env == {"DEBIAN_FRONTEND": "noninteractive", "ANSWER": "hello"}
    assert "HARBOR_FIXTURE_REGION was not offered, so its default is taken" in found.notes[0]
    assert "HARBOR_FIXTURE_JUDGE_KEY was not offered, so it is not set" in found.notes[1]
    assert "a secret" not in repr(found)


def test_the_host_gives_what_is_offered_by_name(folder: Where) -> None:
    offered = {"HARBOR_FIXTURE_JUDGE_KEY": "key", "HARBOR_FIXTURE_REGION": "us"}
    found = read_folder(folder("harbor-variables"), host_env=offered)
    assert found.task.image is not None
    assert found.task.image.env["REGION"] == "us"
    assert found.task.verifier is not None
    assert found.task.verifier.env == {"STRICT": "1", "JUDGE_KEY": "key"}
    assert found.notes == ()


def test_users_and_the_working_directory(folder: Where) -> None:
    task = read_folder(folder("harbor-users")).task
    assert task.image is not None
    assert (task.image.user, task.image.cwd) == ("1000", "/srv/work")
    assert task.verifier is not None
    assert task.verifier.user == "nobody"


def test_what_is_left_out_is_told(folder: Where) -> None:
    notes = "\n".join(read_folder(folder("harbor-left-out")).notes)
    for name in ("healthcheck", "mcp_servers", "skills_dir", "gpus", "verifier.collect", "artifacts"):
        assert name in notes
    assert "leave network=False" in read_folder(folder("harbor-no-internet")).notes[0]
    assert "lists of hosts are not supported" in read_folder(folder("harbor-network-list")).notes[0]
    assert "container of its own" in read_folder(folder("harbor-verifier-apart")).notes[0]
    assert "nobody can tell whether it can be solved" in read_folder(folder("harbor-no-solution")).notes[0]


def test_canaries_are_not_shown(folder: Where) -> None:
    wanted = "Write the word hello into /app/hello.txt."
    assert read_folder(folder("harbor-canary")).task.instruction.startswith(f"{wanted}\n\nNo `# canary`")
    assert read_folder(folder("bench-canary")).task.instruction == f"{wanted}\n"


def test_rules_leave_files_out(folder: Where) -> None:
    task = read_folder(folder("harbor-ignore")).task
    assert task.verifier is not None
    assert set(files(task.verifier.directory)) == {"test.sh", "data/keep.log"}
    assert task.solution is not None
    assert set(files(task.solution.directory)) == {"solve.sh"}


def test_links_stay_within_what_they_belong_to(folder: Where) -> None:
    task = read_folder(folder("harbor-links")).task
    assert task.verifier is not None
    found = files(task.verifier.directory)
    assert found["alias.txt"] == "-> own.txt"
    assert (found["words.txt"], found["more/list.txt"]) == ("hello\n", "one\n")
    assert task.image is not None
    assert files(task.image.context)["absolute"] == "-> /usr/bin/env"


def test_a_context_keeps_its_modes_and_ignored_files(folder: Where) -> None:
    image = read_folder(folder("harbor-context")).task.image
    assert image is not None
    context = Path(image.context)
    assert (context / "src" / "tool.x").stat().st_mode & 0o777 == 0o755
    assert (context / "src" / "deep" / "er" / "data.bin").read_bytes() == bytes(range(256))
    assert (context / ".dockerignore").exists()


def test_a_compose_file_with_one_service(folder: Where) -> None:
    image = read_folder(folder("harbor-compose-main")).task.image
    assert image is not None
    assert (image.env, image.cwd) == ({"A": "from compose", "B": "from toml"}, "/srv")
    task = read_folder(folder("harbor-compose-build")).task
    assert task.image is not None
    assert Path(task.image.dockerfile).name == "Containerfile"
    assert (task.image.arguments, task.image.target) == ({"WHO": "world"}, "second")
    assert (task.limits.cpu_cores, task.limits.memory_bytes) == (0.5, 512 << 20)


def test_carriage_returns_and_marks_of_windows(folder: Where) -> None:
    for name in ("harbor-crlf", "harbor-bom"):
        assert read_folder(folder(name)).task.instruction == "Write the word hello into /app/hello.txt.\n"


def test_what_the_formats_cannot_say(folder: Where) -> None:
    task = read_folder(folder("harbor-house")).task
    assert (task.max_steps, task.allowed) == (12, ("/app/**",))


def test_other_forms_of_toml(folder: Where) -> None:
    found = read_folder(folder("harbor-toml-forms"))
    assert found.metadata["note"].startswith("verifier")
    assert found.task.verifier is not None
    assert found.task.verifier.env == {"A.B": "c"}
    assert found.task.image is not None
    assert found.task.image.env == {"ONE": "1", "TWO": "two"}
    assert found.unknown == ()


def test_steps_with_tests_of_their_own(folder: Where) -> None:
    task = read_folder(folder("harbor-steps")).task
    first, second = task.stages
    assert (task.verifier, task.solution, task.stage_reward) == (None, None, "mean")
    assert task.instruction == first.instruction == "Make /app/one.\n"
    assert second.instruction == "Make /app/two.\n"
    assert (first.verifier.timeout, second.verifier.timeout) == (20.0, 600.0)
    assert (first.verifier.env, second.verifier.env) == ({"BOTH": "1"}, {"BOTH": "1", "SECOND": "1"})
    assert first.solution is not None
    assert files(first.solution.directory) == {"solve.sh": "#!/bin/bash\ntouch /app/one\n"}


def test_steps_that_share(folder: Where) -> None:
    task = read_folder(folder("harbor-steps-shared")).task
    begin, end = task.stages
    assert task.stage_reward == "final"
    assert (begin.least_reward, end.least_reward) == (0.5, None)
    assert set(files(begin.verifier.directory)) == {"test.sh", "shared.sh"}
    assert "-ge 2" in files(end.verifier.directory)["shared.sh"]
    assert begin.solution == end.solution
    assert set(files(begin.workdir)) == {"stage.sh"}
    assert set(files(end.workdir)) == {"setup.sh"}


def test_a_steps_link_hides_the_directory_that_all_steps_share(altered: Callable[..., Path]) -> None:
    path = altered("harbor-steps-shared")
    (path / "tests" / "data").mkdir()
    (path / "tests" / "data" / "list.txt").write_text("of all\n")
    own = path / "steps" / "end" / "tests"
    (own / "real").mkdir()
    (own / "real" / "list.txt").write_text("own\n")
    (own / "data").symlink_to("real")
    begin, end = read_folder(path).task.stages
    assert files(begin.verifier.directory)["data/list.txt"] == "of all\n"
    found = files(end.verifier.directory)
    assert (found["data"], found["real/list.txt"]) == ("-> real", "own\n")
    assert "data/list.txt" not in found


def test_the_runner_hides_what_the_tests_have_of_its_name(altered: Callable[..., Path]) -> None:
    path = altered("bench-usual")
    (path / "tests" / "run-tests.sh").mkdir()
    (path / "tests" / "run-tests.sh" / "x").touch()
    verifier = read_folder(path).task.verifier
    assert verifier is not None
    assert set(files(verifier.directory)) == {"run-tests.sh", "test_outputs.py"}


def test_a_gate_of_several_rewards(folder: Where) -> None:
    found = read_folder(folder("harbor-steps-gates"))
    assert found.task.stages[0].least_reward == 0.8
    assert "min_reward for style is not looked at" in found.notes[0]


def test_the_usual_terminal_bench_folder(folder: Where) -> None:
    found = read_folder(folder("bench-usual"))
    task = found.task
    assert task.verifier is not None
    assert set(files(task.verifier.directory)) == {"run-tests.sh", "test_outputs.py"}
    assert task.verifier.command == ("bash", "/tests/run-tests.sh")
    assert (task.verifier.format, task.verifier.timeout) == ("pytest", 60.0)
    assert task.verifier.env == {"TEST_DIR": "/tests"}
    assert task.solution is not None
    assert task.solution.command == ("bash", "/solution/solution.sh")
    assert task.image is not None
    assert task.image.env == {"TEST_DIR": "/tests"}
    assert (task.tags, task.agent_timeout) == (("files",), 360.0)
    assert found.metadata["difficulty"] == "easy"
    assert found.notes == ()


def test_commands_become_plans(folder: Where) -> None:
    task = read_folder(folder("bench-commands")).task
    assert task.solution is None
    assert [plan.command.splitlines()[0] for plan in task.oracle] == [
        "mkdir -p /app",
        "cat > /app/hello.txt <<'EOF'",
        "sleep 0.1",
    ]
    assert [plan.timeout for plan in task.oracle] == [180.0, 10.0, 7.0]
    assert {plan.expected_exit_code for plan in task.oracle} == {None}


def test_keystrokes_become_answers(folder: Where) -> None:
    editor, last = read_folder(folder("bench-keys")).task.oracle
    assert editor.command == "vi -i NONE /app/hello.txt"
    assert [exchange.send for exchange in editor.dialogue] == ["ihello\x1b:wq\r"]
    assert (last.command, last.dialogue) == ("echo done", ())


def test_variables_of_a_compose_file(folder: Where) -> None:
    image = read_folder(folder("bench-image")).task.image
    assert image == Recipe(
        reference="debian:bookworm-slim",
        env={"TEST_DIR": "/tests", "LEVEL": "3", "PRICE": "5$"},
        cwd="/app",
        user="root",
    )
    assert image.env == {"TEST_DIR": "/tests", "LEVEL": "3", "PRICE": "5$"}


def test_a_build_of_a_compose_file(folder: Where) -> None:
    found = read_folder(folder("bench-build"))
    assert found.task.image is not None
    assert found.task.image.arguments == {"COLOUR": "red", "DEEP": "true"}
    assert (found.task.limits.memory_bytes, found.task.limits.cpu_cores) == (512 << 20, 0.5)
    assert "box.cap_add is not supported" in found.notes[0]


def test_what_terminal_bench_asks_for_in_vain_is_told(folder: Where) -> None:
    assert "files alone" in read_folder(folder("bench-same-shell")).notes[1]
    assert sum("is not mounted" in note for note in read_folder(folder("bench-volumes")).notes) == 2
    assert "neither solution.sh nor solution.yaml" in read_folder(folder("bench-no-tests")).notes[0]


def test_a_folder_task_names_its_folder(folder: Where) -> None:
    found = read_folder(str(folder("harbor-minimal")))
    assert isinstance(found, FolderTask)
    assert found.path == str(folder("harbor-minimal"))
    assert found.source == 'schema_version = "1.4"\n'
