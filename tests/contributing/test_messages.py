"""Both languages say the same things, and nothing is said that no catalogue holds."""

import ast
import pickle
import re
import string
from pathlib import Path

import pytest

from site_tools.__main__ import SUBCOMMANDS, main
from site_tools.contributing.talk import Talk
from site_tools.messages import CATALOGUES, Refusal, catalogue

TOOLS = CATALOGUES.parent
HAN = re.compile("[㐀-鿿]")


def parts(entry: object) -> dict[str, str]:
    return entry if isinstance(entry, dict) else {"": str(entry)}


def values(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_catalogues_have_the_same_keys_and_values():
    english, chinese = catalogue("en"), catalogue("zh")
    assert english.keys() == chinese.keys()
    for key in english:
        one, other = parts(english[key]), parts(chinese[key])
        assert one.keys() == other.keys(), key
        for part in one:
            assert values(one[part]) == values(other[part]), (key, part)


def strings(folder: Path) -> set[str]:
    """Every string of the code in a folder."""
    trees = [ast.parse(file.read_text("utf-8")) for file in folder.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return {str(node.value) for node in nodes if isinstance(node, ast.Constant)}


# Keys that are put together, by a command, a state, a format, or what a line has.
MADE = re.compile(rf"(?:{'|'.join(SUBCOMMANDS)})_help|state_\w+|format_\w+|yaml_tab")


def test_every_entry_is_named_in_the_code():
    named = strings(TOOLS) | strings(TOOLS.parent / "docs/theme")
    unused = [key for key in catalogue("en") if key not in named]
    assert [key for key in unused if not MADE.fullmatch(key)] == []


# Calls that take a key, and which of their arguments it is.
CALLS = {"Refusal": 0, "Message": 0, "say": 0, "ask": 0, "decide": 0, "text": 0}
CALLS |= {"problem": 2}
KEY = re.compile("[a-z0-9]+(_[a-z0-9]+)+")  # `text` and `say` have other arguments too


def calls(source: str) -> dict[str, set[str]]:
    """The keys that a module names at a call, with the values that it gives there."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            of_page = name == "problem" and isinstance(node.func, ast.Attribute)
            at = CALLS.get(name, 99) - of_page  # the page names itself
            key = node.args[at] if len(node.args) > at else None
            if isinstance(key, ast.Constant) and KEY.fullmatch(str(key.value)):
                given = {keyword.arg or "**" for keyword in node.keywords}
                found[key.value] = given if name != "Message" else {"**"}
    return found


@pytest.mark.parametrize("folder", sorted({p.parent for p in TOOLS.rglob("*.py")}))
def test_every_key_that_the_code_names_is_there_with_its_values(folder):
    entries = catalogue("en")
    for file in folder.glob("*.py"):
        for key, given in calls(file.read_text("utf-8")).items():
            assert key in entries, (file.name, key)
            wanted = set().union(*map(values, parts(entries[key]).values()))
            assert wanted <= given or "**" in given, (file.name, key, wanted - given)


def test_chinese_is_chinese():
    """Wherever the English has words of its own, beside its values."""
    for key, entry in catalogue("en").items():
        english = re.sub(r"\{\w*\}", "", " ".join(parts(entry).values()))
        if re.search("[A-Za-z]{3}", english):
            assert HAN.search(" ".join(parts(catalogue("zh")[key]).values())), key


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_command_has_help_with_examples(name, capsys):
    for lang in ("zh", "en"):
        with pytest.raises(SystemExit):
            main([name, "--lang", lang, "--help"])
        said = capsys.readouterr().out
        assert f"make {name}" in said and "--lang {zh,en}" in said
        assert bool(HAN.search(said)) is (lang == "zh")


def test_where_nobody_is_to_be_asked_the_answer_is_no(capsys):
    assert not Talk(answer=lambda: None).ask("fix_outputs")
    assert Talk(agreed=True).ask("fix_outputs")
    assert "nobody to ask" in capsys.readouterr().out


def test_a_refusal_comes_whole_out_of_a_process_of_a_pool():
    told = Refusal("wheel_failed", reason=OSError(2, "No such file", "x"))
    again = pickle.loads(pickle.dumps(told))
    assert str(again) == str(told)
    assert again.message.text("zh") == told.message.text("zh")
