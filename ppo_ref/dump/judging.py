"""All stages of a dump, one after the other."""

from torch import Tensor

from ppo_ref.contracts.checks import require_at_least, require_unit_interval
from ppo_ref.dump.estimates import judge_advantages, judge_values, judge_whitening
from ppo_ref.dump.inputs import judge_kl, judge_mask, judge_ratio, judge_score
from ppo_ref.dump.reading import fields
from ppo_ref.dump.verdicts import Report


def judge(
    tensors: dict[str, Tensor],
    *,
    gamma: float | None = None,
    gae_lambda: float | None = None,
    kl_coef: float | None = None,
    eos_token_id: int | None = None,
) -> Report:
    """Compute a dumped batch again, and say of each stage whether it agrees.

    What is left out is searched: the report says which usual choice explains the
    numbers. Without ``eos_token_id`` the attention mask is taken for right. Tensors,
    under the names of verl 0.3 to 0.9.1, that are no such batch are a ValueError.

    Example:
        >>> from ppo_ref.examples import three_tokens
        >>> rewards, V, mask = three_tokens()
        >>> batch = {"token_level_scores": rewards, "values": V, "response_mask": mask}
        >>> A = torch.tensor([[0.7, 0.6, 0.4]], dtype=torch.float64)
        >>> print(judge(batch | {"advantages": A, "returns": A + V}))
        mask       ok: bool, no gaps, 3 tokens
        score      ok: on the last token (1 of 1 rows)
        kl         ok: none in the rewards
        values     - no two rows share a prompt
        gae        ok: gamma 1, lambda 1
        truncation ok: full rows: 1 of 1, V after them 0
        returns    ok: advantage + V
        whitening  differs: none; verl whitens over the
                   tokens that count
        ratio      - no rollout_log_probs
        alignment ok; whitening differs
    """
    numbers = {"gamma": gamma, "gae_lambda": gae_lambda}
    require_unit_interval(
        "check", **{name: x for name, x in numbers.items() if x is not None}
    )
    if kl_coef is not None:
        require_at_least("check", 0, kl_coef=kl_coef)
    dump = fields(tensors)
    of_mask, mask = judge_mask(dump, eos_token_id)
    dump = dump._replace(response_mask=mask)
    of_advantages, raw = judge_advantages(dump, gamma, gae_lambda)
    return Report(
        [
            of_mask,
            judge_score(dump),
            judge_kl(dump, kl_coef),
            judge_values(dump),
            *of_advantages,
            judge_whitening(dump, raw),
            judge_ratio(dump),
        ]
    )
