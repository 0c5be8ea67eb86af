"""Stages: what a target needs is built, and nothing else."""

from __future__ import annotations

import pytest

from termgym.errors import ImageError


def test_builds_only_what_the_target_needs(make) -> None:
    text = (
        "FROM tiny AS unused\nRUN exit 1\nFROM tiny AS a\nRUN echo a > /a\nFROM a AS b\nRUN echo b > /b\n"
        "FROM tiny\nCOPY --from=b /b /c\n"
    )
    assert make(text).text("/c") == "b\n"
    built = make(text, target="a")
    assert (built.text("/a"), built.tree.find("/b")) == ("a\n", None)
    assert make(text, target="2").text("/b") == "b\n"


def test_takes_from_a_stage_that_comes_later(make) -> None:
    """BuildKit does."""
    assert make("FROM tiny AS a\nCOPY --from=b /x /y\nFROM tiny AS b\nRUN echo x > /x\nFROM a\n").text("/y") == "x\n"


def test_prefers_a_stage_to_an_image_of_that_name(make) -> None:
    assert make("FROM tiny AS debian\nRUN echo own > /x\nFROM debian\n").text("/x") == "own\n"


def test_takes_a_global_argument_for_the_name_of_a_stage(make) -> None:
    text = (
        "ARG WHICH=b\nFROM tiny AS a\nRUN exit 1\nFROM tiny AS b\nRUN echo b > /x\nFROM tiny\n"
        "COPY --from=$WHICH /x /y\n"
    )
    assert make(text).text("/y") == "b\n"


def test_begins_with_nothing(make) -> None:
    built = make("FROM tiny AS a\nFROM scratch\nCOPY --from=a /bin/cat /cat\n")
    assert built.names("/") == ["cat", "dev", "proc", "sys"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("FROM tiny AS a\nCOPY --from=b /x /y\nFROM tiny AS b\nCOPY --from=a /y /x\n", "line 2: COPY: .*: b → a → b"),
        ("FROM tiny AS a\nCOPY --from=a /x /y\n", "line 2: COPY: the stages need each other: a → a"),
        ("FROM tiny AS a\nRUN --mount=from=b,target=/x ls\nFROM a AS b\n", "a → b → a|b → a → b"),
    ],
)
def test_refuses_stages_that_need_each_other(make, text: str, said: str) -> None:
    with pytest.raises(ImageError, match=said):
        make(text)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("FROM tiny AS a\n", {"target": "c"}, "no stage 'c'; it has a"),
        ("FROM later\nFROM tiny AS later\n", {"target": "0"}, "no root filesystem here stands for 'later'"),
        (
            "FROM debain:12\n",
            {},
            r"line 1: FROM: no root filesystem here stands for 'debain:12'; did you mean debian\?",
        ),
        ("FROM --platform=linux/s390x tiny\n", {}, "is another machine's; this one is linux/"),
    ],
)
def test_says_what_a_name_might_have_meant(make, text: str, options: dict[str, str], said: str) -> None:
    with pytest.raises(ImageError, match=said):
        make(text, **options)


def test_notes_what_it_ignores(make) -> None:
    text = (
        'FROM tiny\nEXPOSE 80\nENTRYPOINT ["x"]\nHEALTHCHECK CMD x\nVOLUME /v\nLABEL a=b\nCMD x\nSTOPSIGNAL 9\n'
        "ONBUILD RUN x\n"
    )
    notes = make(text).image.notes
    assert [note.split()[3] for note in notes] == [
        "EXPOSE",
        "ENTRYPOINT",
        "HEALTHCHECK",
        "VOLUME",
        "STOPSIGNAL",
        "ONBUILD",
    ]
