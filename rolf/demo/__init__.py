"""``rolf demo``: one real episode shown step by step, then what it costs; nothing in it is made up."""
