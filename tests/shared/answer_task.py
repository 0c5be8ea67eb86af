"""A small task folder with several verifiers: the agent is to write 42 into a file."""

from __future__ import annotations

from pathlib import Path

from termgym.image import Recipe
from termgym.tasks.task import Task
from termgym.tasks.verifier import Verifier

INSTRUCTION = "Write 42 into /app/answer.txt, and let /app/answer.sh print it."
_VERDICT = "if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n"
TESTS = {
    "test_outputs.py": "import json, subprocess\n"
    "def test_file(): assert json.loads(open('/app/answer.txt').read()) == 42\n",
    "check.py": "import json, os, re\n"
    "given = open('/app/answer.txt').read() if os.path.exists('/app/answer.txt') else ''\n"
    "print(json.dumps({'reward': float(given.strip() == '42')}))\n",
    "shell.sh": "grep -qx 42 /app/answer.txt\n" + _VERDICT,
    "script.sh": "python3 /tests/check.py > /logs/verifier/reward.json\n",
    "uvx.sh": "apt-get update && apt-get install -y curl\n"
    "curl -LsSf https://astral.sh/uv/0.9.5/install.sh | sh\n"
    "source $HOME/.local/bin/env\n"
    "uvx -p 3.13 -w pytest==8.4.1 -w pytest-json-ctrf==0.3.5 pytest --ctrf /logs/verifier/ctrf.json "
    "/tests/test_outputs.py -rA\n" + _VERDICT,
    "pip.sh": "pip install pytest==8.4.1 && python3 -m pytest /tests/test_outputs.py -rA\n" + _VERDICT,
    "copied.sh": "pip install pytest && cp /tests/test_outputs.py /app/test_it.py && cd /app && pytest test_it.py\n"
    + _VERDICT,
    "program.sh": '[ "$(bash /app/answer.sh)" = 42 ]\n' + _VERDICT,
    "run-tests.sh": "curl -LsSf https://astral.sh/uv/0.7.13/install.sh | sh\nsource $HOME/.local/bin/env\n"
    "uv init\nuv add pytest==8.4.1\nuv run pytest $TEST_DIR/test_outputs.py -rA\n",
}
"""Verifiers as they are to be found: shell alone, a program in Python, pytest in three ways, Terminal-Bench's."""


def write(place: Path) -> Path:
    """Write the task's environment and its verifiers, each in a directory of its own."""
    (place / "environment").mkdir()
    (place / "environment/Dockerfile").write_text("FROM debian:12\nWORKDIR /app\n")
    for script in TESTS:
        if script.endswith(".sh"):
            tests = place / script.removesuffix(".sh")
            tests.mkdir()
            for name in (script, "check.py", "test_outputs.py"):
                (tests / name).write_text(TESTS[name])
    return place


def task(folder: Path, verifier: str, **fields: object) -> Task:
    """Return the task with one of its verifiers."""
    context = folder / "environment"
    judge = Verifier(
        str(folder / verifier),
        ("bash", f"/tests/{verifier}.sh"),
        timeout=60,
        env={"TEST_DIR": "/tests"},
        format="pytest" if verifier == "run-tests" else "reward",
        **fields,  # type: ignore[arg-type]  # of Verifier
    )
    recipe = Recipe(context=str(context), dockerfile=str(context / "Dockerfile"))
    return Task(f"answer/{verifier}", INSTRUCTION, image=recipe, verifier=judge, allowed=("/**",))
