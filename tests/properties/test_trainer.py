"""A whole run: its draws, its seeds, where it can stop, and what never moves."""

import math
import re

import pytest
import torch
from torch import nn

from ppo_ref.broken import flipped_sign
from ppo_ref.config import PPOConfig
from ppo_ref.estimate import whitened_gae
from ppo_ref.generators import named_generator
from ppo_ref.imitation import imitation_step
from ppo_ref.schedule import learning_rate_share
from ppo_ref.tiny import tiny_trainer
from ppo_ref.trainer import Trainer
from tests import oracles
from tests.networks import seeded


def weights(trainer: Trainer) -> list[torch.Tensor]:
    learning = trainer.models.actor, trainer.models.critic
    return [w.detach().clone() for network in learning for w in network.parameters()]


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(map(torch.equal, one, other))


def run(trainer: Trainer) -> Trainer:
    list(trainer.imitate())
    list(trainer.train())
    return trainer


@pytest.fixture(scope="module")
def finished() -> Trainer:
    return run(tiny_trainer())


def test_the_same_seed_gives_the_same_weights_bit_for_bit(finished):
    torch.rand(3)  # nothing is drawn from the generator of the process
    assert same(weights(run(tiny_trainer())), weights(finished))


def test_another_seed_gives_other_weights_and_questions(finished):
    other = run(tiny_trainer(seed=1))
    assert not same(weights(other), weights(finished))
    assert other.questions.held_out != finished.questions.held_out


@pytest.mark.parametrize("done", [1, 2])
def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(finished, done):
    stopped = tiny_trainer()
    list(stopped.imitate())
    iterations = stopped.train()
    for _ in range(done):
        next(iterations)
    state = stopped.state_dict()
    next(iterations)  # the state that was taken must not go on with the run
    for _ in range(2):  # nor with one that was resumed from it
        resumed = tiny_trainer()
        resumed.load_state_dict(state)
        assert [i.number for i in resumed.train()] == list(range(done + 1, 4))
        assert same(weights(resumed), weights(finished))


@pytest.mark.parametrize("stage", ["imitate", "learn_reward"])
def test_a_run_that_was_stopped_before_ppo_ends_as_if_it_had_not_been(stage):
    settings = {"reward_model_steps": 3, "warm_start_steps": 3, "iterations": 1}

    def ended(trainer):
        for steps in (trainer.imitate, trainer.learn_reward, trainer.train):
            list(steps())
        return [w.detach() for network in trainer.models for w in network.parameters()]

    stopped, resumed = tiny_trainer(**settings), tiny_trainer(**settings)
    if stage == "learn_reward":
        list(stopped.imitate())
    next(getattr(stopped, stage)())
    resumed.load_state_dict(stopped.state_dict())
    assert same(ended(resumed), ended(tiny_trainer(**settings)))


def test_what_an_iteration_draws_does_not_depend_on_those_before():
    sound, broken = tiny_trainer(), tiny_trainer()
    broken.estimate = flipped_sign
    broken.held_out()
    first, second = zip(sound.train(), broken.train(), strict=True), []
    for one, other in first:
        assert one.questions == other.questions
        second.append(one.questions)
    assert len({tuple(questions) for questions in second}) == 3
    assert not same(weights(sound), weights(broken))


def test_the_reference_never_moves_and_the_others_learn():
    trainer = tiny_trainer()
    list(trainer.imitate())
    actor, critic, reference, _ = trainer.models
    start = [w.detach().clone() for w in actor.parameters()]
    assert same(list(reference.parameters()), start)
    list(trainer.train())
    assert same(list(reference.parameters()), start)
    assert not same(list(actor.parameters()), start)
    assert critic.head.weight.any()


def test_imitation_moves_the_actor_and_starts_the_others_from_it():
    trainer = tiny_trainer()
    before = weights(trainer)
    losses = list(trainer.imitate())
    assert len(losses) == trainer.config.warm_start_steps
    assert not same(weights(trainer), before)
    body = trainer.models.actor.transformer.parameters()
    assert same(list(body), list(trainer.models.critic.transformer.parameters()))


def test_an_imitation_step_descends_the_mean_negative_log_prob():
    trainer = tiny_trainer(error_rate=0.0)
    actor, tokenizer = trainer.models.actor, trainer.tokenizer
    (question,) = trainer.questions.train[:1]
    ids = tokenizer.encode(question.text + question.answer)
    logits = actor(torch.tensor([ids]), torch.ones(1, len(ids)).bool())[0].tolist()
    said = [
        oracles.log_softmax(logits[t - 1])[token]
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
    assert losses[0] == pytest.approx(-oracles.mean(said), rel=1e-5)
    assert losses[1] < losses[0]


def test_imitation_refuses_what_cannot_be():
    trainer = tiny_trainer(response_length=4)
    with pytest.raises(ValueError, match=r"^responses: a text and its end must fit 4"):
        list(trainer.imitate())
    given = trainer.tokenizer, trainer.questions.train, trainer.config
    actor = trainer.models.actor
    text = "imitation_step: step must lie in [0, 2), got 2"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        imitation_step(
            actor, torch.optim.Adam(actor.parameters()), *given, 2, seeded(0)
        )


def test_a_learned_reward_scores_in_place_of_the_rule():
    trainer = tiny_trainer(reward_model_steps=2, iterations=1)
    losses = list(trainer.learn_reward())
    assert len(losses) == 2
    assert losses[0] == pytest.approx(math.log(2))
    (iteration,) = trainer.train()
    scores = iteration.experience.scores
    assert not set(scores.tolist()) & {-1.0, 0.0, 1.0}
    assert not any(w.requires_grad for w in trainer.models.reward.parameters())


def test_held_out_is_looked_at_when_it_is_due():
    trainer = tiny_trainer(iterations=3, evaluate_every=2)
    looked = ["held_out" in iteration.statistics for iteration in trainer.train()]
    assert looked == [False, True, True]


def test_learning_rates_rise_and_fall_to_nothing():
    trainer = tiny_trainer(iterations=8, actor_lr=1e-2, critic_lr=1e-3)
    rates = []
    for _ in trainer.train():
        learners = trainer.learners
        optimizers = learners.actor_optimizer, learners.critic_optimizer
        rates.append([optimizer.param_groups[0]["lr"] for optimizer in optimizers])
    shares = [0.2, 0.4, 0.6, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8]
    assert [actor for actor, _ in rates] == pytest.approx([1e-2 * s for s in shares])
    assert [critic for _, critic in rates] == pytest.approx([1e-3 * s for s in shares])


def test_a_rate_beyond_the_end_is_refused():
    text = "learning_rate_share: step must lie in [0, 3), got 3"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        learning_rate_share(3, 3, warm_up=1)


def test_bfloat16_trains_weights_that_stay_float32():
    trainer = tiny_trainer(precision="bfloat16")
    list(trainer.imitate())
    (first, *_) = trainer.train()
    for network in (trainer.models.actor, trainer.models.critic):
        for weight in network.parameters():
            assert weight.dtype == weight.grad.dtype == torch.float32
            assert weight.isfinite().all()
    assert first.experience.old_log_probs.dtype == torch.float32
    assert first.statistics["ratio_max"] < 1.5
    assert first.statistics["rollout_kl"] < 0.01


def test_a_name_gives_a_generator_and_another_name_another():
    def drawn(*name):
        return torch.rand(2, generator=named_generator(*name)).tolist()

    first = drawn(0, "sampling", 1)
    assert first == drawn(0, "sampling", 1)
    others = [(1, "sampling", 1), (0, "draws", 1), (0, "sampling", 2), (0, "sampling")]
    assert len({tuple(x) for x in (first, *(drawn(*name) for name in others))}) == 5


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"batch_size": 100},
            "batch_size must be a multiple of mini_batch_size 64, got 100",
        ),
        (
            {"mini_batch_size": 32, "micro_batch_size": 24},
            "mini_batch_size must be a multiple of micro_batch_size 24, got 32",
        ),
        ({"width": 10, "heads": 4}, "width must be a multiple of heads 4, got 10"),
        ({"response_length": 0}, "response_length must be at least 1, got 0"),
        ({"temperature": 0}, "temperature must be above 0, got 0"),
        ({"temperature": math.nan}, "temperature must be above 0, got nan"),
        ({"gamma": 1.5}, "gamma must be at most 1, got 1.5"),
        ({"clip_range": 1.0}, "clip_range must be below 1, got 1.0"),
        ({"kl_coef": -0.1}, "kl_coef must be at least 0, got -0.1"),
        ({"max_kl": 0}, "max_kl must be above 0, got 0"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        (
            {"precision": "float16"},
            "precision must be one of float32, bfloat16, got 'float16'",
        ),
    ],
)
def test_a_setting_that_cannot_be_is_refused(options, told):
    with pytest.raises(ValueError, match=f"^{re.escape(f'PPOConfig: {told}')}$"):
        PPOConfig(**options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"batch_size": 256.0}, "batch_size must be an int, got float 256.0"),
        ({"seed": True}, "seed must be an int, got bool True"),
        ({"gamma": "1"}, "gamma must be a float, got str '1'"),
        ({"kl_coef": None}, "kl_coef must be a float, got NoneType None"),
        ({"precision": 32}, "precision must be a str, got int 32"),
    ],
)
def test_a_setting_of_another_type_is_refused(options, told):
    with pytest.raises(TypeError, match=f"^{re.escape(f'PPOConfig: {told}')}$"):
        PPOConfig(**options)


def test_an_int_passes_for_a_float_setting():
    assert PPOConfig(gamma=1, kl_coef=0).gamma == 1


def test_an_unfit_estimate_is_named():
    trainer = tiny_trainer(iterations=1)
    assert trainer.estimate is whitened_gae
    trainer.estimate = "gae"
    with pytest.raises(TypeError, match="collect_experience: estimate must be"):
        next(trainer.train())


def test_gradients_of_a_run_reach_every_weight_of_both():
    trainer = tiny_trainer()
    list(trainer.train())
    for network in (trainer.models.actor, trainer.models.critic):
        unread = [
            name
            for name, weight in network.named_parameters()
            if weight.grad is None or not weight.grad.any()
        ]
        assert unread == []
        assert isinstance(network, nn.Module)
