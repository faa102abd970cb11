"""What a contributor agrees to: which rounds of a log share a draft, or get none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from site_tools.commands.talk import Refusal, Talk
from site_tools.logs.sorting import NO_QUESTION, Kind, Sorted


@dataclass
class Agreed:
    """What becomes of the rounds.

    Args:
        groups: The rounds of each draft, by the number of its first.
        left_out: The numbers of those that get none.
        wordings: Of those, the ones whose wording a page gets: the page, by number.
    """

    groups: dict[int, list[Sorted]] = field(default_factory=dict)
    left_out: list[int] = field(default_factory=list)
    wordings: dict[int, str] = field(default_factory=dict)


def agreed(
    found: Sequence[Sorted], known: Mapping[int, str | None], talk: Talk
) -> Agreed:
    """What becomes of the rounds, once the contributor has agreed.

    Args:
        found: The rounds.
        known: The page that perhaps answers each, by its number.
        talk: The conversation.

    Raises:
        Refusal: if the contributor does not.
    """
    plan = Agreed()
    for each in found:
        _place(each, known.get(each.round.number), plan, talk)
    size, count, left_out = len(found), len(plan.groups), len(plan.left_out)
    if not plan.groups and not plan.wordings:
        raise Refusal("No question is left; nothing was written.")
    merged = size - count - left_out
    question = (
        f"{size} questions: write {count} drafts, merge {merged}, leave out {left_out}?"
    )
    if not talk.ask(question):
        raise Refusal("Nothing was written.")
    return plan


def _place(each: Sorted, page: str | None, plan: Agreed, talk: Talk) -> None:
    number, home = each.round.number, _home(each, plan.groups)
    if _dropped(each, plan, talk):
        plan.left_out.append(number)
    elif home is not None and talk.ask(_merging(each, home)):
        plan.groups[home].append(each)
    elif page and talk.decide(
        f"Question {number} is perhaps answered at {page}: leave it out and add its "
        "wording there? (no: a draft all the same)"
    ):
        plan.left_out.append(number)
        plan.wordings[number] = page
    else:
        plan.groups[number] = [each]


def _dropped(each: Sorted, plan: Agreed, talk: Talk) -> bool:
    number, earlier = each.round.number, each.earlier
    if each.kind not in NO_QUESTION:
        return earlier in plan.left_out and talk.ask(
            f"Question {number} is a follow-up of question {earlier}, which is left "
            "out: leave it out too?"
        )
    return each.kind is Kind.THANKS or talk.ask(
        f"Question {number} asks for a format, not about PPO: leave it out?"
    )


def _merging(each: Sorted, home: int) -> str:
    number = each.round.number
    if each.kind is Kind.DUPLICATE:
        return f"Question {number} asks question {home} again: one draft for both?"
    return f"Question {number} is a follow-up of question {home}: one draft for both?"


def _home(each: Sorted, groups: Mapping[int, list[Sorted]]) -> int | None:
    """The first question of the draft that holds the one a round belongs to."""
    for first, rounds in groups.items():
        if each.earlier in [item.round.number for item in rounds]:
            return first
    return None
