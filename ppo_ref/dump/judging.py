"""All stages of a dump, one after the other."""

from collections.abc import Iterator
from typing import NamedTuple

from torch import Tensor

from ppo_ref.contracts.checks import require_at_least, require_unit_interval
from ppo_ref.dump.estimates import judge_returns, judge_whitening
from ppo_ref.dump.groups import ESTIMATORS, judge_groups
from ppo_ref.dump.inputs import (
    judge_kl,
    judge_mask,
    judge_rollout,
    judge_score,
    judge_values,
)
from ppo_ref.dump.reading import Fields, fields
from ppo_ref.dump.verdicts import FAIL, OK, OPEN, Report, Verdict

Setting = float | str | None


def judge(
    tensors: dict[str, Tensor],
    *,
    gamma: float | None = None,
    gae_lambda: float | None = None,
    kl_coef: float | None = None,
    estimator: str | None = None,
    eos_token_id: int | None = None,
) -> Report:
    """Compute a dumped batch again, and say of each stage whether it agrees.

    A stage is ``ok`` only where the faults that it looks for would show in this dump,
    and ``-`` with the reason where they would not. What is left out of the options is
    found from the numbers, and shown. Tensors, under the names of verl 0.3 to 0.9.1,
    that are no such batch are a ValueError.

    Example:
        >>> from ppo_ref.examples import three_tokens
        >>> rewards, V, mask = three_tokens()
        >>> batch = {"token_level_scores": rewards, "values": V, "response_mask": mask}
        >>> A = torch.tensor([[0.7, 0.6, 0.4]], dtype=torch.float64)
        >>> print(judge(batch | {"advantages": A, "returns": A + V}))
        mask       - 3 tokens; no attention_mask to compare
                   it with, nor responses: add them, and
                   pass --eos-token-id
        score      - on the last token of 1 row, all full:
                   the end of the row and its last token are
                   one
        kl         - no token_level_rewards in the dump
        rollout    - no old_log_probs in the dump
        values     - from values alone their slots cannot be
                   told, and no prompts and responses in the
                   dump
        gae        ok: returns follow from rewards and
                   values on 3 tokens
        truncation - 1 of 1 row full, V behind taken as 0:
                   right if they ended there, biased if cut
        whitening  FAIL: advantages[0, 0] is 0.7000,
                   whitened over the 3 tokens that count
                   0.8729: not whitened; verl whitens over
                   the tokens that count
        settings   - by the numbers gamma 1, lam 1: compare
                   with yours, or pass --gamma --lam
        wrong: whitening; 1 ok, 7 cannot be told (-)
    """
    numbers = {"gamma": gamma, "gae_lambda": gae_lambda}
    require_unit_interval(
        "check", **{name: x for name, x in numbers.items() if x is not None}
    )
    if kl_coef is not None:
        require_at_least("check", 0, kl_coef=kl_coef)
    dump = fields(tensors)
    of_mask, right = judge_mask(dump, eos_token_id)
    asked = Asked(gamma, gae_lambda, kl_coef, estimator, eos_token_id)
    said: dict[str, Verdict] = {}
    # A mask may be wrong in the dump alone, or in all that was computed: what holds
    # under one of the two is not blamed.
    for mask in (dump.response_mask, right) if of_mask.state == FAIL else (right,):
        for verdict in _judge_numbers(dump._replace(response_mask=mask), asked):
            if said.get(verdict.stage, of_mask).state == FAIL:
                said[verdict.stage] = verdict
            said.setdefault(verdict.stage, verdict)
    unfit = [Verdict("finite", FAIL, text) for text in dump.unfit.values()]
    return Report([*unfit, of_mask, *said.values()])


class Asked(NamedTuple):
    """What was to hold; None is found from the numbers."""

    gamma: float | None
    gae_lambda: float | None
    kl_coef: float | None
    estimator: str | None
    eos_token_id: int | None


def _judge_numbers(dump: Fields, asked: Asked) -> Iterator[Verdict]:
    """All stages but the mask."""
    of_kl, coef = judge_kl(dump, asked.kl_coef)
    settings: dict[str, tuple[Setting, Setting]] = {"kl_coef": (coef, asked.kl_coef)}
    by_groups = asked.estimator in ESTIMATORS
    if asked.estimator is None:
        by_groups = _by_groups(dump)
    yield judge_score(dump, by_groups)
    yield of_kl
    yield judge_rollout(dump)
    yield judge_values(dump)
    if by_groups:
        verdicts, found = judge_groups(dump, asked.estimator)
        yield from verdicts
        settings["estimator"] = found, asked.estimator
    else:
        # Without a critic there is nothing to mix.
        gae_lambda = 1.0 if dump.values is None else asked.gae_lambda
        verdicts, choice = judge_returns(
            dump, (asked.gamma, gae_lambda), asked.eos_token_id
        )
        yield from verdicts
        yield judge_whitening(dump, known=verdicts[0].state == OK)
        if choice:
            settings["gamma"] = choice[0], asked.gamma
            if dump.values is not None:
                settings["lam"] = choice[1], asked.gae_lambda
    yield from _judge_settings(settings)


def _by_groups(dump: Fields) -> bool:
    """Whether there is no critic, and no returns but the advantages themselves."""
    if dump.values is not None or "values" in dump.unfit or dump.advantages is None:
        return False
    if dump.returns is None:
        return True
    apart = (dump.returns - dump.advantages)[dump.response_mask].abs().max()
    return bool(apart <= dump.tolerance)


def _judge_settings(
    settings: dict[str, tuple[Setting, Setting]],
) -> Iterator[Verdict]:
    """What the numbers say of each setting, against what was to hold."""
    told = {name: pair for name, pair in settings.items() if pair[0] is not None}
    asked = {name: pair for name, pair in told.items() if pair[1] is not None}
    wrong = {name: pair for name, pair in asked.items() if not _same(*pair)}

    def shown(names: dict[str, tuple[Setting, Setting]], which: int) -> str:
        pairs = ((name, pair[which]) for name, pair in names.items())
        return ", ".join(
            f"{name} {x if isinstance(x, str) else format(x, '.4g')}"
            for name, x in pairs
        )

    if wrong:
        text = f"by the numbers {shown(wrong, 0)}, not {shown(wrong, 1)}"
        yield Verdict("settings", FAIL, text)
        return
    rest = {name: pair for name, pair in told.items() if name not in asked}
    flags = " ".join(f"--{name.replace('_', '-')}" for name in rest)
    if rest:
        text = f"by the numbers {shown(rest, 0)}: compare with yours, or pass {flags}"
        yield Verdict("settings", OPEN, text)
    elif told:
        yield Verdict("settings", OK, shown(told, 0))


def _same(found: Setting, asked: Setting) -> bool:
    if isinstance(found, float) and isinstance(asked, float | int):
        return abs(found - asked) <= 1e-2 * abs(asked) + 1e-6
    return found == asked
