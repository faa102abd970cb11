"""The world of the course: its figures, and what must hold of any such tree."""

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.advantages import gae, td_residuals
from ppo_ref.examples import (
    CRITIC_ERRORS,
    EOS,
    TOKENS,
    WORDS,
    rule_score,
    shared_batch,
    world,
)
from ppo_ref.rewards import token_level_scores
from tests.properties.trees import Tree

W = world()
# Probability under actor and reference, score, tokens: the table of the design.
ANSWERS = """
0.5945 0.5169 1 6 Yes , 1+1 = 2 <eos>
0.0120 0.0157 0 6 Yes , 1+1 = 2 ,
0.0311 0.0444 0 6 Yes , 1+1 = 3 <eos>
0.0402 0.0368 1 6 Yes , 1+1 is 2 <eos>
0.0268 0.0368 0 6 Yes , 1+1 is 3 <eos>
0.0855 0.0898 1 5 Yes , it's 2 <eos>
0.0285 0.0385 0 5 Yes , it's 3 <eos>
0.0341 0.0328 1 4 Yes ! 2 <eos>
0.0341 0.0491 0 3 Yes ! <eos>
0.0442 0.0602 0 4 No idea . <eos>
0.0046 0.0057 1 6 No idea . Maybe 2 <eos>
0.0062 0.0048 1 6 No idea , maybe 2 <eos>
0.0558 0.0647 1 5 No problem , 2 <eos>
0.0023 0.0040 0 6 Let us think step by step
"""
# Probability of a prefix, exact value, critic: the other table of the design.
PREFIXES = {
    "": (1.0, 0.8210, 0.82),
    "Yes": (0.8869, 0.8506, 0.85),
    "Yes ,": (0.8187, 0.8798, 0.88),
    "Yes , 1+1": (0.7047, 0.9008, 0.90),
    "Yes , 1+1 =": (0.6376, 0.9324, 0.92),
    "Yes , 1+1 = 2": (0.6065, 0.9802, 0.95),
    "Yes , 1+1 is": (0.0671, 0.60, 0.60),
    "Yes , it's": (0.1140, 0.75, 0.75),
    "Yes !": (0.0682, 0.50, 0.50),
    "No": (0.1108, 0.6015, 0.40),
    "No idea": (0.0550, 0.1975, 0.20),
    "No idea .": (0.0488, 0.0952, 0.10),
}


def near(x):
    return pytest.approx(x, abs=5e-5)


def words(row, language="en"):
    mask = W.response_mask[row]
    return [WORDS[language][token] for token in W.responses[row, mask]]


def tree(log_probs=W.old_log_probs):
    """The same answers by the definitions of ``trees``, in plain Python."""
    answers = [tuple(words(row)) for row in range(14)]
    probs, rewards = {}, {}
    for answer, row, score in zip(answers, log_probs.exp(), W.scores, strict=True):
        for t, p in enumerate(row[: len(answer)].tolist(), start=1):
            probs[answer[:t]] = p
            rewards[answer[:t]] = score.item() * (t == len(answer))
    return Tree(answers, probs, rewards)


POLICIES = {"actor": tree(), "reference": tree(W.ref_log_probs)}


def not_one(probs):
    """The prefixes after which the probabilities do not add up to 1."""
    sums = {written[:-1]: 0.0 for written in probs}
    for written, p in probs.items():
        sums[written[:-1]] += p
    return [" ".join(state) for state, x in sums.items() if abs(x - 1) > 1e-12]


def test_every_answer_is_the_one_of_the_design():
    rows = [line.split() for line in ANSWERS.split("\n")[1:-1]]
    assert [words(row) for row in range(14)] == [row[4:] for row in rows]
    expected = torch.tensor([[*map(float, row[:4])] for row in rows]).double()
    found = [W.response_probs(x) for x in (W.edge_log_probs, W.edge_ref_log_probs)]
    found += [W.scores, W.response_mask.sum(1).double()]
    assert_close(torch.stack(found, 1), expected, rtol=0, atol=5e-5)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_tokens_after_each_prefix_add_up_to_one(policy):
    probs = POLICIES[policy].probs
    assert len(probs) == 44 == len(W.parents)
    assert not_one(probs) == []
    assert not_one(probs | {("No", "idea"): 0.5}) == ["No"]


@pytest.mark.parametrize(
    ("log_probs", "mean_score"),
    [(W.edge_log_probs, 0.8210), (W.edge_ref_log_probs, 0.7513)],
)
def test_v_and_j_are_what_counting_gives(log_probs, mean_score):
    counted = tree(W.token_log_probs(log_probs))
    exact = {" ".join(s): counted.expected_return(1, s) for s in counted.states()}
    found = dict(zip(W.prefixes, W.prefix_values(log_probs).tolist(), strict=True))
    assert found == pytest.approx(exact)
    assert W.mean_score(log_probs).item() == near(mean_score)
    assert found[""] == near(mean_score)


def test_every_prefix_is_the_one_of_the_design():
    by_prefix = W.prefix_probs(W.edge_log_probs), W.prefix_values(W.edge_log_probs)
    for number, prefix in enumerate(W.prefixes):
        at = (W.parents[W.edges] == number) & W.response_mask
        exact, said = W.exact_values[at].unique(), W.values[at].unique()
        found = [x[number].item() for x in by_prefix] + [said.item()]
        assert exact.item() == pytest.approx(found[1])
        if prefix in PREFIXES:
            assert found == near(PREFIXES[prefix])
        else:  # a sure token follows: all is decided
            assert found[1] == found[2] and found[1] in (0, 1)
        if prefix not in CRITIC_ERRORS:
            assert said.item() == round(exact.item(), 2)


def test_the_kl_of_answers_is_the_sum_over_prefixes():
    actor, reference = W.edge_log_probs, W.edge_ref_log_probs
    kld = actor - reference
    of_prefix = torch.zeros(31).double().index_add(0, W.parents, actor.exp() * kld)
    by_prefix = W.prefix_probs(actor) @ of_prefix
    by_answer = W.response_probs(actor) @ (W.old_log_probs - W.ref_log_probs).sum(1)
    assert_close(by_prefix, by_answer)
    assert by_answer.item() == near(0.0178)
    assert of_prefix[0].item() == near(0.0032)


def test_both_languages_score_alike_token_by_token():
    for row in range(14):
        chinese = words(row, "zh")
        assert rule_score(chinese) == rule_score(words(row)) == W.scores[row]
        assert EOS not in chinese[:-1] and all(chinese)
    assert len(WORDS["zh"]) == len(WORDS["en"]) == len(set(TOKENS)) == 22
    assert words(9, "zh") == ["没", "学过", "。", EOS]
    assert [rule_score(x) for x in (["2"], ["2", "3", EOS], [EOS])] == [0, 0, 0]


def test_the_batch_is_dialogue_002_and_no_idea():
    batch = shared_batch()
    assert batch.old_log_probs.tolist() == [
        [-0.12, -0.08, -0.15, -0.10, -0.05, -0.02],
        [-2.20, -0.70, -0.12, -0.10, 0, 0],
    ]
    assert batch.ref_log_probs.tolist() == [
        [-0.15, -0.10, -0.18, -0.12, -0.08, -0.03],
        [-2.00, -0.65, -0.07, -0.09, 0, 0],
    ]
    assert batch.values.tolist() == [
        [0.82, 0.85, 0.88, 0.90, 0.92, 0.95],
        [0.82, 0.40, 0.20, 0.10, 0.25, 0.80],
    ]
    assert batch.scores.tolist() == [1, 0] and batch.kl_coef == 0.01
    assert batch.response_mask.tolist() == [[True] * 6, [True] * 4 + [False] * 2]


def test_td_errors_are_0_on_average_and_add_up_to_return_minus_value():
    given = {
        "token_level_rewards": token_level_scores(W.scores, W.response_mask),
        "values": W.exact_values,
        "response_mask": W.response_mask,
    }
    deltas, counted = td_residuals(**given), POLICIES["actor"]
    assert deltas[11].tolist() == near([-0.2195, -0.4040, 0.8025, 0, 0, 0])
    for state in counted.states():
        assert counted.mean_after(state, deltas[:, len(state)]) == near(0)
    for values in W.exact_values, W.values:
        advantages = gae(**given | {"values": values}).advantages
        wanted = (W.scores[:, None] - values) * W.response_mask
        assert_close(advantages, wanted)


def test_the_gradient_of_a_logit_is_its_formula():
    """Probability of the prefix x p x (V after the token - V before it)."""
    logits = W.edge_log_probs.clone().requires_grad_()
    (found,) = torch.autograd.grad(W.mean_score(W.log_softmax(logits)), logits)
    counted = POLICIES["actor"]
    after = counted.exact_values(1) | {
        answer: counted.rewards[answer] for answer in counted.answers
    }
    by_edge = {}
    for written, p in counted.probs.items():
        reached = sum(
            counted.prob_from((), a)
            for a in counted.answers
            if a[: len(written) - 1] == written[:-1]
        )
        by_edge[" ".join(written)] = (
            reached * p * (after[written] - after[written[:-1]])
        )
    for row in range(14):
        for t, edge in enumerate(W.edges[row, W.response_mask[row]]):
            written = " ".join(words(row)[: t + 1])
            assert found[edge].item() == pytest.approx(by_edge[written], abs=1e-12)
    assert by_edge["Yes"] == near(0.0262) and by_edge["No problem"] == near(0.0222)


def test_logits_are_normalised_over_siblings():
    assert_close(W.log_softmax(W.edge_log_probs), W.edge_log_probs)
    shifted = W.edge_log_probs + 1000.0 * W.parents
    assert_close(W.log_softmax(shifted), W.edge_log_probs, rtol=0, atol=1e-10)


def test_one_update_on_the_batch_moves_siblings_as_designed():
    """Learning rate 1, the mean over ten tokens, return minus value."""
    batch, logits = shared_batch(), W.edge_log_probs.clone().requires_grad_()
    mask = batch.response_mask
    log_probs = W.token_log_probs(W.log_softmax(logits))[[0, 9]]
    ratio = (log_probs - batch.old_log_probs).exp()
    goal = (ratio * (batch.scores[:, None] - batch.values))[mask].mean()
    (step,) = torch.autograd.grad(goal, logits)
    updated = W.log_softmax((logits + step).detach())
    yes, no, _ = step[W.parents == 0].tolist()
    assert (round(yes, 3), round(no, 3)) == (0.075, -0.075)
    first = updated[W.parents == 0].exp()
    assert first[1].item() == near(0.0969)
    assert W.mean_score(updated).item() == near(0.8256)


def test_a_page_may_let_the_critic_say_something_else():
    other = world(critic={"No": 0.9})
    moved = other.values != W.values
    assert other.values[moved].tolist() == [0.9] * 4  # the answers that begin so
    assert W.values[moved].tolist() == [0.4] * 4
    assert other.exact_values.equal(W.exact_values)
    with pytest.raises(ValueError, match=r"world: critic must name .+'Never'"):
        world(critic={"Never": 0.5})
