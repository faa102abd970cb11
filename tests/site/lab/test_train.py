"""The wall while it is trained: its gradients and ways in node, against ppo_ref."""

import random
from ast import literal_eval
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from ppo_ref import examples
from ppo_ref.losses import policy_loss, surrogate_objective
from tests.copied_code import printed_by
from tests.layout import ROOT
from tests.site.lab.in_node import in_node

MODEL = ROOT / "docs" / "theme" / "assets" / "lab" / "train_model.js"
PYTHON, PUSH = (MODEL.with_name(f"train_{x}.js") for x in ("python", "push"))
W = examples.world()
PROXY = W.scores.clone()
PROXY[13] = 2
RATIO, CLIP = ([0, 9], W.values), ([8, 8], W.exact_values)
BETAS = [0, 0.1, 0.2, 0.25, 0.5]
STATES = [
    *({"name": "ratio", "n": n} for n in range(6)),
    *({"name": "clip", "n": n, "clip": c} for n in (0, 3, 20, 100) for c in (0, 1)),
    *({"name": "leash", "n": n, "beta": b} for n in (98, 300) for b in BETAS),
    *({"name": "entropy", "n": n} for n in (20, 500)),
]
PUSHES = [
    {"name": name, "batch": batch, "base": base}
    for name, batch, base in [
        ("push", 1, "0"),
        ("push", 7, "J"),
        ("baseline", 12, "mean"),
    ]
]


def drawn_logits(count: int) -> list[list[float]]:
    """Logits of an actor somewhere between the actor and nonsense."""
    seeds = [torch.Generator().manual_seed(seed) for seed in range(count)]
    return [
        (
            W.edge_log_probs
            + seed % 4 * torch.randn(44, generator=draws, dtype=torch.float64)
        ).tolist()
        for seed, draws in enumerate(seeds)
    ]


def doubles(numbers: Any) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def goal_of_batch(
    logits: Tensor, rows: list[int], advantages: Tensor, clip: float | None
) -> Tensor:
    """What an update with these answers makes large, by ppo_ref."""
    given: dict[str, Any] = {
        "log_probs": W.token_log_probs(W.log_softmax(logits))[rows],
        "old_log_probs": W.old_log_probs[rows],
        "advantages": advantages,
        "response_mask": W.response_mask[rows],
    }
    if clip is None:
        return surrogate_objective(**given)
    return -policy_loss(**given, clip_range=clip).loss


def leashed(logits: Tensor, beta: float) -> Tensor:
    """The mean proxy score, minus beta times the KL of whole answers."""
    log_probs = W.log_softmax(logits)
    kl = W.token_log_probs(log_probs - W.edge_ref_log_probs).sum(1)
    return W.response_probs(log_probs) @ (PROXY - beta * kl)


def goal(name: str, setting: float, logits: Tensor) -> Tensor:
    """The goal of a scene."""
    if name == "leash":
        return leashed(logits, setting)
    if name == "entropy":
        return W.mean_score(W.log_softmax(logits))
    rows, values = RATIO if name == "ratio" else CLIP
    advantages = W.scores[rows][:, None] - values[rows]
    return goal_of_batch(logits, rows, advantages, 0.2 if setting else None)


@cache
def way(name: str, setting: float, updates: int) -> list[Tensor]:
    """Log-probs of the edges after 0, 1, 2 ... updates, by autograd."""
    begun = W.edge_ref_log_probs if name == "leash" else W.edge_log_probs
    passed = [begun]
    for _ in range(updates):
        logits = passed[-1].clone().requires_grad_()
        (g,) = torch.autograd.grad(goal(name, setting, logits), logits)
        passed.append(W.log_softmax(passed[-1] + g))
    return passed


@pytest.mark.parametrize(
    ("name", "setting", "updates"),
    [("ratio", 0, 5), ("clip", 0, 100), ("clip", 1, 100), ("entropy", 0, 500),
     *(("leash", beta, 1500 if beta == 0 else 400) for beta in BETAS)],
)  # fmt: skip
def test_every_update_is_that_of_autograd(
    name: str, setting: float, updates: int
) -> None:
    walked = in_node(
        MODEL,
        """m.walk(given.name, given).slice(0, given.updates + 1)
          .map((logs) => Array.from(logs))""",
        {"name": name, "clip": bool(setting), "beta": setting, "updates": updates},
    )
    there = torch.stack(way(name, setting, updates))
    assert_close(doubles(walked).exp(), there.exp(), atol=1e-8, rtol=0)


def test_gradients_of_a_mean_are_those_of_autograd() -> None:
    given, expected = [], []
    for i, logits in enumerate(drawn_logits(300)):
        beta = BETAS[i % 5]
        z = doubles(logits).requires_grad_()
        (g,) = torch.autograd.grad(leashed(z, beta), z)
        given.append([logits, beta])
        expected.append(g)
    found = in_node(
        MODEL,
        """given.map(([z, beta]) =>
          Array.from(m.exactGradient(m.normal(z), m.PROXY, beta)))""",
        given,
    )
    assert_close(doubles(found), torch.stack(expected), atol=1e-9, rtol=1e-9)


def test_gradients_of_a_batch_are_those_of_the_policy_loss() -> None:
    given, expected = [], []
    for seed, logits in enumerate(drawn_logits(300)):
        random_ = random.Random(seed)
        rows = random_.choices(range(14), k=random_.randrange(1, 5))
        clip = random_.choice([None, 0.1, 0.2])
        advantages = doubles([[random_.gauss(0, 1) for _ in range(6)] for _ in rows])
        z = doubles(logits).requires_grad_()
        (g,) = torch.autograd.grad(goal_of_batch(z, rows, advantages, clip), z)
        mask = W.response_mask[rows]
        edges, A = W.edges[rows][mask], advantages[mask]
        given.append([logits, edges.tolist(), A.tolist(), clip])
        expected.append(g)
    found = in_node(
        MODEL,
        """given.map(([z, edges, advantages, clip]) => Array.from(m.batchGradient(
          m.normal(z), edges.map((edge, i) =>
            ({ edge, advantage: advantages[i], old: m.ACTOR[edge] })),
          clip ? { clip } : {})))""",
        given,
    )
    assert_close(doubles(found), torch.stack(expected), atol=1e-9, rtol=1e-9)


def test_what_is_said_of_an_actor_is_true() -> None:
    given = drawn_logits(300)
    found = in_node(
        MODEL,
        """given.map((z) => {
          const logs = m.normal(z), { first, others, long } = m.sharesOf(logs)
          return [m.meanOf(logs), m.meanOf(logs, m.PROXY), m.entropyOf(logs),
            m.promisedOf(logs), first, others, long]
        })""",
        given,
    )
    before, last = W.exact_values, W.response_mask.sum(1) - 1
    after = before.roll(-1, 1)
    after[range(14), last] = W.scores
    A = torch.where(W.response_mask, after - before, 0)
    old_P = W.response_probs(W.edge_log_probs)
    for logits, said in zip(given, found, strict=True):
        log_probs = W.log_softmax(doubles(logits))
        P, reach = W.response_probs(log_probs), W.prefix_probs(log_probs)
        bits = -(log_probs.exp() * log_probs)
        entropy = reach[W.parents] @ bits / reach.sum()
        ratio = (W.token_log_probs(log_probs) - W.old_log_probs).exp()
        promised = old_P @ (W.scores + ((ratio - 1) * A).sum(1))
        right = P[W.scores == 1]
        expected = torch.stack([
            P @ W.scores, P @ PROXY, entropy, promised,
            right[0], right[1:].sum(), P[13],
        ])  # fmt: skip
        assert_close(doubles(said), expected, atol=1e-9, rtol=1e-9)


def sampled(temperature: float, top_p: float) -> Tensor:
    """Probabilities of the edges when an engine draws, place by place."""
    q = W.log_softmax(W.edge_log_probs / temperature).exp()
    for place in range(len(W.prefixes)):
        edges = torch.where(W.parents == place)[0].tolist()
        kept = doubles(0.0)
        for edge in sorted(edges, key=lambda edge: -float(q[edge])):
            q[edge], kept = (0 if kept >= top_p - 1e-12 else q[edge]), kept + q[edge]
        q[edges] /= q[edges].sum()
    return q


def test_an_engine_draws_as_it_should() -> None:
    settings = [(t / 20, p / 100) for t in range(10, 31) for p in range(80, 101, 2)]
    given = [{"temperature": t, "topP": p} for t, p in settings]
    found = in_node(
        MODEL,
        """given.map((state) => {
          const logs = m.sampler(state)
          return [m.meanOf(logs), m.tokenWeight(logs), ...Array.from(logs, Math.exp)]
        })""",
        given,
    )
    assert len(found) > 200
    for setting, (score, weight, *probs) in zip(settings, found, strict=True):
        q = sampled(*setting)
        assert_close(doubles(probs), q, atol=1e-9, rtol=0)
        assert score == pytest.approx(W.mean_score(q.log()).item(), abs=1e-9)
        reach = W.prefix_probs(q.log())
        weights = torch.where(q > 0, W.edge_log_probs.exp() / q, 0)
        mean = (reach[W.parents] * q) @ weights / reach.sum()
        assert weight == pytest.approx(mean.item(), abs=1e-9)


def test_a_batch_pushes_as_autograd_says() -> None:
    given = {"last": 200}
    batches = in_node(PUSH, "m.batchesUntil(given.last)", given)
    expected: dict[str, list[Tensor]] = {base: [] for base in ("0", "mean", "J")}
    for rows in batches:
        z = W.edge_log_probs.clone().requires_grad_()
        log_P = W.token_log_probs(W.log_softmax(z)).sum(1)[rows]
        scores = W.scores[rows]
        J = W.mean_score(W.edge_log_probs)
        for base, b in ("0", 0), ("mean", scores.mean()), ("J", J):
            (g,) = torch.autograd.grad(
                ((scores - b) * log_P).mean(), z, retain_graph=True
            )
            expected[base].append(g)
    for base, pushes in expected.items():
        found = in_node(
            PUSH,
            """[m.batchesUntil(given.last).map((rows) =>
              Array.from(m.push(rows, given.base))), m.downsOf(given.base)]""",
            given | {"base": base},
        )
        assert_close(doubles(found[0]), torch.stack(pushes), atol=1e-9, rtol=0)
        yes = torch.stack(pushes)[:, 0]
        down = [int((yes < -1e-12).sum()), int((yes.abs() <= 1e-12).sum())]
        assert found[1][199] == down
        assert len(found[1]) == 1000


def test_batches_are_drawn_as_the_actor_writes() -> None:
    batches = in_node(PUSH, "m.batchesUntil(1000)", None)
    counts = torch.bincount(torch.tensor(batches).flatten(), minlength=14) / 8000
    assert_close(counts.double(), W.response_probs(W.edge_log_probs), atol=0.02, rtol=0)


def test_the_figures_are_those_of_the_course() -> None:
    """As the design of the world has them, by another program."""
    means = in_node(
        MODEL,
        """given.map((state) => {
          const logs = m.walk(state.name, state)[state.n]
          return [m.meanOf(logs), m.meanOf(logs, m.PROXY)]
        })""",
        [
            {"name": "clip", "clip": False, "n": 3},
            {"name": "clip", "clip": False, "n": 100},
            {"name": "clip", "clip": True, "n": 100},
            {"name": "leash", "beta": 0, "n": 300},
            {"name": "leash", "beta": 0.5, "n": 1500},
            {"name": "entropy", "n": 500},
        ],
    )
    true = [score for score, _ in means]
    designed = [0.8350, 0.6072, 0.7852, 0.024, 0.923, 0.995]
    assert true == pytest.approx(designed, abs=6e-4)
    assert [means[3][1], means[4][1]] == pytest.approx([1.975, 0.995], abs=6e-4)


@pytest.mark.parametrize("state", STATES, ids=str)
def test_the_copied_python_prints_what_is_shown(state: dict[str, Any]) -> None:
    name, n = state["name"], state["n"]
    state = state | ({"clip": bool(state["clip"])} if "clip" in state else {})
    code = in_node(PYTHON, "m.python(given.name, given)", state)
    assert max(map(len, code.splitlines())) <= 52
    printed = printed_by(code).strip().split("\n")
    said = {
        line[: line.index(" ")]: literal_eval(line.split(" ", 1)[1]) for line in printed
    }
    setting = state.get("beta", state.get("clip", 0))
    log_probs = way(name, float(setting), n)[-1]
    P = W.response_probs(log_probs)
    assert said["J"] == pytest.approx((P @ W.scores).item(), abs=1e-8)
    shown = in_node(
        MODEL,
        """(() => {
          const logs = m.walk(given.name, given)[given.n]
          return { J: m.meanOf(logs), proxy: m.meanOf(logs, m.PROXY),
            entropy: m.entropyOf(logs), ratio: (m.SCENES[given.name].tokens ?? [])
              .map(({ edge, old }) => Math.exp(logs[edge] - old)),
            ...m.sharesOf(logs), Let: m.sharesOf(logs).long }
        })()""",
        state,
    )
    for key, value in said.items():
        assert value == pytest.approx(shown[key], abs=1e-8), key


@pytest.mark.parametrize("state", PUSHES, ids=str)
def test_the_copied_python_pushes_as_is_shown(state: dict[str, Any]) -> None:
    code = in_node(PYTHON, "m.python(given.name, given)", state)
    assert max(map(len, code.splitlines())) <= 52
    push, truth = printed_by(code).strip().split("\n")
    shown = in_node(
        PUSH,
        """[m.push(m.batchesUntil(given.batch).at(-1), given.base), m.TRUTH]
          .map((all) => Array.from(all))""",
        state,
    )
    roots = (W.parents == 0).nonzero()[:, 0].tolist()
    for name, line, numbers in zip(
        ["push", "truth"], [push, truth], shown, strict=True
    ):
        printed = literal_eval(line.removeprefix(name + " "))
        assert printed == pytest.approx([numbers[e] for e in roots], abs=1e-9)


@pytest.mark.parametrize("setting", [(0.7, 1), (1, 0.9), (1.32, 0.85), (0.5, 0.8)])
def test_the_copied_python_samples_as_is_shown(setting: tuple[float, float]) -> None:
    state = dict(zip(("temperature", "topP"), setting, strict=True))
    code = in_node(PYTHON, "m.python('sampling', given)", state)
    assert max(map(len, code.splitlines())) <= 52
    log, J, weight = printed_by(code).strip().split("\n")
    shown = in_node(
        MODEL, "[m.meanOf(m.sampler(given)), m.tokenWeight(m.sampler(given))]", state
    )
    assert float(log.split()[-1]) == pytest.approx(shown[0], abs=1e-9)
    assert float(J.split()[-1]) == pytest.approx(0.8210, abs=5e-5)
    assert float(weight.split()[-1]) == pytest.approx(shown[1], abs=1e-9)


def test_both_languages_have_the_same_to_say() -> None:
    keys = [
        in_node(
            MODEL.with_name(f"train_{language}.js"),
            "Object.entries(m.WORDS).map(([key, said]) => [key, typeof said, said.length ?? Object.keys(said)])",  # noqa: E501
            None,
        )
        for language in ("zh", "en")
    ]
    shape = [
        [(key, kind, size if kind != "string" else None) for key, kind, size in words]
        for words in keys
    ]
    assert shape[0] == shape[1]


ROUND_TRIPS = [
    ("ratio", {"n": 3, "open": "No"}, "n3_o24"),
    ("clip", {"n": 20, "open": "", "clip": True}, "n20_c1"),
    ("leash", {"n": 244, "open": "", "beta": 0.25, "stopped": 180}, "n244_b0.25_s180"),
    ("entropy", {"n": 100, "open": ""}, "n100"),
    ("sampling", {"open": "", "temperature": 1.25, "topP": 0.9}, "t1.25_p0.9"),
    ("push", {"open": "", "batch": 40, "base": "J"}, "d40_w2"),
    ("baseline", {"open": "Yes", "batch": 1, "base": "0"}, "o1_w0"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "state", "sent"), ROUND_TRIPS)
def test_a_state_travels_in_a_short_address(
    name: str, state: dict[str, Any], sent: str
) -> None:
    written, read = in_node(
        MODEL,
        """[m.written(given.state, m.SCENES[given.name].begin),
          m.read(given.sent, m.SCENES[given.name])]""",
        {"name": name, "state": state, "sent": sent},
    )
    assert written == sent
    assert read == state


def test_there_is_no_leash_before_one_has_stopped() -> None:
    read = in_node(MODEL, "m.read(given, m.SCENES.leash)", "n244_b0.5")
    assert (read["n"], read["beta"], read["stopped"]) == (244, 0, -1)


def test_every_stop_of_a_slider_is_read_back() -> None:
    stops = in_node(
        MODEL,
        """Object.values(m.SCENES).filter(({ stops }) => stops).map((scene) =>
          Array.from({ length: scene.stops + 1 }, (_, stop) => {
            const n = m.updatesAt(scene, stop)
            return [stop, n, m.stopAt(scene, n), scene.updates]
          }))""",
        None,
    )
    for all_ in stops:
        assert all_[0][1] == 0 and all_[-1][1] == all_[-1][3]
        assert all(stop == again for stop, _, again, _ in all_)


@pytest.mark.parametrize(
    "sent",
    ["", "{}", "n101", "n-1", "n1e2", "c2", "c", "o99", "x3", "n2.5", "%00_é", "q_n"],
)
def test_an_address_from_elsewhere_begins_at_the_beginning(sent: str) -> None:
    begin = in_node(MODEL, "m.SCENES.clip.begin", None)
    assert in_node(MODEL, "m.read(given, m.SCENES.clip)", sent) == begin
