"""The code that the dialogues name is all in the map, and today's places are there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from site_tools.data.code_map import Row, parse
from site_tools.data.facts import Entry
from site_tools.indexes import releases, sources
from site_tools.indexes.code_map import code_map
from tests.site.rows import as_yaml

ROOT = Path(__file__).parents[2]
# The logs are not published; they lie beside the project where it is written.
LOGS = next(filter(Path.is_dir, (p / "shared/dialogues" for p in ROOT.parents)), None)
PATTERNS = (
    re.compile(r"(?P<name>[a-z_]+\.py)(?:[:第](?P<lines>\d+(?:-\d+)?))?", re.ASCII),
    re.compile(r"(?<![\w\\])(?P<name>[a-z]*_[a-z_]{2,})(?=\()", re.ASCII),
    re.compile(r"\b(?P<name>[A-Z]\w*PPO\w+)", re.ASCII),
    re.compile(r"'(?P<name>(?:actor|critic)/\w+)'", re.ASCII),
    re.compile(r"^- `(?P<name>\w{2,})`：", re.MULTILINE | re.ASCII),  # config keys
    re.compile(r"`(?P<name>ppo_epochs)`", re.ASCII),
)
NO_CODE = {"r_t", "values"}  # a symbol, and a row of the batch
PLACE = {"path": "a/b.py", "lines": "3", "hash": "0" * 12, "quote": "a < b"}
REASON = {"zh": "没有了", "en": "it is gone"}
ROW: dict[str, Any] = {
    "names": ["b.py:3", "run"],
    "then": PLACE,
    "now": REASON,
    "zh": "跑",
    "en": "Runs `it`",
    "page": "gae/b",
}
ANSWER = sources.Answer("gae/b", "Is A < B?", "", "", (), (), (), ())


def references(text: str) -> Iterator[str]:
    for pattern in PATTERNS:
        for match in pattern.finditer(text):
            lines = match.groupdict().get("lines")
            yield match["name"] + (f":{lines}" if lines else "")


def parsed(*rows: dict[str, Any]) -> tuple[Row, ...]:
    return parse(as_yaml(list(rows)))


def test_every_reference_of_the_dialogues_is_in_the_map() -> None:
    if LOGS is None:
        pytest.skip("no shared/dialogues beside the project: the logs are unpublished")
    logs = sorted(LOGS.glob("*.txt"))
    assert len(logs) == 5
    said = {name for log in logs for name in references(log.read_text("utf-8"))}
    mapped = {name for row in releases.code_map(ROOT) for name in row.names}
    assert len(said) > 45
    assert sorted(said - mapped - NO_CODE) == []
    # Written as a second line of the same place, or only in prose.
    assert sorted(mapped - said) == ["dp_critic.py:100"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("代码位于 `verl/a/core_algos.py:70-107`。", ["core_algos.py:70-107"]),
        ("# 在ray_trainer.py第774-776行", ["ray_trainer.py:774-776"]),
        ("@[verl/trainer/ppo/ray_trainer.py] ppo", ["ray_trainer.py"]),
        ("verl_F.masked_whiten(advantages)", ["masked_whiten"]),
        ("self._optimizer_step()", ["_optimizer_step"]),
        ("(`MegatronPPOActor`)", ["MegatronPPOActor"]),
        ("    'actor/pg_loss': -0.0156,", ["actor/pg_loss"]),
        ("- `gamma`：折扣因子", ["gamma"]),
        ("max(a), clip(b), range(c)", []),
    ],
)
def test_what_counts_as_a_reference(text: str, names: list[str]) -> None:
    assert sorted(references(text)) == names


def test_the_map_of_the_site_leads_to_pages_that_are_there_or_planned() -> None:
    rows = releases.code_map(ROOT)
    homes = {q.page for d in sources.dialogues(ROOT) for q in d.questions}
    homes |= {answer.page for answer in sources.users(ROOT, "zh")}
    assert [row.page for row in rows if row.page not in homes] == []
    now = [row.now for row in rows if isinstance(row.now, Entry)]
    assert len(now) > 35 and {place.release for place in now} == {"verl 0.9.1"}


def test_a_card_names_both_places_or_says_why_there_is_none() -> None:
    html = code_map(parsed(ROW), [ANSWER], "en")
    assert '<div class="compared" id="b-py-3">' in html
    assert "<h2><code>b.py:3</code>, <code>run</code></h2>" in html
    assert "<p>Runs <code>it</code></p>" in html
    assert "<dd>a/b.py:3 <code>a &lt; b</code></dd>" in html
    assert '<div class="none"><dt>verl 0.9.1</dt><dd>it is gone</dd></div>' in html
    assert '<a href="/gae/b/">Is A &lt; B?</a>' in html
    assert "href" not in code_map(parsed(ROW), [], "zh")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": "b.py"}, "row 1: names must be a list of names, got 'b.py'"),
        ({"names": []}, "row 1: names must be a list of names, got []"),
        ({"names": [["b.py"]]}, "row 1: names must be a list of names, got [['b.py']]"),
        ({"now": PLACE | {"hash": "9cf6"}}, "now: hash must be 12 hex digits, got"),
        ({"now": PLACE | {"release": "x 1"}}, "now: release does not belong here"),
        ({"now": "gone"}, "now: must have the fields hash, lines, path, quote, got"),
        ({"then": {"en": "gone"}}, "then: zh is missing; write en, zh"),
        ({"then": REASON | {"en": "by 0.5"}}, "then: en must hold no figure, got 0.5"),
        ({"en": "about 0.99"}, "en must hold no figure, got 0.99"),
        ({"page": "gae"}, "page must be a page id like gae/inputs, got 'gae'"),
    ],
)
def test_a_malformed_row_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        parsed(ROW | change)
    assert str(refusal.value).startswith("code_map.yml, row 1")
    assert message in str(refusal.value)


def test_a_name_stands_in_one_row() -> None:
    with pytest.raises(ValueError, match=r"b\.py:3 is in two rows; leave it in one"):
        parsed(ROW, ROW)
    with pytest.raises(ValueError, match=r"must be a list of rows '- names: "):
        parse("a: b\n")
