"""Adapters to training frameworks and to language models, one module each; a module needs the extra it names."""

__all__: list[str] = []
