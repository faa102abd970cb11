"""The stations of an answer on the home page, in node, against ppo_ref."""

import torch
from torch.testing import assert_close

from ppo_ref.advantages import gae
from ppo_ref.examples import world
from ppo_ref.rewards import token_level_rewards
from tests.layout import ROOT
from tests.site.lab.in_node import in_node

MODULE = ROOT / "docs" / "theme" / "assets" / "lab" / "stations_model.js"
NUMBERS = "{ ...m.numbers(), tokens: undefined, row: m.ROW, beta: m.BETA }"


def test_an_answer_goes_through_its_stations_as_in_ppo_ref():
    told = in_node(MODULE, NUMBERS, None)
    w, row = world(), told["row"]
    mask = w.response_mask[[row]]
    scores = torch.zeros_like(w.values[[row]])
    scores[0, -1] = w.scores[row]
    rewards = token_level_rewards(
        token_level_scores=scores,
        kl=(w.old_log_probs - w.ref_log_probs)[[row]],
        response_mask=mask,
        kl_coef=told["beta"],
    )
    estimated = gae(
        token_level_rewards=rewards,
        values=w.values[[row]],
        response_mask=mask,
        gae_lambda=0.95,
    )
    expected = {
        "probabilities": w.old_log_probs[row].exp(),
        "rewards": rewards[0],
        "values": w.values[row],
        "advantages": estimated.advantages[0],
        "returns": estimated.returns[0],
    }
    for name, numbers in expected.items():
        assert_close(torch.tensor(told[name], dtype=torch.float64), numbers)
    cut = rewards[0, :2].sum() + w.values[row, 2]
    assert_close(told["answer"], w.old_log_probs[row].sum().exp().item())
    assert_close(told["cut"], cut.item())
    # One step of the policy gradient with this answer alone, by autograd.
    logits = w.edge_log_probs.clone().requires_grad_()
    log_probs = w.token_log_probs(w.log_softmax(logits))[row]
    (push,) = torch.autograd.grad((estimated.advantages[0] * log_probs).mean(), logits)
    after = w.token_log_probs(w.log_softmax(w.edge_log_probs + push))[row]
    ratios = torch.tensor(told["ratios"], dtype=torch.float64)
    assert_close(ratios, (after - w.old_log_probs[row]).exp())
