"""ARG and ENV: scopes, defaults and expansion, as docker's reference has them."""

from __future__ import annotations

import pytest

from termgym.errors import ImageError
from termgym.image.state import PATH


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("FROM tiny\nENV A=1 B=$A\n", {}, {"A": "1", "B": ""}),
        ("FROM tiny\nENV A=1\nENV A=2 B=$A C='$A' D=\\$A E=\"x $A\"\n", {},
         {"A": "2", "B": "1", "C": "$A", "D": "$A", "E": "x 1"}),
        ("FROM tiny\nENV A some words  here\n", {}, {"A": "some words  here"}),
        ("FROM tiny\nENV A=${X:-none} B=${X:+some} C=${X-} D=x${A}y\n", {}, {"A": "none", "B": "", "C": "", "D": "xy"}),
        ("FROM tiny\nENV A=abcabc\nENV B=${A#a} C=${A%bc} D=${A//b/_}\n", {},
         {"A": "abcabc", "B": "bcabc", "C": "abca", "D": "a_ca_c"}),
        ("FROM tiny\nARG V=1\nENV A=$V\n", {}, {"A": "1"}),
        ("FROM tiny\nARG V=1\nENV A=$V\n", {"V": "2"}, {"A": "2"}),
        ("FROM tiny\nARG V=1\nENV V=env\nENV A=$V\n", {"V": "2"}, {"V": "env", "A": "env"}),
        ("ARG V=global\nFROM tiny\nENV A=[$V]\n", {}, {"A": "[]"}),
        ("ARG V=global\nFROM tiny\nARG V\nENV A=$V\n", {}, {"A": "global"}),
        ("ARG V=global\nFROM tiny\nARG V=stage\nENV A=$V\n", {}, {"A": "stage"}),
        ("ARG V=global\nFROM tiny\nARG V\nENV A=$V\n", {"V": "given"}, {"A": "given"}),
        ("ARG I=ti\nARG N=${I}ny\nFROM ${N}\nENV A=1\n", {}, {"A": "1"}),
        ("FROM tiny AS a\nARG V=1\nFROM a\nENV A=$V\n", {}, {"A": "1"}),
        ("FROM tiny AS a\nARG V=1\nFROM tiny\nENV A=[$V]\n", {}, {"A": "[]"}),
        ("FROM tiny AS a\nENV B=1\nFROM a AS c\nENV A=$B\n", {}, {"A": "1", "B": "1"}),
        ("FROM tiny\nARG TARGETOS\nENV A=$TARGETOS\n", {}, {"A": "linux"}),
        ("FROM tiny\nARG V=1 W=$V\nENV A=$W\n", {}, {"A": "1"}),
    ],
)  # fmt: skip
def test_has_the_values_that_docker_gives(make, text: str, arguments: dict[str, str], expected: dict[str, str]) -> None:
    assert make(text, arguments=arguments).image.env == {"PATH": PATH, **expected}


def test_knows_the_path_that_docker_begins_with(make) -> None:
    """Else `ENV PATH=/own:$PATH` would leave nothing that can be run."""
    built = make("FROM tiny\nENV PATH=/own:$PATH\nRUN echo $PATH > /said\n")
    assert built.image.env == {"PATH": f"/own:{PATH}"}
    assert built.text("/said") == f"/own:{PATH}\n"


def test_expands_where_docker_does(make) -> None:
    built = make("FROM tiny\nARG D=/opt F=a\nENV U=ann\nWORKDIR $D/x\nCOPY $F ${F}2\nUSER $U\n", {"a": "text"})
    assert built.image.workdir == "/opt/x"
    assert built.image.user == "ann"
    assert built.text("/opt/x/a2") == "text"


def test_leaves_a_run_to_its_shell(make) -> None:
    built = make(
        "FROM tiny\nARG A=arg\nENV E=env\nRUN A=own; echo \"$A $E ${NONE:-none}\" > /said; echo '$A' >> /said\n"
    )
    assert built.text("/said") == "own env none\n$A\n"


def test_demands_what_must_be_set(make) -> None:
    with pytest.raises(ImageError, match=r"line 2: ENV: .*V: give one"):
        make('FROM tiny\nENV A="${V:?give one}"\n')


def test_says_that_a_name_comes_out_empty(make) -> None:
    with pytest.raises(ImageError, match="empty once its variables are replaced"):
        make("FROM ${NONE}\n")


def test_notes_an_argument_that_nothing_asks_for(make) -> None:
    assert "argument X: no ARG asks for it" in make("FROM tiny\n", arguments={"X": "1"}).image.notes


def test_gives_a_proxy_to_a_run_without_being_asked_and_keeps_it_out_of_the_image(make) -> None:
    built = make("FROM tiny\nRUN echo $http_proxy > /said\n", arguments={"http_proxy": "http://p:1"})
    assert built.text("/said") == "http://p:1\n"
    assert built.image.env == {"PATH": PATH}
    assert not built.image.notes
