"""What strangers write, made harmless: as text, as JSON in a page, as a terminal's output."""

from __future__ import annotations

import json
import re
import unicodedata
from html.parser import HTMLParser
from typing import Any

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_board import Made

from rolf.leaderboard.page.confinement import confined
from rolf.leaderboard.page.document import figure, limit, signed
from rolf.leaderboard.page.protection import (
    PLOT_STYLE,
    Raw,
    content_security_policy,
    embedded,
    inline,
    seemly,
)
from rolf.leaderboard.page.text import printed, shortened, title, visible, web_address

LEGITIMATE = "\u200c\u200d"
"""Joiners: Persian and emoji need them, and they turn nothing around."""
ESCAPE = re.compile("\x1b[^\x1b]*")
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
SCREEN = [*"\x1b\n\r\b\t[]m;0138AHJKtbPX^_\\c?hl\x07\x9b\u202e", "text"]


@given(st.text())
def test_every_character_of_a_name_can_be_seen(text: str) -> None:
    for character in visible(text):
        kind = unicodedata.category(character)
        assert kind not in {"Cc", "Zl", "Zp", "Cs"} or character in "\t\n"
        assert (
            character
            not in "\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u00ad"
        )


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert visible(f"👩{LEGITIMATE}🔧") == f"👩{LEGITIMATE}🔧"


@given(st.text(max_size=300), st.integers(1, 50))
def test_what_is_shortened_counts_what_is_missing(text: str, most: int) -> None:
    short = shortened(text, most)
    found = re.search(r"\n\[… ([\d,]+) characters left out here …\]\n", short)
    if len(text) <= most:
        assert short == text
    else:
        assert found is not None
        assert len(short) - len(found[0]) + int(found[1].replace(",", "")) == len(text)
        assert short.startswith(text[: most - most // 4])


def test_an_output_loses_its_colours_and_keeps_its_words() -> None:
    assert (
        printed("\x1b[31mred\x1b[0m \x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\ a\u202eb", 100) == "red link a⟨U+202E⟩b"
    )


def test_a_title_is_one_line() -> None:
    assert title("a\n\n b\tc\x00", 60) == "a b c␀"
    assert title("x" * 100, 10) == "x" * 9 + "…"


@pytest.mark.parametrize("address", ["https://example.org", "http://localhost:8000/a?b=c#d", "https://[::1]/"])
def test_web_addresses_are_followed(address: str) -> None:
    assert web_address(address) == address


@pytest.mark.parametrize(
    "address",
    [None, 5, "", "javascript:alert(1)", "JAVASCRIPT:alert(1)", "https:alert(1)", "//x.org", "data:text/html,x",
     "https://user@x.org", "https://x.org/\u202e", "https://x.org/ y", "\thttps://x.org", "http://[x", "ftp://x.org", "javascript://x.org/%0aalert(1)",
     "https://" + "x" * 3_000],
)  # fmt: skip
def test_other_addresses_are_not(address: object) -> None:
    assert web_address(address) is None


# ---- terminals


@given(st.lists(st.sampled_from(SCREEN)).map("".join))
def test_only_colours_and_moves_reach_the_player(output: str) -> None:
    """Whatever is made of the parts of sequences, whole and torn."""
    rest = confined(output)
    for sequence in ESCAPE.findall(rest):
        assert re.match(r"\x1b(\[[\d;:]*[mA-HJ-MPXd@f]|\[\?(7|25|47|1047|1049)[hl]|[78M])", sequence), (
            output,
            sequence,
        )
    assert not set(rest) & set("\x07\x9b\u202e")


@given(st.lists(st.sampled_from(SCREEN)).map("".join))
def test_confining_twice_is_confining_once(output: str) -> None:
    """Nothing new arises where a sequence was taken out: ESC ESC ]0;x BEL [31m."""
    once = confined(output)
    assert confined(once) == once


@pytest.mark.parametrize(
    ("output", "left"),
    [
        ("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
        ("\x1b[38;2;1;2;3mx", "\x1b[38;2;1;2;3mx"),
        ("a\x1b[2K\rb\x1b[10;20Hc", "a\x1b[2K\rb\x1b[10;20Hc"),
        ("\x1b[?1049h\x1b[?25l", "\x1b[?1049h\x1b[?25l"),
        ("\x1b]8;;javascript:x\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b[8;5000;9000tx", "x"),
        ("A\x1b[99999999b", "A"),
        ("\x1b[99999;1H", ""),
        ("\x1bPq..\x1b\\x\x1b_y\x1b\\z", "xz"),
        ("\x1bc\x1b(0x", "x"),
        ("a\x00b\x9bc", "a␀b⟨U+009B⟩c"),
        ("bell\x07\b\b!", "bell\b\b!"),
    ],
)
def test_each_kind_of_sequence(output: str, left: str) -> None:
    assert confined(output) == left


# ---- data in a page


@given(PLAIN)
def test_data_stays_data_in_a_script_element(value: Any) -> None:
    text = str(embedded(value))
    assert not set(text) & set("<>&\u2028\u2029")
    assert text.isascii()
    assert json.loads(text) == seemly(value)


def test_numbers_that_json_does_not_know_become_nothing() -> None:
    assert json.loads(str(embedded([float("nan"), float("inf"), 0.123456789]))) == [None, None, 0.123457]


def test_only_what_is_meant_for_the_player_keeps_its_sequences() -> None:
    assert json.loads(str(embedded({"cast": Raw("\x1b[31m"), "other": "\x1b[31m"}))) == {
        "cast": "\x1b[31m",
        "other": "␛[31m",
    }


@pytest.mark.parametrize("code", ["a</script>b", "a</STYLE >", "<!-- x", "'<script'"])
def test_code_that_would_end_its_element_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="write it otherwise"):
        inline(code)


def test_the_policy_allows_these_scripts_alone() -> None:
    policy = content_security_policy(["x"], ["y", PLOT_STYLE])
    directives = dict(each.split(" ", 1) for each in policy.split("; "))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == "'wasm-unsafe-eval' 'sha256-LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE='"
    assert directives["style-src"].startswith("'sha256-ofzkNjhU/4iM/0uOeHXWAMJoI5BBKoz3mzfQsRFIsPo=' 'sha256-")
    assert set(directives) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}
    assert "unsafe-inline" not in policy
    assert "'unsafe-eval'" not in policy


class Elements(HTMLParser):
    """The elements of a page, as they stand in its text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_policy_comes_before_all_that_it_rules(toy: Made) -> None:
    """A policy in an element rules what stands behind it, and nothing inline may stand in attributes at all."""
    reader = Elements()
    reader.feed(toy.path.read_text(encoding="utf-8"))
    tags = [tag for tag, _ in reader.found]
    policy = next(n for n, (_, attributes) in enumerate(reader.found) if "http-equiv" in attributes)
    assert set(tags[:policy]) == {"html", "head", "meta"}
    names = {name for _, attributes in reader.found for name in attributes}
    assert "style" not in names
    assert not [name for name in names if name.startswith("on") or name in {"src", "srcset", "srcdoc", "action"}]


# ---- figures


def test_figures_have_a_true_minus_and_none_before_a_zero() -> None:
    assert [figure(each) for each in (0.12345, -0.5, -0.0001, 0.0)] == ["0.123", "−0.500", "0.000", "0.000"]
    assert [signed(each) for each in (0.1, -0.1, -0.0001)] == ["+0.100", "−0.100", "+0.000"]


def test_limits_are_written_as_people_say_them() -> None:
    told = [limit(*each) for each in ((None, "x"), (False, "x"), (1 << 30, "disk_bytes"), (40_000, "x"), (0.5, "x"))]
    assert told == ["none", "no", "1,024 Mi", "40,000", "0.5"]


def test_a_template_cannot_forget_to_escape() -> None:
    """Every expression of a template goes through the same gate, in attributes too."""
    from rolf.leaderboard.page.document import _environment

    environment = _environment()
    assert isinstance(environment.undefined(), jinja2.StrictUndefined)
    text = environment.from_string('<p title="{{ name }}">{{ name }}</p>').render(name='"><script>\u202e')
    escaped = "&#34;&gt;&lt;script&gt;⟨U+202E⟩"
    assert text == f'<p title="{escaped}">{escaped}</p>'
