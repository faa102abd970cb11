"""The log doctor of the page: node reads and judges as ppo_ref does."""

import json
import math
import random
import subprocess
import sys
from typing import Any

import pytest

from ppo_ref.check.doctor.figures import FIGURES, KNOWN, LOST, ORDER, SOME_LOST
from ppo_ref.check.doctor.judging import judge
from ppo_ref.check.doctor.measuring import measure
from ppo_ref.check.doctor.reading import K1, K3, RATIO, read_log
from ppo_ref.train.stored_runs import stored_names
from tests.check.doctor.logs import BROUGHT, as_verl, lines_of, stored_file
from tests.layout import ROOT
from tests.site.lab.in_node import in_node

MODEL = ROOT / "docs" / "theme" / "assets" / "lab" / "doctor_model.js"
TABLE = {"figures": FIGURES, "order": ORDER, "lost": LOST, "some_lost": SOME_LOST}
ASK = """given.logs.map((text) => {
  const { log } = m.readLog(text, given.known.figures)
  return { log: [...log.keys()], found: m.judge(log, given.known, "zh"),
    features: [...log.values()].map((values) => m.measure(values)) } })"""


def assert_same(text: str, answer: dict[str, Any]) -> None:
    """Names, features and findings of one log are those that ppo_ref gives."""
    log = read_log(text)
    assert answer["log"] == list(log), text[:200]
    for values, features in zip(log.values(), answer["features"], strict=True):
        assert features == pytest.approx(nulls(measure(values)), abs=1e-6)
    for ours, theirs in zip(judge(log, "zh"), answer["found"], strict=True):
        theirs.pop("name")
        assert tuple(theirs.pop("claims")) == ours.claims
        others = ours._asdict()
        others.pop("claims")
        assert theirs == pytest.approx(nulls(others))


def test_node_reads_and_judges_the_same() -> None:
    random_ = random.Random(0)
    names = sorted(key.replace("*", "a") for key in KNOWN - {RATIO})
    logs = [
        *lines_of(as_verl("healthy")).values(),
        *map(stored_file, stored_names()),
        *(text for text, _ in BROUGHT.values()),
    ]
    for _ in range(200):
        keys = random_.sample(names, 5)
        if random_.random() < 0.2:
            keys[1:3] = sorted({K3, K1} - {keys[0], *keys[3:]})
        size = random_.choice([1, 2, 3, 9, 10, 31])
        level, step = random_.choice([0, 1, -1]), random_.choice([0, 0.1, 1])
        steps = [
            {key: round(level + step * i + random_.gauss(0, 0.3), 4) for key in keys}
            for i in range(size)
        ]
        if random_.random() < 0.2:
            steps[0][keys[0]] = random_.choice([math.nan, math.inf, -math.inf])
        if random_.random() < 0.1:
            steps = [step | {keys[-1]: math.nan} for step in steps]
        logs.append(random_.choice([*lines_of(steps).values()]))
    given = {"known": TABLE, "logs": logs}
    answers = in_node(MODEL, ASK, given)
    for text, theirs in zip(logs, answers, strict=True):
        assert_same(text, theirs)


def nulls(features: dict[str, Any]) -> dict[str, Any]:
    """As JSON tells it: nan is null."""
    return {name: None if x != x else x for name, x in features.items()}


KNOWN_LINE = "step:1 - actor/entropy:0.5\n"
LONG = 400_000
WORDS = {  # a line so long, of which each place was looked at again and again
    "one word": "a" * LONG,
    "a path": "a/" * (LONG // 2),
    "one word that has a value": "a" * LONG + ":0.5",
    "digits": "kl:" + "1" * LONG + "x",
    "blanks": "kl" + " " * LONG + ":" + " " * LONG + "x",
    "a call": "kl:" + "np." * (LONG // 3),
    "names without values": "a:" * (LONG // 2),
    "quotes": '"' * LONG,
    "many names": " ".join(f"a{i}:1" for i in range(LONG // 10)),
    "colours": "\x1b[1" * (LONG // 3),
}
TABLES = {
    "a config": '1,"' + "x" * LONG + '",0.25\n',
    "digits": "1," + "1" * LONG + "x,0.25\n",
    "an open quote": '1,"' + '""' * LONG + ",0.25\n",
    "open quotes": '"a,""' * (LONG // 5) + "\n",
}
HOSTILE = {name: f"{KNOWN_LINE}{word}\n{KNOWN_LINE}" for name, word in WORDS.items()}
HOSTILE |= {f"known, {name}": f"kl:0.5 {word}\n" for name, word in WORDS.items()}
HOSTILE |= {
    f"table, {name}": f"step,config,actor/entropy\n1,-,0.5\n{row}"
    for name, row in TABLES.items()
}
READ = """
import json, sys
from ppo_ref.check.doctor.judging import judge
from ppo_ref.check.doctor.reading import read_log
from ppo_ref.check.doctor.report import report
logs = map(read_log, json.load(sys.stdin))
json.dump([{"log": log, "told": len(report(log, judge(log)))} for log in logs],
          sys.stdout)
"""
READ_THERE = """given.logs.map((text) => {
  const { log } = m.readLog(text, given.known.figures)
  m.judge(log, given.known, "en")
  return Object.fromEntries(log) })"""


def test_a_word_without_end_stops_neither_the_command_nor_the_page() -> None:
    """Seconds for all of them, where one alone would take minutes."""
    texts = [*HOSTILE.values()]
    done = subprocess.run(
        [sys.executable, "-c", READ],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    given = {"known": TABLE, "logs": texts}
    there = in_node(MODEL, READ_THERE, given, timeout=60)
    for name, ours, theirs in zip(HOSTILE, json.loads(done.stdout), there, strict=True):
        assert theirs == {key: [*map(finite, x)] for key, x in ours["log"].items()}
        key = "kl" if name.startswith("known") else "actor/entropy"
        assert ours["log"][key][0] == 0.5, name
    table = read_log(HOSTILE["table, a config"])
    assert table["actor/entropy"] == [0.5, 0.25]


def finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


STRANGE = [
    "损失actor/kl_loss:0.5 loss：1 actor/kl_loss：2",
    "actor/kl_loss:０.5 loss:0.25",
    "step:1\u2028actor/kl_loss:0.5\x0bloss:0.25\x85kl:1",
    "actor/kl_loss\xa0:\xa00.5 loss:0.25\n\xa0\n",
    "2024-01-01T10:00:00 12kl:0.5 -kl:0.5 loss:0.25",
    "\x1b[3m\x1b[٣mkl:0.5 \"loss\":\t'0.25'",
    ',actor/kl_loss,note\n0,0.5,"a ""b"", c\n0.75,1"\n1,٣,x\n2,0.25,\n',
    'step,actor/kl_loss,x\n1,0.5,"an open quote\n2,0.25,3\n',
    '"a,\nb",actor/kl_loss\r\n1,0.5\r2,0.25\n\n3,1',
    "actor/kl_loss:nan loss:1e400\nactor/kl_loss:-inf loss:nan",
    "actor/kl_loss:1e308 loss:-1e308\n" * 12,
    f"{'a' * 200}:1 {'b' * 201}:1 actor/kl_loss:0.5",
    "ſtep:1 KL:1 \u212al:1 actor/kl_loss:0.5",
]


def test_node_reads_strange_texts_the_same() -> None:
    given = {"known": TABLE, "logs": STRANGE}
    there = in_node(MODEL, READ_THERE, given), in_node(MODEL, ASK, given)
    for text, read, asked in zip(STRANGE, *there, strict=True):
        log = read_log(text)
        assert read == {key: [*map(finite, x)] for key, x in log.items()}, text
        assert_same(text, asked)


def test_node_decodes_and_asks_for_a_run_as_we_do() -> None:
    text = "得分\nkl:0.5\n"
    bytes_ = [list(text.encode(each)) for each in ("utf-8-sig", "utf-16", "gb18030")]
    chart = "Step,a - kl,b - kl\n1,0.5,0.25\n"
    ask = """(() => {
      const read = (run) =>
        m.readLog(given.chart, given.known.figures, run).log.get("kl")
      let runs
      try { read("") } catch (error) { runs = error.runs }
      const decoded = given.bytes.map((x) => m.decode(new Uint8Array(x)))
      return [decoded, runs, read("b")] })()"""
    given = {"known": TABLE, "bytes": bytes_, "chart": chart}
    decoded, runs, of_run = in_node(MODEL, ask, given)
    assert decoded == [text] * 3
    assert runs == ["a", "b"] and of_run == [0.25]
