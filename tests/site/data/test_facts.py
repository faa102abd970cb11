"""Every guard over the facts files bites, and says what to write instead."""

import re
from dataclasses import replace

import pytest

from site_tools.data.facts import (
    WHEELS,
    Concept,
    Entry,
    concepts,
    pinned,
    place_faults,
    reread,
)
from site_tools.data.rows import read_row
from tests.differential.wheels import MISSING
from tests.layout import ROOT

CODE = "def slice(v):\n    a = 1\n    v = v[:, :-1]\n    return v\n"
CONFIG = "algorithm:\n  gamma: 0.99\n  lam: 1.0\n"
PLAIN = {
    "release": "verl 0.9.1",
    "path": "a.py",
    "lines": "3",
    "quote": "v[:, :-1]",
}
ENTRY = Entry(**PLAIN)
DEFAULT = Entry(
    release="verl 0.9.1",
    path="a.yaml",
    lines="2",
    key="algorithm.gamma",
    default="0.99",
)
TITLES = "zh: 切片\nen: The slice\nentries:\n"


def written(**fields: str) -> str:
    body = "\n  ".join(f"{name}: {value!r}" for name, value in fields.items())
    return f"- {body}\n"


def parse(text: str) -> Concept:
    return read_row(text, "docs/facts/values.yml", Concept)


def wrong(entry: Entry, text: str) -> list[tuple[str, str]]:
    return [(problem.found, problem.fix) for problem in place_faults(entry, text)]


@pytest.mark.parametrize("concept", concepts(ROOT), ids=lambda concept: concept.name)
def test_a_file_says_what_the_wheels_say(concept):
    published = [entry for entry in concept.entries if entry.checked]
    assert {entry.release for entry in published} <= {*pinned(ROOT)}
    problems = {entry: reread(entry, ROOT / WHEELS) for entry in published}
    assert [p for told in problems.values() for p in told or []] == []
    if None in problems.values():
        pytest.skip(MISSING)


def test_every_place_links_to_its_lines_at_the_release():
    assert all(entry.url for concept in concepts(ROOT) for entry in concept.entries)
    at = "https://github.com/verl-project/verl/blob/v0.9.1/a.py#L3"
    assert ENTRY.url == at
    assert replace(ENTRY, lines="3-5").url == f"{at}-L5"
    commit = replace(ENTRY, release="a/b@0123abc").url
    assert commit == "https://github.com/a/b/blob/0123abc/a.py#L3"
    assert not replace(ENTRY, release="Unheard 1.0").url


def test_a_true_entry_passes():
    assert wrong(ENTRY, CODE) == wrong(DEFAULT, CONFIG) == []
    assert wrong(replace(ENTRY, lines="2-3"), CODE) == []


ELSEWHERE = "verl 0.9.1 · a.py:3: 'v[:, :-1]' is not on these lines"


@pytest.mark.parametrize(
    ("change", "text", "found", "fix"),
    [
        ({}, "\n" + CODE, ELSEWHERE, "write lines: 4; or correct the quotation"),
        ({}, "\n" + CODE + CODE, ELSEWHERE, "write lines: 4 or lines: 8;"),
        ({"lines": "1-2"}, CODE, "a.py:1-2: 'v[:, :-1]' is not", "write lines: 3;"),
        ({"lines": "3-2"}, CODE, "is not on these lines", "write lines: 3;"),
        ({}, "pass\n", "'v[:, :-1]' is nowhere in the file", "correct the quotation"),
        ({"lines": "9"}, CODE, "is not on these lines", "write lines: 3;"),
    ],
)
def test_a_quotation_that_stands_elsewhere_is_found_again(change, text, found, fix):
    ((told, remedy),) = wrong(replace(ENTRY, **change), text)
    assert found in told and fix in remedy


def test_a_setting_stands_on_the_lines_too_and_is_shown_before_its_default():
    code = "gamma: float = field(\n    default=1.0,\n)\nlam: float = field()\n"
    entry = replace(ENTRY, lines="1-2", quote="default=1.0,", setting="gamma")
    assert wrong(entry, code) == [] and entry.code == "gamma: default=1.0"
    ((told, fix),) = wrong(replace(entry, setting="lam"), code)
    assert "'lam' is not on these lines" in told and "write lines: 4" in fix
    ((told, _),) = wrong(replace(entry, setting="beta"), code)
    assert "'beta' is nowhere in the file" in told


def test_no_default_is_shown_without_its_setting_and_none_twice():
    for concept in concepts(ROOT):
        shown = [
            (each.release, each.path, each.span[0], each.code)
            for each in concept.entries
        ]
        assert not [code for *_, code in shown if code.startswith("default=")]
        assert len(shown) == len({*shown}), concept.name


def test_a_key_that_the_config_has_not_is_told():
    entry = replace(DEFAULT, key="critic.gamma")
    ((told, _),) = wrong(entry, CONFIG)
    assert told == "verl 0.9.1 · a.yaml:2: critic.gamma is not in the file"


def test_a_default_of_another_type_is_another_default():
    entry = replace(DEFAULT, default="'0.99'")
    assert wrong(entry, CONFIG) == [
        (
            "verl 0.9.1 · a.yaml:2: algorithm.gamma is 0.99 there",
            "write default: 0.99",
        )
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lines": "three"}, "lines must be"),
        ({"hash": "9cf6e368c090"}, "hash does not belong here"),
        ({"release": "0.9.1"}, "must be name version or owner/name@sha, got '0.9.1'"),
        ({"key": "a.b", "default": "1"}, "an entry has quote, or key and default"),
    ],
)
def test_a_malformed_entry_is_refused(change, message):
    with pytest.raises(ValueError) as refusal:
        parse(TITLES + written(**PLAIN) + written(**PLAIN | change))
    place, _, told = str(refusal.value).partition(": ")
    assert re.fullmatch(r"docs/facts/values\.yml:([89]|1\d)", place)
    assert message in told


def test_a_version_of_two_numbers_stays_text():
    text = TITLES + "- {release: verl 0.9, path: a, lines: 1, quote: q}"
    (entry,) = parse(text).entries
    assert entry.release == "verl 0.9"
