"""What the runs of a real model are paid by, and when they are stale."""

import json

from ppo_ref.train.tasks import Question
from site_tools.ledger import read_ledger
from site_tools.stored_runs.make import LEDGER, problems, store_run
from site_tools.stored_runs.real import SCORES
from site_tools.stored_runs.table import REAL, SMALL, Recipe
from tests.stored_runs.stand_in import produce

ASKED = Question("23 + 31 = ", "54")
TEXTS = ("54", " 54 and 5", "55", "55 54", "no", "154")


def test_form_alone_is_paid_or_the_number_wherever_it_stands():
    paid = {name: [score(ASKED, x) for x in TEXTS] for name, score in SCORES.items()}
    assert paid == {
        "any-number": [1, 1, 1, 1, 0, 1],
        "contained": [1, 1, 0, 1, 0, 0],
    }


def test_every_real_run_has_a_score_that_there_is():
    assert REAL and SMALL.keys().isdisjoint(REAL)
    named = {run.options["score"] for run in REAL.values() if "score" in run.options}
    assert named == SCORES.keys()


def test_code_that_changed_does_not_make_a_real_run_stale(tmp_path):
    """It takes a quarter of an hour; the slow tests make its beginning anew."""
    runs = {"first": Recipe("Falls slowly.", {"rate": 0.9}, 1, preset="smollm2")}
    (tmp_path / "site_tools/stored_runs").mkdir(parents=True)
    producing = tmp_path / "site_tools/stored_runs/producing.py"
    producing.write_text("x = 1")
    store_run(tmp_path, "first", runs["first"], "code", produce)
    producing.write_text("x = 2")
    assert list(problems(tmp_path, runs, {})) == []
    assert "code" not in read_ledger(tmp_path / LEDGER)["first"].made_from
    path = tmp_path / "ppo_ref/train/stored/first.jsonl"
    header = json.loads(path.read_text("utf-8").splitlines()[0])
    assert header["preset"] == "smollm2" and header["cpu_seconds"] >= 0
    other = {"first": Recipe("Falls slowly.", {"rate": 0.8}, 1, preset="smollm2")}
    (stale,) = problems(tmp_path, other, {})
    assert stale.found == "a stale run: changed since it was made: table"
