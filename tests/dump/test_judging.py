"""Each planted fault is found, named, and where it is; what is right is judged ok."""

import pytest
import torch
from torch import Tensor

from ppo_ref.dump.judging import judge
from tests.dump.batches import EOS, LENGTHS, MASK, T, dumped, sampled, whitened

ENDS = torch.tensor(LENGTHS) - 1
ROWS = torch.arange(6)
MADE = ("values", "advantages", "returns")


def judged(batch: dict[str, Tensor], **options: float) -> tuple[dict[str, str], str]:
    """What is said of each stage, on one line each, and the last line."""
    report = judge(batch, **options)
    text = str(report)
    said = {v.stage: f"{v.state}: {v.text}" for v in report.verdicts}
    # The last line of the text may be broken too.
    last = " ".join(text.split(said["ratio"].split()[-1])[-1].split())
    assert all(len(line) <= 52 for line in text.splitlines())
    return said, last


def differing(batch: dict[str, Tensor], **options: float) -> dict[str, str]:
    said, _ = judged(batch, **options)
    return {name: text for name, text in said.items() if text.startswith("differs")}


@pytest.mark.parametrize(
    ("gamma", "gae_lambda"), [(1.0, 1.0), (0.99, 0.95), (0.95, 0.0)]
)
def test_a_right_dump_is_ok_and_its_choices_are_found(gamma, gae_lambda):
    batch = dumped(sampled(), gamma=gamma, gae_lambda=gae_lambda)
    said, last = judged(batch)
    assert last == "all ok"
    assert said == {
        "mask": "ok: int64, no gaps, 33 tokens",
        "score": "ok: on the last token (4 of 6 rows)",
        "kl": "ok: none in the rewards",
        "values": "ok: 3 pairs of answers to one prompt, equal up to their first "
        "other token",
        "gae": f"ok: gamma {gamma:g}, lambda {gae_lambda:g}",
        "truncation": "ok: full rows: 1 of 6, V after them 0",
        "returns": "ok: advantage + V",
        "whitening": "ok: over the tokens that count",
        "ratio": said["ratio"],
    }
    assert said["ratio"].endswith("nats between rollout and trainer, mean per token")
    assert judged(batch, gamma=gamma, gae_lambda=gae_lambda)[1] == "all ok"


@pytest.mark.parametrize("options", [{}, {"eos_token_id": EOS}])
def test_a_mask_with_the_slot_after_eos_is_named(options):
    batch = dumped(sampled())
    batch["response_mask"][ROWS, (ENDS + 1).clamp(max=T - 1)] = 1
    if options:
        del batch["attention_mask"]
    assert differing(batch, **options) == {
        "mask": "differs: [1, 5] counts and was not sampled, the slot after EOS: do "
        "not shift the mask with the values"
    }
    _, last = judged(batch, **options)
    assert last == "alignment ok; mask counts the slot after EOS"


def test_a_score_at_the_end_of_the_row_is_named():
    batch = sampled()
    scores = torch.zeros(6, T)
    scores[:, -1] = 1.0
    batch |= {"token_level_scores": scores, "token_level_rewards": scores}
    said, last = judged(dumped(batch))
    assert said["score"] == (
        "differs: [1, 7] has one and does not count; the last token is [1, 4]"
    )
    assert last == "score outside the mask"


def test_a_score_before_the_last_token_is_named_and_process_rewards_pass():
    batch = sampled()
    scores = batch["token_level_scores"].roll(-1, 1)
    batch |= {"token_level_scores": scores, "token_level_rewards": scores}
    assert differing(dumped(batch)) == {
        "score": "differs: [0, 6] has one and is not the last token"
    }
    batch = sampled()
    scores = batch["token_level_scores"] + 0.1 * MASK
    batch |= {"token_level_scores": scores, "token_level_rewards": scores}
    said, last = judged(dumped(batch))
    assert last == "all ok"
    assert said["score"].startswith("ok: on several tokens")


def divergence(batch: dict[str, Tensor]) -> Tensor:
    return batch["old_log_probs"] - batch["ref_log_prob"]


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("k1", lambda k: k),
        ("k2", lambda k: k**2 / 2),
        ("k3", lambda k: (-k).exp() - 1 + k),
        ("abs", lambda k: k.abs()),
    ],
)
def test_the_kl_in_the_rewards_is_found(name, of):
    batch = sampled()
    batch["token_level_rewards"] -= 0.02 * of(divergence(batch)) * MASK
    said, last = judged(dumped(batch))
    assert last == "all ok"
    assert said["kl"] == f"ok: kl_coef 0.02, {name}"
    found = differing(dumped(batch), kl_coef=0.05)
    assert found == {"kl": f"differs: kl_coef 0.02, {name} explain it, not 0.05"}


def test_a_wrong_kl_is_named():
    batch = sampled()
    batch["token_level_rewards"] += 0.02 * divergence(batch) * MASK
    assert "old and reference are swapped" in differing(dumped(batch))["kl"]
    batch = sampled()
    batch["token_level_rewards"] -= 0.02 * divergence(batch)
    assert "[1, 5] lost some and does not count" in differing(dumped(batch))["kl"]
    batch = sampled()
    batch["token_level_rewards"][0, 2] -= 0.5
    (found,) = differing(dumped(batch)).items()
    assert found[0] == "kl" and found[1].startswith("differs: [0, 2] is not any")
    assert differing(dumped(sampled()), kl_coef=0.1) == {
        "kl": "differs: none in the rewards, kl_coef 0.1"
    }


@pytest.mark.parametrize(
    ("cut", "short"),
    [
        (slice(-T, None), "values one slot late"),
        (slice(-T - 2, -2), "values one slot early"),
    ],
)
def test_values_cut_one_slot_off_are_named(cut, short):
    batch = dumped(sampled(cut))
    (found,) = differing(batch).items()
    assert found[0] == "values" and "cut [:, -T-1:-1]" in found[1]
    assert judged(batch)[1] == short


def test_another_gamma_or_lambda_than_asked_is_named():
    batch = dumped(sampled(), gae_lambda=0.95)
    assert differing(batch, gamma=1.0, gae_lambda=1.0) == {
        "gae": "differs: gamma 1, lambda 0.95 explain it, not gamma 1, lambda 1"
    }
    assert differing(batch, gamma=1.0) == {}
    batch = dumped(sampled(), gae_lambda=0.93)
    assert "no usual gamma and lambda explain it" in differing(batch)["gae"]
    assert differing(batch, gae_lambda=0.93) == {}


def test_a_value_after_eos_in_the_recursion_is_named():
    batch = sampled()
    every = torch.where(MASK, batch["values"], 0.7)
    late = MASK | MASK.roll(1, 1)
    batch["values"] = torch.where(late, every, 0)
    (found,) = differing(dumped(batch, mask=late, gae_lambda=0.95)).items()
    assert found == (
        "gae",
        "differs: gamma 1, lambda 0.95, if V in the slot after EOS went in",
    )
    # At lambda 1 it cancels: no number of the dump is wrong.
    assert differing(dumped(batch, mask=late)) == {}


def test_a_bootstrapped_cut_is_told():
    ends = torch.tensor([0.6, 0, 0, 0, 0, 0])
    said, last = judged(dumped(sampled(), gae_lambda=0.95, bootstrap_values=ends))
    assert last == "all ok"
    assert said["truncation"] == "ok: full rows: 1 of 6, V after them bootstrapped"


def plain(x: Tensor, mask: Tensor) -> Tensor:
    return (x - x.mean()) / (x.std() + 1e-8)


def per_row(x: Tensor, mask: Tensor) -> Tensor:
    rows = [whitened(x[i : i + 1], mask[i : i + 1]) for i in range(len(x))]
    return torch.cat(rows)


@pytest.mark.parametrize(
    ("whiten", "words"),
    [
        (lambda x, mask: x, "none; verl whitens over the tokens that count"),
        (plain, "over all slots, padding too; pass response_mask"),
        (per_row, "row by row; verl whitens the whole batch"),
        (
            lambda x, mask: torch.cat([*map(whitened, x.chunk(2), mask.chunk(2))]),
            "in 2 parts, as if by each of 2 workers",
        ),
    ],
)
def test_another_whitening_is_named(whiten, words):
    batch = dumped(sampled(), gae_lambda=0.95, whiten=whiten)
    assert differing(batch) == {"whitening": f"differs: {words}"}
    assert judged(batch)[1] == "alignment ok; whitening differs"


def test_returns_of_whitened_advantages_are_named():
    batch = dumped(sampled(), gae_lambda=0.95)
    batch["returns"] = batch["advantages"] + batch["values"]
    found = differing(batch)
    assert found == {
        "returns": "differs: the whitened advantage + V; whiten after the returns are "
        "made"
    }
    assert judged(batch)[1] == "alignment ok; returns hold whitened advantages"


def test_old_log_probs_shifted_against_the_rollout_are_named():
    batch = dumped(sampled())
    batch["rollout_log_probs"] = batch["rollout_log_probs"].roll(-1, 1)
    (found,) = differing(batch).items()
    assert found[0] == "ratio" and found[1].endswith("old_log_probs one slot late")
    batch["rollout_log_probs"] = 1.4 * batch["old_log_probs"]
    assert "another temperature" in differing(batch)["ratio"]
    batch["rollout_log_probs"] = batch["old_log_probs"]
    said, _ = judged(batch)
    assert said["ratio"] == "ok: old_log_probs are the rollout's own"
    batch["old_log_probs"] = -batch["old_log_probs"]
    assert "[0, 0] is above 0: no log-prob" in differing(batch)["ratio"]


def test_what_the_v1_trainer_holds_is_enough():
    names = ["response_mask", "rm_scores", "old_log_probs", *MADE]
    batch = dumped(sampled())
    batch["rm_scores"] = batch.pop("token_level_scores")
    said, last = judged({name: batch[name] for name in names})
    assert last == "all ok"
    assert said["values"] == "-: no two rows share a prompt"


def test_what_is_no_dump_is_refused_in_one_sentence():
    batch = dumped(sampled())

    def refused(text: str, **changed: Tensor) -> None:
        with pytest.raises(ValueError) as error:
            judge({**batch, **changed})
        assert str(error.value).startswith(text) and "\n" not in str(error.value)

    nan = batch["values"].clone()
    nan[0, 3] = torch.nan
    finite = "must be finite where response_mask is True, got nan at [0, 3]"
    refused(f"check: values {finite}", values=nan)
    refused("returns must have shape [batch, time] = [6, 8]", returns=nan[:, :5])
    refused("advantages must be a floating-point", advantages=batch["responses"])
    refused("the mask must hold 0 and 1 only, got 2 at", response_mask=MASK.long() * 2)
    refused("check: response_mask must count at least 1", response_mask=MASK & False)
    del batch["advantages"]
    refused("a dump must hold advantages, got attention_mask, input_ids, old_log")
    with pytest.raises(ValueError, match=r"check: gae_lambda must lie in \[0, 1\]"):
        judge(batch, gae_lambda=95.0)
