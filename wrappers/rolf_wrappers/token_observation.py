"""TokenObservation: what is seen as a fixed number of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

Vocabulary = Sequence[str] | Callable[[str], Sequence[int]]
BYTES = 256
"""Tokens of a vocabulary of words that are single bytes: what is no word of it is spelled with them."""
MOST_NUMBERS = 16
"""Numbers that an entry may have which is written out."""
_PIECE = re.compile(r"\w+|[^\w\s]|\s")


class TokenObservation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Write what is seen as ``n`` tokens, for a network that reads: ``Box(0, size - 1, (n,), int64)``.

    Entries of a ``Dict`` are written one after the other, a mark of its own before each; a text alone is one entry.
    Texts are written as they are, few whole numbers in digits. Where they are too long together the longest are cut in
    the middle, each as little as possible, and a token says where. What remains of ``n`` is padding.

    ``vocabulary`` is words and signs that have a token of their own, beside the 256 bytes, which spell all others; so
    no text is unknown, and ``text(tokens)`` gives back what was not cut. Or it is a tokenizer's own function, with
    ``size``: its tokens keep their numbers. The tokens of this wrapper come after: padding, the cut, and the marks.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> env = TokenObservation(gym.make("termgym:TermEnv-v1"), 16, ["home", "agent"], entries=["cwd", "step"])
        >>> env.observation_space
        Box(0, 261, (16,), int64)
        >>> observation, _ = env.reset(seed=7)
        >>> observation
        array([260,  47, 256,  47, 257, 261,  48, 258, 258, 258, 258, 258, 258,
               258, 258, 258])
        >>> env.text(observation)
        {'cwd': '/home/agent', 'step': '0'}
        >>> env.close()

    Args:
        env: The environment.
        n: Tokens of an observation.
        vocabulary: Words and signs, or a function from a text to tokens. A function cannot be written into a recording.
        size: Tokens that the function can return: numbers below this. Only with a function.
        entries: Names of the entries of a Dict that are written, in this order; None: all, as they stand there.

    Raises:
        TypeError: there is no text, an entry can be no text, or ``size`` is missing or too much.
        ValueError: an entry is unknown, or ``n`` has no place for a token of each.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        n: SupportsIndex,
        vocabulary: Vocabulary = (),
        *,
        size: SupportsIndex | None = None,
        entries: Sequence[str] | None = None,
    ) -> None:
        count = n.__index__()
        kept: Any = vocabulary if callable(vocabulary) else list(vocabulary)
        most = None if size is None else size.__index__()
        names = None if entries is None else list(entries)
        RecordConstructorArgs.__init__(self, n=count, vocabulary=kept, size=most, entries=names)
        gym.Wrapper.__init__(self, env)
        self._entries = _written_entries(env.observation_space, names)
        if count < 2 * len(self._entries):
            raise ValueError(f"n={count} leaves no token for each of {len(self._entries)} entries; give more")
        self._n = count
        self._words: tuple[str, ...] = ()
        self._read = kept
        if not callable(kept):
            if most is not None:
                raise TypeError(f"size={most} is of a tokenizer's function; words have their own number")
            self._words = _checked_words(kept)
            self._read = _Speller({word: BYTES + at for at, word in enumerate(self._words)})
            most = BYTES + len(self._words)
        elif most is None or most < 1:
            raise TypeError(f"size={most}: say how many tokens the vocabulary's function has")
        self._size = most
        self.observation_space = spaces.Box(0, self.marks[-1], (count,), np.int64)

    @property
    def padding(self) -> int:
        """The token after the end."""
        return self._size

    @property
    def cut(self) -> int:
        """The token where something was left out."""
        return self._size + 1

    @property
    def marks(self) -> tuple[int, ...]:
        """The token before each entry."""
        return tuple(self._size + 2 + at for at in range(len(self._entries)))

    def text(self, tokens: NDArray[np.int64]) -> dict[str, str]:
        """Return what tokens say by entry (``""``: the observation is one text), with ``…`` where it was cut.

        Raises:
            TypeError: the vocabulary is a function, which does not say what its tokens mean.
        """
        if callable(self._kept_vocabulary):
            raise TypeError("the vocabulary is a function; ask the tokenizer that it belongs to")
        said: dict[str, bytearray] = {}
        name = ""
        for token in tokens.tolist():
            if token >= self.marks[0]:
                name = self._entries[token - self.marks[0]]
                said[name] = bytearray()
            elif token != self.padding:
                said[name] += self._bytes(token)
        return {name: raw.decode("utf-8", "replace") for name, raw in said.items()}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; the first observation is tokens already."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._tokens(observation), info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, and write what is seen."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._tokens(observation), reward, terminated, truncated, info

    @property
    def _kept_vocabulary(self) -> Any:
        return None if isinstance(self._read, _Speller) else self._read

    def _bytes(self, token: int) -> bytes:
        if token == self.cut:
            return "…".encode()
        return bytes([token]) if token < BYTES else self._words[token - BYTES].encode()

    def _tokens(self, observation: Any) -> NDArray[np.int64]:
        """Return an observation as tokens: (n,)."""
        texts = [observation if name == "" else _text(observation[name]) for name in self._entries]
        whole = [self._numbers(text) for text in texts]
        room = _shares([len(each) for each in whole], self._n - len(whole))
        found = np.full(self._n, self.padding, np.int64)
        at = 0
        for mark, tokens, places in zip(self.marks, whole, room, strict=True):
            kept = np.concatenate([[mark], _shortened(tokens, places, self.cut)])
            found[at : at + len(kept)] = kept
            at += len(kept)
        return found

    def _numbers(self, text: str) -> NDArray[np.int64]:
        tokens = np.asarray(self._read(text), np.int64).reshape(-1)
        if tokens.size and not 0 <= tokens.min() <= tokens.max() < self._size:
            raise ValueError(f"the vocabulary returned a token that is not below size={self._size} for {text[:40]!r}")
        return tokens


class _Speller(NamedTuple):
    """Tokens of words, and of the bytes of what is none."""

    words: dict[str, int]

    def __call__(self, text: str) -> list[int]:
        tokens: list[int] = []
        for piece in _PIECE.findall(text):
            known = self.words.get(piece)
            # Half a surrogate pair has no UTF-8 proper, and may still stand in a text.
            tokens += piece.encode("utf-8", "surrogatepass") if known is None else [known]
        return tokens


def _shares(lengths: Sequence[int], room: int) -> list[int]:
    """Return how many places each gets: all that it needs, where the longest leave it; those share the rest evenly."""
    shares = [0] * len(lengths)
    order = sorted(range(len(lengths)), key=lambda at: lengths[at])
    for done, at in enumerate(order):
        shares[at] = min(lengths[at], room // (len(lengths) - done))
        room -= shares[at]
    return shares


def _shortened(tokens: NDArray[np.int64], places: int, cut: int) -> NDArray[np.int64]:
    """Return tokens in so many places: the beginning and the end, where all would be too many."""
    if len(tokens) <= places:
        return tokens
    tail = (places - 1) // 2
    return np.concatenate([tokens[: places - 1 - tail], [cut], tokens[len(tokens) - tail :]])


def _text(value: Any) -> str:
    """Return an entry as text."""
    if isinstance(value, str):
        return value
    return " ".join(map(str, np.atleast_1d(np.asarray(value)).reshape(-1).tolist()))


def _written_entries(space: gym.Space[Any], names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the entries that are written; ``""`` where the observation is one text.

    Raises:
        TypeError, ValueError: see `TokenObservation`.
    """
    if isinstance(space, spaces.Text) and not names:
        return ("",)
    if not isinstance(space, spaces.Dict):
        raise TypeError(f"observations are {space}; tokens are written of a text, or of a Dict with texts")
    known = ", ".join(space)
    chosen = [*space] if names is None else list(names)
    if unknown := [name for name in chosen if name not in space.spaces]:
        raise ValueError(f"observations have no entry {unknown[0]!r}; they have {known}")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"entries={chosen} has one twice")
    for name in chosen:
        if not _writable(space[name]):
            raise TypeError(f"{name!r} is {space[name]}, which is no text; leave it out with entries=[…] of {known}")
    if not any(isinstance(space[name], spaces.Text) for name in chosen):
        raise TypeError(f"none of {chosen} is a text, so there is nothing to read; FlatFloat makes numbers of {space}")
    return tuple(chosen)


def _writable(space: gym.Space[Any]) -> bool:
    """Return whether an entry is a text, or few whole numbers."""
    if isinstance(space, spaces.Text | spaces.Discrete):
        return True
    few = isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary)
    whole = space.dtype is not None and space.dtype.kind in "iub"
    return few and whole and int(np.prod(space.shape or (1,))) <= MOST_NUMBERS


def _checked_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return words that a text is parted into.

    Raises:
        ValueError: one stands there twice, or none can be found in a text.
    """
    for word in words:
        if not isinstance(word, str) or not _PIECE.fullmatch(word):
            raise ValueError(f"{word!r} is no word or sign that a text is parted into; leave out blanks within")
    if len(set(words)) < len(words):
        raise ValueError("the vocabulary has a word twice")
    return tuple(words)
