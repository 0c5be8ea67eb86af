"""Run: a training under way: its learner, its files, and how far it has come."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import torch

from rolf.evaluation import atomic
from rolf.variant import canonical
from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.checkpoint import Checkpoint, CheckpointError, Checkpoints, difference, versions
from rolf_adapters.ppo.config import Config, builder, checked
from rolf_adapters.ppo.learner import Diverged, GoesBack, KeepsFiles, Learner, Measures, State
from rolf_adapters.ppo.metrics import METRICS, Metrics
from rolf_adapters.ppo.reading import ConfigError
from rolf_adapters.ppo.refusals import REFUSALS, refused
from rolf_adapters.ppo.stages import Gates, Verdict

CONFIG, CHECKPOINTS = "config.yaml", "checkpoints"
Found = TypeVar("Found")


class TrainingError(RuntimeError):
    """A training that cannot begin or go on; says why and what to do."""


class Run:
    """A training under way. Of several processes, the first writes the files.

    Args:
        config: What is trained.
        out: The training's folder; it is made.
        resume: Whether to go on with what lies there.
        tell: Called with what people should know.

    Raises:
        TrainingError: the folder holds a training and ``resume`` is False, or another process trains there.
        ConfigError: the learner cannot be made like this.
        CheckpointError: what lies there is of another training, or nothing of it is whole.
        SystemExit: another process raises one of these, and speaks for all.
    """

    def __init__(self, config: Config, out: Path, *, resume: bool, tell: Callable[[str], None]) -> None:
        self.config = config
        self.out = out
        self.iteration = self.rollbacks = 0
        self.ended = ""
        """Why a gate has ended the training."""
        self.gates = Gates(config.stages.gates)
        self.checkpoints = Checkpoints(out / CHECKPOINTS, config.logging.checkpoints)
        self._tell = tell
        self._first = parallel.rank() == 0
        new = self._first and not out.exists()
        self._lock = -1
        self._metrics: Metrics | None = None
        self._saved: tuple[int, int] | None = None
        self._learner: Learner | None = None
        try:
            self._agreed(lambda: self._enter(resume))  # nobody looks into the folder before the first has
            self._open(resume)
        except BaseException:
            mine = new and self._lock >= 0
            self.close()
            if mine:
                with contextlib.suppress(OSError):  # something was written, and stays
                    out.rmdir()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def learner(self) -> Learner:
        """What learns; another one after the training has gone back."""
        assert self._learner is not None
        return self._learner

    @property
    def over(self) -> bool:
        """Whether nothing is left to be done."""
        return bool(self.ended) or self.iteration >= self.config.training.iterations

    @property
    def evaluates(self) -> bool:
        """Whether this iteration is followed by an evaluation."""
        every, done = self.config.training.evaluate_every, self.iteration + 1
        return done == self.config.training.iterations or (every > 0 and done % every == 0)

    @property
    def scheduled(self) -> bool:
        """Whether a checkpoint is due, however long the training is, and whatever stops it."""
        # After the first too: it may have been a warm start, which takes as long as many others.
        return self.iteration == 1 or self.iteration % self.config.logging.checkpoint_every == 0

    def log(self, values: Mapping[str, float], **said: str) -> None:
        """Write down what this iteration measured, or what happened in it.

        Raises:
            TrainingError: it cannot be written.
        """
        if self._metrics is not None:
            with self._writing():
                self._metrics.add({"iteration": self.iteration, "rollbacks": self.rollbacks, **said}, values)

    def judge(self, values: Mapping[str, float]) -> Verdict | None:
        """Return what the gates say of what this iteration measured; see `Gates.see`."""
        verdict = self.gates.see(self.iteration, values)
        if not isinstance(self.learner, Measures):  # one that says what it measures was asked before
            self._say(*self.gates.doubts(evaluated=self.evaluates))
        return verdict

    def save(self) -> None:
        """Write a checkpoint, unless it is there already.

        One that an undisturbed, or a longer, training would not have is none to go back to: that would go another way.

        Raises:
            Diverged: the state holds what is no number.
            TrainingError: it cannot be written, or processes that learn as one have come to different states.
        """
        if self._saved == (self.rollbacks, self.iteration):
            return
        self._write(self.learner.state(), good=self.scheduled and self.gates.calm)

    def go_back(self, reason: str, advice: str) -> None:
        """Go back to the last good checkpoint, with smaller learning rates.

        Args:
            reason: For people: why.
            advice: For people: what to do where it may not go back any more.

        Raises:
            TrainingError: that was done as often as it may be.
        """
        stages = self.config.stages
        if self.rollbacks >= stages.rollbacks:
            times = f"has gone back {self.rollbacks} times" if self.rollbacks else "may not go back (stages.rollbacks)"
            raise TrainingError(
                f"iteration {self.iteration}: {reason}; the training {times}. The last checkpoints are in "
                f"{str(self.checkpoints.folder)!r}: {advice}"
            )
        found, wrong = self.checkpoints.last_good()
        if found is None:
            raise TrainingError(f"iteration {self.iteration}: {reason}; no good checkpoint to go back to: {wrong}")
        self._say(*wrong, f"iteration {self.iteration}: {reason}; back to iteration {found.iteration}")
        self.log({}, event=f"back to iteration {found.iteration}: {reason}")
        parallel.gathered(None)  # nobody writes before all have read
        self.learner.close()
        self.ended = ""
        self._stand(found, self.rollbacks + 1)
        if self._metrics is not None:
            with self._writing():
                self._metrics.back(self.iteration)
        # As a checkpoint of its own, before the files that a learner keeps go back: killed from here on, the training
        # has gone back all the same.
        self._write(found.state, good=True, back=True)
        self._take(found, back=True)
        self._write(self.learner.state(), good=True)

    def close(self) -> None:
        """Give back everything, whatever goes wrong with some of it; may be called again.

        Raises:
            TrainingError: the last of what was measured cannot be written.
        """
        try:
            if self._learner is not None:
                self._learner.close()
        finally:
            try:
                if self._metrics is not None:
                    with self._writing():
                        self._metrics.close()
            finally:
                if self._lock >= 0:
                    os.close(self._lock)
                    self._lock = -1

    def _agreed(self, done: Callable[[], Found]) -> Found:
        """Return what is done in all processes, or end all of them; the first in which something is wrong says it."""
        found: list[Found] = []
        wrong: Exception | None = None
        try:
            found.append(done())
        except (ConfigError, CheckpointError, TrainingError) as error:
            wrong = error
        bad = [rank for rank, fine in enumerate(parallel.gathered(wrong is None)) if not fine]
        if bad and bad[0] != parallel.rank():
            raise SystemExit(0) from wrong  # with 0: else torchrun might end the one that speaks before it has spoken
        if wrong is not None:
            raise wrong
        return found[0]

    def _enter(self, resume: bool) -> None:
        """Take the folder for this training, if it may go on or begin there; of several processes the first does."""
        if not self._first:
            return
        self._lock = _locked(self.out)
        there = (self.out / METRICS).exists()
        if not resume and (there or self.checkpoints.names()):
            wrong = f"{str(self.out)!r} holds a training already"
            raise TrainingError(f"{wrong}; --resume goes on with it, and --out names another folder")
        if (self.out / CONFIG).exists() and not there:
            wrong = f"{str(self.out)!r} holds a {CONFIG} and no training, and a training writes one of that name"
            raise TrainingError(f"{wrong}; give another --out")

    def _open(self, resume: bool) -> None:
        """Go on from the latest checkpoint, or begin."""
        found, wrong = self._agreed(self.checkpoints.newest)
        self._say(*(f"passed over: {each}" for each in wrong))
        if found is None:
            if resume:
                self._say(f"{str(self.out)!r} holds no checkpoint yet; the training begins")
            self._agreed(lambda: self._build(0))
        else:
            self._agreed(lambda: self._go_on(found))
        self._agreed(lambda: self._begin_files(0 if found is None else found.progress["lines"]))
        if self._saved is None:  # the beginning: so there is always something to go back to; or the end of a return
            self._write(self.learner.state(), good=True)

    def _go_on(self, found: Checkpoint) -> None:
        """Be where a checkpoint was written, and what it says."""
        self._compare(found)
        back = found.progress.get("back", False)
        self._stand(found, found.rollbacks)
        self._take(found, back=back)
        self.ended = found.progress["ended"]
        self._saved = None if back else (self.rollbacks, self.iteration)

    def _begin_files(self, lines: int) -> None:
        """Open the files of what is measured, of which so many lines count, and write down the configuration."""
        if not self._first:
            return
        with self._writing():
            try:
                self._metrics = Metrics(
                    self.out, lines=lines, step=self.iteration, tensorboard=self.config.logging.tensorboard
                )
            except ValueError as error:
                raise CheckpointError(str(error)) from error
            atomic.write(self.out / CONFIG, self.config.text().encode())

    def _compare(self, found: Checkpoint) -> None:
        """See that a checkpoint is of this training."""
        if self.config.digest not in (found.course, _read_now(found.config)):
            now = self.config.course()
            there = {name: group for name, group in found.config.items() if name in now}
            there["training"] = {key: each for key, each in there["training"].items() if key != "iterations"}
            lines = "".join(f"\n  {each}" for each in difference(there, now))
            raise CheckpointError(f"{str(self.out)!r} was begun with another configuration; give another --out{lines}")
        for line in difference(found.versions, versions()):
            self._say(f"not the same bits are promised with other versions: {line}")

    def _stand(self, found: Checkpoint, rollbacks: int) -> None:
        """Be where a checkpoint was written, after so many returns."""
        self.gates.load(found.progress["gates"])
        self.iteration, self.rollbacks = found.iteration, rollbacks

    def _take(self, found: Checkpoint, *, back: bool) -> None:
        """Have a learner become what a checkpoint says; ``back`` from a later one, what is left of it."""
        learner = self._build(self.rollbacks)
        try:
            if back and isinstance(learner, GoesBack):
                gone = learner.go_back(found.state)
                self._say(*([gone] if gone else []))
            else:
                learner.load(found.state)
        except ValueError as error:
            raise CheckpointError(f"{str(found.path)!r} is not of this learner: {error}") from error

    def _build(self, rollbacks: int) -> Learner:
        """Make what learns, and return it."""
        build: Callable[..., Learner] = builder(self.config.experiment.kind)
        config = self.config.slower(self.config.stages.slower**rollbacks)
        try:
            learner = build(config, seed=config.experiment.seed)
            self._settle(learner)
            self._learner = learner
            return learner
        except ConfigError:
            raise
        except REFUSALS as error:
            if not refused(error):  # a slip in somebody's environment: where it is they see in the traceback
                error.add_note("while the learner of the training was made")
                raise
            raise ConfigError(f"the learner cannot be made: {error}") from error

    def _settle(self, learner: Learner) -> None:
        """Hold the gates against a learner, and give one that keeps files its folder; where that fails, close it."""
        try:
            self.gates.check(learner.measures() if isinstance(learner, Measures) else None)
            if isinstance(learner, KeepsFiles):
                self._keep(learner)
        except BaseException:
            learner.close()
            raise

    def _keep(self, learner: KeepsFiles) -> None:
        try:
            learner.keep_in(self.out, self.config.logging.checkpoints + 1)
        except OSError as error:
            where = str(error.filename or self.out)
            raise TrainingError(
                f"the learner cannot keep its files in {where!r}: {error.strerror or error}; make room for them "
                "there, or give another --out"
            ) from error

    def _write(self, state: State, *, good: bool, back: bool = False) -> None:
        """Write a checkpoint of this moment; ``back``: files that the learner keeps may be of a later one."""
        wrong = [name for name, tensor in state.tensors.items() if bool(torch.isnan(tensor).any())]
        if wrong:
            raise Diverged(f"{', '.join(wrong[:3])} of the learner's state holds what is no number")
        if parallel.size() > 1 and len(set(parallel.gathered(_digest(state)))) > 1:
            raise TrainingError(f"iteration {self.iteration}: the processes have come to different states")
        if self._metrics is not None:
            with self._writing():
                lines = self._metrics.sync()
                progress = {"lines": lines, "ended": self.ended, "gates": self.gates.state(), "back": back}
                checkpoint = Checkpoint(
                    self.iteration, self.rollbacks, good, self.config.plain(), self.config.digest, progress, state,
                    versions(), self.out,
                )  # fmt: skip
                self.checkpoints.save(checkpoint)
        parallel.gathered(None)  # nobody goes on, and perhaps reads it, before it is there
        self._saved = (self.rollbacks, self.iteration)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Tell, in a line, of what cannot be written within: a disk is full, or gone."""
        try:
            yield
        except OSError as error:
            wrong = f"{str(error.filename or self.out)!r} cannot be written: {error.strerror or error}"
            raise TrainingError(f"{wrong}; when it can, --resume goes on from the last checkpoint") from error

    def _say(self, *lines: str) -> None:
        for line in lines if self._first else ():
            self._tell(line)


def _read_now(plain: Mapping[str, Any]) -> str:
    """Return the digest of a configuration as this version reads it: keys that have come since have their defaults.

    Empty where it cannot be read any more.
    """
    try:
        return checked(dict(plain)).digest
    except ConfigError:
        return ""


def _locked(out: Path) -> int:
    """Take a folder for this process; return what holds it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise TrainingError(f"{str(out)!r}: {error.strerror}; give a folder that can be written to") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise TrainingError(
            f"another process trains in {str(out)!r}; wait for its end, or give another --out"
        ) from error
    return handle


def _digest(state: State) -> str:
    """Return a digest of all that a learner has become."""
    seen: Any = hashlib.sha256(canonical(state.values))
    for name, tensor in sorted(state.tensors.items()):
        seen.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        seen.update(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return str(seen.hexdigest())
