"""The arithmetic of the lab's widgets, in node, against ppo_ref."""

import gzip
import math
import random
import re
from ast import literal_eval
from collections import Counter
from typing import Any

import pytest
import torch
import yaml
from torch import Tensor
from torch.testing import assert_close

from ppo_ref import examples
from ppo_ref.advantages import gae, monte_carlo_returns, td_residuals
from ppo_ref.examples import (
    ThreeTokens,
    shared_batch,
    three_tokens,
    two_token_tree,
    world,
)
from ppo_ref.losses import policy_loss
from ppo_ref.rewards import token_level_rewards, token_level_scores
from site_tools.finish.tree import lean
from tests.copied_code import named_numbers, printed_by
from tests.layout import ROOT
from tests.site.lab.in_node import in_node

LAB = ROOT / "docs" / "theme" / "assets" / "lab"


MODEL = """{ presets: m.PRESETS, bugs: m.BUGS, views: m.VIEWS,
  states: given.map((change) => ({ ...m.PRESETS.batch, ...change })).map(
    (state) => ({ code: m.python(state), numbers: m.compute(state) })) }"""
MOVED = {
    "values": [[0.1, -0.5, 0.9, 0.3, 0.0, 1.2], [0.4, 0.4, 0.1, 0.2, 0.9, 0.8]],
    "kl": [[0.3, -0.2, 0.1, 0.0, 0.5, 0.1], [-0.6, 0.05, 0.2, 0.1, 0.6, 0.6]],
    "ratios": [[1.0, 1.3, 0.7, 0.05, 2.0, 1.0], [0.4, 1.0, 1.6, 1.9, 0.3, 2.0]],
    "mask": [[t != 1 for t in range(6)], [t not in (2, 5) for t in range(6)]],
    "scores": [0.7, -1.0],
    "gamma": 0.9,
    "lambda": 0.8,
    "beta": 0.3,
    "low": 0.1,
    "high": 0.4,
}
BUGS = ["values", "log_probs", "padding", "score", "reference", "engine", "returns"]
BUGS += ["targets", "split", "steps"]


def drawn(random_: random.Random) -> dict[str, Any]:
    """A batch with gaps, garbage outside the mask, and knobs of every size."""

    def tokens(spread: float) -> list[list[float]]:
        return [[random_.gauss(0, spread) for _ in range(6)] for _ in range(2)]

    mask = [[True, *(random_.random() < 0.7 for _ in range(5))] for _ in range(2)]
    return {
        "scores": [random_.gauss(0, 1) for _ in range(2)],
        "kl": tokens(0.5),
        "values": tokens(1),
        "ratios": [[math.exp(x) for x in row] for row in tokens(0.3)],
        "mask": [row[::-1] for row in mask],  # the first slot may be a gap as well
        "beta": random_.choice([0.0, 0.01, 0.5]),
        "gamma": random_.choice([1.0, 0.99, 0.5, 0.0]),
        "lambda": random_.choice([1.0, 0.95, 0.5, 0.0]),
        "low": random_.choice([0.0, 0.2, 0.9]),
        "high": random_.choice([0.0, 0.2, 3.0]),
        "dual": random_.choice([0, 1.5, 3.0]),
        "white": random_.random() < 0.7,
    }


STATES = [
    {},
    {"lambda": 1, "beta": 0, "dual": 0},
    {"white": False, **MOVED},
    *({"bug": bug, **MOVED} for bug in BUGS),
    *map(drawn, map(random.Random, range(30))),
]


def modelled(states: list[Any]) -> dict[str, Any]:
    """The explorer's model, and what it makes of these states."""
    answer: dict[str, Any] = in_node(LAB / "explorer_model.js", MODEL, states)
    return answer


@pytest.fixture(scope="module")
def model() -> dict[str, Any]:
    return modelled(STATES)


def test_the_explorer_begins_with_the_batches_of_the_pages(model):
    begin, batch = model["presets"]["batch"], shared_batch()
    kl = (batch.old_log_probs - batch.ref_log_probs).round(decimals=6)
    assert begin["kl"] == kl.tolist() and begin["values"] == batch.values.tolist()
    assert begin["scores"] == batch.scores.tolist() and begin["beta"] == batch.kl_coef
    assert begin["mask"] == batch.response_mask.tolist()
    three = model["presets"]["three"]
    assert [three["values"][0][:3]] == three_tokens().values.tolist()
    refuted = run("pipeline/token_rows", "rows")
    (state,) = modelled([model["presets"]["one"]])["states"]
    assert model["presets"]["one"]["values"][0] == refuted["V"]
    assert state["numbers"]["rewards"][0] == pytest.approx(refuted["r"])
    (state,) = modelled([model["presets"]["fit"]])["states"]
    assert state["numbers"]["valueLoss"] == pytest.approx(0.5 * (0.95 - 0.8) ** 2)


@pytest.mark.pages
def test_the_presets_of_verl_are_the_defaults_of_its_releases(model):
    facts = ROOT / "docs" / "facts"
    default = {
        (entry["release"], entry["key"]): entry["default"]
        for name in (
            "gae_defaults",
            "kl_in_reward",
            "reward_kl_estimate",
            "clip_ratio",
            "policy_token_loss",
        )
        for entry in yaml.safe_load((facts / f"{name}.yml").read_text("utf-8"))[
            "entries"
        ]
        if "default" in entry
    }
    actor = "actor_rollout_ref.actor."
    for preset, releases in {
        "verl": ("verl 0.9.1", "verl 0.7.1", "verl 0.4.0"),
        "old_verl": ("verl 0.3.0.post1",),
    }.items():
        state = model["presets"][preset]
        for release in releases:
            assert default[release, "algorithm.gamma"] == state["gamma"]
            assert default[release, "algorithm.lam"] == state["lambda"]
            # Before there was a key, the KL was in the reward (docs/facts).
            priced = default.get((release, "algorithm.use_kl_in_reward"), True)
            coef = default[release, "algorithm.kl_ctrl.kl_coef"]
            assert state["beta"] == (coef if priced else 0)
            clip = default.get((release, f"{actor}clip_ratio"), 0.2)
            assert clip == state["low"] == state["high"]
            bound = default.get((release, f"{actor}clip_ratio_c"), 0)
            assert bound == state["dual"]


@pytest.mark.parametrize(
    "at", range(len(STATES)), ids=lambda at: str(STATES[at].get("bug", at))
)
def test_the_copied_python_prints_what_the_explorer_shows(model, at):
    state = model["states"][at]
    lines = printed_by(state["code"]).split("\n")
    printed: dict[str, Any] = named_numbers(" ".join(lines[5:]))
    for line in lines[:5]:
        name, _, row = line.partition(" ")
        printed[name] = literal_eval(row)
    for name, number in printed.items():
        shown = torch.tensor(state["numbers"][name], dtype=torch.float64)
        expected = torch.tensor(number, dtype=torch.float64)
        assert_close(shown, expected, atol=1e-9, rtol=1e-9, msg=name)


def test_every_bug_changes_what_is_shown_and_has_an_assert(model):
    assert [*model["bugs"]] == BUGS
    right, *broken = [
        state["numbers"] for state in modelled([MOVED, *STATES[3:13]])["states"]
    ]
    assert all(numbers != right for numbers in broken)
    page = (ROOT / "docs/en/debug/asserts.md").read_text("utf-8")
    for bug in model["bugs"].values():
        assert f"#assert-{bug['assert']} " in page


def run(snippet: str, until: str) -> dict[str, Any]:
    """The names that the blocks of a page leave behind, up to a section's end."""
    names: dict[str, Any] = {}
    code = (ROOT / f"snippets/{snippet}.py").read_text("utf-8")
    exec(code.partition(f"# --8<-- [end:{until}]")[0], names)
    return names


def of_pages() -> dict[str, dict[str, Tensor]]:
    """The numbers of each page by ppo_ref, by view and row of the explorer."""
    own = run("gae/inputs", "judge")
    end = own["judge"](own["r"], own["V"], own["mask"], 0.9, 1, [0])
    tree, three, batch = two_token_tree(), three_tokens(), shared_batch()
    wrong = tree._replace(values=tree.wrong_values)
    given = {name: getattr(wrong, name)[[3, 2]] for name in ThreeTokens._fields}
    estimate = gae(**three._asdict())
    late, right = (
        run("alignment/slot_after_eos", "two_masks")[x] for x in ("advantages", "right")
    )
    return {
        "inputs": {"values": own["V"] * own["mask"], "advantages": end},
        "why_sum_deltas": {"deltas": td_residuals(**given), "values": given["values"]},
        "token_excesses": {
            "deltas": td_residuals(**three._asdict()),
            "advantages": estimate.advantages,
        },
        "return_minus_value": {
            "advantages": estimate.advantages,
            "returns": monte_carlo_returns(
                token_level_rewards=three.token_level_rewards,
                response_mask=three.response_mask,
            ),
        },
        "td_error": {"returns": torch.tensor([[0.0, 0, 0, 1]])},
        "token_level_rewards": {
            "rewards": token_level_rewards(
                token_level_scores=token_level_scores(
                    batch.scores, batch.response_mask
                ),
                kl=batch.old_log_probs - batch.ref_log_probs,
                response_mask=batch.response_mask,
                kl_coef=batch.kl_coef,
            )
        },
        "slot_after_eos": {"advantages": late(right, 0.95)[None]},
    }


def test_a_view_begins_with_the_numbers_of_its_page(model: dict[str, Any]) -> None:
    pages = of_pages()
    assert {*pages} == {*model["views"]}
    for view, rows in pages.items():
        begin = model["views"][view]["begin"]
        (state,) = modelled([begin])["states"]
        for name, expected in rows.items():
            at = begin["answer"]  # the page's rows are those from here on
            shown = torch.tensor(state["numbers"][name], dtype=torch.float64)
            shown = shown * torch.tensor(begin["mask"])
            shown = shown[at : at + len(expected), : expected.shape[1]]
            assert_close(
                shown, expected.double(), atol=1e-9, rtol=0, msg=f"{view} {name}"
            )


def test_what_a_page_asks_to_try_comes_out_as_it_prints(model: dict[str, Any]) -> None:
    def compute(view: str, change: dict[str, Any]) -> Any:
        (state,) = modelled([model["views"][view]["begin"] | change])["states"]
        return state["numbers"]

    rounds = (ROOT / "docs/en/critic/td_error.md").read_text("utf-8")
    values = [[0.0] * 6] * 2
    for n in range(1, 5):  # the button: targets in place of the values
        values = compute("td_error", {"values": values, "lambda": 0.5})["returns"]
        assert f"round {n}  " + " ".join(f"{v:.3f}" for v in values[0][:4]) in rounds

    mask = model["views"]["slot_after_eos"]["begin"]["mask"]
    late = [mask[0], [*mask[1][:4], True, False]]
    with_it, without = (
        compute("slot_after_eos", {"mask": m})["advantages"][1][:4]
        for m in (late, mask)
    )
    bias = " ".join(f"{a - b:.4f}" for a, b in zip(with_it, without, strict=True))
    assert bias in (ROOT / "docs/en/alignment/slot_after_eos.md").read_text("utf-8")

    plain, moved = (
        compute("why_sum_deltas", {"lambda": 1, "values": [[0.25, x, 0, 0, 0, 0]] * 2})
        for x in (0.1, 0.9)
    )
    for answer in 0, 1:
        before, after = plain["advantages"][answer], moved["advantages"][answer]
        assert after[0] == pytest.approx(before[0]) and after[1] != before[1]


KL = """given.map((change) => ({ ...m.BEGIN, ...change })).map((state) => ({
  back: m.read(m.written(state) || "{}"), state, numbers: m.measured(state),
  code: m.python(state),
  moved: m.moved(state.actor, 1, 0.7) }))"""


def test_the_kl_of_one_position_is_as_ppo_ref_says() -> None:
    random_ = random.Random(0)

    def probabilities() -> list[float]:
        weights = [random_.gammavariate(0.6, 1) + 1e-3 for _ in range(4)]
        return [w / sum(weights) for w in weights]

    changes: list[dict[str, Any]] = [{}]
    for _ in range(100):
        heat = random_.choice([1.0, 0.5, 2.0])
        changes.append(
            {"actor": probabilities(), "ref": probabilities(), "temperature": heat}
        )
    answers = in_node(LAB / "kl_model.js", KL, changes)
    for answer in answers:
        state, numbers = answer["state"], answer["numbers"]
        for name, number in named_numbers(printed_by(answer["code"])).items():
            assert numbers[name] == pytest.approx(number, abs=1e-12), name
        assert state["temperature"] != 1 or numbers["mean"] >= 0
        for name in "actor", "ref":  # none is below 0.001 in an address
            assert answer["back"][name] == pytest.approx(state[name], abs=0.004)
        assert sum(answer["moved"]) == pytest.approx(1, abs=1e-5)
        assert answer["moved"][1] == pytest.approx(0.7, abs=0.01)
    picture = (ROOT / "snippets/rewards/kl_of_one_token.svg").read_text("utf-8")
    assert f'"KL">{answers[0]["numbers"]["mean"]:.2f}<' in picture


def test_the_kl_of_the_first_token_is_that_of_the_world() -> None:
    (answer,) = in_node(LAB / "kl_model.js", KL, [in_first_token()])
    w = world()
    first = w.parents == 0
    actor, ref = w.edge_log_probs[first].exp(), w.edge_ref_log_probs[first].exp()
    assert answer["state"]["actor"] == pytest.approx(actor.tolist(), abs=1e-12)
    assert answer["state"]["ref"] == pytest.approx(ref.tolist(), abs=1e-12)
    kl = (actor * (actor.log() - ref.log())).sum().item()
    assert answer["numbers"]["mean"] == pytest.approx(kl, abs=1e-12)
    assert f"{kl:.4f}" == "0.0032"  # as course/kl_term prints it
    printed = named_numbers(printed_by(answer["code"]))
    assert printed["mean"] == pytest.approx(kl, abs=1e-12)
    assert in_node(LAB / "kl_model.js", "m.written(given)", in_first_token()) == (
        '{"set":"first"}'
    )


def in_first_token() -> Any:
    return in_node(LAB / "kl_model.js", 'm.begin("first")', None)


@pytest.mark.parametrize(
    "sent", ["{}", '{"set":"toString"}', '{"actor":[1]}', '{"temperature":"x"}']
)
def test_an_address_of_the_kl_from_elsewhere_does_no_harm(sent: str) -> None:
    begin = in_node(LAB / "kl_model.js", "m.BEGIN", None)
    assert in_node(LAB / "kl_model.js", "m.read(given)", sent) == begin


BEADS = """given.map((state) => m.beads(state)
  .map(({ node, ratio, out }) => [node.en, ratio, out]))"""


@pytest.mark.parametrize("clip", [True, False])
def test_the_beads_go_as_far_as_ppo_ref_pushes_them(clip: bool) -> None:
    """Five updates with two answers, by autograd through the logits of the world."""
    states = [{"updates": n, "clip": clip} for n in range(6)]
    shown = in_node(LAB / "beads_model.js", BEADS, states)
    w, rows = world(), [0, 9]
    logits, mask = w.edge_log_probs.clone(), w.response_mask[rows]
    old = w.old_log_probs[rows]
    advantages = (w.scores[rows, None] - w.values[rows]) * mask
    for beads in shown:
        logits.requires_grad_()
        log_probs = w.token_log_probs(w.log_softmax(logits))[rows]
        ratios = (log_probs - old).exp()[mask].tolist()
        assert [ratio for _, ratio, _ in beads] == pytest.approx(ratios, abs=1e-9)
        loss = policy_loss(
            log_probs=log_probs,
            old_log_probs=old,
            advantages=advantages,
            response_mask=mask,
            clip_range=(0.2, 0.2) if clip else (0.999, 1e9),
            dual_clip=None,
        ).loss
        (gradient,) = torch.autograd.grad(loss, logits)
        logits = (logits - gradient).detach()
    of_no = [f"{beads[6][1]:.3f}" for beads in shown]
    assert (
        shown[0][6][0] == "No"
    )  # its ratios as course/ratio and course/clip print them
    expected = (
        "0.875 0.775 0.773 0.771 0.768" if clip else "0.875 0.775 0.695 0.629 0.574"
    )
    assert of_no == ["1.000", *expected.split()]


VIEWER = ROOT / "ppo_ref" / "train" / "viewer"  # put beside the widgets by the build


@pytest.mark.pages
def test_the_widgets_of_a_page_are_light() -> None:
    """The Lab has all of them: each is fetched when a reader comes near it."""

    def needed(name: str, found: dict[str, bytes]) -> dict[str, bytes]:
        place = LAB if (LAB / name).exists() else VIEWER
        code = lean((place / name).read_text("utf-8"))
        found[name] = code.encode()
        for other in re.findall(r'(?:from|import) "\./(\w+\.js)"', code):
            if other not in found:
                needed(other, found)
        return found

    heaviest = 0
    for page in sorted((ROOT / "docs" / "en").rglob("*.md")):
        widgets = re.findall(r'data-lab="(\w+)', page.read_text("utf-8"))
        sheets = ["lab.css", "runs.css"][: 1 + ("runs" in widgets)] if widgets else []
        texts = {name: lean((VIEWER / name).read_text("utf-8")) for name in sheets}
        files = {name: text.encode() for name, text in texts.items()}
        for widget in widgets:
            needed(f"{widget}.js", files)
        weight = sum(len(gzip.compress(code, 6, mtime=0)) for code in files.values())
        most = 66 if page.match("notebooks/index.md") else 40
        assert weight <= most * 1024, f"{page.name}: {weight} bytes for {[*files]}"
        heaviest = max(heaviest, weight)
    assert heaviest > 10_000  # the lab's own page was found


JUDGED = """given.map((change) => ({ ...m.BEGIN, ...change })).map((state) => {
  const all = m.estimates(state), curve = m.curve(state)
  return { all, truth: m.truth(state.token), curve,
    monteCarlo: m.monteCarlo(state.token), best: m.best(curve).lambda,
    moments: m.moments(all, m.truth(state.token)),
    dots: m.drawn(state).map((n) => all[n].advantage), code: m.python(state),
    back: m.read(m.written(state, m.BEGIN), m.BEGIN) } })"""
TOKENS = ["No", "Yes", "No idea", "Yes ,"]


def judged(states: list[dict[str, Any]]) -> Any:
    return in_node(LAB / "variance_model.js", JUDGED, states)


def erring(random_: random.Random) -> dict[str, Any]:
    """A critic that may err wherever there is a choice after the first token."""
    places = ["No", "No idea", "No idea .", "Yes", "Yes ,", "Yes , 1+1", "Yes !"]
    wrong = random_.sample(places, random_.randrange(5))
    return {
        "says": {place: round(random_.random(), 2) for place in wrong},
        "lambda": random_.choice([0, 0.5, 0.95, 1, round(random_.random(), 2)]),
        "gamma": random_.choice([1, 1, 0.9, 0]),
        "token": random_.choice(TOKENS),
        "seed": random_.randrange(100),
        "count": random_.choice([0, 20]),
    }


def test_the_token_that_is_judged_is_as_ppo_ref_says() -> None:
    states = [erring(random.Random(seed)) for seed in range(200)]
    for state, shown in zip(states, judged(states), strict=True):
        token = state["token"]
        w = world()
        exact = w.prefix_values(w.edge_log_probs).tolist()
        exact_of = dict(zip(w.prefixes, exact, strict=True))
        said = {p: v for p, v in state["says"].items() if f"{p} ".startswith(token)}
        w = world(critic=exact_of | said)
        words = examples.WORDS["en"]
        t = len(token.split()) - 1
        ids = [words.index(word) for word in token.split()]
        rows = (w.responses[:, : t + 1] == torch.tensor(ids)).all(1)
        weights = w.response_probs(w.edge_log_probs)[rows]
        weights = weights / weights.sum()
        rewards = torch.zeros_like(w.values)
        rewards[range(14), w.response_mask.sum(1) - 1] = w.scores
        estimated = gae(
            token_level_rewards=rewards,
            values=w.values,
            response_mask=w.response_mask,
            gamma=state["gamma"],
            gae_lambda=state["lambda"],
        ).advantages[rows, t]
        mean = weights @ estimated
        right = exact_of[token] - exact_of[" ".join(token.split()[:-1])]
        given = [[x["weight"], x["advantage"]] for x in shown["all"]]
        numbers = torch.tensor(given, dtype=torch.float64)
        assert_close(numbers, torch.stack([weights, estimated], 1), atol=1e-9, rtol=0)
        assert shown["truth"] == pytest.approx(right)
        moments = shown["moments"]
        assert moments["bias"] == pytest.approx((mean - right).item(), abs=1e-9)
        spread = weights @ (estimated - mean) ** 2
        assert moments["variance"] == pytest.approx(spread.item(), abs=1e-9)
        # A score of 0 or 1 scatters by V (1 - V) around what is expected.
        after = exact_of[token]
        assert shown["monteCarlo"] == pytest.approx(after * (1 - after))


@pytest.mark.parametrize(
    ("says", "best"), [(0.40, 0.198), (0.6015, 0.0), (0.90, 0.341), (1.00, 0.464)]
)
def test_the_best_lambda_is_that_of_the_design(says: float, best: float) -> None:
    """As another program reckoned it, by enumeration in float64."""
    (shown,) = judged([{"says": {"No": says}}])
    assert shown["best"] == pytest.approx(best, abs=0.005)


def test_the_copied_judgement_prints_what_is_shown() -> None:
    states: list[dict[str, Any]] = [{}, {"count": 60, "seed": 7}]
    states += [erring(random.Random(seed)) for seed in range(12)]
    answers = judged(states)
    ends = judged([state | {"lambda": 1, "gamma": 1} for state in states])
    for change, answer, end in zip(states, answers, ends, strict=True):
        moments = answer["moments"]
        expected = {name: moments[name] for name in ("bias", "variance", "squared")}
        expected["best"] = answer["best"]
        if change.get("count", 40):
            dots = torch.tensor(answer["dots"], dtype=torch.float64)
            expected["mean"] = dots.mean().item()
            expected["spread"] = dots.var(correction=0).item()
        printed = named_numbers(printed_by(answer["code"]))
        assert printed == pytest.approx(expected, abs=1e-9)
        at = round(change.get("lambda", 0.5) * 100)
        assert answer["curve"][at]["squared"] == pytest.approx(moments["squared"])
        assert answer["monteCarlo"] == pytest.approx(end["moments"]["variance"])


def test_a_judgement_travels_in_a_short_address() -> None:
    states = [erring(random.Random(seed)) for seed in range(200)]
    assert [answer["back"] for answer in judged(states)] == states
    begin = in_node(LAB / "variance_model.js", "m.BEGIN", None)
    for sent in ("{}", "t9", "l2", "n201", "s1.5", "v99-1", "v9-2", "v", "%00_é"):
        assert in_node(LAB / "variance_model.js", "m.read(given, m.BEGIN)", sent) == (
            begin
        )


def test_an_error_right_before_the_token_is_left_out() -> None:
    states = [erring(random.Random(seed)) for seed in range(20)]
    moved = []
    for state in states:
        before = " ".join(state["token"].split()[:-1])
        moved.append(state | {"says": state["says"] | {before: 0.33}})
    assert [a["all"] for a in judged(moved)] == [a["all"] for a in judged(states)]


def test_a_seed_draws_the_same_answers_and_each_as_often_as_it_is_written() -> None:
    few, many, other = judged(
        [{"count": 50}, {"count": 200}, {"count": 200, "seed": 1}]
    )
    assert many["dots"][:50] == few["dots"] and other["dots"] != many["dots"]
    (answer,) = judged([{"count": 8000}])
    seen = Counter(answer["dots"])
    for one in answer["all"]:  # within five deviations of a fair draw
        assert abs(seen[one["advantage"]] / 8000 - one["weight"]) < 0.03
