"""The course's drawing: its world and its numbers, in node, against ppo_ref."""

import random
import re
from ast import literal_eval
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from ppo_ref import examples
from ppo_ref.advantages import gae, td_residuals
from tests.copied_code import printed_by
from tests.layout import ROOT
from tests.site.lab.in_node import in_node

LAB = ROOT / "docs" / "theme" / "assets" / "lab"
BEGIN = {"answer": 11, "gamma": 1, "lambda": 0.95, "critic": "", "says": {}}
NUMBERS = """given.map((state) => ({ ...m.estimate(state), tokens: undefined,
  off: m.values(state.answer, state)
    .map((value, t) => m.meanSquare(state.answer, t, value)),
  no: m.overAnswers("No", state), yes: m.overAnswers("Yes", state) }))"""
ANSWERS = """m.ANSWERS.map(({ tokens, before, probability, score }) => ({
  probability, score, words: tokens.map(({ en, zh }) => [en, zh]),
  exact: before.map((x) => x.exact), critic: before.map((x) => m.criticValue(x)),
  reference: tokens.map((x) => Math.log(x.reference)) }))"""
ROUND_TRIP = """given.map((state) =>
  m.read(m.written(state, m.BEGIN), m.BEGIN, m.VIEWS.free))"""
READ = """given.map((sent) =>
  ["home", "gae"].map((view) => m.read(sent, m.BEGIN, m.VIEWS[view])))"""


def drawn(seed: int) -> dict[str, Any]:
    """A state that somebody may leave the drawing in."""
    random_ = random.Random(seed)
    prefixes = examples.world().prefixes
    moved = random_.sample(prefixes, random_.randrange(4))
    return {
        "answer": random_.randrange(14),
        "lambda": random_.choice([0, 1, round(random_.random(), 2)]),
        "gamma": random_.choice([1, 1, 0.9, round(random_.random(), 2)]),
        "critic": random_.choice(["", "", "exact", "mean"]),
        "says": {prefix: round(random_.random(), 2) for prefix in moved},
    }


def expected(state: dict[str, Any]) -> tuple[examples.World, Any, Any]:
    """The world with such a critic, its TD errors and its advantages."""
    w = examples.world()
    log_probs = w.edge_log_probs
    exact = dict(zip(w.prefixes, w.prefix_values(log_probs).tolist(), strict=True))
    mean = dict.fromkeys(w.prefixes, w.mean_score(log_probs).item())
    said = {"": {}, "exact": exact, "mean": mean}[state["critic"]]
    w = examples.world(critic=said | state["says"])
    rewards = torch.zeros_like(w.values)
    rewards[range(len(w.scores)), w.response_mask.sum(1) - 1] = w.scores
    batch = {
        "token_level_rewards": rewards,
        "values": w.values,
        "response_mask": w.response_mask,
    }
    gamma = state["gamma"]
    estimated = gae(**batch, gamma=gamma, gae_lambda=state["lambda"]).advantages
    return w, td_residuals(**batch, gamma=gamma), estimated


def squares_off(w: examples.World) -> torch.Tensor:
    """How far each value is off: over the answers through it, (V - score)² on average.

    The scores scatter by V (1 - V) around the exact V, since they are 0 or 1.
    """
    exact = w.exact_values
    return exact * (1 - exact) + (w.values - exact) ** 2


def test_the_world_is_that_of_ppo_ref() -> None:
    assert in_node(LAB / "world.js", "m.TREE", None) == examples.TREE.rstrip("\n")
    answers = in_node(LAB / "world.js", ANSWERS, None)
    w = examples.world()
    probabilities = torch.tensor([answer["probability"] for answer in answers])
    assert_close(
        probabilities.double(), w.response_probs(w.edge_log_probs), atol=1e-7, rtol=0
    )
    for row, answer in enumerate(answers):
        n = len(answer["words"])
        ids = w.responses[row, :n].tolist()
        pairs = [
            [examples.WORDS[lang][token] for lang in ("en", "zh")] for token in ids
        ]
        assert answer["words"] == pairs and answer["score"] == w.scores[row]
        for name, of_ppo_ref in (
            ("exact", w.exact_values),
            ("critic", w.values),
            ("reference", w.ref_log_probs),
        ):
            numbers = torch.tensor(answer[name], dtype=torch.float64)
            assert_close(numbers, of_ppo_ref[row, :n], atol=1e-9, rtol=0, msg=name)


def test_every_number_of_the_strip_is_that_of_ppo_ref() -> None:
    states = [drawn(seed) for seed in range(1000)]
    for state, shown in zip(
        states, in_node(LAB / "strip_model.js", NUMBERS, states), strict=True
    ):
        w, deltas, advantages = expected(state)
        row = state["answer"]
        n = int(w.response_mask[row].sum())
        for name, of_ppo_ref in (
            ("values", w.values[row, :n]),
            ("deltas", deltas[row, :n]),
            ("advantages", advantages[row, :n]),
            ("carried", (advantages - deltas)[row, :n]),
            ("gains", w.scores[row] - w.values[row, :n]),
            ("off", squares_off(w)[row, :n]),
        ):
            given = torch.tensor(shown[name], dtype=torch.float64)
            assert_close(given, of_ppo_ref, atol=1e-9, rtol=0, msg=f"{state} {name}")
        probs = w.response_probs(w.edge_log_probs)
        for name, word in (("no", "No"), ("yes", "Yes")):
            first = w.responses[:, 0] == examples.WORDS["en"].index(word)
            weights = probs[first] / probs[first].sum()
            mean = weights @ advantages[first, 0]
            assert shown[name]["mean"] == pytest.approx(mean.item(), abs=1e-9)
    truth = shown["no"]["truth"]  # 0.6015 - 0.8210
    assert truth == pytest.approx(-0.2195, abs=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_the_copied_python_prints_what_the_strip_shows(seed: int) -> None:
    state = drawn(seed)
    (code,) = in_node(LAB / "strip_model.js", "given.map(m.python)", [state])
    (shown,) = in_node(LAB / "strip_model.js", NUMBERS, [state])
    for line in printed_by(code).strip().split("\n"):
        name, _, row = line.partition(" ")
        assert literal_eval(row) == pytest.approx(shown[name], abs=1e-9), name


def test_the_figures_that_move_with_the_strip_begin_as_the_page_has_them() -> None:
    view = in_node(LAB / "strip_model.js", "m.VIEWS.gae", None)
    now = in_node(
        LAB / "strip_model.js", "m.figures(m.VIEWS.gae.begin, m.VIEWS.gae.begin)", None
    )
    page = (ROOT / "docs/en/course/gae.md").read_text("utf-8")
    own = page.split(f"{{ #{view['section']} }}")[1].split("\n## ")[0]
    found = re.findall(r'`([^`]+)`\{ data-is="([^"]+)" \}', own)
    assert {expression for _, expression in found} >= {"lam", "delta[0]", "lucky[0]"}
    for shown, expression in found:
        digits = len(shown.partition(".")[2])
        value = f"{round(now[expression], digits):z.{digits}f}"
        assert value.replace("-", "−") == shown, expression


def test_a_state_travels_in_a_short_address() -> None:
    reachable = []
    for seed in range(200):
        state = drawn(seed)
        w = examples.world()
        seen = set()
        for row in range(14):
            n = int(w.response_mask[row].sum())
            prefixes = w.parents[w.edges[row, :n]].tolist()
            seen.update(w.prefixes[prefix] for prefix in prefixes)
        state["says"] = {k: v for k, v in state["says"].items() if k in seen}
        reachable.append(state)
    assert in_node(LAB / "strip_model.js", ROUND_TRIP, reachable) == reachable
    (sent,) = in_node(
        LAB / "strip_model.js",
        "given.map((state) => m.written(state, m.BEGIN))",
        [{"answer": 9, "gamma": 0.9, "lambda": 0.5, "critic": "exact",
          "says": {"No": 0.9}}],
    )  # fmt: skip
    assert sent == "a9_g0.9_l0.5_cexact_v9.1-0.9"
    (short,) = in_node(
        LAB / "strip_model.js", "given.map((x) => m.written(x, m.BEGIN))", [BEGIN]
    )
    assert short == ""


@pytest.mark.parametrize(
    "sent",
    ["", "{}", "a99", "a1", "l2", "l.", "l1e9", "v9.9-0.5", "v9.1-7", "a__l", "%00_é",
     "g0.5", "cexact", "ctoString"],
)  # fmt: skip
def test_an_address_from_elsewhere_begins_at_the_beginning(sent: str) -> None:
    assert in_node(LAB / "strip_model.js", READ, [sent]) == [[BEGIN, BEGIN]]
