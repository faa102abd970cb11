"""The whole run, one iteration at a time: imitation, the reference, then PPO."""

import copy
import dataclasses
import math
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.optim import Adam, Optimizer

from ppo_ref.batch import Experience, Rollout
from ppo_ref.kl import adaptive_kl_coef
from ppo_ref.require import require_index
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.estimates import Estimate, whitened_gae
from ppo_ref.train.experience import collect_experience
from ppo_ref.train.networks import (
    Actor,
    Models,
    Transformer,
    initialised,
    models_from,
)
from ppo_ref.train.reward import Reward, learned, reward_model_step, rule
from ppo_ref.train.rollout import sample_responses
from ppo_ref.train.statistics import (
    Statistics,
    experience_statistics,
    update_statistics,
)
from ppo_ref.train.tasks import CHARACTERS, PROMPT_LENGTH, Question, draw, split
from ppo_ref.train.tokenizer import CharacterTokenizer, Prompts, Tokenizer
from ppo_ref.train.update import (
    imitation_step,
    mini_batches,
    update_actor,
    update_critic,
)

LABELLED = 4096  # responses that a reward model learns from
WARM_UP = 5  # iterations in which the learning rates rise
REWARD_MODEL_LR = 2e-3


class Iteration(NamedTuple):
    """One iteration: its number from 1, its figures, its questions and its batch."""

    number: int
    statistics: Statistics
    questions: list[Question]
    experience: Experience


class Trainer:
    """A run between two steps: its networks, its optimizers, and how far it is.

    Three stages follow each other: ``imitate``, ``learn_reward``, ``train``. What a
    step draws depends on the seed and on its number alone, so a run that was stopped
    goes on as it would have without.

    Args:
        config: Settings of the run.
        device: Where the networks are to lie.
        estimate: From rewards and values to advantages and returns.
        actor: As of ``ppo_ref.train.pretrained``; a small new one if left out.
        tokenizer: Of the actor; left out together with it, one of characters.
    """

    def __init__(
        self,
        config: PPOConfig,
        device: torch.device | str = "cpu",
        estimate: Estimate = whitened_gae,
        actor: Actor | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        self.config, self.device, self.estimate = config, torch.device(device), estimate
        self.kl_coef = config.kl_coef
        characters = CharacterTokenizer(CHARACTERS)
        self.tokenizer: Tokenizer = tokenizer or characters
        self.questions = split(self._generator("split"))
        self.imitated = self.rewarded = self.iteration = 0
        actor = actor or self._new_actor(characters.vocab)
        self._start_from(actor.to(self.device))

    @property
    def models(self) -> Models:
        """Actor, critic, reference and reward; others after imitation than before."""
        return self.learners.models

    def imitate(self) -> Iterator[float]:
        """The warm start, step by step: its losses, in nats per token.

        At its end the other networks become copies of the actor.
        """
        while self.imitated < self.config.warm_start_steps:
            loss = imitation_step(
                self.models.actor,
                self.learners.imitation_optimizer,
                self.tokenizer,
                self.questions.train,
                self.config,
                self.imitated,
                self._generator("demonstrations", self.imitated),
            )
            self.imitated += 1
            if self.imitated == self.config.warm_start_steps:
                self._start_from(self.models.actor)
            yield loss

    def learn_reward(self) -> Iterator[float]:
        """The reward model learns the rule on what the actor says: losses by step."""
        if self.rewarded == self.config.reward_model_steps:
            return
        reward = self.models.reward.requires_grad_(True)
        questions = draw(self.questions.train, LABELLED, self._generator("labels"))
        rollout = self._sample(questions, self._generator("labelled", 0, self.device))
        right = rule(self.tokenizer)(questions, rollout).bool()
        while self.rewarded < self.config.reward_model_steps:
            draws = self._generator("labelled rows", self.rewarded)
            rows = torch.randint(LABELLED, (self.config.batch_size,), generator=draws)
            loss = reward_model_step(
                reward, self.learners.reward_optimizer, rollout.rows(rows), right[rows]
            )
            self.rewarded += 1
            reward.requires_grad_(self.rewarded < self.config.reward_model_steps)
            yield loss

    def train(self) -> Iterator[Iteration]:
        """The iterations that are left; the next begins when it is asked for."""
        while self.iteration < self.config.iterations:
            yield self._iterate()

    def held_out(self) -> float:
        """Share of the held-out questions that the actor's most probable answer solves.

        ``train`` measures it too, after every ``evaluate_every`` iterations and after
        the last, as ``held_out``; ``solved`` is the share of each batch's sampled
        answers that are right, whatever scored them.
        """
        questions = self.questions.held_out
        rollout = self._sample(questions, temperature=0)
        return rule(self.tokenizer)(questions, rollout).mean().item()

    def state_dict(self) -> dict[str, Any]:
        """All that the run is between two steps, of whatever stage, as copies."""
        return {
            "imitated": self.imitated,
            "rewarded": self.rewarded,
            "iteration": self.iteration,
            "kl_coef": self.kl_coef,
            **self.learners.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Stand where another run of the same settings stood."""
        self.learners.load_state_dict(state)
        self.imitated, self.rewarded = state["imitated"], state["rewarded"]
        self.iteration, self.kl_coef = state["iteration"], state["kl_coef"]

    def _iterate(self) -> Iteration:
        config = self.config
        draws = self._generator("draws", self.iteration)
        each = config.responses_per_prompt
        drawn = draw(self.questions.train, config.batch_size // each, draws)
        questions = [question for question in drawn for _ in range(each)]
        experience = collect_experience(
            self.models,
            questions,
            self._prompts(questions),
            self._reward(),
            self.estimate,
            dataclasses.replace(config, kl_coef=self.kl_coef),
            self._generator("sampling", self.iteration, self.device),
        )
        statistics = experience_statistics(experience)
        if not config.critic_epochs:
            del statistics["value"]
            statistics.pop("explained_variance", None)
        if math.isfinite(config.kl_horizon):
            statistics["kl_coef"] = self.kl_coef
        statistics |= self._update(experience, draws)
        self.kl_coef = adaptive_kl_coef(
            kl_coef=self.kl_coef,
            kl=statistics["kl"],
            target=config.kl_target,
            horizon=config.kl_horizon,
            steps=config.batch_size,
        )
        self.iteration += 1
        last = self.iteration == config.iterations
        if last or self.iteration % config.evaluate_every == 0:
            statistics["held_out"] = self.held_out()
        solved = rule(self.tokenizer)(questions, experience.rollout)
        statistics["solved"] = solved.mean().item()
        return Iteration(self.iteration, statistics, questions, experience)

    def _update(self, experience: Experience, draws: torch.Generator) -> Statistics:
        config, learners, (actor, critic, *_) = self.config, self.learners, self.models
        share = learning_rate_share(self.iteration, config.iterations, WARM_UP)
        learners.set_learning_rates(share)
        sizes = config.mini_batch_size, draws
        of_critic = mini_batches(experience, config.critic_epochs, *sizes)
        of_actor = mini_batches(experience, config.actor_epochs, *sizes)
        updates = (
            update_critic(critic, learners.critic_optimizer, of_critic, config),
            update_actor(actor, learners.actor_optimizer, of_actor, config),
        )
        return update_statistics(chain.from_iterable(updates))

    def _new_actor(self, vocab: int) -> Actor:
        config = self.config
        context = PROMPT_LENGTH + config.response_length
        sizes = config.width, config.layers, config.heads
        precision = getattr(torch, config.precision)
        actor = Actor(Transformer(vocab, context, *sizes, precision), vocab)
        return initialised(actor, self._generator("weights"))

    def _start_from(self, actor: Actor) -> None:
        self.learners = Learners(actor, self.config.actor_lr, self.config.critic_lr)

    def _reward(self) -> Reward:
        if self.config.reward_model_steps:
            return learned(self.models.reward)
        scores = self.config.right_score, self.config.wrong_score
        return rule(self.tokenizer, *scores)

    def _sample(
        self,
        questions: list[Question],
        generator: torch.Generator | None = None,
        temperature: float = 1.0,
    ) -> Rollout:
        return sample_responses(
            self.models.actor,
            self._prompts(questions),
            response_length=self.config.response_length,
            temperature=temperature,
            generator=generator,
        )

    def _prompts(self, questions: list[Question]) -> Prompts:
        return self.tokenizer.prompts([q.text for q in questions], self.device)

    def _generator(
        self, purpose: str, number: int = 0, device: torch.device | str = "cpu"
    ) -> torch.Generator:
        """A random generator that depends on nothing but its name.

        With one for a whole run, every draw would depend on all before it: a run that
        was stopped could not go on without its state, and one more look at held-out
        questions would change all that follows.
        """
        name = f"{self.config.seed} {purpose} {number}"
        # 63 of the bits: manual_seed takes a signed number.
        hashed = int.from_bytes(sha256(name.encode()).digest()[:8], "big") >> 1
        return torch.Generator(device).manual_seed(hashed)


class Learners:
    """All weights of a run and all that their optimizers remember."""

    def __init__(self, actor: Actor, actor_lr: float, critic_lr: float) -> None:
        self.models = models_from(actor)
        actor, critic, _, reward = self.models
        # All weights in one call of each operation: the same numbers in less time.
        adam = partial(Adam, foreach=True)
        self.imitation_optimizer = adam(actor.parameters())
        self.reward_optimizer = adam(reward.parameters(), REWARD_MODEL_LR)
        self.actor_optimizer = adam(actor.parameters(), actor_lr)
        self.critic_optimizer = adam(critic.parameters(), critic_lr)
        self._peaks = {self.actor_optimizer: actor_lr, self.critic_optimizer: critic_lr}

    def set_learning_rates(self, share: float) -> None:
        """Actor and critic learn at a share of their peak rates from now on."""
        for optimizer, peak in self._peaks.items():
            for group in optimizer.param_groups:
                group["lr"] = peak * share

    def state_dict(self) -> dict[str, Any]:
        """All weights, and all optimizers."""
        states = {name: x.state_dict() for name, x in self._stateful().items()}
        return copy.deepcopy(states)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Stand where others of the same sizes stood."""
        for name, x in self._stateful().items():
            # An optimizer would go on in the memory of the state.
            x.load_state_dict(copy.deepcopy(state[name]))

    def _stateful(self) -> dict[str, nn.Module | Optimizer]:
        return {
            **self.models._asdict(),
            "imitation_optimizer": self.imitation_optimizer,
            "reward_optimizer": self.reward_optimizer,
            "actor_optimizer": self.actor_optimizer,
            "critic_optimizer": self.critic_optimizer,
        }


def learning_rate_share(step: int, steps: int, warm_up: int) -> float:
    """The share of its peak that a learning rate has: it rises, then falls to 0.

        share = min((step + 1) / warm_up, 1 - step / steps)

    The first steps of Adam are long whatever the gradient, as its averages have seen
    little; the last ones should not undo each other.
    """
    require_index("learning_rate_share", steps, step=step)
    return min((step + 1) / warm_up, 1 - step / steps)


def tiny_trainer(**options: Any) -> Trainer:
    """A trainer small enough for an example: 4 prompts, 3 iterations, one layer."""
    small = {
        "width": 8,
        "layers": 1,
        "heads": 2,
        "wrong_score": -1.0,  # no answer is right, and each is to be something else
        "warm_start_steps": 2,
        "warm_start_batch_size": 4,
        "iterations": 3,
        "batch_size": 4,
        "mini_batch_size": 2,
        "micro_batch_size": 1,
    }
    return Trainer(PPOConfig(**{**small, **options}))
