"""The run viewer's reading, in node, against the files that Python wrote and reads."""

import json
import math
import re
from typing import Any

import pytest

from ppo_ref.check.dump import reading
from ppo_ref.train.stored_runs import FOLDER, stored_names, stored_run
from tests.layout import ROOT
from tests.site.lab.in_node import in_node

VIEWER = ROOT / "ppo_ref" / "train" / "viewer"
READ = """(() => {
  const numbers = ({ rows }) => Object.fromEntries(
    Object.entries(m.QUANTITIES).map(([name, of]) => [name, of(rows) ?? null]))
  const read = (files) => {
    const { figures, watched, recorded, answers, last, faults, kind } = m.readRun(files)
    return {
      kind, last, faults, figures: { ...figures },
      watched: watched.map((one, at) => Object.keys(m.QUANTITIES).map(
        (name) => one.answers.map((_, i) =>
          m.watchedNumbers({ watched }, at, i, name) ?? null))),
      recorded: [...recorded].map(([at, all]) => [at, all.map(
        (one) => ({ ...one, rows: undefined, numbers: numbers(one) }))]),
      nearest: [0, 1, 19, 20, 21].map((at) => m.recordedAt({ recorded }, at) ?? null),
      answers: answers?.map((one) => ({ ...one, numbers: numbers(one) })),
    }
  }
  return given.map((files) => {
    try { return read(files) } catch (fault) {
      if (!fault.key) throw fault
      return { refused: fault }
    }
  })
})()"""


def read(*runs: dict[str, str]) -> Any:
    """The viewer's reading of the files of each run; of one run alone, that."""
    found = in_node(VIEWER / "run_files.js", READ, runs)
    return found if len(runs) > 1 else found[0]


def test_stored_runs_are_read_as_python_reads_them() -> None:
    names = stored_names()
    texts = [(FOLDER / f"{name}.jsonl").read_text("utf-8") for name in names]
    files = [{f"{name}.jsonl": text} for name, text in zip(names, texts, strict=True)]
    for name, found in zip(names, read(*files), strict=True):
        run = stored_run(name)
        assert found["faults"] == [] and found["last"] == len(run.iterations)
        for line in run.iterations:
            at = int(line["iteration"])
            for figure, x in line.items():
                assert figure == "iteration" or found["figures"][figure][at] == x
        watched = [r for r in run.records if r["record"] == "watched"]
        for at, (record, shown) in enumerate(
            zip(watched, found["watched"], strict=True)
        ):
            _, values, ratio, probability, _ = shown
            assert values == record["values"]
            assert_close(
                probability, [[*map(math.exp, x)] for x in record["log_probs"]]
            )
            if at:
                before = watched[at - 1]["log_probs"]
                expected = [
                    [math.exp(x - y) for x, y in zip(*rows, strict=True)]
                    for rows in zip(record["log_probs"], before, strict=True)
                ]
                assert_close(ratio, expected)
        responses = [r for r in run.records if r["record"] == "response"]
        shown = [(at, one) for at, all_ in found["recorded"] for one in all_]
        for record, (at, one) in zip(responses, shown, strict=True):
            assert (at, one["tokens"]) == (record["iteration"], record["response"])
            assert one["score"] == record["score"]
            assert one["numbers"]["advantages"] == record["advantages"]
            assert one["numbers"]["rewards"] == record["token_level_rewards"]
        at = [1, *(n for n in (10, 20) if n in {r["iteration"] for r in responses})]
        nearest = [max(n for n in at if n <= asked) for asked in (1, 19, 20, 21)]
        assert found["nearest"] == [None, *nearest]


def assert_close(found: Any, expected: Any) -> None:
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-12)


ANSWER = {
    "iteration": 1,
    "question": "1+1=",
    "response": ["2", "<eos>"],
    "score": 1.0,
    "old_log_probs": [-0.5, -1.0],
    "new_log_probs": [-0.25, -2.0],
    "values": [0.5, 0.25],
    "token_level_rewards": [0.0, 1.0],
    "advantages": [0.5, -0.5],
}
RUN = {
    "statistics.jsonl": '{"iteration": 1, "kl": 0.5}\n{"iteration": 2, "kl": 0.25}\n',
    "tokens.jsonl": json.dumps(ANSWER) + "\n",
    "config.json": '{"format": 1}',
}


def test_the_folder_of_a_run_and_its_ratio() -> None:
    found = read(RUN)
    assert (found["faults"], found["kind"]) == ([], "run")
    assert found["figures"] == {"kl": [None, 0.5, 0.25]}
    ((_, (answer,)),) = found["recorded"]
    assert answer["numbers"]["ratio"] == [math.exp(0.25), math.exp(-1)]
    assert answer["numbers"]["probability"] == [math.exp(-0.5), math.exp(-1)]


S, T = "statistics.jsonl", "tokens.jsonl"


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        (S, "0.25", "null", {"line": 2, "key": "number", "name": "kl"}),
        (S, "0.25", "NaN", {"line": 2, "key": "number", "name": "kl"}),
        (S, " 0.25}\n", "", {"line": 2, "key": "object"}),
        (S, ": 2,", ": -2,", {"line": 2, "key": "iteration", "got": "-2"}),
        (T, "[0.5, 0.25]", "[0.5]", {"line": 1, "key": "length", "must": 2, "got": 1}),
        (T, "0.25]", "NaN]", {"line": 1, "key": "number", "name": "values[1]"}),
        (T, '["2", "<eos>"]', "7", {"line": 1, "key": "answer", "got": "7"}),
        (T, RUN[T], "", {"key": "missing"}),
        ("config.json", "}", "", {"key": "object"}),
    ],
)
def test_what_is_damaged_is_told_and_the_rest_stays(
    file: str, old: str, new: str, fault: dict[str, Any]
) -> None:
    assert RUN[file].count(old) == 1
    files = RUN | {file: RUN[file].replace(old, new)}
    found = read({name: text for name, text in files.items() if text})
    (told,) = found["faults"]
    assert told["file"] == file
    assert {key: told.get(key) for key in fault} == fault
    assert found["figures"]["kl"][1] == 0.5
    assert bool(found["recorded"]) is (fault["key"] not in ("answer", "missing"))


DUMP = {
    "attention_mask": [[1, 1, 1, 1, 0], [0, 1, 1, 1, 1]],
    "values": [[0.5, 0.25, 9.0], [0.0, 1.0, 2.0]],
    "token_level_scores": [[0.0, 1.0, 9.0], [0.0, 0.0, -1.0]],
    "advantages": [[0.5, -0.5, 9.0], [1.0, 2.0, 3.0]],
    "old_log_probs": [[-1.0, -2.0, 9.0], [-1.0, -1.0, -1.0]],
    "responses": [[7, 2, 0], [5, 6, 2]],
}


def test_a_dump_is_shown_by_the_names_that_check_reads() -> None:
    names = in_node(VIEWER / "run_files.js", "m.NAMES", None)
    assert {name: tuple(theirs) for name, theirs in names.items()} == reading.NAMES
    found = read({"dump.json": json.dumps(DUMP)})
    assert (found["faults"], found["kind"]) == ([], "dump")
    first, second = found["answers"]
    assert (first["tokens"], first["score"]) == (["7", "2"], 1.0)
    assert first["numbers"]["advantages"] == [0.5, -0.5]
    assert first["numbers"]["probability"] == [math.exp(-1), math.exp(-2)]
    assert first["numbers"]["ratio"] is None
    assert first["numbers"]["rewards"] == [0.0, 1.0]  # the scores, where no KL is in
    assert second["numbers"]["values"] == [0.0, 1.0, 2.0] and second["score"] == -1.0
    named = json.dumps(DUMP | {"tokens": [["a NaN", "b", ""], ["c", "d", "e"]]})
    found = read({"dump.json": named.replace("0.25", "NaN")})
    assert found["answers"][0]["tokens"] == ["a NaN", "b"]
    assert found["answers"][0]["numbers"]["values"] == [0.5, None]
    (told,) = found["faults"]
    assert (told["key"], told["name"], told["got"]) == (
        "number",
        "values[0][1]",
        "null",
    )


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"config.json": "{}"}, {"file": "statistics.jsonl", "key": "missing"}),
        ({"statistics.jsonl": "\n"}, {"file": "statistics.jsonl", "key": "nothing"}),
        ({"a.jsonl": "hello"}, {"file": "a.jsonl", "key": "nothing", "got": "hello"}),
        ({"d.json": json.dumps(DUMP)[:-9]}, {"file": "d.json", "key": "json"}),
        ({"d.json": "[1]"}, {"file": "d.json", "key": "dump", "got": "[1]"}),
        ({"d.json": '{"vocab": {"a": 1}}'}, {"key": "dump", "got": "vocab"}),
        ({"d.json": '{"values": [0.5]}'}, {"key": "dump", "got": "values"}),
    ],
)
def test_what_is_no_run_is_refused(
    files: dict[str, str], fault: dict[str, Any]
) -> None:
    refused = read(files)["refused"]
    assert {key: refused.get(key) for key in fault} == fault


def test_a_dump_without_a_mask_or_with_short_rows_shows_what_it_has() -> None:
    dump = {key: x for key, x in DUMP.items() if key != "attention_mask"}
    found = read(
        {"d.json": json.dumps(dump | {"advantages": [[1.0], [1.0, 2.0, 3.0]]})}
    )
    assert [fault["key"] for fault in found["faults"]] == ["mask", "slots"]
    assert found["answers"][0]["numbers"]["values"] == [0.5, 0.25, 9.0]
    assert found["answers"][0]["numbers"]["advantages"] is None


DEEP = "[" * 50_000 + "]" * 50_000
WIDE = "[" + ",".join(["1"] * 100_000) + "]"
KEPT = json.dumps(DUMP)[1:-1]  # of a sound dump
HOSTILE: dict[str, tuple[dict[str, str], str]] = {  # what came, the fault that is told
    "a deep table": ({"d.json": f'{{"values": {DEEP}}}'}, "number"),
    "a deep table beside sound ones": (
        {"d.json": f'{{{KEPT}, "returns": {DEEP}}}'},
        "",
    ),
    "a deep mask": ({"d.json": f'{{{KEPT}, "response_mask": [[{DEEP}, 1, 1]]}}'}, ""),
    "a mask that is no list": (
        {"d.json": json.dumps(DUMP | {"attention_mask": {"map": 5}})},
        "mask",
    ),
    "deep tokens": ({"d.json": f'{{{KEPT}, "tokens": [[{DEEP}]]}}'}, ""),
    "a deep number": ({"d.json": f'{{{KEPT}, "values": [[{DEEP}, 1, 1]]}}'}, "number"),
    "a deep name": ({"d.json": '{"a": ' * 50_000 + "1" + "}" * 50_000}, "dump"),
    "a deep figure": (RUN | {S: f'{{"iteration": 1, "kl": {DEEP}}}'}, "number"),
    "a deep iteration": (RUN | {T: f'{{"iteration": {DEEP}}}'}, "iteration"),
    "a deep answer": (
        RUN | {T: f'{{"iteration": 1, "question": "", "response": [{DEEP}]}}'},
        "",
    ),
    "a deep config": (RUN | {"config.json": DEEP}, ""),
    "an open text of quotes": ({"d.json": '{"x":"' + '\\"' * 200_000}, "json"),
    "an open text of strokes": ({"d.json": '{"x":"' + "\\" * 399_999}, "json"),
    "open texts": (RUN | {T: '"a\\' * 80_000}, "object"),
    "a row of a hundred thousand, as many rows": (
        {"d.json": '{"values": [' + WIDE + ",[]" * 100_000 + "]}"},
        "slots",
    ),
    "many scored rows": (
        {"d.json": '{"token_level_scores": [[]' + ",[]" * 100_000 + "]}"},
        "mask",
    ),
    "as many iterations": (
        RUN | {S: "".join(f'{{"iteration":{i + 1},"kl":1}}\n' for i in range(80_000))},
        "",
    ),
    "as many records": (
        RUN
        | {
            T: "".join(
                f'{{"iteration":{i + 1},"question":"","response":[]}}\n'
                for i in range(80_000)
            )
        },
        "",
    ),
    "an iteration without end": (RUN | {S: '{"iteration": 1e9, "kl": 1}'}, "iteration"),
    "a record of such": (
        RUN | {T: json.dumps(ANSWER | {"iteration": 1e9})},
        "iteration",
    ),
    "a watched one": (
        {
            "r.jsonl": '{"iteration": 1, "kl": 1}\n{"record": "watched", '
            '"iteration": 1e9, "log_probs": [[1]], "answers": ["a"]}'
        },
        "iteration",
    ),
    "watched answers that are no texts": (
        {
            "r.jsonl": '{"iteration": 1, "kl": 1}\n'
            '{"record": "watched", "iteration": 1, "log_probs": [[1]], "answers": [3]}'
        },
        "answer",
    ),
}
LOOK = """given.map((files) => {
  const begun = performance.now()
  let faults
  try {
    const run = m.readRun(files)
    faults = run.faults
    m.recordedAt(run, run.last)
  } catch (fault) { faults = [fault.key ? fault : { key: String(fault) }] }
  const said = JSON.stringify(faults.slice(0, 3)).length
  return { keys: faults.slice(0, 3).map(({ key }) => key), said,
    seconds: (performance.now() - begun) / 1000 } })"""


def test_what_is_made_to_stop_the_viewer_is_told_at_once() -> None:
    files = [given for given, _ in HOSTILE.values()]
    found = in_node(VIEWER / "run_files.js", LOOK, files, timeout=60)
    for (name, (_, key)), one in zip(HOSTILE.items(), found, strict=True):
        assert key in ("", *one["keys"]), (name, one)
        assert all(known.isalpha() for known in one["keys"]), (name, one)
        assert one["said"] < 1000, name
        assert one["seconds"] < 20, (name, one)  # half a one, on a machine at rest


def test_every_stored_run_has_a_title_and_every_fault_a_sentence() -> None:
    code = (VIEWER / "runs.js").read_text("utf-8")
    titles = code.partition("const TITLES = {")[2].partition("\n}\n")[0]
    assert sorted(re.findall(r"(?m)^  (\w+): \[", titles)) == stored_names()
    keys = set(re.findall(r'key: "(\w+)"', (VIEWER / "run_files.js").read_text()))
    keys |= set(re.findall(r'key: "(\w+)"', code))
    words = (VIEWER / "run_faults.js").read_text("utf-8")
    languages = re.findall(r"faults: \{(.*?)\n    \},", words, re.DOTALL)
    assert len(languages) == 2
    for language in languages:
        assert set(re.findall(r"(\w+): \"", language)) == keys


def test_the_local_page_has_the_colours_of_the_site() -> None:
    """They stand in two places, since the site loads one file less by it."""
    site = (ROOT / "docs/theme/assets/site.css").read_text("utf-8")
    local = (VIEWER / "page.css").read_text("utf-8")
    ours = re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", local)
    assert len(ours) == 18
    both = r"  --([a-z]+[a-z-]*): var\(--day, (#\w{6})\) var\(--night, (#\w{6})\);"
    palette = [row for row in re.findall(both, site) if not row[0].startswith("md")]
    day, night = [(name, x) for name, x, _ in palette], [(n, x) for n, _, x in palette]
    assert ours == day + night
