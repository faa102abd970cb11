"""The update: its gradient, its steps, where it stops, and what it never touches."""

import copy
import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from ppo_ref import loops
from ppo_ref.batch import Experience
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.networks import critic_values
from ppo_ref.train.update import (
    NetworkLoss,
    accumulate_gradients,
    mini_batches,
    update_actor,
    update_critic,
)
from tests import networks
from tests.networks import seeded
from tests.strategies import poisoned

LENGTHS = 1, 3, 5, 9, 2, 4, 5, 1
LR, FAR = 0.05, 1e9
UPDATES = {update_actor: networks.actor, update_critic: networks.critic}
EPOCHS = {update_actor: "actor_epochs", update_critic: "critic_epochs"}
updates = pytest.mark.parametrize(
    ("update", "network"), UPDATES.items(), ids=lambda f: f.__name__
)


def config(**options: float) -> PPOConfig:
    sizes = {"batch_size": 8, "mini_batch_size": 4, "micro_batch_size": 2}
    weights = {"kl_loss_coef": 0.3, "entropy_coef": 0.2, "max_grad_norm": FAR}
    return PPOConfig(**{**sizes, **weights, **options})


EXPERIENCE = networks.experience(networks.actor(), *LENGTHS)


def updated(
    update: Callable[..., object],
    network: nn.Module,
    experience: Experience = EXPERIENCE,
    lr: float = LR,
    seed: int = 0,
    **options: float,
) -> tuple[Tensor, list[dict[str, float]]]:
    """All weights after the update, and its statistics."""
    optimizer = torch.optim.SGD(network.parameters(), lr)
    chosen = config(**options)
    epochs = getattr(chosen, EPOCHS[update])
    minis = mini_batches(experience, epochs, chosen.mini_batch_size, seeded(seed))
    statistics = list(update(network, optimizer, minis, chosen))
    return weights(network), statistics


def weights(network: nn.Module) -> Tensor:
    return nn.utils.parameters_to_vector(network.parameters()).detach().clone()


def actor_loss(logits: list, experience: Experience, settings: PPOConfig) -> float:
    """The loss of the actor from its logits, in lists."""
    mask = experience.rollout.response_mask
    losses = []
    for row, t in mask.nonzero().tolist():
        scaled = [x / settings.temperature for x in logits[row][t]]
        log_probs = loops.log_softmax(scaled)
        new = log_probs[experience.rollout.responses[row, t]]
        ratio = math.exp(new - experience.old_log_probs[row, t].item())
        clip = settings.clip_range
        advantage = experience.advantages[row, t].item()
        loss = loops.policy_loss(ratio, advantage, clip, clip, None)
        ahead = experience.ref_log_probs[row, t].item() - new
        losses.append(
            loss * experience.rollout_weights[row, t].item()
            + settings.kl_loss_coef * (math.exp(ahead) - 1 - ahead)
            - settings.entropy_coef * loops.entropy(scaled)
        )
    return loops.mean(losses)


def logits_of(actor: nn.Module) -> list:
    rollout = EXPERIENCE.rollout
    with torch.no_grad():
        logits = actor(rollout.sequences, rollout.attention_mask)
    slots = rollout.response_mask.shape[1]
    return logits[:, -slots - 1 : -1].tolist()


@pytest.mark.parametrize(
    "terms",
    [
        {"kl_loss_coef": 0.0, "entropy_coef": 0.0},
        {"kl_loss_coef": 2.0, "entropy_coef": 0.0},
        {"kl_loss_coef": 0.0, "entropy_coef": 2.0},
        {"entropy_coef": 0.2, "clip_range": 0.05, "temperature": 0.7},
    ],
    ids=["policy", "kl", "entropy", "all"],
)
def test_the_gradient_is_the_slope_of_the_loss_written_out(terms):
    """Central differences along single weights; one step of size 1 is the gradient."""
    whole = {"mini_batch_size": 8, **terms}
    settings = config(**whole)
    step = 1e-5
    moved, _ = updated(update_actor, networks.actor(), lr=1.0, **whole)
    gradient = weights(networks.actor()) - moved
    for place in (3, 57, 200, 700, 1300, len(gradient) - 1):
        slopes = []
        for sign in (1, -1):
            actor = networks.actor()
            shifted = weights(actor)
            shifted[place] += sign * step
            nn.utils.vector_to_parameters(shifted, actor.parameters())
            slopes.append(actor_loss(logits_of(actor), EXPERIENCE, settings))
        expected = (slopes[0] - slopes[1]) / (2 * step)
        assert gradient[place].item() == pytest.approx(expected, rel=1e-4, abs=1e-8)


def actor_told() -> dict[str, float]:
    """The figures of the actor's update before its first step, in lists."""
    logits = logits_of(networks.actor())
    given = EXPERIENCE
    rollout = given.rollout
    clip = config().clip_range
    losses = []
    ratios = []
    clipped = []
    for row, t in rollout.response_mask.nonzero().tolist():
        log_probs = loops.log_softmax(logits[row][t])
        new = log_probs[rollout.responses[row, t]]
        old = given.old_log_probs[row, t].item()
        ratio = math.exp(new - old)
        ratios.append(ratio)
        advantage = given.advantages[row, t].item()
        clipped.append((ratio - 1) * math.copysign(1, advantage) > clip)
        loss = loops.policy_loss(ratio, advantage, clip, clip, None)
        losses.append(loss * given.rollout_weights[row, t].item())
    return {
        "policy_loss": loops.mean(losses),
        "clip_fraction": loops.mean(clipped),
        "approx_kl": loops.mean([x - 1 - math.log(x) for x in ratios]),
        "ratio_min": min(ratios),
        "ratio_mean": loops.mean(ratios),
        "ratio_max": max(ratios),
        "effective_sample_size": loops.effective_sample_size(ratios),
    }


def critic_told() -> dict[str, float]:
    """The same of the critic's update."""
    clip = config().value_clip_range
    with torch.no_grad():
        values = critic_values(networks.critic(), EXPERIENCE.rollout)
    losses = []
    clipped = []
    for row, t in EXPERIENCE.rollout.response_mask.nonzero().tolist():
        new = values[row, t].item()
        old = EXPERIENCE.values[row, t].item()
        target = EXPERIENCE.returns[row, t].item()
        near_old = min(max(new, old - clip), old + clip)
        free = (new - target) ** 2
        bounded = (near_old - target) ** 2
        losses.append(max(free, bounded) / 2)
        clipped.append(bounded > free)
    return {
        "value_loss": loops.mean(losses),
        "value_clip_fraction": loops.mean(clipped),
    }


@pytest.mark.parametrize("micro_batch_size", [1, 2, 4, 8])
def test_what_an_update_says_of_its_tokens_hangs_on_no_split(micro_batch_size):
    sizes = {"mini_batch_size": 8, "micro_batch_size": micro_batch_size}
    for update, network, wanted in (
        (update_actor, networks.actor(), actor_told()),
        (update_critic, networks.critic(), critic_told()),
    ):
        _, (told, *_) = updated(update, network, **sizes)
        assert {name: told[name] for name in wanted} == pytest.approx(wanted)
        for name, number in wanted.items():
            if name.endswith("clip_fraction"):
                assert 0 < number < 1


def test_every_response_comes_once_per_epoch_in_a_new_order():
    numbered = EXPERIENCE._replace(scores=torch.arange(8))

    def order(seed: int) -> list[int]:
        parts = mini_batches(numbered, 2, 4, seeded(seed))
        return [number for part in parts for number in part.scores.tolist()]

    seen = order(seed=0)
    assert sorted(seen[:8]) == sorted(seen[8:]) == list(range(8))
    assert seen[:8] != seen[8:]
    assert seen == order(seed=0) != order(seed=1)


def test_the_update_stops_before_the_step_of_the_mini_batch_that_is_too_far():
    """As far as two steps go, and a thousandth less."""
    experience = networks.experience(networks.actor(), *LENGTHS, drift=0)
    options = {"mini_batch_size": 8, "actor_epochs": 2, "max_kl": FAR}
    _, (first, second) = updated(update_actor, networks.actor(), experience, **options)
    assert first["approx_kl"] < 1e-12 < 1e-9 < second["approx_kl"]
    options["max_kl"] = 1.001 * second["approx_kl"]
    _, steps = updated(update_actor, networks.actor(), experience, **options)
    assert [step["actor_steps"] for step in steps] == [1, 1]
    options |= {"max_kl": 0.999 * second["approx_kl"], "actor_epochs": 4}
    actor = networks.actor()
    stopped, steps = updated(update_actor, actor, experience, **options)
    assert [step["actor_steps"] for step in steps] == [1, 0]
    assert "actor_grad_norm" not in steps[1]
    once, _ = updated(update_actor, networks.actor(), experience, mini_batch_size=8)
    # One epoch is one mini-batch, so its order only changes the order of sums.
    assert_close(stopped, once, rtol=1e-12, atol=1e-13)
    assert all(weight.grad is None for weight in actor.parameters())


def test_the_critic_descends_half_the_squared_error_to_returns_that_stay():
    """Two epochs written out with autograd; the clip is at the old values."""
    fixed = copy.deepcopy(EXPERIENCE)
    critic = networks.critic()
    mask = EXPERIENCE.rollout.response_mask
    settings = {"mini_batch_size": 8, "critic_epochs": 3, "value_clip_range": 0.5}
    found, steps = updated(update_critic, networks.critic(), **settings)
    for step in steps:
        values = critic_values(critic, EXPERIENCE.rollout)
        near = EXPERIENCE.values + (values - EXPERIENCE.values).clamp(-0.5, 0.5)
        free = (values - fixed.returns).square()
        bounded = (near - fixed.returns).square()
        loss = torch.maximum(free, bounded)[mask].mean() / 2
        assert step["value_loss"] == pytest.approx(loss.item())
        critic.zero_grad()
        loss.backward()
        with torch.no_grad():
            for weight in critic.parameters():
                weight -= LR * weight.grad
    assert_close(found, weights(critic), rtol=1e-10, atol=1e-12)


@updates
def test_gradients_from_before_are_forgotten(update, network):
    clean, _ = updated(update, network())
    stale = network()
    for weight in stale.parameters():
        weight.grad = torch.ones_like(weight)
    assert torch.equal(updated(update, stale)[0], clean)


@updates
def test_padding_is_never_read(update, network):
    mask = EXPERIENCE.rollout.response_mask
    dirty = {}
    for name, x in EXPERIENCE._asdict().items():
        if name not in ("rollout", "scores"):  # which have no padding
            dirty[name] = poisoned(x, mask)
    clean, figures = updated(update, network())
    found, same = updated(update, network(), EXPERIENCE._replace(**dirty))
    assert torch.equal(found, clean)
    assert same == figures


@updates
def test_long_gradients_are_scaled_down_and_logged_as_they_were(update, network):
    name = f"{update.__name__.removeprefix('update_')}_grad_norm"
    before = weights(network())
    once = {"mini_batch_size": 8, "critic_epochs": 1}
    free, (told, *_) = updated(update, network(), **once)
    length = (free - before).norm().item() / LR
    assert told[name] == pytest.approx(length)
    clipped, (same, *_) = updated(update, network(), max_grad_norm=length / 10, **once)
    assert same[name] == pytest.approx(length)
    # The 1e-6 that PyTorch adds to the norm.
    assert_close(clipped - before, (free - before) / 10, rtol=1e-5, atol=1e-12)


@updates
def test_a_gradient_that_is_not_finite_makes_no_step(update, network):
    module = network()
    handle = module.head.weight.register_hook(lambda gradient: gradient * torch.inf)
    text = "clipped_step: the gradient of .* must be finite, got a norm of nan"
    with pytest.raises(ValueError, match=f"^{text}; no weight was changed$"):
        updated(update, module)
    handle.remove()
    assert torch.equal(weights(module), weights(network()))


def test_a_batch_that_mini_batches_do_not_divide_is_refused():
    text = "^mini_batches: experience must hold a multiple of 3 responses, got 8$"
    with pytest.raises(ValueError, match=text):
        mini_batches(EXPERIENCE, 1, 3, seeded(0))


small = st.integers(1, 2)


@settings(max_examples=8, deadline=None)
@given(epochs=small, parts=small, prompts=small, n=small, data=st.data())
def test_steps_per_batch(epochs, parts, prompts, n, data):
    r"""\mathrm{steps} = E\,\frac{nB}{nM} = E\,\frac{B}{M}

    E epochs, B prompts in mini-batches of M, n responses each: micro-batches do not
    count.
    """
    actor = networks.actor()
    lengths = [1 + row % 4 for row in range(parts * prompts * n)]
    divisors = [size for size in range(1, prompts * n + 1) if prompts * n % size == 0]
    chosen = PPOConfig(
        actor_epochs=epochs,
        batch_size=len(lengths),
        mini_batch_size=prompts * n,
        micro_batch_size=data.draw(st.sampled_from(divisors)),
    )
    experience = networks.experience(actor, *lengths)
    steps = []
    optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
    optimizer.register_step_post_hook(lambda *_: steps.append(weights(actor)))
    minis = mini_batches(experience, epochs, chosen.mini_batch_size, seeded(0))
    list(update_actor(actor, optimizer, minis, chosen))
    assert len(steps) == epochs * parts
    assert torch.equal(steps[-1], weights(actor))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(1, 6))
def test_micro_batch_gradient(lengths, micro_batch_size):
    r"""\begin{aligned}
    \nabla L &= \frac{1}{N} \sum_t \nabla \ell_t \\
    &= \sum_m \frac{1}{N} \sum_{t \in m} \nabla \ell_t
    \end{aligned}

    N counts the tokens of the mini-batch, however it is cut into parts m.
    """
    experience = networks.experience(networks.actor(), *lengths)
    weight = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)

    def loss(part, aggregate):
        outputs = weight * part.returns
        total = aggregate(outputs.square() / 2, part.rollout.response_mask)
        return NetworkLoss(total, total, torch.tensor(0.0), outputs)

    accumulate_gradients(experience, micro_batch_size, loss)
    places = experience.rollout.response_mask.nonzero().tolist()
    slopes = [0.7 * experience.returns[row, t].item() ** 2 for row, t in places]
    assert math.isclose(weight.grad.item(), loops.mean(slopes), rel_tol=1e-12)
