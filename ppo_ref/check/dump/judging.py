"""All stages of a dump, one after the other."""

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from ppo_ref.check.dump import estimates, groups, inputs
from ppo_ref.check.dump.reading import Fields, fields
from ppo_ref.check.dump.verdicts import FAIL, OK, OPEN, Report, Said, Verdict
from ppo_ref.require import require_at_least, require_unit_interval


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
    asked = {"kl_coef": kl_coef, "estimator": estimator}
    asked |= {"gamma": gamma, "lam": gae_lambda}
    dump = fields(tensors)
    of_mask, right = inputs.judge_mask(dump, eos_token_id)
    said: dict[str, Said] = {}
    # A mask may be wrong in the dump alone, or in all that was computed: what holds
    # under one of the two is not blamed.
    for mask in (dump.response_mask, right) if of_mask[0] == FAIL else (right,):
        masked = dump._replace(response_mask=mask)
        for stage, of in _judge_numbers(masked, asked, eos_token_id):
            if said.get(stage, of_mask)[0] == FAIL:
                said[stage] = of
            said.setdefault(stage, of)
    stages = [("finite", (FAIL, text)) for text in dump.unfit.values()]
    stages += [("mask", of_mask), *said.items()]
    return Report([Verdict(stage, *of) for stage, of in stages])


def _judge_numbers(
    dump: Fields, asked: dict[str, Any], eos_token_id: int | None
) -> Iterator[tuple[str, Said]]:
    """All stages but the mask; a setting that is asked as None is found."""
    estimator, gamma, lam = (asked[name] for name in ("estimator", "gamma", "lam"))
    found: dict[str, Any] = {}
    of_kl, found["kl_coef"] = inputs.judge_kl(dump, asked["kl_coef"])
    by_groups = estimator in groups.ESTIMATORS if estimator else _by_groups(dump)
    yield "score", inputs.judge_score(dump, by_groups)
    yield "kl", of_kl
    yield "rollout", inputs.judge_rollout(dump)
    yield "values", inputs.judge_values(dump)
    if by_groups:
        grouped = groups.groups_of(dump)
        missing = dump.lacks("advantages", "given")
        if missing or grouped is None:
            yield "groups", (OPEN, missing or dump.lacks("uid"))
        else:
            yield "groups", groups.judge_rows(dump, grouped)
            of, found["estimator"] = groups.judge_advantages(dump, grouped, estimator)
            yield "advantages", of
    else:
        critic = dump.values is not None
        # Without a critic there is nothing to mix.
        of_gae, choice = estimates.judge_returns(dump, (gamma, lam if critic else 1.0))
        yield "gae", of_gae
        if choice:
            yield "truncation", estimates.judge_full_rows(dump, choice, eos_token_id)
            found["gamma"], found["lam"] = choice[0], choice[1] if critic else None
        yield "whitening", estimates.judge_whitening(dump, known=of_gae[0] == OK)
    found = {name: x for name, x in found.items() if x is not None}
    if found:
        yield "settings", _judge_settings(found, asked)


def _by_groups(dump: Fields) -> bool:
    """Whether there is no critic, and no returns but the advantages themselves."""
    if dump.values is not None or "values" in dump.unfit or dump.advantages is None:
        return False
    if dump.returns is None:
        return True
    apart = (dump.returns - dump.advantages)[dump.response_mask].abs().max()
    return bool(apart <= dump.tolerance)


def _judge_settings(found: dict[str, Any], asked: dict[str, Any]) -> Said:
    """What the numbers say of each setting, against what was to hold."""

    def listed(settings: dict[str, Any], names: list[str]) -> str:
        texts = (settings[n] for n in names)
        shown = (x if isinstance(x, str) else f"{x:.4g}" for x in texts)
        return ", ".join(map(" ".join, zip(names, shown, strict=True)))

    rest = [name for name in found if asked[name] is None]
    wrong = [n for n in found if n not in rest and not _same(found[n], asked[n])]
    if wrong:
        return (
            FAIL,
            f"by the numbers {listed(found, wrong)}, not {listed(asked, wrong)}",
        )
    if rest:
        flags = " ".join(f"--{name.replace('_', '-')}" for name in rest)
        text = f"by the numbers {listed(found, rest)}: compare with yours, or pass"
        return OPEN, f"{text} {flags}"
    return OK, listed(found, list(found))


def _same(found: float | str, asked: float | str) -> bool:
    if isinstance(found, float) and isinstance(asked, float | int):
        return abs(found - asked) <= 1e-2 * abs(asked) + 1e-6
    return found == asked
