"""Causal trajectory buffer: episodes with what came of what, on the disk, drawn uniformly or by causal priority.

Extra ``buffer``: ``pip install 'rolf[buffer]'``. `TrajectoryBuffer` is where to begin.

| module | what |
|---|---|
| ``episode``, ``graph``, ``key`` | what is kept |
| ``recording``, ``listening``, ``edges``, ``line_edges``, ``terminal_edges``, ``command_words`` | where it comes from |
| ``buffer``, ``drawing``, ``sampling``, ``priority``, ``sumtree``, ``table`` | how it is drawn |
| ``encoding``, ``decoding``, ``framing``, ``segments`` | episodes as bytes, in append-only files that are mapped |
| ``index``, ``lmdb_index``, ``leveldb_index``, ``catalogue``, ``extent`` | where they lie |
| ``store``, ``recovery``, ``lock`` | that they stay |
"""

from rolf_adapters.buffer.buffer import TrajectoryBuffer
from rolf_adapters.buffer.episode import Episode, Node
from rolf_adapters.buffer.errors import BufferError, BufferFull, Damaged, DuplicateKey, Gone, SecondWriter
from rolf_adapters.buffer.graph import Edge, Graph
from rolf_adapters.buffer.key import Key
from rolf_adapters.buffer.recording import KeepTrajectories
from rolf_adapters.buffer.sampling import Causal, Sample, Uniform

__all__ = [
    "BufferError",
    "BufferFull",
    "Causal",
    "Damaged",
    "DuplicateKey",
    "Edge",
    "Episode",
    "Gone",
    "Graph",
    "KeepTrajectories",
    "Key",
    "Node",
    "Sample",
    "SecondWriter",
    "TrajectoryBuffer",
    "Uniform",
]
