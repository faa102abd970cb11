"""Verdicts on a dump: nothing is called ok which could not have failed.

Whole dumps, right and broken, by real trainers: tests/differential/test_dumps.py.
"""

import pytest
import torch
from torch import Tensor

from ppo_ref.check.dump.judging import judge
from ppo_ref.check.dump.verdicts import FAIL, LOOK, OK, OPEN
from tests.check.dump.batches import EOS, MASK, T, dumped, sampled, whitened

MADE = ("values", "advantages", "returns")
IDS = ("prompts", "responses", "input_ids", "attention_mask")


Batch = dict[str, Tensor]


def judged(batch: Batch, **options: float) -> tuple[dict[str, str], str]:
    """The verdict of each stage, on one line each, and the last line."""
    report = judge(batch, **options)
    for line in str(report).splitlines():
        assert len(line) <= 52, line
    said = {}
    for stage, state, text in report.verdicts:
        said[stage] = f"{state}: {text}"
    return said, report.summary


@pytest.mark.parametrize(
    ("gamma", "gae_lambda"),
    [
        (1.0, 1.0),
        (0.99, 0.95),
        (0.95, 0.0),
        (0.913, 0.877),
    ],
)
def test_a_right_dump_is_ok_by_its_settings(gamma, gae_lambda):
    batch = dumped(sampled(), gamma=gamma, gae_lambda=gae_lambda)
    asked = {"gamma": gamma, "gae_lambda": gae_lambda}
    said, last = judged(batch, **asked)
    assert last == "nothing wrong found; 8 ok"
    assert said == {
        "mask": "ok: 33 tokens of 6 rows, as attention_mask says: nothing behind the "
        "end counts, the last token does",
        "score": "ok: on the last token of 4 rows, 3 of them with padding behind",
        "kl": "ok: none in the rewards: they are the scores on 33 tokens",
        "reference": "ok: old_log_probs and ref_log_prob are 0.0338 nats apart, "
        "correlation 1.000 (33 tokens); a slot late or early they fit no better",
        "rollout": "ok: 0.0010 nats from rollout_log_probs, mean of 33 tokens",
        "values": "ok: 3 pairs of answers to one prompt, equal up to their first "
        "other token",
        "gae": f"ok: returns follow from rewards and values by gamma {gamma:g}, "
        f"lambda {gae_lambda:g}, on 33 tokens; 1 of 6 rows full, V behind taken as 0: "
        "biased if cut",
        "whitening": "ok: advantages are returns minus values, whitened over the 33 "
        "tokens that count",
    }
    left_out, last = judged(batch)
    if gamma != 1 or gae_lambda != 1:
        by = f"lambda {gae_lambda:g}"
        found = f"{by} (found: are these your settings?)"
        said["gae"] = said["gae"].replace(by, found)
    assert (left_out, last) == (said, "nothing wrong found; 8 ok")
    said, _ = judged(batch, gamma=0.5, gae_lambda=0.5)
    assert said["gae"].startswith(FAIL)
    assert "(gamma 0.5, lambda 0.5)" in said["gae"]
    assert said["whitening"].startswith(OK)


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
    kl = of(batch["old_log_probs"] - batch["ref_log_prob"])
    batch["token_level_rewards"] -= 0.02 * kl * MASK
    said, _ = judged(dumped(batch), kl_coef=0.02)
    assert said["kl"] == f"ok: 0.02 times {name} taken off 33 tokens"
    said, _ = judged(dumped(batch), kl_coef=0.05)
    text = f"0.02 times {name} taken off 33 tokens, not kl_coef 0.05"
    assert said["kl"] == f"{FAIL}: {text}"
    added = batch | {
        "token_level_rewards": batch["token_level_scores"] + 0.02 * kl * MASK
    }
    said, _ = judged(dumped(added), kl_coef=0.02)
    assert said["kl"].startswith(f"{FAIL}: score[0, 0] lost ")
    assert said["kl"].endswith(f"0.02 times {name} with the wrong sign")
    for number in (-0.5, batch["token_level_scores"][0, 2]):
        batch["token_level_rewards"][0, 2] = number
        said, _ = judged(dumped(batch))
        assert said["kl"].startswith(f"{FAIL}: score[0, 2] lost ")
        assert said["kl"].endswith(f"0.02 times {name} explains 32 of 33 tokens")


def test_a_k3_beyond_10_was_taken_off_as_10():
    batch = sampled()
    for name in ("old_log_probs", "rollout_log_probs"):
        batch[name][0, 2] = -8.0
    batch["ref_log_prob"][0, 2] = -3.0
    k = batch["old_log_probs"] - batch["ref_log_prob"]
    k3 = (-k).exp() - 1 + k
    batch["token_level_rewards"] -= 0.02 * k3.clamp(max=10) * MASK
    said, _ = judged(dumped(batch))
    assert said["kl"] == "ok: 0.02 times k3 taken off 33 tokens"


def test_a_small_coefficient_is_told_from_another():
    batch = sampled()
    kl = batch["old_log_probs"] - batch["ref_log_prob"]
    batch["token_level_rewards"] -= 0.001 * kl * MASK
    said, _ = judged(dumped(batch), kl_coef=0.005)
    assert said["kl"] == "FAIL: 0.001 times k1 taken off 33 tokens, not kl_coef 0.005"


def test_a_kl_that_was_to_be_taken_off_and_was_not_is_told():
    said, _ = judged(dumped(sampled()), kl_coef=0.02)
    assert said["kl"] == "FAIL: none in the rewards, with kl_coef 0.02"


def without(batch: Batch, *names: str) -> Batch:
    return {name: x for name, x in batch.items() if name not in names}


def test_without_a_key_the_stage_says_which_and_how():
    batch = dumped(sampled(), gae_lambda=0.95)
    for missing, stage, text in (
        (IDS, "mask", "33 tokens; no attention_mask to compare it with, nor responses"),
        (
            ("attention_mask",),
            "mask",
            "33 tokens; no attention_mask to compare it with",
        ),
        (("token_level_scores",), "score", "no token_level_scores in the dump"),
        (("token_level_rewards",), "kl", "no token_level_rewards in the dump"),
        (("rollout_log_probs",), "rollout", "rollout's calculate_log_probs"),
        (IDS, "values", "from values alone their slots cannot be told, and no prompts"),
        (("returns",), "gae", "no returns in the dump"),
        (("values",), "gae", "rewards alone do not give the returns"),
        (("advantages",), "whitening", "no advantages in the dump"),
    ):
        said, last = judged(without(batch, *missing))
        assert said[stage].startswith((OPEN, LOOK)), said
        assert text in said[stage]
        assert "wrong:" not in last and stage in last


def test_nothing_is_ok_that_could_not_have_failed():
    batch = dumped(sampled())
    full = {name: x[:1] for name, x in batch.items()}
    said, _ = judged(full)
    assert said["mask"].startswith("-: 8 tokens; every row is full")
    assert said["score"].startswith("-: on the last token of 1 row, all full")
    nothing = sampled()
    for name in ("values", "token_level_scores", "token_level_rewards"):
        nothing[name] = torch.zeros(6, T)
    for name in ("ref_log_prob", "rollout_log_probs"):
        nothing[name] = nothing["old_log_probs"]
    said, _ = judged(dumped(nothing))
    for stage in ("score", "kl", "rollout", "values", "gae", "whitening"):
        assert said[stage].startswith(OPEN), said
    one_token = {}
    for name in ("token_level_scores", "token_level_rewards", "response_mask", *MADE):
        one_token[name] = batch[name][2:3, 2:3]
    said, _ = judged(one_token)
    text = "no token has a next one, from which its return would follow"
    assert said["gae"] == f"-: {text}"


def test_the_first_eos_judges_a_mask_of_one_turn():
    batch = without(dumped(sampled()), "attention_mask")

    def of_mask(batch: Batch) -> str:
        return judged(batch, eos_token_id=EOS)[0]["mask"]

    text = "tokens of 6 rows, as the first EOS says"
    assert of_mask(batch).startswith(f"ok: 33 {text}")
    later = batch | {"response_mask": MASK.long()}
    later["response_mask"][0, 0] = 0  # what stands before the first token is no gap
    assert of_mask(later).startswith(f"ok: 32 {text}")
    turns = {name: x.clone() for name, x in batch.items()}
    turns["response_mask"][0, 3:5] = 0
    turns["responses"][0, 2] = EOS
    assert of_mask(turns).startswith(OPEN)


def test_a_bootstrapped_cut_is_told_and_left_open():
    ends = torch.tensor([0.6, 0, 0, 0, 0, 0])
    batch = dumped(sampled(), gae_lambda=0.95, bootstrap_values=ends)
    said, _ = judged(batch, gamma=1.0, gae_lambda=0.95)
    assert said["gae"].startswith("ok: returns follow from rewards and values by ")
    text = "on 32 tokens; 1 of 6 rows full, V behind 1 of them not 0: bootstrapped"
    assert said["gae"].endswith(text)


def test_process_rewards_pass():
    batch = sampled()
    scores = batch["token_level_scores"] + 0.1 * MASK
    said, _ = judged(
        dumped(batch | {"token_level_scores": scores, "token_level_rewards": scores})
    )
    assert said["score"] == "ok: on several tokens, none outside the mask (6 rows)"


def test_one_early_score_among_process_rewards_passes():
    batch = sampled()
    scores = batch["token_level_scores"]
    scores[0, 2] = 0.5
    scores[1, 1] = 0.25
    said, _ = judged(dumped(batch | {"token_level_rewards": scores}))
    assert said["score"] == "ok: on several tokens, none outside the mask (5 rows)"


@pytest.mark.parametrize(
    ("apart", "state", "text"),
    [
        (0.015, OK, "0.0150 nats from rollout_log_probs, mean of 33 tokens"),
        (0.03, LOOK, "more than engines differ by, 0.02, but below 0.1"),
        (0.2, FAIL, "another temperature, top-p, slot, precision or weights"),
    ],
)
def test_how_far_an_engine_may_be(apart, state, text):
    batch = dumped(sampled())
    batch["rollout_log_probs"] = batch["old_log_probs"] - apart
    said, _ = judged(batch)
    assert said["rollout"].startswith(f"{state}: ") and text in said["rollout"]


def test_a_number_that_is_no_log_prob_is_named():
    batch = dumped(sampled())
    batch["old_log_probs"] = -batch["old_log_probs"]
    said, _ = judged(batch)
    assert said["rollout"].startswith("FAIL: old_log_probs[0, 0] is ")
    assert said["rollout"].endswith("above 0: no log-prob")


@pytest.mark.parametrize(
    ("whiten", "words"),
    [
        (lambda x, mask: whitened(x, mask) * 33**0.5 / 32**0.5, "ok: advantages are"),
        (lambda x, mask: whitened(x, mask) + x[mask].mean(), "FAIL: advantages[0, 0]"),
    ],
)
def test_other_whitenings(whiten, words):
    batch = dumped(sampled(), gae_lambda=0.95, whiten=whiten)
    said, _ = judged(batch, gamma=1.0, gae_lambda=0.95)
    assert said["whitening"].startswith(words)
    if words.startswith(FAIL):
        right = whitened(batch["returns"] - batch["values"], MASK)[0, 0]
        assert said["whitening"].endswith(f"33 tokens that count {right:.4f}")


def test_a_nan_in_padding_is_taken_for_no_cause():
    """A nan is on neither side of a tolerance."""
    batch = dumped(
        sampled(), gae_lambda=0.95, whiten=lambda x, mask: whitened(x, mask) + 1
    )
    batch["values"][~MASK] = torch.nan
    said, _ = judged(batch, gamma=1.0, gae_lambda=0.95)
    assert said["gae"].startswith(OK)
    assert said["whitening"].startswith(FAIL)
    assert "over all slots" not in said["whitening"]


PAIRS = [0, 0, 1, 1, 2, 2]
TWO_ALONE = [0, 0, 1, 1, 2, 3]


def grouped(of_row: list[float], groups: list[int] = PAIRS) -> Batch:
    """A dump without a critic, each row with one advantage."""
    batch = without(sampled(), "values")
    batch["uid"] = torch.tensor(groups)
    return with_advantages(batch, torch.tensor(of_row)[:, None] * MASK)


def with_advantages(batch: Batch, advantages: Tensor) -> Batch:
    return batch | {"advantages": advantages, "returns": advantages}


# Scores by pairs are 1, 0; 1, 1; 0, 1, of 8, 5; 3, 6; 4, 7 tokens.
BY_LENGTH = [5 / 13, -8 / 13, 0, 0, -7 / 11, 4 / 11]
HALVES = [0.5, -0.5, 0, 0, -0.5, 0.5]


@pytest.mark.parametrize(
    ("estimator", "of_row", "groups"),
    [
        ("opo", BY_LENGTH, PAIRS),
        ("dr_grpo", HALVES, PAIRS),
        # A row alone has its score: verl takes 0 for the mean, 1 for the deviation.
        ("dr_grpo", [0.5, -0.5, 0, 0, 0, 1], TWO_ALONE),
        ("rloo", [1.0, -1, 0, 0, 0, 1], TWO_ALONE),
    ],
)
def test_an_estimator_by_groups_is_found(estimator, of_row, groups):
    said, _ = judged(grouped(of_row, groups))
    assert said["advantages"] == f"ok: as {estimator} gives, on 33 tokens of 6 rows"


def test_gpg_is_compared_where_no_score_is_0():
    batch = grouped(HALVES)
    for name in ("token_level_scores", "token_level_rewards"):
        batch[name] = torch.where(batch["token_level_scores"] > 0, 2.0, 0.0)
        batch[name][[1, 4], [4, 3]] = 1.0  # of 5 and of 4 tokens
    said, _ = judged(batch, estimator="gpg")
    assert said["advantages"] == "ok: as gpg gives, on 33 tokens of 6 rows"
    for name in ("token_level_scores", "token_level_rewards"):
        batch[name] = torch.zeros(6, T)
    said, _ = judged(batch, estimator="gpg")
    text = "-: gpg divides by the number of scores that are not 0, and there are none"
    assert said["advantages"].startswith(text)


def test_a_uid_for_each_row_of_one_prompt_is_named():
    batch = grouped([1.0, 0, 1, 1, 0, 1], [0, 1, 2, 3, 4, 5])
    said, _ = judged(batch)
    text = "each row has a uid of its own, but rows 0 and 1 share a prompt, and "
    assert said["groups"].startswith(f"{FAIL}: {text}so do all")
    assert "no two rows share a prompt" not in said["advantages"]
    wrong, _ = judged(grouped([2.0, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5]))
    assert "explains more than 0 of 6 rows; if yours is" in wrong["advantages"]
    batch["prompts"][2] = 3
    said, _ = judged(batch)
    assert said["groups"].startswith(f"{LOOK}: {text}4 rows in all")
    batch["prompts"] = torch.arange(6)[:, None].expand(6, 3).contiguous()
    said, _ = judged(batch)
    assert said["groups"].startswith(OPEN)


def test_a_row_of_unequal_advantages_is_named():
    batch = grouped(HALVES)
    batch["advantages"][4, 2] += 1e-3  # and the returns, which are the same tensor
    said, _ = judged(batch)
    text = "FAIL: advantages[4, 2] is -0.4990 and its row began with -0.5000: not one"
    assert said["advantages"].startswith(text)


def test_nearly_equal_scores_may_have_been_rounded_before_they_were_divided():
    """Their deviation is 7e-5 of them: it lifts float32's rounding by 14000."""
    rewards = torch.where(MASK, 0.1, 0.0)
    for row, score in enumerate([1, 1.0001, 1, 0, 0, 1]):
        last = int(MASK[row].sum()) - 1
        rewards[row, last] += score - rewards[row].sum()
    pairs = rewards.sum(1).view(3, 2)
    excess = pairs - pairs.mean(1, keepdim=True)
    excess /= pairs.std(1, keepdim=True) + 1e-6
    batch = grouped(excess.flatten().tolist())
    batch["token_level_rewards"] = rewards
    batch["token_level_scores"] = rewards
    said, _ = judged(batch)
    assert said["advantages"] == "ok: as grpo gives, on 33 tokens of 6 rows"


def test_what_is_no_dump_is_refused_in_one_sentence():
    batch = dumped(sampled())

    def refused(text: str, **changed: Tensor) -> None:
        with pytest.raises(ValueError) as error:
            judge({**batch, **changed})
        told = str(error.value)
        assert told.startswith(text)
        assert "\n" not in told

    short = batch["values"][:, :5]
    refused("returns must have shape [batch, time] = [6, 8]", returns=short)
    refused("advantages must be a floating-point", advantages=batch["responses"])
    refused("response_mask must hold 0 and 1, got 2 at", response_mask=MASK.long() * 2)
    refused("check: response_mask must count at least 1", response_mask=MASK & False)
    refused("uid must name 6 rows, got [2]", uid=torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="a dump must hold advantages, returns or the"):
        judge({name: batch[name] for name in IDS})
    with pytest.raises(ValueError, match="a dump must hold response_mask or attention"):
        judge({name: batch[name] for name in MADE})
    with pytest.raises(ValueError, match=r"check: gae_lambda must lie in \[0, 1\]"):
        judge(batch, gae_lambda=95.0)


GRPO = [0.7071, -0.7071, 0, 0, -0.7071, 0.7071]
BY_ROW = torch.tensor(GRPO)[:, None] * MASK


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (-BY_ROW, "they are the returns, negated"),
        (-whitened(BY_ROW, MASK), "they are the whitened returns, negated"),
        (BY_ROW.roll(1, 1), "they are the returns, one slot late"),
        (whitened(BY_ROW, MASK).roll(-1, 1), "the whitened returns, one slot early"),
        (0 * BY_ROW, "but 0 times the returns"),
        (5 * BY_ROW, "but 5 times the returns"),
        (
            torch.tensor(GRPO).roll(2)[:, None] * MASK,
            "neither the returns nor these whitened",
        ),
    ],
)
def test_right_returns_do_not_excuse_other_advantages(made, words):
    batch = grouped(GRPO) | {"advantages": made * MASK}
    said, _ = judged(batch)
    assert said["returns"] == "ok: as grpo gives, on 33 tokens of 6 rows"
    assert "advantages" not in said
    assert said["whitening"].startswith(FAIL)
    assert said["whitening"].endswith(words)


def test_a_baseline_that_is_not_in_the_dump_is_no_fault():
    batch = without(sampled(), "values")
    last = batch["token_level_scores"]
    returns = last.flip(1).cumsum(1).flip(1) * MASK
    batch |= {"returns": returns, "uid": torch.tensor(PAIRS)}
    of_row = torch.tensor([0.0, 1, 1, 0, 0.5, 0])[:, None]  # ReMax
    of_place = torch.linspace(0, 1, 3 * T).view(3, T).repeat_interleave(2, 0)
    noise = torch.randn(6, T, generator=torch.Generator().manual_seed(1))
    for baseline, state, words in (
        (of_row, LOOK, "is it ReMax's baseline?"),
        (of_place, LOOK, "is it an optimal token baseline?"),
        (noise, FAIL, "no baseline, of a row or of a place in its group, gives these"),
        (2 * returns, FAIL, "they are the returns, negated"),
    ):
        said, _ = judged(batch | {"advantages": (returns - baseline) * MASK})
        assert said["whitening"].startswith(state)
        assert said["whitening"].endswith(words)


def of_trl(rewards: list[float], advantages: list[float]) -> Batch:
    """TRL's batch, three answers to each of two prompts."""
    batch = sampled()
    return {
        "prompt_ids": torch.tensor([5, 5, 5, 6, 6, 6])[:, None],
        "completion_ids": batch["responses"],
        "completion_mask": MASK.long(),
        "rewards": torch.tensor(rewards),
        "advantages": torch.tensor(advantages),
    }


def test_a_row_that_no_reward_function_scored_is_left_out_of_its_group():
    nan = torch.nan
    rewards = [0, nan, 2.0, nan, nan, nan]
    trl = [-0.70706, 0, 0.70706, 0, 0, 0]  # TRL adds 1e-4 to the deviation
    said, _ = judged(of_trl(rewards, trl))
    assert "finite" not in said
    assert said["advantages"].startswith("ok: as grpo")
    assert "4 rows that no reward function scored, left out" in said["groups"]
    said, _ = judged(of_trl(rewards, [-0.70706, 0.5, 0.70706, 0, 0, 0]))
    text = "FAIL: advantages[1, 0] is 0.5000, grpo gives 0.0000"
    assert said["advantages"].startswith(text)
    alone = without(of_trl(rewards, trl), "rewards")
    said, _ = judged(alone)
    assert said["advantages"].startswith("ok: mean 0 in each of 2 groups of 3 rows")
    assert "deviation 1 over the rows that are not 0" in said["advantages"]
    said, _ = judged(of_trl([1.0, 0, torch.inf, 2, 0, 0], trl))
    assert said["finite"] == "FAIL: rewards[2] is inf"
    assert said["advantages"] == "-: rewards is not finite"


def test_nothing_is_called_bootstrapped_without_values():
    """Each row is full: its return differs from its score in the last slot alone."""
    batch = without(sampled(), "values", *IDS)
    scores = torch.zeros(6, T)
    scores[:, -1] = torch.tensor([1.0, 0, 1, 1, 0, 1])
    returns = torch.tensor(GRPO)[:, None].expand(6, T)
    full = torch.ones(6, T).long()
    batch |= {"token_level_scores": scores, "token_level_rewards": scores}
    batch |= {"response_mask": full, "uid": torch.tensor(PAIRS), "returns": returns}
    said, _ = judged(batch | {"advantages": whitened(returns, full.bool())})
    assert "gae" not in said
    assert said["returns"] == "ok: as grpo gives, on 48 tokens of 6 rows"
