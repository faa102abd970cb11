"""The whole run, one iteration at a time: imitation, the reference, then PPO."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

import torch

from ppo_ref.batch import Experience, Rollout
from ppo_ref.kl import adaptive_kl_coef
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.estimates import Estimate, whitened_gae
from ppo_ref.train.experience import collect_experience
from ppo_ref.train.learners import Learners, learning_rate_share
from ppo_ref.train.networks import (
    Actor,
    Models,
    Transformer,
    actor_statistics,
    initialised,
)
from ppo_ref.train.reward import Reward, learned, reward_model_step, rule
from ppo_ref.train.rollout import sample_responses
from ppo_ref.train.statistics import (
    Statistics,
    experience_statistics,
    update_statistics,
)
from ppo_ref.train.sums import CHARACTERS, PROMPT_LENGTH, phrased_sums
from ppo_ref.train.tasks import Question, Score, Task, draw
from ppo_ref.train.tokenizer import CharacterTokenizer, Prompts, Tokenizer
from ppo_ref.train.update import (
    imitation_step,
    mini_batches,
    update_actor,
    update_critic,
)

LABELLED = 4096  # responses that a reward model learns from
WARM_UP = 5  # iterations in which the learning rates rise


# From a generator to the questions of the run.
MakeTask = Callable[[torch.Generator], Task]


class Answer(NamedTuple):
    """A response to a question, its text, whether it ended, and what it is paid."""

    question: Question
    text: str
    ended: bool
    score: float


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
        make_task: What is asked and what is right, split by a generator that is handed
            to it; sums in words if left out, all that the teacher of ``imitate`` knows.
    """

    def __init__(
        self,
        config: PPOConfig,
        device: torch.device | str = "cpu",
        estimate: Estimate = whitened_gae,
        actor: Actor | None = None,
        tokenizer: Tokenizer | None = None,
        make_task: MakeTask = phrased_sums,
    ) -> None:
        self.config = config
        self.device = torch.device(device)
        self.estimate = estimate
        self.kl_coef = config.kl_coef
        self.task = make_task(self._generator("split"))
        self.imitated = self.rewarded = self.iteration = 0
        self.looked: list[Answer] = []  # what held-out questions were answered last
        characters = CharacterTokenizer(CHARACTERS)
        self.tokenizer: Tokenizer = tokenizer or characters
        if actor is None:
            actor = self._new_actor(characters.vocab)
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
                actor=self.models.actor,
                optimizer=self.learners.imitation_optimizer,
                tokenizer=self.tokenizer,
                questions=self.task.train,
                config=self.config,
                step=self.imitated,
                generator=self._generator("demonstrations", self.imitated),
            )
            self.imitated += 1
            if self.imitated == self.config.warm_start_steps:
                self._start_from(self.models.actor)
            yield loss

    def learn_reward(self) -> Iterator[float]:
        """The reward model learns the rule on what the actor says: losses by step."""
        reward, optimizer = self.models.reward, self.learners.reward_optimizer
        if reward is None or optimizer is None:
            return
        if self.rewarded == self.config.reward_model_steps:
            return
        reward.requires_grad_(True)
        questions = draw(self.task.train, LABELLED, self._generator("labels"))
        rollout = self._sample(questions, self._generator("labelled", 0, self.device))
        right = rule(self.tokenizer, self.task.score)(questions, rollout).bool()
        while self.rewarded < self.config.reward_model_steps:
            draws = self._generator("labelled rows", self.rewarded)
            rows = torch.randint(LABELLED, (self.config.batch_size,), generator=draws)
            loss = reward_model_step(reward, optimizer, rollout.rows(rows), right[rows])
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
        questions = self.task.held_out
        rollout = self._sample(questions, temperature=0)
        self.looked = self._answers(questions, rollout, self.task.right)
        return sum(answer.score for answer in self.looked) / len(self.looked)

    def sampled_answers(self, count: int) -> list[Answer]:
        """Answers to questions that are trained on, sampled by the actor as it is."""
        questions = draw(self.task.train, count, self._generator("samples"))
        generator = self._generator("sampled", 0, self.device)
        rollout = self._sample(questions, generator, self.config.temperature)
        return self._answers(questions, rollout, self.task.score)

    def likeliest_answer(self, text: str, actor: Actor | None = None) -> str:
        """The greedy answer of the actor, or of another such as the reference."""
        rollout = sample_responses(
            actor or self.models.actor,
            self.tokenizer.prompts([text], self.device),
            response_length=self.config.response_length,
            temperature=0,
        )
        return self.tokenizer.decode(rollout.responses[0].tolist())

    @torch.no_grad()
    def log_probs_now(self, rollout: Rollout, rows: int) -> list[list[float]]:
        """The log-probs that the actor, as it is now, gives the first responses."""
        first = rollout.rows(torch.arange(rows, device=rollout.sequences.device))
        temperature = self.config.log_prob_temperature
        now = actor_statistics(self.models.actor, first, temperature)
        masked = zip(now.log_probs, first.response_mask, strict=True)
        return [row[mask].tolist() for row, mask in masked]

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
        """Collect, judge and estimate a batch, then update on it."""
        draws = self._generator("draws", self.iteration)
        questions = self._draw_questions(draws)
        experience = collect_experience(
            models=self.models,
            questions=questions,
            prompts=self._prompts(questions),
            reward=self._reward(),
            estimate=self.estimate,
            config=dataclasses.replace(self.config, kl_coef=self.kl_coef),
            generator=self._generator("sampling", self.iteration, self.device),
        )
        statistics = self._describe(experience)
        statistics |= self._update(experience, draws)
        self._adapt_kl_coef(statistics["kl"])
        self.iteration += 1
        statistics |= self._evaluate(questions, experience.rollout)
        return Iteration(self.iteration, statistics, questions, experience)

    def _describe(self, experience: Experience) -> Statistics:
        """The figures of a batch, and of the coefficient that it was made with."""
        with_critic = self.models.critic is not None
        statistics = experience_statistics(experience, with_critic)
        if math.isfinite(self.config.kl_horizon):
            statistics["kl_coef"] = self.kl_coef
        return statistics

    def _update(self, experience: Experience, draws: torch.Generator) -> Statistics:
        """Critic and actor learn from the same batch; neither reads the other."""
        config, learners = self.config, self.learners
        learners.set_learning_rates(
            learning_rate_share(self.iteration, config.iterations, WARM_UP)
        )
        size = config.mini_batch_size
        critic_batches = mini_batches(experience, config.critic_epochs, size, draws)
        actor_batches = mini_batches(experience, config.actor_epochs, size, draws)
        steps: list[Statistics] = []
        critic, optimizer = self.models.critic, learners.critic_optimizer
        if critic is not None and optimizer is not None:
            steps += update_critic(critic, optimizer, critic_batches, config)
            # Its gradients would lie in memory beside those of the actor.
            optimizer.zero_grad()
        if self.iteration >= config.critic_warm_up:
            optimizer = learners.actor_optimizer
            steps += update_actor(self.models.actor, optimizer, actor_batches, config)
            optimizer.zero_grad()
        return update_statistics(steps)

    def _adapt_kl_coef(self, kl: float) -> None:
        """The next batch pays this coefficient; it follows the KL of this one."""
        self.kl_coef = adaptive_kl_coef(
            kl_coef=self.kl_coef,
            kl=kl,
            target=self.config.kl_target,
            horizon=self.config.kl_horizon,
            steps=self.config.batch_size,
        )

    def _evaluate(self, questions: list[Question], rollout: Rollout) -> Statistics:
        """The shares of right answers: of the batch, now and then of the held-out."""
        shares: Statistics = {}
        is_last = self.iteration == self.config.iterations
        if is_last or self.iteration % self.config.evaluate_every == 0:
            shares["held_out"] = self.held_out()
        right = rule(self.tokenizer, self.task.right)
        shares["solved"] = right(questions, rollout).mean().item()
        return shares

    def _answers(
        self, questions: list[Question], rollout: Rollout, score: Score
    ) -> list[Answer]:
        return [
            Answer(question, self.tokenizer.decode(ids), not cut, paid)
            for question, ids, cut, paid in zip(
                questions,
                rollout.responses.tolist(),
                rollout.truncated.tolist(),
                rule(self.tokenizer, score)(questions, rollout).tolist(),
                strict=True,
            )
        ]

    def _draw_questions(self, draws: torch.Generator) -> list[Question]:
        """Each question stands as often in the batch as it is to be answered."""
        repeats = self.config.responses_per_prompt
        drawn = draw(self.task.train, self.config.batch_size // repeats, draws)
        return [question for question in drawn for _ in range(repeats)]

    def _new_actor(self, vocab: int) -> Actor:
        config = self.config
        transformer = Transformer(
            vocab,
            context=PROMPT_LENGTH + config.response_length,
            width=config.width,
            layers=config.layers,
            heads=config.heads,
            precision=getattr(torch, config.precision),
        )
        return initialised(Actor(transformer, vocab), self._generator("weights"))

    def _start_from(self, actor: Actor) -> None:
        self.learners = Learners(actor, self.config)

    def _reward(self) -> Reward:
        if self.models.reward is not None:
            return learned(self.models.reward)
        right, wrong = self.config.right_score, self.config.wrong_score
        return rule(self.tokenizer, self.task.score, right, wrong)

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
    return Trainer(PPOConfig(**(small | options)))
