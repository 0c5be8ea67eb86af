"""Template: a tokenizer's chat template, taken apart once into the ids that stand round messages.

Chat templates are not made for growing: rendered anew, a conversation may change where it was (thoughts that are taken
out, messages that are trimmed, tokens that merge differently). So it is rendered once with marks for messages, cut
there, and each piece becomes ids; after that a context only ever grows. Text between the pieces cannot forge them: what
looks like a special token in a message is read as plain characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MARKS = ("⟦system⟧", "⟦first⟧", "⟦answer⟧", "⟦second⟧", "⟦reply⟧", "⟦third⟧")
"""What stands for messages while the template is rendered: nothing that a template would touch."""


class TemplateError(ValueError):
    """A conversation cannot grow by appending ids under this template."""


@dataclass(frozen=True, slots=True)
class Fragments:
    """What stands round messages, as text: for people, and for tests."""

    opening: str
    """Before the system's message."""
    first: str
    """Between it and the first message."""
    answer: str
    """Between a message and the answer to it."""
    end: str
    """The token that ends an answer; the model says it."""
    next: str
    """Between that and the next message."""


class Template:
    """Puts messages to a model, as ids.

    Args:
        tokenizer: A fast tokenizer of Hugging Face's with a chat template.
        system: Whether conversations begin with a message of the system's.

    Raises:
        TemplateError: it has none; or rendering it shows that what was said changes later; or its answers do not end
            with a token of their own.
    """

    def __init__(self, tokenizer: Any, *, system: bool = True) -> None:
        if not getattr(tokenizer, "chat_template", None):
            raise TemplateError("the tokenizer has no chat_template, so messages cannot be put to the model; set one")
        self._tokenizer = tokenizer
        self.fragments = _cut(tokenizer, system)
        parts = {name: self._ids(getattr(self.fragments, name)) for name in Fragments.__slots__}
        if len(parts["end"]) != 1:
            said = self.fragments.end
            raise TemplateError(f"answers must end with one token of the tokenizer's, the template ends them {said!r}")
        (self.end,) = parts["end"]
        """Id of the token that ends an answer."""
        self._parts = parts

    def begin(self, system: str, message: str) -> tuple[int, ...]:
        """Return a context up to where the first answer begins."""
        parts = self._parts
        return (*parts["opening"], *self.text(system), *parts["first"], *self.text(message), *parts["answer"])

    def follow(self, message: str, *, ended: bool) -> tuple[int, ...]:
        """Return what is appended to a context after an answer, up to where the next one begins.

        Args:
            message: The next message.
            ended: Whether the model said itself that its answer ended; otherwise it is said for it, here, where nothing
                is learned from it.
        """
        closing = () if ended else (self.end,)
        return (*closing, *self._parts["next"], *self.text(message), *self._parts["answer"])

    def text(self, text: str) -> tuple[int, ...]:
        """Return the ids of text, in which no special token is meant."""
        return tuple(self._tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"])

    def said(self, ids: Sequence[int]) -> str:
        """Return the text of an answer."""
        return str(self._tokenizer.decode([each for each in ids if each != self.end], skip_special_tokens=True))

    def _ids(self, fragment: str) -> tuple[int, ...]:
        return tuple(self._tokenizer(fragment, add_special_tokens=False)["input_ids"])


def _cut(tokenizer: Any, system: bool) -> Fragments:
    """Return the pieces of a conversation between its messages."""
    roles = ("system", "user", "assistant", "user", "assistant", "user")
    talk = [{"role": role, "content": mark} for role, mark in zip(roles, MARKS, strict=True)]
    shown = tokenizer.apply_chat_template(talk if system else talk[1:], tokenize=False, add_generation_prompt=True)
    marks = MARKS if system else MARKS[1:]
    pieces = []
    rest = shown
    for mark in marks:
        before, found, rest = rest.partition(mark)
        if not found:
            raise TemplateError(f"the chat template leaves messages out or changes them ({mark} is not in {shown!r})")
        pieces.append(before)
    pieces = [*([] if system else [""]), *pieces, rest]
    opening, first, answer, behind, again, behind_reply, last = pieces
    if not answer == again == last or behind != behind_reply:
        raise TemplateError(
            f"the chat template puts other text round an answer when it is past ({again!r}, {behind!r}) than when it "
            f"is asked for ({last!r}, {behind_reply!r}); set a chat_template that does not"
        )
    end = next((token for token in sorted(tokenizer.all_special_tokens, key=len) if behind.startswith(token)), "")
    if not end:
        raise TemplateError(f"no special token of the tokenizer's ends an answer: the template goes on with {behind!r}")
    return Fragments(opening, first, answer, end, behind.removeprefix(end))
