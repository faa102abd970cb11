"""All stages of a dump, one after the other."""

from collections.abc import Iterator
from typing import NamedTuple

from torch import Tensor

from ppo_ref.check.dump import estimates, groups, inputs
from ppo_ref.check.dump.reading import Fields, fields
from ppo_ref.check.dump.trainers import OPENRLHF, TRL, said
from ppo_ref.check.dump.verdicts import FAIL, LOOK, OK, OPEN, Report, Said, Verdict
from ppo_ref.require import require_at_least, require_unit_interval


class Settings(NamedTuple):
    """The settings of the run as they were told, None where they were not."""

    gamma: float | None
    gae_lambda: float | None
    kl_coef: float | None
    estimator: str | None


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
    and ``-`` with the reason where they would not. Gamma and lambda that are left out
    are 1, as in verl, or those that explain every return. Tensors, under the names of
    verl 0.3 to 0.9.1, of TRL's GRPO or of OpenRLHF, that are no such batch are a
    ValueError.

    Example:
        >>> from ppo_ref.examples import three_tokens
        >>> rewards, V, mask = three_tokens()
        >>> batch = {"token_level_scores": rewards, "values": V, "response_mask": mask}
        >>> A = torch.tensor([[0.7, 0.6, 0.4]], dtype=torch.float64)
        >>> report = judge(batch | {"advantages": A, "returns": A + V})
        >>> print(report.verdicts[-1])
        whitening  FAIL: advantages[0, 0] is 0.7000,
                   whitened over the 3 tokens that count
                   0.8729: they are returns minus values,
                   not whitened
        >>> report.stages("FAIL"), report.exit_code
        (['whitening'], 3)
    """
    if gamma is not None:
        require_unit_interval("check", gamma=gamma)
    if gae_lambda is not None:
        require_unit_interval("check", gae_lambda=gae_lambda)
    if kl_coef is not None:
        require_at_least("check", 0, kl_coef=kl_coef)
    settings = Settings(gamma, gae_lambda, kl_coef, estimator)
    dump = fields(tensors)
    of_mask, right = inputs.judge_mask(dump, eos_token_id)
    masks = [right]
    if of_mask[0] == FAIL:
        masks = [dump.response_mask, right]
    # A mask may be wrong in the dump alone, or in all that was computed: what holds
    # under one of the two is not blamed.
    found: dict[str, Said] = {}
    for mask in masks:
        masked = dump._replace(response_mask=mask)
        for stage, of in _judge_numbers(masked, settings):
            if stage not in found or found[stage][0] == FAIL:
                found[stage] = of
    stages = [("finite", (FAIL, text)) for text in dump.unfit.values()]
    stages += [("mask", of_mask), *found.items()]
    verdicts = [
        Verdict(stage, state, said(dump.trainer, text))
        for stage, (state, text) in stages
    ]
    return Report(verdicts, dump.seen)


def _judge_numbers(dump: Fields, settings: Settings) -> Iterator[tuple[str, Said]]:
    """All stages but the mask."""
    estimator = settings.estimator
    by_groups = estimator in (*groups.ESTIMATORS, groups.OTHER)
    if estimator is None:
        by_groups = _has_no_critic(dump)
    yield "score", inputs.judge_score(dump, by_groups)
    yield "kl", inputs.judge_kl(dump, settings.kl_coef)
    yield "reference", inputs.judge_reference(dump)
    yield "rollout", inputs.judge_rollout(dump)
    if dump.ratio is not None:
        yield "ratio", inputs.judge_ratio(dump)
    yield "values", inputs.judge_values(dump)
    if estimator in groups.WHITENED:
        yield from _judge_whitened(dump, groups.WHITENED[estimator])
        return
    if by_groups:
        yield from _judge_groups(dump, "advantages", estimator)
        return
    of_gae = estimates.judge_returns(dump, settings.gamma, settings.gae_lambda)
    known = of_gae[0] == OK
    if known or estimator or dump.values is not None or not _made_by_groups(dump):
        yield "gae", of_gae
        yield "whitening", estimates.judge_whitening(dump, known)
        return
    # Without a critic, and rewards alone do not give the returns: they may have a
    # baseline, and the advantages be those returns, whitened.
    yield from _judge_whitened(dump, None)


def _judge_whitened(dump: Fields, estimator: str | None) -> Iterator[tuple[str, Said]]:
    """Returns by groups, and advantages that are these, whitened."""
    if dump.returns is None:
        yield "returns", (OPEN, dump.lacks("returns"))
        return
    of_rows = dump._replace(advantages=dump.returns)
    found = dict(_judge_groups(of_rows, "returns", estimator))
    yield from found.items()
    right = "returns" in found and found["returns"][0] == OK
    yield "whitening", estimates.judge_whitening(dump, known=True, centred=right)


def _judge_groups(
    dump: Fields, name: str, estimator: str | None = None
) -> Iterator[tuple[str, Said]]:
    grouped = groups.groups_of(dump)
    missing = dump.lacks("advantages")
    if dump.trainer is not TRL:
        missing = missing or dump.lacks("given")
    if missing or grouped is None:
        yield "groups", (LOOK, missing or dump.lacks("uid"))
    else:
        yield "groups", groups.judge_rows(dump, grouped)
        state, text = groups.judge_advantages(dump, grouped, estimator)
        if dump.trainer is OPENRLHF and (name, state) == ("advantages", OK):
            text += "; not whitened, as reinforce and reinforce_baseline are"
            if text.startswith("as reinforce gives"):
                state = LOOK
        yield name, (state, text.replace("advantages[", f"{name}["))


def _made_by_groups(dump: Fields) -> bool:
    """Say if returns are one number a row, or have the KL of the row in them."""
    if dump.returns is None or dump.given is None or "values" in dump.unfit:
        return False
    start = dump.response_mask.long().argmax(1, keepdim=True)
    apart = (dump.returns - dump.returns.gather(1, start)).abs()
    uneven = apart > dump.tolerance("returns", "advantages")
    even = not (dump.response_mask & uneven).any()
    return even or dump.row_kl is not None


def _has_no_critic(dump: Fields) -> bool:
    """Say if there are no values, and no returns but the advantages themselves."""
    if dump.values is not None or "values" in dump.unfit:
        return False
    if dump.advantages is None:
        return False
    if dump.returns is None:
        return True
    apart = (dump.returns - dump.advantages).abs()
    near = dump.tolerance("returns", "advantages")
    return bool(apart[dump.response_mask].max() <= near)
