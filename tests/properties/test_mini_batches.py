"""How many steps a batch gives, and what a gradient in parts is divided by."""

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_ref.losses import ValueLoss
from ppo_ref.training.config import PPOConfig
from ppo_ref.training.update import accumulate_gradients, update_actor
from tests import networks, oracles
from tests.networks import seeded

small = st.integers(1, 3)


class Counted(torch.optim.SGD):
    """Counts its steps, and how often the weights were found moved before one."""

    def __init__(self, network):
        super().__init__(network.parameters(), lr=0.1)
        self.network, self.steps, self.moved_between = network, 0, 0
        self.seen = self.weights()

    def weights(self):
        return torch.nn.utils.parameters_to_vector(self.network.parameters()).detach()

    def step(self, closure=None):
        self.moved_between += not torch.equal(self.weights(), self.seen)
        super().step(closure)
        self.steps, self.seen = self.steps + 1, self.weights()


@settings(max_examples=12, deadline=None)
@given(epochs=small, parts=small, prompts=small, n=small, data=st.data())
def test_steps_per_batch(epochs, parts, prompts, n, data):
    r"""\mathrm{steps} = E\,\frac{nB}{nM} = E\,\frac{B}{M}

    E epochs, B prompts in mini-batches of M, n responses each: nothing else moves
    weights, and micro-batches do not count.
    """
    actor = networks.actor()
    lengths = [1 + row % 4 for row in range(parts * prompts * n)]
    divisors = [size for size in range(1, prompts * n + 1) if prompts * n % size == 0]
    config = PPOConfig(
        actor_epochs=epochs,
        batch_size=len(lengths),
        mini_batch_size=prompts * n,
        micro_batch_size=data.draw(st.sampled_from(divisors)),
    )
    experience, optimizer = networks.experience(actor, *lengths), Counted(actor)
    list(update_actor(actor, optimizer, experience, config, seeded(0)))
    assert optimizer.steps == epochs * parts
    assert optimizer.moved_between == 0


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
        return total, ValueLoss(total, torch.tensor(0.0)), outputs

    accumulate_gradients(experience, micro_batch_size, loss)
    places = experience.rollout.response_mask.nonzero().tolist()
    slopes = [0.7 * experience.returns[row, t].item() ** 2 for row, t in places]
    assert math.isclose(weight.grad.item(), oracles.mean(slopes), rel_tol=1e-12)
