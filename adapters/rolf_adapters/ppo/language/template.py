"""Template: a tokenizer's chat template, taken apart once into the ids that stand round messages.

Chat templates are not made for growing: rendered anew, a conversation may change where it was (thoughts that are taken
out, messages that are trimmed, tokens that merge differently). So it is rendered once with marks for messages, cut
there, and each piece becomes ids; after that a context only ever grows. Text between the pieces cannot forge them: what
looks like a special token in a message is read as plain characters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from itertools import takewhile
from typing import Any

from rolf.variant import digest

MARKS = ("⟦system⟧", "⟦first⟧", "⟦answer⟧", "⟦second⟧", "⟦reply⟧", "⟦third⟧")
"""What stands for messages while the template is rendered: nothing that a template would touch."""
CLOCK = "strftime_now"
"""The function by which templates learn the date."""
MOMENTS = (datetime(2001, 2, 3, 4, 5, 6), datetime(2012, 11, 30, 21, 43, 57))
"""Two that have nothing in common, as `FORMATS` write them."""
FORMATS = "aAbBcdDeFGHIjklmMpRSTuUVwWxXyY"
"""Letters of ``strftime`` behind a %."""


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
        TemplateError: it has none; or rendering it shows that what was said changes later, or that the date has a part
            in it; or its answers do not end with a token of their own.
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

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what decides which ids a conversation becomes: the tokenizer, and what stands round messages."""
        fast = getattr(self._tokenizer, "backend_tokenizer", None)
        words = json.loads(fast.to_str()) if fast is not None else {"vocabulary": self._tokenizer.get_vocab()}
        # How rows of a batch are made equally long is left behind by whoever has asked for it last.
        kept = {name: each for name, each in words.items() if name not in ("padding", "truncation")}
        return digest({"tokenizer": kept, "fragments": asdict(self.fragments)})

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
    talk = talk if system else talk[1:]
    _see_no_date(tokenizer, talk)
    shown = _rendered(tokenizer, talk)
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


def _rendered(tokenizer: Any, talk: Sequence[Mapping[str, str]], template: str | None = None) -> str:
    return str(tokenizer.apply_chat_template(talk, chat_template=template, tokenize=False, add_generation_prompt=True))


def _see_no_date(tokenizer: Any, talk: Sequence[Mapping[str, str]]) -> None:
    """See that a conversation is rendered alike at any time; where the template has no clock, there is nothing to see.

    Raises:
        TemplateError: it is not.
    """
    if CLOCK not in str(tokenizer.chat_template):
        return
    own = tokenizer.get_chat_template()
    one, other = (_rendered(tokenizer, talk, _clock(moment) + own) for moment in MOMENTS)
    if one != other:
        at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
        raise TemplateError(
            f"the chat template puts the date or the hour into what it renders ({one[at : at + 30]!r} at one time, "
            f"{other[at : at + 30]!r} at another), so the model would be asked otherwise as soon as that has changed; "
            f"set a chat_template with a fixed text in place of {CLOCK}(...)"
        )


def _clock(moment: datetime) -> str:
    """Return what a template is to begin with so that it takes a moment for now: it can be given no functions."""
    written = "".join(f"|replace('%{each}', {json.dumps(moment.strftime(f'%{each}'))})" for each in FORMATS)
    return f"{{% macro {CLOCK}(format) %}}{{{{ format|replace('%-', '%'){written} }}}}{{% endmacro %}}"
