"""What a contributor agrees to: which rounds of a log share a draft, or get none."""

from collections.abc import Sequence

from site_tools.commands.talk import Refusal, Talk
from site_tools.logs.sorting import Kind, Sorted


def agreed(found: Sequence[Sorted], talk: Talk) -> list[list[Sorted]]:
    """The rounds of each draft, once the contributor has agreed.

    Raises:
        Refusal: if the contributor does not.
    """
    groups, merged, left_out = _grouped(found, talk)
    if not groups:
        raise Refusal("No question is left; nothing was written.")
    size, count = len(found), len(groups)
    question = (
        f"{size} questions: write {count} drafts, merge {merged}, leave out {left_out}?"
    )
    if not talk.ask(question):
        raise Refusal("Nothing was written.")
    return groups


def _grouped(
    found: Sequence[Sorted], talk: Talk
) -> tuple[list[list[Sorted]], int, int]:
    """The rounds by draft, and how many were merged and left out."""
    groups: dict[int, list[Sorted]] = {}
    left_out = 0
    for each in found:
        number, home = each.round.number, _home(each, groups)
        if each.kind is Kind.FORMAT and talk.ask(
            f"Question {number} asks for a format, not about PPO: leave it out?"
        ):
            left_out += 1
        elif home is not None and talk.ask(
            f"Question {number} belongs to question {home}: one draft for both?"
        ):
            groups[home].append(each)
        else:
            groups[number] = [each]
    merged = len(found) - left_out - len(groups)
    return list(groups.values()), merged, left_out


def _home(each: Sorted, groups: dict[int, list[Sorted]]) -> int | None:
    """The first question of the draft that holds the one a round belongs to."""
    for first, rounds in groups.items():
        if each.earlier in [item.round.number for item in rounds]:
            return first
    return None
