"""A whole run: its draws, its seeds, where it can stop, and what never moves."""

import math

import pytest
import torch
from torch.testing import assert_close

from ppo_ref import loops
from ppo_ref.group_advantages import dr_grpo
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.estimates import (
    NAMES,
    among_responses,
    estimate_named,
    flipped_sign,
)
from ppo_ref.train.learners import Learners, learning_rate_share
from ppo_ref.train.tokenizer import EOS_TOKEN_ID
from ppo_ref.train.trainer import Trainer, tiny_trainer
from ppo_ref.train.update import imitation_step
from tests.networks import actor, seeded


@pytest.fixture(autouse=True)
def few_labels(monkeypatch):
    """A reward model learns as well from 64 responses what is tested here."""
    monkeypatch.setattr("ppo_ref.train.trainer.LABELLED", 64)


def weights(trainer: Trainer) -> list[torch.Tensor]:
    learning = [network for network in trainer.models[:2] if network is not None]
    return [w.detach().clone() for network in learning for w in network.parameters()]


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(map(torch.equal, one, other))


STAGES = "imitate", "learn_reward", "train"


@pytest.mark.parametrize("stage", STAGES)
def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(stage):
    settings = {"reward_model_steps": 3, "warm_start_steps": 3, "iterations": 2}

    def ended(trainer):
        for name in STAGES:
            list(getattr(trainer, name)())
        return [w.detach() for network in trainer.models for w in network.parameters()]

    stopped = tiny_trainer(**settings)
    whole = ended(tiny_trainer(**settings))
    for name in STAGES[: STAGES.index(stage)]:
        list(getattr(stopped, name)())
    steps = getattr(stopped, stage)()
    next(steps)
    state = stopped.state_dict()
    next(steps)  # the state that was taken must not go on with the run
    for _ in range(2):  # nor with one that was resumed from it
        resumed = tiny_trainer(**settings)
        resumed.load_state_dict(state)
        assert same(ended(resumed), whole)


def test_what_an_iteration_draws_does_not_depend_on_those_before():
    sound, broken = tiny_trainer(), tiny_trainer()
    broken.estimate = flipped_sign
    broken.held_out()
    asked = set()
    for one, other in zip(sound.train(), broken.train(), strict=True):
        assert one.questions == other.questions
        asked.add(tuple(one.questions))
    assert len(asked) == 3
    assert not same(weights(sound), weights(broken))


def test_each_stage_moves_its_own_networks():
    trainer = tiny_trainer()
    before = weights(trainer)
    assert len(list(trainer.imitate())) == trainer.config.warm_start_steps
    actor, critic, reference, _ = trainer.models
    start = [w.detach().clone() for w in actor.parameters()]
    assert not same(weights(trainer), before)
    assert same(list(reference.parameters()), start)
    body = actor.transformer.parameters()
    assert same(list(body), list(critic.transformer.parameters()))
    list(trainer.train())
    assert same(list(reference.parameters()), start)
    assert not same(list(actor.parameters()), start)
    assert critic.head.weight.any()


def test_an_imitation_step_descends_the_mean_negative_log_prob():
    trainer = tiny_trainer(error_rate=0.0)
    actor, tokenizer = trainer.models.actor, trainer.tokenizer
    (question,) = trainer.task.train[:1]
    ids = tokenizer.encode(question.text + question.answer)
    logits = actor(torch.tensor([ids]), torch.ones(1, len(ids)).bool())[0].tolist()
    said = [
        loops.log_softmax(logits[t - 1])[token]
        for t, token in enumerate([*ids, 1])
        if t >= len(question.text)
    ]
    given = trainer.tokenizer, [question], trainer.config
    losses = [
        imitation_step(
            actor, torch.optim.Adam(actor.parameters()), *given, step, seeded(0)
        )
        for step in (0, 1)
    ]
    assert losses[0] == pytest.approx(-loops.mean(said), rel=1e-5)
    assert losses[1] < losses[0]


@pytest.mark.parametrize(
    ("step", "share"), [(0, 0.1), (5, 0.6), (9, 0.91), (10, 0.9), (50, 0.5), (99, 0.01)]
)
def test_imitation_rises_for_a_tenth_and_falls_to_0_its_gradient_scaled_down(
    step, share
):
    """A step of gradient descent is as long as the rate times the greatest norm."""
    trainer = tiny_trainer(warm_start_steps=100, warm_start_lr=0.5, max_grad_norm=0.01)
    actor = trainer.models.actor
    before = [weight.detach().clone() for weight in actor.parameters()]
    given = trainer.tokenizer, trainer.task.train, trainer.config
    optimizer = torch.optim.SGD(actor.parameters())
    imitation_step(actor, optimizer, *given, step, seeded(0))
    moved = [
        x.detach() - was for x, was in zip(actor.parameters(), before, strict=True)
    ]
    length = torch.cat([x.flatten() for x in moved]).norm().item()
    assert length == pytest.approx(share * 0.5 * 0.01, rel=1e-3)


def test_a_learned_reward_scores_in_place_of_the_rule():
    trainer = tiny_trainer(reward_model_steps=2, iterations=1)
    losses = list(trainer.learn_reward())
    assert len(losses) == 2
    assert losses[0] == pytest.approx(math.log(2))
    (iteration,) = trainer.train()
    scores = iteration.experience.scores
    assert not set(scores.tolist()) & {-1.0, 0.0, 1.0}
    assert not any(w.requires_grad for w in trainer.models.reward.parameters())


def test_bfloat16_trains_weights_that_stay_float32():
    trainer = tiny_trainer(precision="bfloat16")
    list(trainer.imitate())
    (first, *_) = trainer.train()
    for network in (trainer.models.actor, trainer.models.critic):
        for weight in network.parameters():
            assert weight.dtype == torch.float32
            assert weight.isfinite().all()
    moments = trainer.learners.actor_optimizer.state.values()
    assert {moment["exp_avg"].dtype for moment in moments} == {torch.float32}
    assert first.experience.old_log_probs.dtype == torch.float32
    assert first.statistics["ratio_max"] < 1.5
    assert first.statistics["rollout_kl"] < 0.01


GROUPS = {"responses_per_prompt": 2, "critic_epochs": 0}


class Graded(Trainer):
    """Every answer has a score of its own, so that there is something to compare."""

    def _reward(self):
        return lambda questions, rollout: rollout.responses.float().mean(1)


def test_each_question_is_asked_as_often_as_told_and_its_answers_are_a_group():
    trainer = Graded(
        tiny_trainer(**GROUPS).config, estimate=among_responses(dr_grpo, 2)
    )
    (first, *_) = trainer.train()
    assert first.questions[0::2] == first.questions[1::2]
    assert len(set(first.questions)) == 2
    experience = first.experience
    rewards = experience.token_level_rewards.sum(1).view(2, 2)
    excess = rewards - rewards.mean(1, keepdim=True)
    expected = excess.flatten()[:, None] * experience.rollout.response_mask
    assert_close(experience.advantages, expected)
    assert expected.any()


@pytest.mark.parametrize("name", NAMES)
def test_every_estimate_that_has_a_name_trains(name):
    config = tiny_trainer(iterations=1, **GROUPS).config
    estimate = estimate_named(name, config.responses_per_prompt)
    trainer = Graded(config, estimate=estimate)
    before = weights(trainer)
    (only,) = trainer.train()
    assert only.statistics["actor_steps"] == 2
    assert not same(weights(trainer), before)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gae", "name must be one of whitened_gae, reinforce_plus_plus, grpo, .*'gae'"),
        ("torch", "name must be one of .*, got 'torch'"),
        ("rloo", "must be at least 2, as rloo compares .*, got 1"),
    ],
)
def test_another_name_is_refused_and_so_is_a_comparison_of_one(name, told):
    with pytest.raises(ValueError, match=told):
        estimate_named(name)


def test_without_critic_epochs_there_is_no_critic_and_no_figure_of_one():
    trainer = tiny_trainer(critic_epochs=0)
    assert trainer.models.critic is None
    assert "critic" not in trainer.state_dict()
    for iteration in trainer.train():
        assert not iteration.experience.values.any()
        names = {*iteration.statistics}
        assert not [name for name in names if "value" in name]
        assert not {"explained_variance", "critic_steps"} & names
    with_critic = next(tiny_trainer().train()).statistics
    assert {"value", "value_loss", "explained_variance"} <= {*with_critic}


def test_a_reward_model_is_there_only_where_it_is_asked():
    assert tiny_trainer().models.reward is None
    assert "reward" not in tiny_trainer().state_dict()
    assert tiny_trainer(reward_model_steps=1).models.reward is not None


def test_the_critic_learns_alone_while_it_warms_up():
    trainer = tiny_trainer(critic_warm_up=2)
    list(trainer.imitate())
    actor, critic = (list(network.parameters()) for network in trainer.models[:2])
    begun = [[w.clone() for w in network] for network in (actor, critic)]
    for iteration in trainer.train():
        steps = {"critic_steps", "actor_steps"} & {*iteration.statistics}
        if iteration.number <= 2:
            assert steps == {"critic_steps"}
            assert same(actor, begun[0]) and not same(critic, begun[1])
        else:
            assert steps == {"critic_steps", "actor_steps"}
            assert not same(actor, begun[0])


def test_another_temperature_in_training_is_a_mistake_that_shows():
    """The ratio of an actor to itself is 1 all the same; it is to the sampler not."""
    sound, broken = (
        next(tiny_trainer(temperature=0.5, **options).train()).statistics
        for options in ({}, {"trained_temperature": 1.0})
    )
    assert sound["rollout_kl"] == pytest.approx(0, abs=1e-6)
    assert broken["rollout_kl"] > 0.001
    assert sound["ratio_mean"] == pytest.approx(broken["ratio_mean"], abs=0.05)


ADAPTIVE = {"kl_target": 0.01, "kl_horizon": 10.0, "kl_coef": 0.5, "actor_lr": 1e-2}


def test_an_adaptive_coefficient_prices_the_next_batch():
    trainer = tiny_trainer(**ADAPTIVE)
    kl_coef = 0.5
    list(trainer.imitate())
    for iteration in trainer.train():
        found = iteration.statistics
        resumed = tiny_trainer(**ADAPTIVE)
        assert found["kl_coef"] == pytest.approx(kl_coef)
        resumed.load_state_dict(trainer.state_dict())
        assert resumed.kl_coef == trainer.kl_coef != kl_coef
        experience = iteration.experience
        mask = experience.rollout.response_mask
        kl = experience.old_log_probs - experience.ref_log_probs
        priced = experience.scores - kl_coef * torch.where(mask, kl, 0).sum(1)
        assert_close(experience.token_level_rewards.sum(1), priced)
        error = min(max(found["kl"] / 0.01 - 1, -0.2), 0.2)
        kl_coef *= 1 + error * 4 / 10
    assert kl_coef not in (0.5, found["kl_coef"])
    assert trainer.kl_coef == pytest.approx(kl_coef)


def test_actor_and_critic_learn_at_a_share_of_their_peaks():
    config = PPOConfig(actor_lr=0.5, critic_lr=0.25, reward_model_steps=1)
    learning = Learners(actor(), config)
    peaks = {"imitation": 1e-3, "reward": 2e-3, "actor": 0.5, "critic": 0.25}
    for share in (0.5, 0.125, 1.0):
        learning.set_learning_rates(share)
        for name, peak in peaks.items():
            expected = peak
            if name in ("actor", "critic"):
                expected = peak * share
            (group,) = getattr(learning, f"{name}_optimizer").param_groups
            assert group["lr"] == expected


SHARES = {
    (8, 5): [1 / 5, 2 / 5, 3 / 5, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8],
    (3, 1): [1, 2 / 3, 1 / 3],
    (4, 100): [1 / 100, 2 / 100, 3 / 100, 4 / 100],
    (1, 1): [1],
}


@pytest.mark.parametrize(("steps", "warm_up"), SHARES)
def test_it_rises_by_equal_parts_then_falls_to_nothing(steps, warm_up):
    found = [learning_rate_share(step, steps, warm_up) for step in range(steps)]
    assert found == pytest.approx(SHARES[steps, warm_up], rel=1e-12)


def test_held_out_questions_are_answered_greedily(monkeypatch):
    """Where =12 is the likeliest answer by little, the sums that are 12 are right."""
    trainer = tiny_trainer()
    steps = iter([*trainer.tokenizer.encode("=12"), EOS_TOKEN_ID])

    def forward(sequences, *_, **__):
        logits = torch.zeros(len(sequences), 1, trainer.tokenizer.vocab)
        logits[..., next(steps)] = 0.1
        return logits

    monkeypatch.setattr(trainer.models.actor, "forward", forward)
    assert trainer.held_out() == pytest.approx(7 / 100)
