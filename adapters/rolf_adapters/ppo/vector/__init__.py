"""The vector learner: PPO on many rows at once, for observations of a fixed size (extra ``ppo``).

``settings.py`` says what can be chosen, ``collector.py`` plays, ``network.py`` decides, ``update.py`` learns,
``experience.py`` says what came of what was played, ``learner.py`` puts them together; ``player.py`` lets ``rolf eval``
play what was learned and ``export.py`` writes it as ONNX. ``line.py`` is what is known of ``LineEnv``: which of its
numbers belong to the same station, and which actions.
"""
