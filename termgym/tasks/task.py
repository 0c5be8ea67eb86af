"""Task: everything an episode needs to know about what is to be done, as plain data.

Each value is looked at when it is written down, and a wrong one raises `TaskError`. Lists become tuples, so that a task
can be hashed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from termgym.checks import Check
from termgym.image.recipe import Recipe
from termgym.plan import ActionPlan
from termgym.tasks import fields as values
from termgym.tasks.verifier import Solution, Stage, Verifier

HOME = "/home/agent"
"""The agent's home, the same on every backend but ``local-unsafe``."""


@dataclass(frozen=True, slots=True)
class FileSpec:
    """One file of the initial state. Parents are made as needed; everything belongs to the agent."""

    path: str
    """Absolute path as the agent sees it, under a writable root (/home, /tmp, /srv, /dev/shm)."""
    content: bytes = b""
    mode: int = 0o644
    """Permission bits. A directory wants ``0o755``: without an x bit nobody can enter it."""
    kind: str = "file"
    """``file``, ``dir`` or ``symlink`` (then ``content`` is the target)."""

    def __post_init__(self) -> None:
        values.check_inside("FileSpec: path", self.path)
        at = f"FileSpec {self.path!r}: "
        if type(self.content) is not bytes:
            advice = "give bytes, such as b'text\\n' or text.encode()"
            raise values.fault(f"{at}content", self.content, f"is of type {type(self.content).__name__}", advice)
        values.check_mode(f"{at}mode", self.mode)
        if self.kind not in values.KINDS:
            raise values.fault(f"{at}kind", self.kind, "is unknown", f"allowed are {', '.join(values.KINDS)}")
        if self.kind == "symlink" and not self.content:
            raise values.fault(f"{at}content", self.content, "is no target of a symlink", "give what it points at")
        if self.kind == "dir" and self.content:
            raise values.fault(f"{at}content", self.content, "is for files and symlinks", "leave it out of a dir")


@dataclass(frozen=True, slots=True)
class Service:
    """A program that runs when the episode starts, as the agent's user, before the shell."""

    argv: tuple[str, ...]
    ready_port: int | None = None
    """TCP port on loopback whose opening says that the program is ready."""
    ready_path: str | None = None
    """Path whose existence says that the program is ready."""
    cwd: str = HOME

    def __post_init__(self) -> None:
        _put(self, "argv", values.texts("argv", self.argv))
        if not self.argv:
            raise values.fault("argv", self.argv, "names no program", "give a program and its arguments")
        if self.ready_port is not None:
            values.check_number("ready_port", self.ready_port, 1, 65_535)
        if self.ready_path is not None:
            values.check_absolute("ready_path", self.ready_path)
        values.check_absolute("cwd", self.cwd)


@dataclass(frozen=True, slots=True)
class Limits:
    """What an episode may use. None means no limit of that kind."""

    memory_bytes: int | None = 1 << 30
    """Memory of all processes together [bytes]."""
    processes: int | None = 256
    """Processes and threads alive at once."""
    cpu_cores: float | None = None
    """CPU time per wall time [cores]."""
    file_bytes: int | None = 1 << 30
    """Largest file that may be written [bytes]."""
    disk_bytes: int | None = 1 << 30
    """All that the episode may write [bytes] (memory-backed snapshots)."""

    def __post_init__(self) -> None:
        for each in ("memory_bytes", "processes", "file_bytes", "disk_bytes"):
            if getattr(self, each) is not None:
                values.check_number(each, getattr(self, each), 1)
        if self.cpu_cores is not None:
            values.check_number("cpu_cores", self.cpu_cores, 0.01, whole=False)


@dataclass(frozen=True, slots=True)
class Task:
    """One instance of a task: family, cause and world seed already chosen."""

    id: str
    """``family/cause@seed``, e.g. ``git-dirty-pull/modified@7``: how reports call it. Free for a task of your own."""
    instruction: str
    """What the agent is asked to do, in a person's words; names the symptom, never the cause."""
    goal: tuple[Check, ...] = ()
    """All must hold for success. Empty: the episode has no goal (free shell). A mapping such as
    ``{"type": "file_exists", "path": …}`` is taken as the check that it describes."""
    files: tuple[FileSpec, ...] = ()
    setup: str = ""
    """Bash script run once, as the agent in $HOME inside a sandbox without network, to finish the initial state.
    Its result is frozen (modification times set to SOURCE_DATE_EPOCH) and shared by every task with the same ``files``,
    ``setup`` and ``tree``."""
    tree: str | None = None
    """Host directory that is copied to become the initial $HOME, before ``files`` and ``setup``."""
    services: tuple[Service, ...] = ()
    read_only: tuple[str, ...] = ()
    """Paths of the initial state that are mounted read-only."""
    allowed: tuple[str, ...] = (f"{HOME}/**",)
    """Globs (``**`` crosses directories) of paths that may change without state drift."""
    required_env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Shell variables that must have these values for the environment to count as active; ``*``: any non-empty."""
    limits: Limits = field(default_factory=Limits)
    oracle: tuple[ActionPlan, ...] = ()
    """Plans that reach the goal: the proof that it can be reached. What ``termgym.plan`` returns is taken as well."""
    max_steps: int = 30
    symptom: tuple[ActionPlan, ...] = ()
    """Plans that show what the instruction complains of: in the initial state each ends with its expected exit status
    and its validation steps hold. ``validate`` runs them, episodes do not."""
    tags: tuple[str, ...] = ()
    family: str = ""
    cause: str = ""
    seed: int = 0
    image: Recipe | None = None
    """A root filesystem of its own, for task folders: then the agent is the image's user, everything in it is part of
    the initial state, and ``files``, ``setup``, ``tree`` and ``read_only`` stay empty. None: the host's programs."""
    verifier: Verifier | None = None
    """Says how well it was done, when the episode ends; then ``goal`` is empty."""
    solution: Solution | None = None
    """The oracle that goes with it; then ``oracle`` is empty."""
    stages: tuple[Stage, ...] = ()
    """What the task asks for one after the other; then ``verifier`` and ``solution`` are None."""
    stage_reward: str = "mean"
    """How the rewards of the stages become one: ``mean`` or ``final``."""
    agent_timeout: float | None = None
    """Wall time that the task's author gives an agent [s]. Told, not enforced: it would confound skill with speed."""

    def __post_init__(self) -> None:
        values.check_text("id", self.id, empty=False)
        for each in ("instruction", "setup", "family", "cause"):
            values.check_text(each, getattr(self, each))
        if self.tree is not None:
            _put(self, "tree", values.directory("tree", self.tree))
        _put(self, "goal", values.checks("goal", self.goal))
        _put(self, "files", values.instances("files", self.files, FileSpec))
        _put(self, "services", values.instances("services", self.services, Service))
        _put(self, "read_only", values.paths("read_only", self.read_only))
        _put(self, "allowed", values.globs("allowed", self.allowed))
        _put(self, "required_env", values.variables("required_env", self.required_env))
        if not isinstance(self.limits, Limits):
            raise values.fault("limits", self.limits, f"is of type {type(self.limits).__name__}", "give a Limits")
        _put(self, "oracle", values.plans("oracle", self.oracle))
        _put(self, "symptom", values.plans("symptom", self.symptom))
        _put(self, "tags", values.texts("tags", self.tags))
        values.check_number("max_steps", self.max_steps, 1)
        values.check_number("seed", self.seed, 0)
        if self.agent_timeout is not None:
            values.check_number("agent_timeout", self.agent_timeout, 0, whole=False)
        self._check_folder()

    def _check_folder(self) -> None:
        """Refuse what a task folder brings in a form, or beside something, that nothing can be made of."""
        for name, kind in (("image", Recipe), ("verifier", Verifier), ("solution", Solution)):
            values.check_kind(name, getattr(self, name), kind)
        _put(self, "stages", values.instances("stages", self.stages, Stage))
        if self.stage_reward not in ("mean", "final"):
            raise values.fault("stage_reward", self.stage_reward, "is unknown", "allowed are 'mean' and 'final'")
        rivals = {
            "image": ("files", "setup", "tree", "read_only") if self.image else (),
            "verifier": ("goal", "stages") if self.verifier else (),
            "solution": ("oracle", "stages") if self.solution else (),
        }
        for name, others in rivals.items():
            for other in others:
                if getattr(self, other):
                    raise values.fault(other, getattr(self, other), f"stands beside {name}", "give one of the two")


def _put(owner: Task | Service, name: str, value: object) -> None:
    # Frozen for everybody else; what is put is the same value in the form that the field promises.
    object.__setattr__(owner, name, value)
