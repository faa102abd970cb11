"""Every guard over the facts files bites, and says what to write instead."""

import re
from pathlib import Path

import pytest

from site_tools.data.facts import Entry, parse, render
from site_tools.data.places import line_hash, verify

CODE = "def slice(v):\n    a = 1\n    v = v[:, :-1]\n    return v\n"
CONFIG = "algorithm:\n  gamma: 0.99\n  lam: 1.0\n"
PLAIN = {
    "release": "verl 0.9.1",
    "path": "a.py",
    "lines": "3",
    "hash": line_hash(["    v = v[:, :-1]"]),
    "quote": "v[:, :-1]",
}
ENTRY = Entry(**PLAIN)
DEFAULT = Entry(
    release="verl 0.9.1",
    path="a.yaml",
    lines="2",
    hash=line_hash(["  gamma: 0.99"]),
    key="algorithm.gamma",
    default="0.99",
)


TITLES = "zh: 切片\nen: The slice\nentries:\n"


def written(**fields: str) -> str:
    body = "\n  ".join(f"{name}: {value!r}" for name, value in fields.items())
    return f"- {body}\n"


def test_a_true_entry_passes() -> None:
    assert verify(ENTRY, CODE) is None
    assert verify(DEFAULT, CONFIG) is None
    two = ["    a = 1", "    v = v[:, :-1]"]
    assert verify(ENTRY._replace(lines="2-3", hash=line_hash(two)), CODE) is None


def test_a_moved_line_is_found_again() -> None:
    assert verify(ENTRY, "\n" + CODE) == (
        "verl 0.9.1 · a.py:3: other lines stand there; "
        f"write lines: 4 hash: {ENTRY.hash}"
    )


def test_moved_lines_are_found_again() -> None:
    two = line_hash(["    a = 1", "    v = v[:, :-1]"])
    problem = verify(ENTRY._replace(lines="2-3", hash=two), "\n\n" + CODE)
    assert problem is not None
    assert problem.endswith(f"write lines: 4-5 hash: {two}")


def test_a_rewritten_line_is_found_by_its_quote() -> None:
    problem = verify(ENTRY, CODE.replace("v = v", "w = v"))
    digest = line_hash(["    w = v[:, :-1]"])
    assert problem is not None
    assert problem.endswith(f"write lines: 3 hash: {digest}")


def test_a_vanished_line_is_said_to_be_gone() -> None:
    problem = verify(ENTRY, "pass\n")
    assert problem is not None
    assert problem.endswith("and 'v[:, :-1]' is nowhere in the file")


def test_a_quote_must_stand_on_the_lines() -> None:
    problem = verify(ENTRY._replace(quote="v[:, 1:]"), CODE)
    assert problem == "verl 0.9.1 · a.py:3: 'v[:, 1:]' is not on these lines"


@pytest.mark.parametrize("lines", ["300", "3-2", "3-3"])
def test_lines_no_file_has_are_found_again(lines: str) -> None:
    problem = verify(ENTRY._replace(lines=lines), CODE)
    assert problem is not None
    assert problem.endswith(f"write lines: 3 hash: {ENTRY.hash}")


def test_a_changed_default_is_named_with_its_value() -> None:
    problem = verify(DEFAULT._replace(default="1.0"), CONFIG)
    assert problem == (
        "verl 0.9.1 · a.yaml:2: algorithm.gamma is 0.99 there; write default: 0.99"
    )


@pytest.mark.parametrize("default", ["1", "true", "'1.0'", "null"])
def test_a_default_of_another_type_is_another_default(default: str) -> None:
    problem = verify(DEFAULT._replace(default=default), "algorithm:\n  gamma: 1.0\n")
    assert problem is not None
    assert problem.endswith("algorithm.gamma is 1.0 there; write default: 1.0")


def test_an_unknown_key_is_named() -> None:
    problem = verify(DEFAULT._replace(key="algorithm.gamma.x"), CONFIG)
    assert problem is not None
    assert "algorithm.gamma.x is not in the file" in problem


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hash": "9cf6"}, "hash must be 12 hex digits, got '9cf6'"),
        ({"hash": "9CF6E368C090"}, "hash must be 12 hex digits, got '9CF6E368C090'"),
        ({"lines": "0"}, "lines must be a line number, or first-last like 93-95"),
        ({"release": "0.9.1"}, "must be name version or owner/name@sha, got '0.9.1'"),
        ({"path": "/a.py"}, "path must be a path inside the release"),
        ({"quote": "v" * 121}, "quote must be a piece of one line, at most 120"),
        ({"line": "3"}, "line does not belong here; write hash, lines, path, quote"),
        ({"default": "1"}, "default does not belong here"),
        ({"key": "a.b"}, "default is missing; write default, hash, key, lines"),
    ],
)
def test_a_malformed_entry_is_refused(change: dict[str, str], message: str) -> None:
    text = TITLES + written(**PLAIN) + written(**{**PLAIN, **change})
    with pytest.raises(ValueError) as refusal:
        parse(text, "values.yml")
    assert str(refusal.value).startswith("values.yml, entry 2 (")
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "values.yml: must be a mapping; write three lines above the entries: "),
        ("- verl 0.9.1\n", "values.yml: must be a mapping; write three lines above"),
        ("release: verl 0.9.1\n", "values.yml: en is missing; write en, entries, zh"),
        ("zh: 甲\nentries: []\n", "values.yml: en is missing; write en, entries, zh"),
        (TITLES, "values.yml: entries must be a list of '- release: ...'"),
        (TITLES + "- verl 0.9.1\n", r"values.yml, entry 1 \(no release\): must have"),
        ("zh: 0.5 的默认\nen: a\nentries: []\n", "zh must hold no figure, got 0.5"),
        (
            "zh: 甲\nzh: 乙\nen: a\nentries: []\n",
            "values.yml: must be YAML, .*'zh' twice",
        ),
        (
            "- quote: values[:, -1]: x\n",
            'values.yml: must be YAML, quote: "in marks"; mapping values',
        ),
    ],
)
def test_a_file_of_another_shape_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"(?s){message}"):
        parse(text, "values.yml")


def test_a_hash_of_digits_and_a_version_of_two_numbers_stay_text() -> None:
    text = TITLES + "- {release: verl 0.9, path: a, lines: 1, hash: 012345678901, "
    text += "quote: q}"
    (entry,) = parse(text, "x").entries
    assert (entry.release, entry.hash) == ("verl 0.9", "012345678901")


def test_rendering_escapes_and_takes_every_entry_of_the_release() -> None:
    concept = parse(TITLES + written(**{**PLAIN, "quote": "a < b"}), "values")
    concept = concept._replace(entries=(*concept.entries, DEFAULT))
    assert render(concept, "verl 0.9.1") == (
        '<p class="fact">verl 0.9.1 · a.py:3 <code>a &lt; b</code></p>\n'
        '<p class="fact">verl 0.9.1 · a.yaml:2 <code>algorithm.gamma: 0.99</code></p>'
    )


def test_an_entry_that_no_test_reads_again_is_marked() -> None:
    commit = "owner/name@a14dc3a"
    concept = parse(
        TITLES + written(**PLAIN) + written(**PLAIN | {"release": commit}), "v"
    )
    (checked, unchecked) = (render(concept, r) for r in (PLAIN["release"], commit))
    assert checked.startswith('<p class="fact">verl 0.9.1')
    assert unchecked.startswith(f'<p class="fact unchecked">{commit} · a.py:3 <code>')
    css = (Path(__file__).parents[2] / "docs/theme/assets/site.css").read_text("utf-8")
    rule = r'\.fact\.unchecked{}::after {{ content: " · {}"'
    assert re.search(rule.format("", "a commit, not re-read by the tests"), css)
    assert re.search(rule.format(r":lang\(zh\)", "提交，测试不复核"), css)


def test_rendering_an_unknown_release_names_the_known_ones() -> None:
    concept = parse(TITLES + written(**PLAIN), "values")
    message = r"values: release must be in verl 0\.9\.1, got verl 0\.8"
    with pytest.raises(ValueError, match=message):
        render(concept, "verl 0.8")
