"""Logs of small runs that really learn, or fail for a reason that is planted.

A policy is a table of logits for each prompt and position; it writes answers token by
token, is scored by the token before EOS, and is updated by PPO or GRPO. What a run logs
is what its trainer would, under the names of that trainer. Ten figures of a language
model are scaled: most of its tokens are filler, on which nothing is uncertain.
"""

import math
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch

PROMPTS = 24
HELD_OUT = 12
KINDS = 4  # right answers; prompts of one kind share what they learn
VOCABULARY = 8
EOS = 0
SLOTS = 8
GROUP = 8
BATCH = 12  # prompts a step
DRIFT = 0.1  # share of tokens that move away from the reference
FILLER = 0.25  # share of tokens on which something is uncertain
RATE = 0.08  # of Adam on the table; it is logged as 1e-6, usual for a language model


@dataclass(frozen=True)
class Setting:
    """What a run does; the defaults are those of a sound one."""

    trainer: str = "verl"
    critic: bool = False
    steps: int = 60
    updates: int = 1  # optimizer steps a batch
    rate: float = 1.0  # times the usual one
    lora: bool = False  # logs a rate ten times as large
    critic_rate: float = 1.0
    kl_coef: float = 0.001
    entropy_coef: float = 0.0
    sign: float = 1.0
    skill: float = 1.0  # the logit of the right answer in the beginning
    stop: float = 1.0  # the logit of EOS
    limit: int = SLOTS
    temperature: float = 1.0  # of the engine; the trainer computes with 1
    engine_noise: float = 0.02  # of its logits: 0.02 as bf16, 0.5 as fp8
    synchronized: bool = True
    score: str = "right"  # or zero, format, length, right with format
    scale: float = 1.0  # of the scores
    shift: float = 0.0
    reference_is_actor: bool = False
    memorizes: bool = False
    nan_at: int | None = None


@dataclass
class Run:
    """The figures of a run, step by step, in our own words."""

    setting: Setting
    steps: list[dict[str, float]] = field(default_factory=list)


class Table(torch.nn.Module):
    """Logits by prompt and position; prompts of a kind share a part of them."""

    def __init__(self, setting: Setting, target: torch.Tensor) -> None:
        """Write a little of the right answer, and an end, into the logits."""
        super().__init__()
        own = torch.randn(len(target), SLOTS, VOCABULARY) * 0.5
        shared = torch.zeros(KINDS, SLOTS, VOCABULARY)
        own[:, :, EOS] += setting.stop
        own[torch.arange(len(target)), :, target + 1] += setting.skill
        self.own = torch.nn.Parameter(own)
        self.shared = torch.nn.Parameter(shared)
        self.kinds = target

    def forward(self, prompts: torch.Tensor) -> torch.Tensor:
        """Logits of some prompts, [prompt, slot, token]."""
        return self.own[prompts] + self.shared[self.kinds[prompts]]


def sample(logits: torch.Tensor, limit: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens of one answer a row, and the mask of those that are its own."""
    tokens = torch.distributions.Categorical(logits=logits).sample()
    ended = (tokens == EOS).cumsum(-1)
    mask = (ended - (tokens == EOS).long() == 0).float()
    mask[:, limit:] = 0.0
    return tokens, mask


def scores_of(
    tokens: torch.Tensor, mask: torch.Tensor, target: torch.Tensor, setting: Setting
) -> torch.Tensor:
    """The score of each answer: is the token before EOS the right one?"""
    length = mask.sum(-1).long()
    last = tokens.gather(1, (length - 1).clamp(min=0)[:, None])[:, 0]
    before = tokens.gather(1, (length - 2).clamp(min=0)[:, None])[:, 0]
    ended = last == EOS
    right = (ended & (length > 1) & (before == target + 1)).float()
    if setting.score == "zero":
        return torch.zeros_like(right)
    if setting.score == "format":
        return 0.1 * (ended & (length > 1)).float()
    if setting.score == "length":
        return 0.5 * right + 0.1 * length
    return setting.scale * right + setting.shift


def log_probs_of(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """The log-prob of each token."""
    return torch.log_softmax(logits, -1).gather(-1, tokens[..., None])[..., 0]


def mean(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The mean over the tokens that count."""
    return (x * mask).sum() / mask.sum()


def simulate(setting: Setting, seed: int) -> Run:
    """Train a run, and keep what it logs."""
    torch.manual_seed(seed)
    kinds = torch.arange(PROMPTS + HELD_OUT) % KINDS
    actor = Table(setting, kinds)
    reference = Table(setting, kinds)
    reference.load_state_dict(actor.state_dict())
    engine = Table(setting, kinds)
    engine.load_state_dict(actor.state_dict())
    values = torch.nn.Parameter(torch.zeros(PROMPTS + HELD_OUT, SLOTS))
    optimizer = torch.optim.Adam(actor.parameters(), lr=RATE * setting.rate)
    critic_optimizer = torch.optim.Adam([values], lr=0.1 * setting.critic_rate)
    run = Run(setting)
    for step in range(1, setting.steps + 1):
        chosen = torch.randperm(PROMPTS)[:BATCH].repeat_interleave(GROUP)
        with torch.no_grad():
            if setting.synchronized:
                engine.load_state_dict(actor.state_dict())
            noise = setting.engine_noise * torch.randn(len(chosen), SLOTS, VOCABULARY)
            rollout = engine(chosen) / setting.temperature + noise
            if not rollout.isfinite().all():
                break  # as the engine would
            tokens, mask = sample(rollout, setting.limit)
            rollout_log_probs = log_probs_of(rollout, tokens)
            old = log_probs_of(actor(chosen), tokens)
            of_reference = actor if setting.reference_is_actor else reference
            ref = log_probs_of(of_reference(chosen), tokens)
            score = scores_of(tokens, mask, kinds[chosen], setting)
            groups = score.view(BATCH, GROUP)
            spread = groups.std(1, keepdim=True)
            if setting.critic:
                advantages = score[:, None] - values[chosen]
                counted = advantages[mask > 0]
                advantages = (advantages - counted.mean()) / (counted.std() + 1e-8)
            else:
                centred = (groups - groups.mean(1, keepdim=True)) / (spread + 1e-6)
                advantages = centred.view(-1, 1).expand_as(mask)
            explained = 1.0 - _variance(score[:, None] - values[chosen], mask) / (
                _variance(score[:, None].expand_as(mask), mask) + 1e-5  # as verl does
            )
        figures = _update(
            setting, actor, optimizer, chosen, tokens, mask, old, ref, advantages
        )
        if setting.critic:
            figures |= _update_critic(
                values, critic_optimizer, chosen, mask, score, explained
            )
        if setting.memorizes:
            with torch.no_grad():
                actor.shared[torch.arange(KINDS), :, torch.arange(KINDS) + 1] -= 0.06
                actor.own[torch.arange(PROMPTS), :, kinds[:PROMPTS] + 1] += 0.06
        difference = (old - rollout_log_probs)[mask > 0] * 1.0
        ratio = difference.exp()
        probabilities = (old.exp() - rollout_log_probs.exp()).abs()
        length = mask.sum(-1)
        figures |= {
            "step": step,
            "score": float(score.mean()),
            "score_max": float(score.max()),
            "score_min": float(score.min()),
            "no_contrast": float((spread == 0).float().mean()),
            "advantages": float(mean(advantages, mask)),
            "advantages_max": float(advantages[mask > 0].max()),
            "length": 20 + 60 * float(length.mean()),
            "length_max": 20 + 60 * float(length.max()),
            "cut_off": float((length == setting.limit).float().mean())
            if setting.limit < SLOTS
            else float((mask[:, -1] * (tokens[:, -1] != EOS).float()).mean()),
            "rollout_kl": FILLER * float((ratio - 1 - difference).mean()),
            "rollout_k1": FILLER * float(-difference.mean()),
            "rollout_probs_diff": FILLER * float(mean(probabilities, mask)),
            "rollout_difference": FILLER * float(difference.abs().mean()),
            "rollout_weight": 1 + FILLER * (float(ratio.clamp(max=2).mean()) - 1),
            "rate": 1e-6 * setting.rate * (10 if setting.lora else 1),
            "critic_rate": 1e-5 * setting.critic_rate,
            "kl_coef": setting.kl_coef,
        }
        if step % 6 == 0:
            figures["validation"] = _validate(actor, kinds, setting)
        if setting.nan_at and step >= setting.nan_at:
            broken = "policy_loss", "grad_norm", "entropy", "kl", "old_kl"
            figures |= dict.fromkeys(broken, math.nan)
            figures["score"] = setting.shift
        run.steps.append(figures)
    return run


def _variance(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return x[mask > 0].var()


def _validate(actor: Table, kinds: torch.Tensor, setting: Setting) -> float:
    held_out = torch.arange(PROMPTS, PROMPTS + HELD_OUT).repeat_interleave(16)
    with torch.no_grad():
        tokens, mask = sample(actor(held_out), setting.limit)
    return float(scores_of(tokens, mask, kinds[held_out], setting).mean())


def _update(
    setting: Setting,
    actor: Table,
    optimizer: torch.optim.Optimizer,
    chosen: torch.Tensor,
    tokens: torch.Tensor,
    mask: torch.Tensor,
    old: torch.Tensor,
    ref: torch.Tensor,
    advantages: torch.Tensor,
) -> dict[str, float]:
    """One or more steps of the actor on a batch, and what it logs of them."""
    logged: list[dict[str, float]] = []
    for _ in range(setting.updates):
        logits = actor(chosen)
        new = log_probs_of(logits, tokens)
        ratio = (new - old).exp()
        plain = -advantages * ratio * setting.sign
        clipped = -advantages * ratio.clamp(0.8, 1.2) * setting.sign
        log_p = torch.log_softmax(logits, -1)
        entropy = mean(-(log_p.exp() * log_p).sum(-1), mask)
        gap = ref - new
        kl = mean(gap.exp() - 1 - gap, mask)
        policy_loss = mean(torch.maximum(plain, clipped), mask)
        loss = policy_loss + setting.kl_coef * kl - setting.entropy_coef * entropy
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        grads = [p.grad for p in actor.parameters() if p.grad is not None]
        logged.append(
            {
                "policy_loss": float(policy_loss.detach()),
                "grad_norm": float(torch.stack([g.norm() for g in grads]).norm()),
                "entropy": FILLER * float(entropy.detach()),
                "kl": DRIFT * float(kl.detach()),
                "old_kl": FILLER * float(mean(old - new, mask).detach()),
                "clip": FILLER * float(mean((clipped > plain).float(), mask)),
            }
        )
        optimizer.step()
    return {name: sum(x[name] for x in logged) / len(logged) for name in logged[0]}


def _update_critic(
    values: torch.nn.Parameter,
    optimizer: torch.optim.Optimizer,
    chosen: torch.Tensor,
    mask: torch.Tensor,
    score: torch.Tensor,
    explained: torch.Tensor,
) -> dict[str, float]:
    loss = 0.5 * mean((values[chosen] - score[:, None]) ** 2, mask)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    assert values.grad is not None
    grad_norm = float(values.grad.norm())
    optimizer.step()
    return {
        "value_loss": float(loss.detach()),
        "critic_grad_norm": grad_norm,
        "explained_variance": float(explained),
        "values": float(mean(values[chosen].detach(), mask)),
    }


VERL = {
    "step": "training/global_step",
    "score": "critic/score/mean",
    "score_max": "critic/score/max",
    "score_min": "critic/score/min",
    "advantages": "critic/advantages/mean",
    "advantages_max": "critic/advantages/max",
    "values": "critic/values/mean",
    "explained_variance": "critic/vf_explained_var",
    "value_loss": "critic/vf_loss",
    "critic_grad_norm": "critic/grad_norm",
    "critic_rate": "critic/lr",
    "policy_loss": "actor/pg_loss",
    "kl": "actor/kl_loss",
    "kl_coef": "actor/kl_coef",
    "entropy": "actor/entropy",
    "clip": "actor/pg_clipfrac",
    "old_kl": "actor/ppo_kl",
    "grad_norm": "actor/grad_norm",
    "rate": "actor/lr",
    "length": "response_length/mean",
    "length_max": "response_length/max",
    "cut_off": "response_length/clip_ratio",
    "rollout_probs_diff": "training/rollout_probs_diff_mean",
    "rollout_k1": "rollout_corr/kl",
    "rollout_kl": "rollout_corr/k3_kl",
    "rollout_weight": "rollout_corr/rollout_is_mean",
    "validation": "val-core/sums/reward/mean@1",
}
TRL = {
    "policy_loss": "loss",
    "grad_norm": "grad_norm",
    "rate": "learning_rate",
    "length": "completions/mean_length",
    "cut_off": "completions/clipped_ratio",
    "score": "reward",
    "no_contrast": "frac_reward_zero_std",
    "kl": "kl",
    "entropy": "entropy",
    "clip": "clip_ratio/region_mean",
    "rollout_difference": "sampling/sampling_logp_difference/mean",
    "rollout_weight": "sampling/importance_sampling_ratio/mean",
}
OPENRLHF = {
    "policy_loss": "policy_loss",
    "rate": "actor_lr",
    "clip": "ppo_clip_ratio",
    "old_kl": "ppo_kl",
    "rollout_k1": "vllm_kl",
    "score": "rollout/reward_mean",
    "length": "rollout/response_length_mean",
    "cut_off": "rollout/truncated_rate",
    "kl": "kl",
    "grad_norm": "actor_grad_norm",
    "value_loss": "critic_loss",
    "critic_rate": "critic_lr",
    "critic_grad_norm": "critic_grad_norm",
    "entropy": "entropy_loss",
}


def text_of(run: Run) -> str:
    """The log of a run, as its trainer prints it."""
    names = {"verl": VERL, "TRL": TRL, "OpenRLHF": OPENRLHF}[run.setting.trainer]
    lines = []
    for number, step in enumerate(run.steps, 1):
        logged: dict[str, Any] = {
            name: float(f"{step[key]:.6g}")
            for key, name in names.items()
            if key in step and not (key == "kl" and run.setting.kl_coef == 0)
        }
        if run.setting.trainer == "verl":
            pairs = " - ".join(f"{name}:{value}" for name, value in logged.items())
            lines.append(f"step:{number} - {pairs}")
        elif run.setting.trainer == "TRL":
            lines.append(str(logged | {"epoch": number / 100}))
        else:
            lines.append(f"✨ Global step {number}: {logged}")
    return "\n".join(lines)


Draw = Callable[[torch.Generator], Setting]


def _pick(generator: torch.Generator, *choices: Any) -> Any:
    return choices[int(torch.randint(len(choices), (), generator=generator))]


def _between(generator: torch.Generator, low: float, high: float) -> float:
    """A number between two, evenly on a logarithmic scale."""
    share = float(torch.rand((), generator=generator))
    return math.exp(math.log(low) + share * (math.log(high) - math.log(low)))


def sound(generator: torch.Generator) -> Setting:
    """A run without a fault, in one of many ways."""
    return Setting(
        trainer=_pick(generator, "verl", "TRL", "OpenRLHF"),
        critic=False,
        steps=_pick(generator, 40, 60, 90),
        updates=_pick(generator, 1, 2),
        rate=_between(generator, 0.6, 2.0),
        kl_coef=_pick(generator, 0.0, 0.001, 0.001),
        skill=_between(generator, 0.8, 2.0),
        engine_noise=_between(generator, 0.005, 0.04),
        scale=_pick(generator, 1.0, 1.0, 4.0),
        shift=_pick(generator, 0.0, 0.0, -1.0),
    )


def _sound_with_critic(generator: torch.Generator) -> Setting:
    trainer = _pick(generator, "verl", "OpenRLHF")
    return replace(sound(generator), trainer=trainer, critic=True)


def _of_verl(generator: torch.Generator, **changes: Any) -> Setting:
    changes = {"scale": 1.0, "shift": 0.0} | changes
    return replace(sound(generator), trainer="verl", **changes)


def _of_any(generator: torch.Generator, **changes: Any) -> Setting:
    return replace(sound(generator), **changes)


class Kind(NamedTuple):
    """Sound runs of one kind: what it is called, and how one is drawn."""

    en: str
    zh: str
    draw: Draw


class Fault(NamedTuple):
    """Runs that fail for one reason, and what has to be said of them.

    ``right`` are the sections of debug/symptoms that name the reason; ``also`` those
    that are true of such a run as well, and may stand before.
    """

    en: str
    zh: str
    draw: Draw
    right: set[str]
    also: AbstractSet[str] = frozenset()


SOUND = [
    Kind("GRPO", "GRPO", sound),
    Kind("PPO", "PPO", _sound_with_critic),
    Kind("LoRA", "LoRA", lambda g: _of_any(g, lora=True, rate=_between(g, 3, 8))),
    Kind(
        "nearly solved from the beginning",
        "一开始就快满分",
        lambda g: _of_any(g, skill=5.0, scale=1.0, shift=0.0),
    ),
    Kind("a long run", "步数很多", lambda g: _of_any(g, steps=150)),
]
FAULTS = [
    Fault(
        "nan",
        "nan",
        lambda g: _of_any(g, nan_at=_pick(g, 5, 15, 30)),
        {"nan"},
    ),
    Fault(
        "learning rate too large",
        "学习率太大",
        lambda g: _of_any(g, rate=_between(g, 80, 400), updates=2),
        {"learning-rate", "clip"},
        {"nan", "cut-off", "score", "hacking", "up-then-down", "kl", "reward-function"},
    ),
    Fault(
        "learning rate next to nothing",
        "学习率小到几乎为零",
        lambda g: _of_any(g, rate=_between(g, 1e-5, 1e-2)),
        {"learning-rate"},
    ),
    Fault(
        "critic's learning rate next to nothing",
        "critic 的学习率小到几乎为零",
        lambda g: replace(
            _sound_with_critic(g), trainer="verl", shift=-3.0, critic_rate=1e-3
        ),
        {"learning-rate"},
        {"explained-variance"},
    ),
    Fault(
        "KL coefficient too large",
        "KL 系数太大",
        lambda g: _of_verl(g, kl_coef=_between(g, 3, 30)),
        {"kl-coef"},
    ),
    Fault(
        "temperature of the engine alone",
        "只有推理引擎用了温度",
        lambda g: _of_any(g, temperature=_pick(g, 0.5, 0.6)),
        {"mismatch"},
    ),
    Fault(
        "weights that never reach the engine",
        "新参数没有送到推理引擎",
        lambda g: _of_any(g, synchronized=False),
        {"mismatch"},
        {"sample-size"},
    ),
    Fault(
        "an engine of 8 bits",
        "8 bit 的推理引擎",
        lambda g: _of_any(g, engine_noise=_between(g, 0.9, 1.4)),
        {"mismatch"},
        {"sample-size"},
    ),
    Fault(
        "limit on length too short",
        "长度上限太短",
        lambda g: _of_any(g, limit=2, stop=-1.0),
        {"cut-off"},
        {"reward-function"},
    ),
    Fault(
        "a model that does not stop",
        "模型停不下来",
        lambda g: _of_any(g, stop=-5.0),
        {"cut-off"},
        {"reward-function"},
    ),
    Fault(
        "a reward function that finds no answer",
        "奖励函数认不出答案",
        lambda g: _of_any(g, score="zero"),
        {"reward-function"},
    ),
    Fault(
        "only the format is paid",
        "只有格式给分",
        lambda g: _of_verl(g, score="format"),
        {"reward-function"},
    ),
    Fault(
        "task too hard",
        "题目太难",
        lambda g: _of_any(g, skill=-12.0, scale=1.0, shift=0.0),
        {"reward-function", "score"},
    ),
    Fault(
        "entropy bonus too large",
        "熵正则太大",
        lambda g: _of_any(g, entropy_coef=_between(g, 3, 10), stop=6.0, skill=6.0),
        {"entropy-up"},
        {"cut-off", "length", "score", "hacking"},
    ),
    Fault(
        "a sign turned",
        "正负号写反",
        lambda g: _of_any(g, sign=-1.0, skill=2.5),
        {"score"},
        {"cut-off", "hacking", "clip", "length", "reward-function"},
    ),
    Fault(
        "training prompts learned by heart",
        "背下了训练题",
        lambda g: _of_verl(g, memorizes=True, skill=1.5),
        {"up-then-down"},
    ),
    Fault(
        "the reference is the actor",
        "reference 就是 actor",
        lambda g: _of_any(g, reference_is_actor=True, kl_coef=0.01, updates=1),
        {"kl"},
    ),
    Fault(
        "length is paid",
        "长度也给分",
        lambda g: _of_any(g, score="length", stop=2.0),
        {"length", "cut-off"},
    ),
]
