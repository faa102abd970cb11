"""What costs most: log-probs and entropy beside GAE, for as many tokens."""

from collections.abc import Iterator

from site_tools.benchmarks.amounts import amount, three
from site_tools.benchmarks.record import Record, Result
from site_tools.benchmarks.table import peers
from site_tools.benchmarks.words import word

LOG_PROBS, STEP, GAE = "log-probs and entropy", "whole step", "gae"
LEAD = (
    "{tokens} 个 token：{peer} 的 log-prob 和熵，前向加反向，要 {most}，它的 GAE 要 "
    "{least}，前者是后者的 {ratio} 倍。",
    "For {tokens} tokens the log-probs and the entropy of {peer}, forward and "
    "backward, take {most}, its GAE {least}: {ratio} times as long.",
)


def same_tokens(record: Record, result: Result) -> Result | None:
    """GAE with a mask, of as many tokens, if it was measured."""
    for gae in record.about(GAE):
        slots = gae.sizes.get("batch", 0) * gae.sizes.get("time", 0)
        masked = gae.setting.startswith("masked") and GAE in gae.contenders
        if masked and slots == result.sizes.get("tokens"):
            return gae
    return None


def dearest(record: Record) -> Result | None:
    """Log-probs and entropy with the backward pass, if they were measured."""
    found = [r for r in record.about(LOG_PROBS) if r.setting.endswith("backward")]
    return found[-1] if found else None


def lead(record: Record, lang: str) -> Iterator[str]:
    """The sentence that says by how much, where there is something to compare."""
    result = dearest(record)
    gae = same_tokens(record, result) if result else None
    if result is None or gae is None:
        return
    # Without a released package that does both, ours as it comes first.
    both = [name for name in peers(record, result) if name in gae.contenders]
    peer, of_gae = (both[0], both[0]) if both else (next(iter(result.contenders)), GAE)
    most, least = result.contenders[peer].median, gae.contenders[of_gae].median
    values = {
        "tokens": f"{result.sizes['tokens']:,}",
        "peer": peer if peer[-1].isdigit() else "ppo_ref",
        "most": amount(most, result.unit, lang),
        "least": amount(least, gae.unit, lang),
        "ratio": three(most / least),
    }
    yield f"<p>{word(LEAD, lang).format(**values)}</p>"
