"""A corpus of dumps, by real trainers' functions, right and broken: none is misjudged.

What is right has no FAIL. What is broken has one in the stage that is to blame and in
no other, or ``-`` there with the reason where the dump cannot tell.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from ppo_ref.check.dump.judging import judge
from ppo_ref.check.dump.reading import NAMES, read
from ppo_ref.check.dump.trainers import WRITTEN
from ppo_ref.check.dump.verdicts import FAIL, LOOK, OK, OPEN
from tests.check.dump.batches import EOS, LENGTHS, MASK, P, T, sampled, whitened
from tests.check.dump.written import Shape, openrlhf, trl, written
from tests.differential import dumped, others, peers
from tests.differential.wheels import requires

WHEELS = (*peers.RELEASES, dumped.BETWEEN, others.OPEN, others.TRL)
OLD, BETWEEN, NOW = peers.OLD, dumped.BETWEEN, peers.NOW
ENDS, ROWS = torch.tensor(LENGTHS) - 1, torch.arange(6)
LATE = MASK | MASK.roll(1, 1)
Batch = dict[str, Any]


class Case(NamedTuple):
    """A dump, what is asked of it, and which stage is to say what in which words."""

    make: Callable[[], Batch]
    stage: str | None = None
    words: str = ""
    state: str = FAIL
    options: Mapping[str, Any] = MappingProxyType({})
    also: str = ""


def verl(
    release: str = NOW, before: Callable[[Batch], Any] = lambda b: None, **options: Any
) -> Batch:
    """A dump of a release; ``before`` breaks what goes into its functions."""
    batch = sampled()
    if options.get("estimator", "gae") != "gae":
        del batch["values"]
    before(batch)
    data = dumped.verl(release, batch, **options)
    return {**data.batch, "uid": ROWS // 2}


def v1(
    before: Callable[[Batch], Any] = lambda b: None,
    lines: str = "dump = dict(data.batch.items())",  # what one writes without the page
    **options: Any,
) -> Batch:
    batch = sampled()
    for name in ("attention_mask", "input_ids", "token_level_rewards"):
        del batch[name]
    batch["rm_scores"] = batch.pop("token_level_scores")
    if options.get("adv_estimator", "gae") != "gae":
        del batch["values"]
    lengths = before(batch) or LENGTHS
    return dumped.verl_v1(batch, lengths, lines, **options)


def but(batch: Batch, **changed: Any) -> Batch:
    """The dump with other entries; without those that are None."""
    return {n: x for n, x in {**batch, **changed}.items() if x is not None}


def long_mask(batch: Batch) -> list[int]:
    """The page's bad mask: one slot too long."""
    batch["response_mask"] = LATE.long()
    return [min(length + 1, T) for length in LENGTHS]


def unscored(batch: Batch) -> list[int]:
    """The same where nothing but the full row has a score, as on the page."""
    batch["rm_scores"][1:] = 0
    return long_mask(batch)


def set_scores(scores: Tensor) -> Callable[[Batch], None]:
    return lambda batch: batch.update(token_level_scores=scores)


def noisy(batch: Batch) -> None:
    """A critic in bfloat16: rows that have read the same differ in the last digits."""
    noise = torch.randn(6, T, generator=torch.Generator().manual_seed(2))
    batch["values"] = (batch["values"] + 0.05 * noise) * MASK


def set_values(cut: slice) -> Callable[[Batch], None]:
    return lambda batch: batch.update(values=sampled(cut)["values"])


def full_length() -> Batch:
    """Rows that hold prompt and response, whose mask is the attention mask."""
    batch = verl()
    for names in NAMES.values():
        for name in names:
            if name in batch:
                batch[name] = torch.cat([torch.zeros(6, P), batch[name]], 1)
    return but(batch, response_mask=batch["attention_mask"])


def gapped(batch: Batch) -> None:
    """Two tokens of a tool inside the longest rows."""
    batch["response_mask"][[0, 3, 5], 2:4] = 0
    batch["rollout_log_probs"][[0, 3, 5], 2:4] = 0.0
    batch["values"] *= batch["response_mask"]


def tempered(temperature: float) -> Batch:
    """Sampled at a temperature that the trainer does not apply."""
    batch = verl()
    logits = torch.randn(6, T, 50, generator=torch.Generator().manual_seed(0)) * 3
    cold = (logits / temperature).log_softmax(-1)
    ids = cold.argmax(-1, keepdim=True)
    rollout, old = (x.gather(-1, ids)[..., 0] for x in (cold, logits.log_softmax(-1)))
    return but(batch, rollout_log_probs=rollout, old_log_probs=old)


def grouped(**options: Any) -> Batch:
    """GRPO with scores between 0 and 1, three rows to a prompt."""

    def before(batch: Batch) -> None:
        scores = torch.zeros(6, T)
        scores[ROWS, ENDS] = torch.tensor([0.9, 0.1, 0.3, 0.2, 0.8, 0.7])
        batch["token_level_scores"] = scores

    return verl(estimator="grpo", before=before, **options)


def rowwise(of: Callable[[Tensor, Tensor], Tensor]) -> Batch:
    """GRPO's dump with other advantages, of scores and of each row's group."""
    batch = grouped()
    scores = batch["token_level_scores"].sum(1)
    made = of(scores, scores.view(3, 2))[:, None] * MASK
    return but(batch, advantages=made, returns=made)


def rewhitened(whiten: Callable[[Tensor], Tensor], **options: Any) -> Batch:
    """verl's dump, its raw advantages whitened in another way."""
    batch = verl(lam=0.95, **options)
    raw = (batch["returns"] - batch["values"]) * MASK
    return but(batch, advantages=whiten(raw).float())


def scaled(x: Tensor) -> Tensor:
    return (x - x.mean()) / (x.std() + 1e-8)


def corrupted() -> Batch:
    batch = verl(lam=0.95)
    batch["returns"][3, 2] += 0.5
    return batch


def bad_returns(of: Callable[[Tensor, Tensor], Tensor]) -> Batch:
    batch = verl(lam=0.95)
    raw = batch["returns"] - batch["values"]
    return but(batch, returns=of(raw, batch["values"]))


def priced(sign: float, ours: str, theirs: str, mode: str = "kl") -> Batch:
    """The KL of these two, by verl's function, taken off the scores or added."""
    batch = sampled()
    kld = peers.core(NOW).kl_penalty(batch[ours], batch[theirs], mode) * MASK
    scores = batch["token_level_scores"] - sign * 0.02 * kld
    made = verl(before=set_scores(scores), lam=0.95)
    return but(made, token_level_scores=batch["token_level_scores"])


def kl_everywhere() -> Batch:
    batch = verl(kl_coef=0.02)
    k1 = batch["old_log_probs"] - batch["ref_log_prob"]
    return but(batch, token_level_rewards=batch["token_level_scores"] - 0.02 * k1)


def kl_lost() -> Batch:
    """GAE was handed the scores."""
    return but(
        verl(lam=0.95), token_level_rewards=verl(kl_coef=0.05)["token_level_rewards"]
    )


def after_eos() -> Batch:
    def before(batch: Batch) -> None:
        batch["values"] = torch.where(LATE & ~MASK, 0.7, batch["values"])

    return verl(OLD, before, lam=0.95)


def trl_whole() -> Batch:
    """TRL's own layout: the score lies in the slot after EOS."""
    batch = sampled()
    scores = batch["token_level_scores"].sum(1)
    made = others.trl_gae(ENDS, scores, batch["values"], 0.95)
    white = others.trl_statistics().masked_whiten(made.advantages, MASK)
    return but(
        batch,
        token_level_scores=made.rewards,
        token_level_rewards=made.rewards,
        advantages=white,
        returns=made.advantages + batch["values"],
    )


def nan_in_values() -> Batch:
    batch = verl()
    batch["values"][2, 1] = torch.nan
    return batch


def reordered() -> Batch:
    """Rows were put in another order, as for balance, and uid was not."""
    order = [1, 2, 0, 3, 5, 4]
    batch = sampled()
    del batch["values"]
    batch = {name: x[order] for name, x in batch.items()}
    return {**dumped.verl(NOW, batch, estimator="grpo").batch, "uid": ROWS // 2}


def all_zero() -> Batch:
    def before(batch: Batch) -> None:
        batch["token_level_scores"] = torch.zeros(6, T)
        batch["values"] = torch.zeros(6, T)

    return verl(before=before)


GAMMA_LAMBDA = {"gamma": 1.0, "gae_lambda": 0.95}
KL = {"gamma": 0.99, "gae_lambda": 0.95, "kl_coef": 0.02}
SCORES = "token_level_scores"


def cases(
    stage: str,
    made: Mapping[str, tuple[Any, str]],
    of: Any,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Case]:
    """Dumps that ``of`` makes, which that stage must fail, in what words."""
    found = {}
    for name, (how, words) in made.items():
        found[name] = Case(lambda how=how: of(how), stage, words, options=options)
    return found


def verl_before(before: Callable[[Batch], Any]) -> Batch:
    return verl(before=before)


def moved(name: str, by: int) -> Callable[[Batch], Any]:
    """One entry so many slots late."""
    return lambda batch: batch.update({name: batch[name].roll(by, 1)})


def over_all_rows(s: Tensor, g: Tensor) -> Tensor:
    return (g - g.mean(1, keepdim=True)).flatten() / (s.std() + 1e-6)


RIGHT = {
    **{f"{r}, GAE": Case(lambda r=r: verl(r)) for r in WHEELS[:3]},
    **{
        f"{r}, GAE, KL": Case(
            lambda r=r: verl(r, kl_coef=0.02, gamma=0.99, lam=0.95), options=KL
        )
        for r in WHEELS[:3]
    },
    **{
        f"{r}, {e}": Case(
            lambda r=r, e=e: verl(r, estimator=e), options={"estimator": e}
        )
        for r in WHEELS[:3]
        for e in ("grpo", "rloo", "reinforce_plus_plus")
    },
    "opo": Case(lambda: verl(estimator="opo")),
    "k3": Case(lambda: verl(kl_coef=0.02, kl_penalty="low_var_kl")),
    "v1, GAE": Case(lambda: v1(lam=0.95), options=GAMMA_LAMBDA),
    "v1, GAE, KL": Case(lambda: v1(use_kl_in_reward=True)),
    "v1, GRPO": Case(lambda: v1(adv_estimator="grpo")),
    "Dr. GRPO": Case(
        lambda: verl(BETWEEN, estimator="grpo", norm_adv_by_std_in_grpo=False),
        options={"estimator": "dr_grpo"},
    ),
    "GRPO, score in padding": Case(
        lambda: verl(
            estimator="grpo",
            before=set_scores(torch.eye(6, T).roll(T - 6, 1) + torch.eye(6, T)),
        ),
        *("score", "so it is not lost", OPEN),
    ),
    "tools' tokens masked": Case(lambda: verl(before=gapped, lam=0.95)),
    "unusual gamma and lambda": Case(
        lambda: verl(gamma=0.9371, lam=0.8123),
        *("gae", "by gamma 0.9371, lambda 0.8123, on 33 tokens", OK),
        options={"gamma": 0.9371, "gae_lambda": 0.8123},
    ),
    "values of a noisy kernel": Case(
        lambda: verl(before=noisy), "values", "equal up to their first other token", OK
    ),
    "log-probs copied": Case(
        lambda: verl(before=lambda b: b.update(rollout_log_probs=b["old_log_probs"])),
        *("rollout", "copied", OPEN),
    ),
    "everything 0": Case(all_zero, "whitening", "is the same", OPEN),
    "every score of a group equal": Case(
        lambda: verl(estimator="grpo", before=set_scores(sampled()["values"] * 0)),
        *("advantages", "equal in each group", OPEN),
    ),
    "OpenRLHF": Case(lambda: dumped.openrlhf(sampled(), lam=0.95)),
    "TRL": Case(lambda: dumped.trl(sampled(), lam=0.95)),
}
NO_IDS = {"prompts": None, "responses": None, "input_ids": None}
BROKEN = {
    "v1, mask one slot too long, no score in short rows": Case(
        lambda: v1(before=unscored),
        *("mask", "no attention_mask to compare it with, nor responses", OPEN),
    ),
    "v1, mask one slot too long, with ids": Case(
        lambda: {**v1(before=long_mask), "responses": sampled()["responses"]},
        "mask",
        "response_mask[1, 5] is 1, by the first EOS 0: the slot after EOS counts",
        options={"eos_token_id": EOS},
    ),
    "mask one slot too long": Case(
        lambda: verl(BETWEEN, before=lambda b: b.update(response_mask=LATE.long())),
        "mask",
        "response_mask[1, 5] is 1, by attention_mask 0: the slot after EOS counts",
    ),
    "mask without EOS": Case(
        lambda: but(verl(), response_mask=(MASK & MASK.roll(-1, 1)).long()),
        *("mask", "response_mask[1, 4] is 0, the last token (EOS) of its row"),
    ),
    "mask of the prompt": Case(
        full_length, "mask", "response_mask[0, 0] is 1, by attention_mask 0: prompt"
    ),
    "v1, mask one slot too long": Case(
        lambda: v1(before=long_mask),
        "score",
        "score[2, 2] is 1, the last token is [2, 3]: it is early, or the mask too long",
    ),
    "TRL's slot after EOS": Case(
        trl_whole,
        "score",
        "it is one slot late",
        options=GAMMA_LAMBDA,
        also="gae",
    ),
    **cases(
        "score",
        {
            "score at the end of the row": (
                set_scores(torch.eye(1, T).roll(-1, 1).expand(6, T)),
                "score[1, 7] is 1 where nothing counts; the last token, [1, 4], has 0",
            ),
            "score one slot early": (
                moved(SCORES, -1),
                "score[0, 6] is 1, the last token is [0, 7]",
            ),
        },
        verl_before,
    ),
    **cases(
        "values",
        {
            "one slot late": (
                set_values(slice(-T, None)),
                "follow equal tokens and are",
            ),
            "one slot early": (set_values(slice(-T - 2, -2)), "one slot early"),
        },
        verl_before,
    ),
    **cases(
        "rollout",
        {
            "log-probs one slot late": (
                moved("rollout_log_probs", 1),
                "rollout_log_probs lies one slot late: put back, they are",
            ),
            "a tool's tokens counted": (
                lambda b: b["rollout_log_probs"][:, 2].zero_(),
                "a tool's tokens count",
            ),
        },
        verl_before,
    ),
    **cases(
        "whitening",
        {
            "advantages flipped": (
                lambda x: -whitened(x, MASK),
                "whitened over the 33 tokens that count",
            ),
            "over padding": (scaled, "over all slots, padding too"),
            "not whitened": (lambda x: x, "returns minus values, not whitened"),
        },
        rewhitened,
        GAMMA_LAMBDA,
    ),
    "over padding, settings not told": Case(
        lambda: rewhitened(scaled),
        *("whitening", "over all slots, padding too"),
    ),
    **cases(
        "gae",
        {
            "returns of whitened advantages": (
                lambda A, V: whitened(A * MASK, MASK) + V,
                "they are the whitened advantages + V",
            ),
        },
        bad_returns,
        GAMMA_LAMBDA,
    ),
    **cases(
        "advantages",
        {
            "GRPO with mean and std of all rows": (
                lambda s, g: scaled(s),
                "advantages[0, 0] is 1.1744, grpo gives 0.7071 (score 0.9)",
            ),
        },
        rowwise,
        {"estimator": "grpo"},
    ),
    "values one slot late, no ids": Case(
        lambda: but(verl(before=set_values(slice(-T, None))), **NO_IDS),
        *("values", "from values alone their slots cannot be told", OPEN),
    ),
    "KL added": Case(
        lambda: priced(-1, "old_log_probs", "ref_log_prob"), "kl", "with the wrong sign"
    ),
    "KL of reference and actor": Case(
        lambda: priced(1, "ref_log_prob", "old_log_probs", "low_var_kl"),
        *("kl", "no kl_coef times k1, k2, k3 or abs gives that"),
    ),
    "KL taken off padding": Case(kl_everywhere, "kl", "multiply by response_mask"),
    "KL that never arrived": Case(
        kl_lost, "gae", "so the KL never arrived", options=GAMMA_LAMBDA
    ),
    "V after EOS went in": Case(
        after_eos, "gae", "5 of 33 tokens do not follow", options=GAMMA_LAMBDA
    ),
    "one return is wrong": Case(
        corrupted, "gae", "2 of 33 tokens do not follow", options=GAMMA_LAMBDA
    ),
    "nan in the values": Case(nan_in_values, "finite", "values[2, 1] is nan"),
    "temperature not applied": Case(
        lambda: tempered(0.6), "rollout", "another temperature"
    ),
    "temperature hardly another": Case(
        lambda: tempered(0.9), "rollout", "more than engines differ by", LOOK
    ),
    "another coefficient than asked": Case(
        lambda: verl(kl_coef=0.02),
        *("kl", "0.02 times k1 taken off 33 tokens, not kl_coef 0.001"),
        options={"kl_coef": 0.001},
    ),
    "gamma and lambda mixed up": Case(
        lambda: verl(gamma=0.95, lam=1.0),
        *("gae", "(gamma 1, lambda 0.95); 27 of 33 tokens do not follow"),
        options=GAMMA_LAMBDA,
    ),
    "gamma and lambda mixed up, nothing asked": Case(
        lambda: verl(gamma=0.95, lam=1.0),
        *("gae", "gamma 0.95, lambda 1 (found: are these your settings?)", OK),
    ),
    "cut without bootstrap": Case(
        verl, "gae", "1 of 6 rows full, V behind taken as 0: biased if cut", OK
    ),
    "GRPO without std, asked for grpo": Case(
        lambda: grouped(norm_adv_by_std_in_grpo=False),
        *("advantages", "they are those of dr_grpo"),
        options={"estimator": "grpo"},
    ),
    "GRPO without std, nothing asked": Case(
        lambda: grouped(norm_adv_by_std_in_grpo=False),
        *("advantages", "as dr_grpo gives, on 33 tokens of 6 rows", OK),
    ),
    "GRPO with the std of all rows, asked for grpo": Case(
        lambda: rowwise(over_all_rows),
        *("advantages", "grpo explains 0 of 6 rows: divided by the deviation of all"),
        options={"estimator": "grpo"},
    ),
    "GRPO with the std of all rows": Case(
        lambda: rowwise(over_all_rows),
        *("advantages", "divided by the deviation of all rows, not of each group"),
    ),
    "GRPO, rows in another order than uid": Case(
        reordered, "groups", "rows 0 and 1 have one uid and other prompts"
    ),
    "GRPO without uid and prompts": Case(
        lambda: but(grouped(), **NO_IDS, uid=None),
        *("groups", 'add "uid": batch.non_tensor_batch["uid"].tolist()', LOOK),
    ),
}
CORPUS = RIGHT | BROKEN


@requires(*WHEELS)
@pytest.mark.parametrize("name", CORPUS)
def test_no_dump_is_misjudged(name: str) -> None:
    case = CORPUS[name]
    report = judge(case.make(), **case.options)
    said = {verdict.stage: (verdict.state, verdict.text) for verdict in report.verdicts}
    failed = {stage for stage, (state, _) in said.items() if state == FAIL}
    blamed = {case.stage, case.also} if case.state == FAIL else set()
    assert failed == blamed - {None, ""}, f"\n{report}"
    if case.stage:
        state, text = said[case.stage]
        assert state == case.state and case.words in text, f"\n{report}"


PAGES = Path(__file__).parents[2] / "docs"
LINES = re.compile(r"    ```\{ \.python \.norun [^\n]*\n(.*?)\n    ```", re.DOTALL)


@pytest.mark.pages
@requires(*WHEELS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_lines_of_the_page_dump_what_is_to_be_judged(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the v1 trainer, behind the call that it names; in the others, of a batch."""
    monkeypatch.chdir(tmp_path)
    page = (PAGES / language / "debug/asserts.md").read_text("utf-8")
    shown = [dedent(lines) for lines in LINES.findall(page)]
    assert shown == [written.lines for written in WRITTEN]  # which --help prints
    of_v1, of_batch, *_ = shown
    v1(lines=of_v1, lam=0.95)
    report = judge(read("dump.pt"), eos_token_id=EOS)
    assert report.ok and "mask" in report.stages(OK) and "values" in report.stages(OK)
    for release in (BETWEEN, OLD):
        batch = sampled()
        del batch["values"]
        data = dumped.verl(release, batch, estimator="grpo")
        exec(of_batch, {"torch": torch, "batch": data})
        report = judge(read("dump.pt"))
        assert report.ok and {"mask", "groups", "advantages"} <= {*report.stages(OK)}


ESTIMATORS = ("gae", "rloo", "group_norm", "dr_grpo", "reinforce_baseline", "reinforce")


@requires(others.OPEN)
@pytest.mark.parametrize("kl_coef", [0.0, 0.02])
@pytest.mark.parametrize("estimator", [*ESTIMATORS, "flash_reinforce"])
def test_what_openrlhf_computes_passes(
    estimator: str, kl_coef: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shape = Shape(prompts=5, answers=4, critic=estimator == "gae")
    parts = openrlhf(written(5, shape), shape)
    made = others.open_experiences(parts, estimator, kl_coef, shape.answers)
    exec(WRITTEN[3].lines, {"torch": torch, "experiences": made})
    report = judge(read("dump.pt"))
    assert report.exit_code == 0, f"\n{report}"
    if estimator in ("rloo", "group_norm", "dr_grpo"):  # of a group in two parts
        made = others.open_experiences(parts, estimator, kl_coef, shape.answers // 2)
        exec(WRITTEN[3].lines, {"torch": torch, "experiences": made})
        report = judge(read("dump.pt"))
        assert report.stages(FAIL) == ["advantages"], f"\n{report}"


@requires(others.GRPO)
@pytest.mark.parametrize("is_scored", [True, False])
@pytest.mark.parametrize("scale", ["group", "batch", "none"])
def test_what_trl_computes_passes(
    scale: str, is_scored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shape = Shape(prompts=5, answers=8, critic=False)
    batch = written(6, shape)
    for size, state in ((8, OK), (4, FAIL)):
        output = trl(batch, scored=False)
        rewards = batch["scores"].float()
        output["advantages"] = others.trl_advantages(rewards, size, scale)
        names: Batch = {"torch": torch, "output": output, "rewards": rewards}
        names |= {"process_slice": slice(None)}
        process = SimpleNamespace(is_main_process=True)
        exec(WRITTEN[2].lines, names | {"self": SimpleNamespace(accelerator=process)})
        found = read("dump.pt")
        if not is_scored:
            del found["rewards"]
        report = judge(found)
        said = {verdict.stage: verdict.state for verdict in report.verdicts}
        if state == FAIL and scale != "group" and not is_scored:
            state = LOOK  # a mean of 0 in each half may be chance
        assert said["advantages"] == state, f"\n{report}"
