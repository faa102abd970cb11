"""The functions that one pastes, as they stand on the page, beside ppo_ref and verl."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from ppo_ref import advantages, aggregation, group_advantages, losses, masking
from ppo_ref import rollout_correction as correction
from ppo_ref.kl import kl_k1, kl_k2, kl_k3
from ppo_ref.log_probs import log_probs_and_entropy
from tests.differential import peers
from tests.differential.batches import generator
from tests.differential.peers import NOW
from tests.differential.wheels import requires

pytestmark = [requires(NOW), pytest.mark.pages]
SNIPPET = Path(__file__).parents[2] / "snippets" / "reference" / "paste.py"
SECTION = re.compile(r"\[start:(\w+)\]\n(.*?)# --8<-- \[end:\1\]", re.DOTALL)
NAMES = "masked_mean masked_whiten log_probs kl gae policy_loss value_loss"
SECTIONS = dict(SECTION.findall(SNIPPET.read_text("utf-8")))
PASTE: dict[str, Any] = {}
for section in (*NAMES.split(), "aggregate", "group", "weights"):
    assert len(SECTIONS[section].strip().split("\n")) - 2 <= 15  # the import apart
    exec(SECTIONS[section], PASTE)
GARBAGE = 1e30


class Batch:
    """Rows with gaps, at least two tokens in the first, garbage outside the mask."""

    def __init__(self, seed: int) -> None:
        self.source = generator(seed)
        self.rows, time = torch.randint(2, 9, (2,), generator=self.source).tolist()
        self.mask = torch.rand(self.rows, time, generator=self.source) < 0.7
        self.mask[:, 0] = True
        self.mask[0, 1] = True

    def tokens(self, scale: float = 1.0) -> Tensor:
        shape = self.mask.shape
        x = scale * torch.randn(shape, generator=self.source, dtype=torch.float64)
        return torch.where(self.mask, x, GARBAGE)

    def one_of(self, *choices: Any) -> Any:
        return choices[torch.randint(len(choices), (), generator=self.source)]


def of_many(check: Callable[[Batch], None]) -> Callable[[int], None]:
    """A test of many batches, each by itself."""

    @pytest.mark.parametrize(
        "batches", [20, pytest.param(1000, marks=pytest.mark.slow)]
    )
    def test(batches: int) -> None:
        for seed in range(batches):
            check(Batch(seed))

    return test


def inside(x: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask, x, 0)


@of_many
def test_the_means_are_those_of_both(batch):
    verl = peers.tensors(NOW)
    x, mask = batch.tokens(), batch.mask
    mean, white = PASTE["masked_mean"](x, mask), PASTE["masked_whiten"](x, mask)
    assert_close(mean, masking.masked_mean(x, mask))
    assert_close(white, masking.masked_whiten(x, mask))
    clean = inside(x, mask)
    theirs = verl.masked_mean(clean, mask.double())
    assert_close(mean, theirs, rtol=1e-6, atol=1e-6)  # its divisor has 1e-8 more
    theirs = verl.masked_whiten(clean, mask.double())
    assert_close(white[mask], theirs[mask], rtol=1e-6, atol=1e-6)


@of_many
def test_log_probs_and_entropy_are_those_of_both(batch):
    verl = peers.tensors(NOW)
    shape = (*batch.mask.shape, 11)
    logits = 4 * torch.randn(shape, generator=batch.source)
    ids = torch.randint(11, shape[:2], generator=batch.source)
    temperature = batch.one_of(0.5, 1.0, 1.7)
    ours = PASTE["log_probs_entropy"](logits, ids, temperature)
    right = log_probs_and_entropy(logits=logits, responses=ids, temperature=temperature)
    assert_close(ours, tuple(right))
    scaled = logits / temperature
    theirs = verl.logprobs_from_logits_naive(scaled, ids)
    assert_close(ours, (theirs, verl.entropy_from_logits(scaled)))


def test_a_token_that_cannot_be_written_has_no_part():
    logits = torch.tensor([[[1.0, 2.0, -torch.inf]]], requires_grad=True)
    ids = torch.tensor([[0]])
    log_p, entropy = PASTE["log_probs_entropy"](logits, ids)
    two = PASTE["log_probs_entropy"](logits[..., :2], ids)
    assert_close((log_p, entropy), two)
    (gradient,) = torch.autograd.grad((log_p + entropy).sum(), logits)
    (right,) = torch.autograd.grad((two[0] + two[1]).sum(), logits)
    assert_close(gradient, right)


@of_many
def test_the_estimates_of_kl_are_those_of_both(batch):
    names = {"k1": (kl_k1, "kl"), "k2": (kl_k2, "mse"), "k3": (kl_k3, "low_var_kl")}
    x, y = (inside(batch.tokens(), batch.mask) for _ in range(2))
    for kind, (judge, mode) in names.items():
        ours = PASTE["kl_per_token"](x, y, kind)
        assert_close(ours, judge(log_probs=x, ref_log_probs=y))
        theirs = peers.kl(NOW, mode, log_probs=x, ref_log_probs=y)
        # verl lets no k3 be above 10.
        assert_close(ours.clamp(max=10) if kind == "k3" else ours, theirs)


@of_many
def test_gae_is_that_of_both(batch):
    mask, r, V = batch.mask, batch.tokens(), batch.tokens()
    gamma, lam = batch.one_of(1.0, 0.9, 0.0), batch.one_of(1.0, 0.95, 0.0)
    end = torch.randn(batch.rows, generator=batch.source, dtype=torch.float64)
    for V_end in (torch.zeros_like(end), end):
        ours = PASTE["gae"](r, V, mask, gamma, lam, V_end)
        right = advantages.gae(
            token_level_rewards=r,
            values=V,
            response_mask=mask,
            gamma=gamma,
            gae_lambda=lam,
            bootstrap_values=V_end,
        )
        assert_close(ours, tuple(right))
    theirs, _ = peers.gae(
        NOW,
        token_level_rewards=inside(r, mask),
        values=inside(V, mask),
        response_mask=mask,
        gamma=gamma,
        gae_lambda=lam,
    )
    assert_close(PASTE["gae"](r, V, mask, gamma, lam)[0][mask], theirs[mask])


def same_gradient(ours: Tensor, theirs: Tensor, leaf: Tensor) -> None:
    assert_close(ours, theirs)
    gradients = [torch.autograd.grad(x, leaf)[0] for x in (ours, theirs)]
    assert_close(*gradients)


@of_many
def test_the_policy_loss_and_its_gradient_are_those_of_both(batch):
    mask, old, A = batch.mask, batch.tokens(), batch.tokens()
    log_p = (inside(old, mask) + batch.tokens(0.4)).requires_grad_()
    low, high = batch.one_of((0.2, 0.2), (0.2, 0.28), (0.0, 3.0))
    dual = batch.one_of(1.5, 3.0)
    each = PASTE["policy_loss"](log_p, old, A, mask, low, high, dual)
    ours = PASTE["aggregate"](each, mask, "token-mean")
    shared = {
        "log_probs": log_p,
        "old_log_probs": old,
        "advantages": A,
        "response_mask": mask,
        "clip_range": (low, high),
    }
    right = losses.policy_loss(**shared, dual_clip=dual).loss
    same_gradient(ours, right, log_p)
    shared |= {"old_log_probs": inside(old, mask), "advantages": inside(A, mask)}
    shared["log_probs"] = clean = inside(log_p, mask).detach().requires_grad_()
    each = PASTE["policy_loss"](clean, old, A, mask, low, high, dual)
    ours = PASTE["aggregate"](each, mask, "token-mean")
    theirs, *_ = peers.policy_loss(NOW, **shared, clip_ratio_c=dual)
    same_gradient(ours, theirs, clean)


@of_many
def test_the_value_loss_and_its_gradient_are_those_of_both(batch):
    mask, old, returns = batch.mask, batch.tokens(), batch.tokens()
    V = (inside(old, mask) + batch.tokens()).requires_grad_()
    clip = batch.one_of(0.2, 0.5, 100.0)
    each = PASTE["value_loss"](V, old, returns, mask, clip)
    ours = PASTE["aggregate"](each, mask, "token-mean")
    shared = {"response_mask": mask, "value_clip_range": clip}
    right = losses.value_loss(values=V, old_values=old, returns=returns, **shared)
    same_gradient(ours, right.loss, V)
    theirs, _ = peers.value_loss(
        NOW,
        values=inside(V, mask),
        old_values=inside(old, mask),
        returns=inside(returns, mask),
        **shared,
    )
    assert_close(ours, theirs)


@of_many
def test_losses_are_aggregated_as_by_both_and_by_micro_batches(batch):
    modes = {
        "token-mean": aggregation.token_mean,
        "seq-mean-token-sum": aggregation.sequence_mean_token_sum,
        "seq-mean-token-mean": aggregation.sequence_mean_token_mean,
    }
    aggregate = PASTE["aggregate"]
    x, mask = batch.tokens(), batch.mask
    for mode, judge in modes.items():
        ours = aggregate(x, mask, mode)
        assert_close(ours, judge(x, mask))
        theirs = peers.aggregate(mode, inside(x, mask), mask)
        assert_close(ours, theirs, rtol=1e-6, atol=1e-6)
        count = mask.sum() if mode == "token-mean" else batch.rows
        pairs = zip(x.split(2), mask.split(2), strict=True)
        parts = [aggregate(*pair, mode, count) for pair in pairs]
        assert_close(torch.stack(parts).sum(), ours)


@of_many
def test_advantages_of_groups_are_those_of_both(batch):
    options = {"grpo": {}, "rloo": {}, "dr_grpo": {"norm_adv_by_std_in_grpo": False}}
    size = batch.one_of(2, 3, 5)
    groups = torch.arange(3).repeat(size)
    scores = torch.randn(3 * size, generator=batch.source, dtype=torch.float64)
    given = {
        "token_level_rewards": scores[:, None],
        "response_mask": torch.ones(3 * size, 1, dtype=torch.bool),
        "groups": groups,
    }
    for kind, option in options.items():
        ours = PASTE["group_advantages"](scores, groups, kind)
        right = getattr(group_advantages, kind)(**given).advantages
        assert_close(ours, right[:, 0])
        name = "grpo" if kind == "dr_grpo" else kind
        theirs, _ = peers.group_advantages(name, **given, **option)
        assert_close(ours, theirs[:, 0], rtol=1e-5, atol=1e-5)


def test_a_lone_answer_gets_nothing():
    scores, groups = torch.tensor([1.0, 1.0, 0.0]), torch.tensor([4, 2, 2])
    for kind in "grpo", "dr_grpo", "rloo":
        assert PASTE["group_advantages"](scores, groups, kind)[0] == 0


@of_many
def test_rollout_weights_are_those_of_both(batch):
    mask, old, engine = batch.mask, batch.tokens(), batch.tokens()
    cap = batch.one_of(1.0, 2.0, 5.0)
    for by, judge in (
        ("token", correction.token_weights),
        ("sequence", correction.sequence_weights),
    ):
        ours = PASTE["rollout_weights"](old, engine, mask, cap, by)
        given = {"old_log_probs": old, "rollout_log_probs": engine}
        right = judge(**given, response_mask=mask, cap=cap)
        assert_close(ours, right)
        given = {name: inside(x, mask) for name, x in given.items()}
        theirs, _ = peers.rollout_weights(by, cap, **given, response_mask=mask)
        assert_close(ours, theirs)


def test_what_they_are_told_and_do_not_know_is_refused():
    x, mask = torch.zeros(1, 2), torch.ones(1, 2, dtype=torch.bool)
    with pytest.raises(ValueError, match="k4"):
        PASTE["kl_per_token"](x, x, "k4")
    with pytest.raises(ValueError, match="mean"):
        PASTE["aggregate"](x, mask, "mean")
    with pytest.raises(ValueError, match="row"):
        PASTE["rollout_weights"](x, x, mask, by="row")
