"""The wall: its cells, its draws and its code, in node, against ppo_ref."""

import random
from ast import literal_eval
from runpy import run_path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from torch.testing import assert_close

from ppo_ref import examples
from tests.copied_code import printed_by
from tests.layout import ROOT
from tests.site.lab.in_node import in_node

MODEL = ROOT / "docs" / "theme" / "assets" / "lab" / "wall_model.js"
W = examples.world()
PLACES = [
    place
    for place in range(len(W.prefixes))
    if (W.parents == place).sum() > 1  # something to choose
]
CELLS = """given.map(({ moved }) => [...m.lay(moved).values()]
  .map(({ node, at, width, value }) => [node.prefix, at, width, value]))"""
LAID_OPEN = """given.map(([{ moved }, open]) => [...m.laidOpen(moved, open).values()]
  .map((cell) => [cell.node.prefix, cell.at, cell.width, cell.reach, cell.value]))"""
DRAWN = "given.map((state) => m.draws(state))"
SLID = """given.map(([prefix, moved, k, share]) => m.slide(
  m.PLACES.find((node) => node.prefix === prefix), moved, k, share))"""
ROUND_TRIP = "given.map((state) => m.read(m.written(state), m.BEGIN))"
READ = "given.map((sent) => m.read(sent, m.BEGIN))"
BEGIN = {"moved": {}, "open": "", "reference": False, "drawn": 0}


def drawn(seed: int) -> dict[str, Any]:
    """A state that somebody may leave the wall in."""
    random_ = random.Random(seed)
    moved = {}
    for place in random_.sample(PLACES, random_.randrange(5)):
        shares = [
            random_.choice([0, 1, random_.randrange(200) / 200])
            for _ in range(int((W.parents == place).sum()) - 1)
        ]
        moved[W.prefixes[place]] = sorted(shares)
    return {
        "moved": moved,
        "open": random_.choice(W.prefixes),
        "reference": random_.random() < 0.5,
        "drawn": random_.choice([0, random_.randrange(1000)]),
    }


def log_probs_of(moved: dict[str, list[float]]) -> torch.Tensor:
    """The edges of an actor whose borders stand there."""
    log_probs = W.edge_log_probs.clone()
    for prefix, borders in moved.items():
        edges = torch.tensor([0.0, *borders, 1.0], dtype=torch.float64)
        log_probs[W.parents == W.prefixes.index(prefix)] = edges.diff().log()
    return log_probs


def randoms(count: int) -> list[float]:
    """Mulberry32, as its author Tommy Ettinger describes it, from the wall's seed."""
    numbers, state, word = [], 222, 2**32
    for _ in range(count):
        state = (state + 0x6D2B79F5) % word
        x = (state ^ state >> 15) * (state | 1) % word
        x ^= (x + (x ^ x >> 7) * (x | 61)) % word
        numbers.append((x ^ x >> 14) / word)
    return numbers


def test_every_cell_is_that_of_ppo_ref() -> None:
    states = [drawn(seed) for seed in range(1000)]
    for state, cells in zip(states, in_node(MODEL, CELLS, states), strict=True):
        log_probs = log_probs_of(state["moved"])
        reach = W.prefix_probs(log_probs)
        values = W.prefix_values(log_probs)
        found = {prefix: rest for prefix, *rest in cells}
        for prefix, width, value in zip(
            W.prefixes, reach.tolist(), values.tolist(), strict=True
        ):
            _, wide, green = found[prefix]
            assert wide == pytest.approx(width, abs=1e-9), (state, prefix)
            assert green == pytest.approx(value, abs=1e-9), (state, prefix)
        assert found[""][2] == pytest.approx(W.mean_score(log_probs).item(), abs=1e-9)
        leaves = [cell for prefix, *cell in cells if prefix not in W.prefixes]
        at, width, score = torch.tensor(leaves, dtype=torch.float64).T
        probs = W.response_probs(log_probs)
        assert_close(width, probs, atol=1e-9, rtol=0)
        assert_close(at, probs.cumsum(0) - probs, atol=1e-9, rtol=0)
        assert_close(score, W.scores)


def test_what_is_not_written_any_more_can_be_opened() -> None:
    """As wide as the whole; what it is worth, and how likely it is, stays true."""
    state = {"moved": {"": [1, 1], "Yes": [0.3]}}
    for opened in ("No", "No idea", "Let us"):
        (cells,) = in_node(MODEL, LAID_OPEN, [[state, opened]])
        found = {prefix: rest for prefix, *rest in cells}
        log_probs = log_probs_of(state["moved"])
        values, reach = W.prefix_values(log_probs), W.prefix_probs(log_probs)
        for name, value, likely in zip(W.prefixes, values, reach, strict=True):
            assert found[name][3] == pytest.approx(value.item(), abs=1e-9)
            assert found[name][2] == pytest.approx(likely.item(), abs=1e-9)
        assert found[opened][:2] == [0, 1] and found["Yes"][1] == 0
        within = [found[name][1] for name in found if name.startswith(f"{opened} ")]
        assert sum(within) > 0.9
    (same,) = in_node(MODEL, LAID_OPEN, [[{"moved": {}}, "No"]])
    assert {prefix: wide for prefix, _, wide, *_ in same}["No"] < 0.12


def test_siblings_of_a_moved_border_keep_their_proportions() -> None:
    given, expected = [], []
    for seed in range(500):
        random_ = random.Random(seed)
        moved, place = drawn(seed)["moved"], random_.choice(PLACES)
        share, edges = random_.randrange(201) / 200, W.parents == place
        k = random_.randrange(int(edges.sum()) - 1)
        given.append([W.prefixes[place], moved, k, share])
        probs = [log_probs_of(x)[edges].exp() for x in (moved, {})]
        sides = []
        for side, room in (
            (slice(None, k + 1), share),
            (slice(k + 1, None), 1 - share),
        ):
            now = next(p[side] for p in probs if p[side].sum() > 0)
            sides.append(room * now / now.sum())
        expected.append(torch.cat(sides).cumsum(0)[:-1])
    for slid, borders in zip(in_node(MODEL, SLID, given), expected, strict=True):
        assert slid == pytest.approx(borders.tolist(), abs=1e-6)


def test_no_border_alone_gets_further_than_is_said() -> None:
    """Steps over all places of every border: the highest is at an end."""
    reached = []
    for place in PLACES:
        edges = W.parents == place
        for k in range(int(edges.sum()) - 1):
            for share in torch.linspace(0, 1, 21, dtype=torch.float64):
                probs = W.edge_log_probs[edges].exp()
                left = torch.arange(len(probs)) <= k
                probs[left] *= share / probs[left].sum()
                probs[~left] *= (1 - share) / probs[~left].sum()
                log_probs = W.edge_log_probs.clone()
                log_probs[edges] = probs.log()
                reached.append(W.mean_score(log_probs).item())
    most = in_node(MODEL, "m.best()", None)
    assert most == pytest.approx(max(reached), abs=1e-9)
    assert most == pytest.approx(0.8652, abs=5e-5)  # as course/goal prints it


def test_a_ball_draws_an_answer_as_often_as_the_actor_writes_it() -> None:
    states = [drawn(seed) for seed in range(60)]
    for state, shown in zip(states, in_node(MODEL, DRAWN, states), strict=True):
        numbers = randoms(state["drawn"])
        ends = W.response_probs(log_probs_of(state["moved"])).cumsum(0)
        rows = torch.searchsorted(ends, torch.tensor(numbers).double(), right=True)
        assert [ball["row"] for ball in shown["balls"]] == rows.tolist()
        if numbers:
            mean = W.scores[rows].mean().item()
            assert shown["mean"] == pytest.approx(mean, abs=1e-12)
        else:
            assert shown["mean"] is None


@pytest.mark.parametrize("seed", range(8))
def test_the_copied_python_prints_what_the_wall_shows(seed: int) -> None:
    state = drawn(seed)
    (code,) = in_node(MODEL, "given.map(m.python)", [state])
    (cells,) = in_node(MODEL, CELLS, [state])
    values = {prefix: value for prefix, _, _, value in cells}
    widths = [width for prefix, _, width, _ in cells if prefix not in W.prefixes]
    first, *moved, last = printed_by(code).strip().split("\n")
    assert float(first.removeprefix("J ")) == pytest.approx(values[""], abs=1e-9)
    assert len(moved) == len(state["moved"])
    for prefix, line in zip(state["moved"], moved, strict=True):
        value = float(line.removeprefix("V").removeprefix(f" {prefix}"))
        assert value == pytest.approx(values[prefix], abs=1e-9)
    printed = literal_eval(last.removeprefix("probabilities "))
    assert printed == pytest.approx(widths, abs=1e-9)


def test_a_state_travels_in_a_short_address() -> None:
    states = [drawn(seed) for seed in range(200)]
    assert in_node(MODEL, ROUND_TRIP, states) == states
    (sent,) = in_node(
        MODEL,
        "given.map(m.written)",
        [BEGIN | {"moved": {"No": [0.2]}, "drawn": 8, "reference": True}],
    )
    assert sent == "p9-0.2_d8_r"


@pytest.mark.parametrize(
    "sent",
    ["", "{}", "p99-0.5", "p9-2", "p9-.5", "p9-0.5-0.6", "p0-0.5", "p0-0.9-0.1",
     "o99", "d1001", "d-1", "d1e2", "p9--1", "q_x", "%00_é"],
)  # fmt: skip
def test_an_address_from_elsewhere_begins_at_the_beginning(sent: str) -> None:
    assert in_node(MODEL, READ, [sent]) == [BEGIN]


def test_in_the_first_step_an_address_moves_one_border() -> None:
    sent = "p9-0.2_p1-0.5_r"
    both = in_node(MODEL, "m.read(given, m.BEGIN)", sent)
    one = in_node(MODEL, "m.read(given, m.BEGIN, true)", sent)
    assert both["moved"] == {"No": [0.2], "Yes": [0.5]}
    assert one["moved"] == {"No": [0.2]} and not one["reference"]


def floor_of(name: str) -> tuple[list[float], list[bool]]:
    """Where the boxes at the foot of a picture begin, and whether they are green."""
    picture = ElementTree.parse(ROOT / "snippets" / "course" / f"{name}.svg")
    boxes = [
        (float(box.get("y", 0)) + float(box.get("height", 0)), float(box.get("x", 0)),
         group.get("class") == "accent")
        for group in picture.getroot()
        if group.get("class") in {"accent", "wrong"}
        for box in group
        if box.get("height")
    ]  # fmt: skip
    foot = max(y for y, _, _ in boxes)
    low = sorted((x, green) for y, x, green in boxes if y > foot - 0.2)
    return [x for x, _ in low], [green for _, green in low]


@pytest.mark.parametrize("name", ["goal", "ratio"])
def test_a_picture_of_the_wall_is_the_wall(name: str) -> None:
    """Its floor, from left to right: as wide and as green as the answers."""
    log_probs = W.edge_log_probs
    if name == "ratio":  # after three updates
        snippet = ROOT / "snippets" / "course" / "ratio.py"
        log_probs = run_path(str(snippet))["path"][3]
    left, green = floor_of(name)
    probs = W.response_probs(log_probs)
    starts = 6 + 348 * (probs.cumsum(0) - probs)
    assert left == pytest.approx(starts.tolist(), abs=0.06)
    assert green == [score == 1 for score in W.scores.tolist()]
