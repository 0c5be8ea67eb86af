"""Language: a causal language model learns in environments with tools, turn after turn, by PPO over tokens.

``learner.py`` puts it together. What an episode is (``turns.py``), how messages become ids (``template.py``,
``conversation.py``), who answers (``policy.py``, ``generation.py``, ``grammar.py``), where (``problems.py``,
``pool.py``, ``collector.py``, and in other processes ``actors.py``), and how it learns (``demonstrations.py``,
``batches.py``, ``update.py``).
"""
