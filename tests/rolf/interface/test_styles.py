"""Styles: whatever a call holds comes through, and whatever is no call is refused with a reason."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from golden_interfaces import FOLDER, texts
from hypothesis import example, given, settings
from hypothesis import strategies as st
from toy_tools import DISPATCH, SHELL, TOOLS

from rolf.interface import HELD_OUT, TRAINING, Call, CallError, Tool, renamed, style
from rolf.interface.call import REASON_LENGTH

STYLES = (*TRAINING, *HELD_OUT)
SCALARS = st.characters(exclude_categories=["Cs"])
NASTY = (
    *("]]>", "<![CDATA[", "</parameter>", '<parameter name="x">', "</invoke>", '<invoke name="shell">', "<tool_call>"),
    *("</tool_call>", "```", "````", "```bash", "#:", "#: timeout = 1", "---", "\n---\n", "\x00", "\r", "\r\n", "\n"),
    *("\t", " ", "\x85", "\u2028", "\ufeff", "\uffff", "\x1b[2J", "\x7f", "'", '"', '"""', "\\", "\\n", "{", "}", "{}"),
    *(
        "*a",
        "&a",
        "Action: shell",
        "Action Input: {}",
        "Observation:",
        "# ",
        "$HOME",
        "${x}",
        "%s",
        "no",
        "null",
        "1e3",
    ),
    *("é", "🎛"),
)
TEXT = st.one_of(
    st.text(SCALARS, max_size=40),
    st.lists(st.one_of(st.sampled_from(NASTY), st.text(SCALARS, max_size=3)), max_size=8).map("".join),
)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
SHELL_ARGUMENTS = st.fixed_dictionaries(
    {"command": TEXT},
    optional={
        "timeout": st.floats(0.001, 3600) | st.integers(1, 3600),
        "exit_code": st.none() | st.integers(0, 255),
        "quiet": st.booleans(),
        "answers": st.lists(st.fixed_dictionaries({"expect": TEXT, "send": TEXT}), max_size=2),
        "label": TEXT,
        "data": DATA,
    },
)
CALLS = st.one_of(
    SHELL_ARGUMENTS.map(lambda given: Call("shell", given)),
    st.builds(lambda text: Call("note", {"text": text}), TEXT),
    st.builds(
        lambda who, claim: Call("dispatch", {"technician": who, "claim": claim}),
        st.integers(0, 5),
        st.sampled_from(["bearing", "no"]),
    ),
    st.just(Call("submit")),
)


@pytest.mark.parametrize("name", STYLES)
@settings(deadline=None)
@given(CALLS)
@example(Call("shell", {"command": "\n"}))
@example(Call("shell", {"command": "\n\n", "label": "\n"}))
@example(Call("shell", {"command": "\n<![CDATA[x]]></parameter>\n"}))
@example(Call("shell", {"command": "#: timeout = 3\n#:\n```\n````"}))
@example(Call("shell", {"command": "", "label": "a \u2028 b \x85 c \u2029\ufeff"}))
@example(Call("shell", {"command": "", "data": {"": [None, {"a": -0.5}]}}))
def test_whatever_a_call_holds_comes_through(name: str, call: Call) -> None:
    """A style that lost a line feed or a backtick would run another command than the policy meant."""
    text = style(name).write(call, TOOLS)
    assert style(name).read(text, TOOLS) == call
    assert typed(style(name).read(text, TOOLS).arguments) == typed(call.arguments), "true is not 1"


def typed(data: Any) -> Any:
    return json.dumps(data, sort_keys=True)


@pytest.mark.parametrize("name", STYLES)
@settings(deadline=None)
@given(CALLS, TEXT)
@example(Call("submit"), "so:\nAction: note")
@example(Call("submit"), "so:\nAction Input: {}")
@example(Call("submit"), "so:\n```bash\nrm -r ~\n```")
@example(Call("submit"), '<invoke name="note"></invoke><tool_call>{}</tool_call>')
@example(Call("submit"), "a\rnote()\x0cnote()\u2028note()")
@example(Call("submit"), "---\ntool: note\n---\n")
def test_a_thought_changes_nothing_of_the_call(name: str, call: Call, thought: str) -> None:
    """A thought that would be read as a call is refused when it is written, not misread afterwards."""
    try:
        text = style(name).write(call, TOOLS, thought)
    except CallError:
        assert name not in ("openai-tools", "json-plan"), "JSON carries every thought"
        return
    assert style(name).read(text, TOOLS) == call


@pytest.mark.parametrize("name", STYLES)
def test_a_plain_thought_is_written_down(name: str) -> None:
    assert "the bearing" in style(name).write(Call("submit"), TOOLS, "I think it is the bearing.")


@pytest.mark.parametrize("naming", ["own", "function", "device"])
@pytest.mark.parametrize("name", STYLES)
@settings(deadline=None)
@given(SHELL_ARGUMENTS)
def test_other_names_carry_the_same(name: str, naming: str, arguments: dict[str, Any]) -> None:
    tools = [renamed(tool, naming) for tool in TOOLS]
    new = {own: shown for shown, own in SHELL.own_names(naming).items()}
    call = Call(tools[0].name, {new[key]: value for key, value in arguments.items()})
    assert style(name).read(style(name).write(call, tools), tools) == call


@pytest.mark.parametrize("name", STYLES)
def test_prose_around_a_call_is_allowed_where_the_style_allows_it(name: str) -> None:
    """Models talk. Where a call cannot be told from prose it is the whole answer."""
    call = Call("shell", {"command": "ls {} \\; # ${HOME}"})
    text = f"I'll have a look at ${{HOME}} and {{}}.\n\n{style(name).write(call, TOOLS)}"
    if name in ("python-call", "yaml-front-matter"):
        with pytest.raises(CallError):
            style(name).read(text, TOOLS)
    else:
        assert style(name).read(text, TOOLS) == call


REFUSED = {
    "openai-tools": {
        '{"role": "assistant", "content": "hm"}': "no tool_calls",
        '{"tool_calls": []}': "no tool_calls",
        '{"tool_calls": [{"function": {"name": "submit"}}, {"function": {"name": "submit"}}]}': "2 tool_calls",
        '{"tool_calls": [{"name": "submit"}]}': "names no function",
        '{"tool_calls": [3]}': "names no function",
        '{"tool_calls": [{"function": {"name": "shell", "arguments": "{oops"}}]}': "arguments is no JSON",
        '{"tool_calls": [{"function": {"name": "shell", "arguments": "{} {}"}}]}': "goes on after its JSON",
        '{"tool_calls": [{"function": {"name": "shell", "arguments": "[1]"}}]}': "must be an object",
        '{"tool_calls": [{"function": {"name": "submit"}}': "the object is no JSON",
        '{"tool_calls": [], "tool_calls": []}': "stands there twice",
    },
    "xml-tags": {
        '<invoke name="shell"><parameter name="command">ls': "is not closed",
        '<invoke name="shell"><parameter name="command"><![CDATA[ls</parameter></invoke>': "CDATA .* is not closed",
        '<invoke name="shell"><parameter name="command"><![CDATA[a]]>b</parameter></invoke>': "follows the CDATA",
        '<invoke name="shell"><parameter name="command">ls</parameter>': "where .* must be",
        '<invoke name="shell"><command>ls</command></invoke>': "<command>.* where",
        '<invoke name="note"><parameter name="text">a</parameter><parameter name="text">b</parameter>': "given twice",
        '<invoke name="submit"></invoke><invoke name="submit"></invoke>': "several <invoke>",
        '<invoke name="dispatch"><parameter name="technician">two</parameter></invoke>': "technician is no JSON",
    },
    "fenced-shell": {
        "```bash\nls": "not closed",
        "```bash\nls\n```\n```bash\npwd\n```": "several fenced blocks",
        "```python\nprint()\n```": "'python', which is nothing",
        "```\nls\n```": "'', which is nothing",
        "```submit\nnow!\n```": "submit takes no text",
        "```bash\n#: timeout = soon\nls\n```": "timeout is no JSON",
        "```bash\n#: timeout\nls\n```": "has no value",
        "```bash\n#: quiet = true\n#: quiet = true\nls\n```": "given twice",
        '```bash\n#: command = "ls"\nls\n```': "not a directive",
        "```bash\n```": "shell needs command",
        "```dispatch\n#: technician = 1\n```": "dispatch needs claim",
    },
    "json-plan": {
        "{}": "no JSON object",
        '{"thought": "hm"}': "none of them",
        '{"command": "ls", "text": "x"}': "both command and text",
        '{"command": "ls"} {"command": "pwd"}': "several JSON objects",
        '[{"command": "ls"}, {"command": "pwd"}]': "several JSON objects",
        '{"submit": true, "now": 1}': "stands beside submit",
        '{"submit": false}': "must be an object",
        '{"dispatch": true}': "dispatch needs technician and claim",
        '{"plan": {"command": "ls"}}': "none of them",
        '{"command": "ls", "plan": ': "no JSON",
        '{"command": NaN}': "NaN is no JSON number",
    },
    "react": {
        "Thought: hm": "no line 'Action",
        "Action: shell": "right below",
        'Action Input: {"command": "ls"}\nAction: shell': "right below",
        'Action: shell\nso\nAction Input: {"command": "ls"}': "right below",
        "Action: shell\nAction Input: ls -l": "Action Input is no JSON",
        'Action: shell\nAction Input: {"command": "ls"}\nObservation: a b': "follows the Action Input",
        "Action: submit\nAction Input: {}\nAction: submit\nAction Input: {}": "several actions",
    },
    "hermes": {
        '<tool_call>{"name": "submit"}': "goes on with '' where",
        '<tool_call>{"name": "submit"} and then </tool_call>': "goes on with",
        "<tool_call></tool_call>": "no JSON",
        '<tool_call>{"name": "submit"}</tool_call><tool_call>{"name": "submit"}</tool_call>': "several",
        '<tool_call>{"tool": "submit"}</tool_call>': "a call is like",
        '<tool_call>["submit"]</tool_call>': "a call is like",
    },
    "python-call": {
        "submit": "not one call",
        "shell.run()": "not one call",
        "submit()\nsubmit()": "2 statements",
        "x = submit()": "1 statements",
        'shell("ls")': "by its name",
        'shell(**{"command": "ls"})': "by its name",
        'shell(command=f"ls {x}")': "written out as a literal",
        'shell(command="a" + "b")': "written out as a literal",
        'shell(command=b"ls")': "written out as a literal",
        'shell(command="a", command="b")': "keyword argument repeated|given twice",
        'shell(command="ls", data={"a": 1, "a": 2})': "each once",
        'shell(command="ls", data={1: 2})': "keys of a dict",
        'shell(command="ls", timeout=1e999)': "written out as a literal",
        'shell(command="ls", timeout=-True)': "written out as a literal",
        "```python\nsubmit()\n```\n```python\nsubmit()\n```": "several blocks",
        "shell(command='ls'": "no Python call",
        "Let me submit().": "no Python call",
        "": "0 statements",
    },
    "yaml-front-matter": {
        "---\ntool: submit": "no front matter",
        "tool: submit": "no front matter",
        "---\ntool: shell\ncommand: ls\n---\n": "stands below",
        "---\ntool: submit\n---\nnow!": "takes no text below",
        "---\ncommand: ls\n---\n": "names no tool",
        "---\n- tool\n---\n": "no names with values",
        "---\ntool: [\n---\n": "no YAML",
        "---\ntool: shell\ntool: submit\n---\n": "stands there twice",
        "---\ntool: shell\ndata: &a [1]\nanswers: *a\n---\nls": "alias",
        "---\ntool: shell\ndata: !!python/name:os.system\n---\nls": "no YAML",
        "---\ntool: shell\ndata: !!timestamp 2001-01-01\n---\nls": "no plain data",
        "---\ntool: shell\ndata: .nan\n---\nls": "",
    },
}
BAD_CALLS = (
    ("rm", {}, "no tool is named 'rm'; tools: shell, dispatch, note, submit"),
    ("submitt", {}, "did you mean 'submit'?"),
    ("shell", {"command": "ls", "timeot": 3}, "shell has no 'timeot'; did you mean 'timeout'?"),
    ("shell", {"timeout": 3}, "shell needs command"),
    ("shell", {"command": "ls", "timeout": "60"}, "timeout: input should be a valid number, got '60'"),
    ("shell", {"command": "ls", "quiet": 1}, "quiet: input should be a valid boolean, got 1"),
    ("shell", {"command": "ls", "timeout": -1}, "timeout: input should be greater than 0, got -1"),
    ("shell", {"command": "ls", "answers": [{"expect": "a"}]}, "answers.0.send: field required"),
    ("dispatch", {"technician": 6, "claim": "no"}, "technician: input should be less than or equal to 5"),
    ("dispatch", {"technician": True, "claim": "no"}, "technician: input should be a valid integer, got True"),
    ("dispatch", {"technician": 1, "claim": "yes"}, "claim: input should be 'bearing' or 'no', got 'yes'"),
)


def cases() -> list[Any]:
    return [
        pytest.param(name, text, reason, id=f"{name}-{text[:30]!r}")
        for name, faults in REFUSED.items()
        for text, reason in faults.items()
    ]


@pytest.mark.parametrize(("name", "text", "reason"), cases())
def test_what_is_no_call_is_refused_with_the_reason(name: str, text: str, reason: str) -> None:
    if text.endswith(".nan\n---\nls"):  # the core schema of YAML has it, ours does not: it is text
        assert style(name).read(text, TOOLS).arguments["data"] == ".nan"
        return
    with pytest.raises(CallError, match=reason):
        style(name).read(text, TOOLS)


@pytest.mark.parametrize(("tool", "arguments", "reason"), BAD_CALLS)
@pytest.mark.parametrize("name", STYLES)
def test_calls_that_are_not_allowed_are_refused_with_the_reason(
    name: str, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    """The text is written by the style's own hand, past its checks, as a model would."""
    meant = next((each for each in TOOLS if each.name == tool), Tool(tool, "Not offered."))
    if name in ("fenced-shell", "yaml-front-matter") and meant.body and meant.body not in arguments:
        return  # there is always a text, if only an empty one
    text = style(name).compose(meant, arguments, "")
    with pytest.raises(CallError) as caught:
        style(name).read(text, TOOLS)
    if name in ("json-plan", "fenced-shell") and meant not in TOOLS:
        assert re.search("submit, |, submit", str(caught.value)), "it says what there is"
    elif name == "json-plan" and "command" not in arguments and tool == "shell":
        assert "exactly one of the keys" in str(caught.value)
    else:
        assert reason in str(caught.value)


@pytest.mark.parametrize("name", STYLES)
@settings(deadline=None)
@given(st.text(max_size=200) | st.lists(st.sampled_from(NASTY), max_size=30).map("".join))
def test_any_text_is_a_call_or_refused_with_a_short_reason(name: str, text: str) -> None:
    reason = "it is a call"
    try:
        style(name).read(text, TOOLS)
    except CallError as error:
        reason = str(error)
    assert 0 < len(reason) <= REASON_LENGTH


MEGABYTE = 1 << 20


def filled(*parts: str) -> str:
    """Return a megabyte of repetitions of the second part, between the first and the third."""
    before, unit, after = parts
    return before + unit * (MEGABYTE // len(unit)) + after


HOSTILE = {
    "braces": filled("", "{", ""),
    "objects": filled("", '{"a":', ""),
    "empty objects": filled("", '{"a":{}}', ""),
    "lists": filled('{"tool_calls":', "[", ""),
    "strings": filled("", '{"', ""),
    "keys": '{"command":"ls",' + ",".join(f'"k{n}":1' for n in range(MEGABYTE // 12)) + "}",
    "one key again": filled('{"command":"ls"', ',"a":1', "}"),
    "digits": filled('{"command":"ls","timeout":', "9", "}"),
    "invokes": filled("", '<invoke name="shell">', ""),
    "parameters": filled('<invoke name="shell">', '<parameter name="command">', ""),
    "cdata": filled('<invoke name="shell"><parameter name="command">', "<![CDATA[]]>", ""),
    "blank parameters": filled('<invoke name="shell">', " ", "x"),
    "attributes": filled('<invoke name="', "a", '">'),
    "fences": filled("", "```bash\n", ""),
    "backticks": filled("", "`", ""),
    "backtick lines": filled("", "```` x\n", ""),
    "long fences": filled("", "`" * 1000 + "\n", ""),
    "directives": filled("```bash\n", "#: a = 1\n", "```"),
    "actions": filled("", "Action: a\n", ""),
    "deep input": filled("Action: shell\nAction Input: ", '{"a":', ""),
    "tool calls": filled("", "<tool_call>", ""),
    "deep call": filled("<tool_call>", "[", ""),
    "parentheses": filled("shell(command=", "(", ""),
    "minus signs": filled("shell(timeout=", "-", "1)"),
    "sum": filled("shell(timeout=1", "+1", ")"),
    "attributes of attributes": filled("shell", ".a", "()"),
    "python lists": filled("shell(data=", "[", ""),
    "python texts": filled("shell(command=", "''", ")"),
    "python triple texts": filled("shell(command=", '"""a"""', ""),
    "python backslashes": filled("shell(command='", "\\'", ")"),
    "python formatted": filled("shell(command=f'{1", "+1", "}')"),
    "python hidden by a comment": filled('#"""\nshell(data=[1', ",1", "])"),
    "python blocks": filled("", "```python\n", ""),
    "comments": filled("", "# a\n", "submit"),
    "rules": filled("", "---\n", ""),
    "yaml flow": filled("---\ntool: ", "[", "\n---\n"),
    "yaml small flow": "---\ntool: " + "[" * 16_000 + "\n---\n",
    "yaml numbers": "---\ntool: [" + "1," * 8_000 + "]\n---\n",
    "yaml keys": "---\n" + "".join(f"k{n}: 1\n" for n in range(1_500)) + "---\n",
    "yaml anchors": "---\na: &a [x,x]\n" + "".join(f"b{n}: &b{n} [*a,*a]\n" for n in range(99)) + "---\n",
    "line feeds": filled("", "\n", ""),
    "spaces": filled("", " ", ""),
    "nul": filled("", "\x00", ""),
    "escapes": filled("", "\x1b[2J", ""),
    "half surrogates": filled("", "\ud800", ""),
    "quotes": filled("", "'", ""),
    "names": filled("Action: ", "a", "\nAction Input: {}"),
}


@pytest.mark.parametrize("name", STYLES)
def test_a_hostile_megabyte_is_refused_at_once(name: str) -> None:
    """A policy that writes nonsense must not stop the others; whatever grows with the square shows here."""
    slow = {}
    for kind, text in HOSTILE.items():
        start = time.process_time()
        with pytest.raises(CallError) as caught:
            style(name).read(text, TOOLS)
        slow[kind] = time.process_time() - start
        assert len(str(caught.value)) <= REASON_LENGTH
    assert {kind: taken for kind, taken in slow.items() if taken > 10.0} == {}


@pytest.mark.parametrize("name", STYLES)
def test_a_megabyte_of_command_comes_through(name: str) -> None:
    call = Call("shell", {"command": 'echo "it\'s <&>]]>" `date`\n' * (MEGABYTE // 25)})
    start = time.process_time()
    assert style(name).read(style(name).write(call, TOOLS), TOOLS) == call
    assert time.process_time() - start < 10.0


def test_too_long_an_answer_is_not_read() -> None:
    with pytest.raises(CallError, match=r"at most 16777216 are read"):
        style("react").read("x" * ((16 << 20) + 1), TOOLS)


def test_an_answer_is_text() -> None:
    with pytest.raises(TypeError, match="an answer is a str"):
        style("react").read(b"Action: submit", TOOLS)  # type: ignore[arg-type]


def test_a_message_that_is_no_text_yet_is_told_how_to_become_one() -> None:
    """Clients of OpenAI's API have the message as a dict."""
    openai = style("openai-tools")
    message = json.loads(openai.write(Call("submit"), TOOLS))
    with pytest.raises(TypeError, match=r"give the JSON text of the whole message: json\.dumps\(message\)"):
        openai.read(message, TOOLS)
    assert openai.read(json.dumps(message), TOOLS) == Call("submit")


def test_a_call_is_checked_before_it_is_written() -> None:
    with pytest.raises(CallError, match="technician: input should be"):
        style("hermes").write(Call("dispatch", {"technician": 9, "claim": "no"}), TOOLS)


def test_a_document_carries_its_parameters_up_to_a_limit() -> None:
    """YAML is read slowly; the main text has no limit, for it is not YAML."""
    with pytest.raises(CallError, match="front matter of"):
        style("yaml-front-matter").write(Call("shell", {"command": "", "label": "x" * 70_000}), TOOLS)


@pytest.mark.parametrize(("file", "text"), texts().items(), ids=list(texts()))
def test_texts_are_what_they_were(file: str, text: str) -> None:
    """Whoever changes one, changes the interface: see ``tests/shared/golden_interfaces.py``."""
    assert text == (FOLDER / file).read_text("utf-8")


def test_nothing_golden_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(texts())


def test_no_style_is_known_by_another_name() -> None:
    with pytest.raises(LookupError, match="did you mean 'hermes'"):
        style("herms")
    assert {name: style(name).name for name in STYLES} == {name: name for name in STYLES}


def test_the_description_says_each_name() -> None:
    """A policy cannot call what it was not told of."""
    for name in STYLES:
        told = style(name).describe(TOOLS)
        for tool in TOOLS:
            assert tool.name in told or tool.body in told
            for parameter in tool.parameters.model_fields:
                assert parameter in told
    assert "2" in style("react").write(Call("dispatch", dict(DISPATCH.example)), TOOLS)
