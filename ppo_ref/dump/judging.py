"""All stages of a dump, one after the other."""

from collections.abc import Iterator, Mapping
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
        >>> report = judge(batch | {"advantages": A, "returns": A + V})
        >>> print(report.verdicts[-2])
        whitening  FAIL: advantages[0, 0] is 0.7000,
                   whitened over the 3 tokens that count
                   0.8729: not whitened; verl whitens over
                   the tokens that count
        >>> print(report.summary)
        wrong: whitening; 1 ok, 7 cannot be told (-)
    """
    numbers = {"gamma": gamma, "gae_lambda": gae_lambda}
    require_unit_interval(
        "check", **{name: x for name, x in numbers.items() if x is not None}
    )
    if kl_coef is not None:
        require_at_least("check", 0, kl_coef=kl_coef)
    dump, asked = fields(tensors), Asked(gamma, gae_lambda, kl_coef, estimator)
    of_mask, right = judge_mask(dump, eos_token_id)
    said: dict[str, Verdict] = {}
    # A mask may be wrong in the dump alone, or in all that was computed: what holds
    # under one of the two is not blamed.
    for mask in (dump.response_mask, right) if of_mask.state == FAIL else (right,):
        masked = dump._replace(response_mask=mask)
        for verdict in _judge_numbers(masked, asked, eos_token_id):
            if said.get(verdict.stage, of_mask).state == FAIL:
                said[verdict.stage] = verdict
            said.setdefault(verdict.stage, verdict)
    unfit = [Verdict("finite", FAIL, text) for text in dump.unfit.values()]
    return Report([*unfit, of_mask, *said.values()])


class Asked(NamedTuple):
    """The settings that were to hold; None is found from the numbers."""

    gamma: float | None
    lam: float | None
    kl_coef: float | None
    estimator: str | None


def _judge_numbers(
    dump: Fields, asked: Asked, eos_token_id: int | None
) -> Iterator[Verdict]:
    """All stages but the mask."""
    found: dict[str, Setting] = {}
    of_kl, found["kl_coef"] = judge_kl(dump, asked.kl_coef)
    by_groups = asked.estimator in ESTIMATORS
    if asked.estimator is None:
        by_groups = _by_groups(dump)
    yield judge_score(dump, by_groups)
    yield of_kl
    yield judge_rollout(dump)
    yield judge_values(dump)
    if by_groups:
        verdicts, found["estimator"] = judge_groups(dump, asked.estimator)
        yield from verdicts
    else:
        critic = dump.values is not None
        # Without a critic there is nothing to mix.
        wanted = asked.gamma, asked.lam if critic else 1.0
        verdicts, choice = judge_returns(dump, wanted, eos_token_id)
        yield from verdicts
        yield judge_whitening(dump, known=verdicts[0].state == OK)
        if choice:
            found["gamma"], found["lam"] = choice[0], choice[1] if critic else None
    yield from _judge_settings(found, asked._asdict())


def _by_groups(dump: Fields) -> bool:
    """Whether there is no critic, and no returns but the advantages themselves."""
    if dump.values is not None or "values" in dump.unfit or dump.advantages is None:
        return False
    if dump.returns is None:
        return True
    apart = (dump.returns - dump.advantages)[dump.response_mask].abs().max()
    return bool(apart <= dump.tolerance)


def _judge_settings(
    found: dict[str, Setting], asked: dict[str, Setting]
) -> Iterator[Verdict]:
    """What the numbers say of each setting, against what was to hold."""
    told = {name: x for name, x in found.items() if x is not None}
    rest = {name: x for name, x in told.items() if asked[name] is None}
    wrong = [n for n in told if n not in rest and not _same(told[n], asked[n])]

    def shown(settings: Mapping[str, Setting]) -> str:
        pairs = settings.items()
        return ", ".join(
            f"{n} {x if isinstance(x, str) else f'{x:.4g}'}" for n, x in pairs
        )

    if wrong:
        numbers, others = ({n: of[n] for n in wrong} for of in (told, asked))
        text = f"by the numbers {shown(numbers)}, not {shown(others)}"
        yield Verdict("settings", FAIL, text)
    elif rest:
        flags = " ".join(f"--{name.replace('_', '-')}" for name in rest)
        text = f"by the numbers {shown(rest)}: compare with yours, or pass {flags}"
        yield Verdict("settings", OPEN, text)
    elif told:
        yield Verdict("settings", OK, shown(told))


def _same(found: Setting, asked: Setting) -> bool:
    if isinstance(found, float) and isinstance(asked, float | int):
        return abs(found - asked) <= 1e-2 * abs(asked) + 1e-6
    return found == asked
