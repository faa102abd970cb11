"""The whole run, one iteration at a time: imitation, the reference, then PPO."""

import copy
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.optim import Adam, Optimizer

from ppo_ref.batch import Experience, Rollout
from ppo_ref.config import PPOConfig
from ppo_ref.estimate import Estimate, whitened_gae
from ppo_ref.experience import Models, collect_experience
from ppo_ref.imitation import imitation_step
from ppo_ref.models import Actor, Critic, Transformer, frozen, initialised
from ppo_ref.reward import Reward, learned, reward_model_step, rule
from ppo_ref.rollout import sample_responses
from ppo_ref.statistics import Statistics, experience_statistics, update_statistics
from ppo_ref.tasks import CHARACTERS, PROMPT_LENGTH, Question, draw, split
from ppo_ref.tokenizer import CharacterTokenizer, Prompts
from ppo_ref.update import update_actor, update_critic

LABELLED = 4096  # responses that a reward model learns from
REWARD_MODEL_LR = 2e-3
STEPS = "imitated", "rewarded", "iteration"  # how far a run is
WARM_UP = 5  # iterations in which the learning rates rise


class Iteration(NamedTuple):
    """One iteration: its number from 1, its figures, its questions and its batch."""

    number: int
    statistics: Statistics
    questions: list[Question]
    experience: Experience


class Trainer:
    """A run between two iterations: its networks, optimizers, and how far it is.

    What is drawn depends on the seed and on the iteration's number alone, so a run
    that was stopped draws after it what it would have drawn without.

    Args:
        config: Settings of the run.
        device: Where the networks are to lie.
        estimate: From rewards and values to advantages and returns.
    """

    def __init__(
        self,
        config: PPOConfig,
        device: torch.device | str = "cpu",
        estimate: Estimate = whitened_gae,
    ) -> None:
        self.config, self.device, self.estimate = config, torch.device(device), estimate
        self.tokenizer = CharacterTokenizer(CHARACTERS)
        self.questions = split(self._generator("split"))
        self.imitated = self.rewarded = self.iteration = 0
        self._draws = self._generator("imitation")
        context = PROMPT_LENGTH + config.response_length
        sizes = config.width, config.layers, config.heads
        precision = getattr(torch, config.precision)
        body = Transformer(self.tokenizer.vocab, context, *sizes, precision)
        actor = initialised(
            Actor(body, self.tokenizer.vocab), self._generator("weights")
        )
        self._start_from(actor.to(self.device))

    def imitate(self) -> Iterator[float]:
        """The warm start; at its end reference and critic become copies of the actor.

        Returns:
            The loss of each step that is left, in nats per token.
        """
        actor, steps = self.models.actor, self.config.warm_start_steps
        while self.imitated < steps:
            loss = imitation_step(
                actor,
                self._imitation_optimizer,
                self.tokenizer,
                self.questions.train,
                self.config,
                self.imitated,
                self._draws,
            )
            self.imitated += 1
            if self.imitated == steps:
                self._start_from(actor)
            yield loss

    def learn_reward(self) -> Iterator[float]:
        """The reward model learns the rule on what the actor says after imitation.

        Returns:
            The loss of each step that is left, in nats per response.
        """
        steps = self.config.reward_model_steps
        if self.rewarded == steps:
            return
        reward = self.models.reward.requires_grad_(True)
        draws = self._generator("labels")
        questions = draw(self.questions.train, LABELLED, draws)
        rollout = self._sample(questions, self._generator("labelled", 0, self.device))
        right = rule(self.tokenizer)(questions, rollout)
        batch = (self.config.batch_size,)
        for _ in range(self.rewarded):  # drawn again by a run that was stopped here
            torch.randint(LABELLED, batch, generator=draws)
        while self.rewarded < steps:
            rows = torch.randint(LABELLED, batch, generator=draws)
            loss = reward_model_step(
                reward, self._reward_optimizer, rollout.rows(rows), right[rows]
            )
            self.rewarded += 1
            if self.rewarded == steps:
                reward.requires_grad_(False)
            yield loss

    def train(self) -> Iterator[Iteration]:
        """The iterations that are left.

        Returns:
            Each one after its update; the next begins when it is asked for.
        """
        while self.iteration < self.config.iterations:
            yield self._iterate()

    def held_out(self) -> float:
        """Share of the held-out questions that the actor's most probable answer solves.

        ``train`` measures it too, after every ``evaluate_every`` iterations and after
        the last, as ``held_out``; ``solved`` is the share of each batch's sampled
        answers that are right, whatever scored them.

        Example:
            >>> 0 <= Trainer(PPOConfig(width=4)).held_out() <= 1
            True
        """
        questions = self.questions.held_out
        rollout = self._sample(questions, temperature=0)
        return rule(self.tokenizer)(questions, rollout).mean().item()

    def state_dict(self) -> dict[str, Any]:
        """All that the run is between two steps, of whatever stage."""
        states = {name: x.state_dict() for name, x in self._stateful().items()}
        steps = {name: getattr(self, name) for name in STEPS}
        return {**steps, "draws": self._draws.get_state(), **states}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Stand where another run of the same settings stood.

        Args:
            state: What ``state_dict`` gave.
        """
        for name, x in self._stateful().items():
            x.load_state_dict(state[name])
        self._draws.set_state(state["draws"])
        for name in STEPS:
            setattr(self, name, state[name])

    def _iterate(self) -> Iteration:
        config, (actor, critic, *_) = self.config, self.models
        self._set_learning_rates()
        draws = self._generator("draws", self.iteration)
        questions = draw(self.questions.train, config.batch_size, draws)
        experience = collect_experience(
            self.models,
            questions,
            self._prompts(questions),
            self._reward(),
            self.estimate,
            config,
            self._generator("sampling", self.iteration, self.device),
        )
        optimizers = self._critic_optimizer, self._actor_optimizer
        updates = [
            *update_critic(critic, optimizers[0], experience, config, draws),
            *update_actor(actor, optimizers[1], experience, config, draws),
        ]
        self.iteration += 1
        solved = rule(self.tokenizer)(questions, experience.rollout).mean().item()
        statistics = experience_statistics(experience) | update_statistics(updates)
        if self._is_looked_at():
            statistics["held_out"] = self.held_out()
        statistics["solved"] = solved
        return Iteration(self.iteration, statistics, questions, experience)

    def _is_looked_at(self) -> bool:
        every, last = self.config.evaluate_every, self.config.iterations
        return self.iteration % every == 0 or self.iteration == last

    def _start_from(self, actor: Actor) -> None:
        """The other two are the actor's copies; the critic's head knows nothing yet."""
        critic = Critic(copy.deepcopy(actor.transformer)).to(self.device)
        for weight in critic.head.parameters():
            nn.init.zeros_(weight)
        self.models = Models(actor, critic, frozen(actor), frozen(critic))
        self._imitation_optimizer = Adam(actor.parameters())
        self._reward_optimizer = Adam(self.models.reward.parameters(), REWARD_MODEL_LR)
        self._actor_optimizer = Adam(actor.parameters(), self.config.actor_lr)
        self._critic_optimizer = Adam(critic.parameters(), self.config.critic_lr)

    def _set_learning_rates(self) -> None:
        """They rise over a few iterations and then fall to 0."""
        fallen = 1 - self.iteration / self.config.iterations
        share = min((self.iteration + 1) / WARM_UP, fallen)
        rates = self.config.actor_lr, self.config.critic_lr
        optimizers = self._actor_optimizer, self._critic_optimizer
        for optimizer, rate in zip(optimizers, rates, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate * share

    def _stateful(self) -> dict[str, nn.Module | Optimizer]:
        return {
            **self.models._asdict(),
            "imitation_optimizer": self._imitation_optimizer,
            "reward_optimizer": self._reward_optimizer,
            "actor_optimizer": self._actor_optimizer,
            "critic_optimizer": self._critic_optimizer,
        }

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
        name = f"{self.config.seed} {purpose} {number}"
        seed = int.from_bytes(sha256(name.encode()).digest()[:8], "big") >> 1
        return torch.Generator(device).manual_seed(seed)
