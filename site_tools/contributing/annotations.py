"""Problems as GitHub shows them: at a line of the files that a pull request changes."""

from collections.abc import Collection, Iterator

from site_tools.messages import Problem

# Signs with a meaning of their own in what a runner reads, and what stands for them.
IN_TEXT = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
IN_PROPERTY = str.maketrans(
    {"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"}
)


def annotations(
    problem: Problem, changed: Collection[str], language: str
) -> Iterator[str]:
    """The commands that put a problem at each line to which it belongs."""
    text = problem.remarks(language).translate(IN_TEXT)
    for file, line in _annotated_places(problem, changed):
        yield f"::error file={file.translate(IN_PROPERTY)},line={line}::{text}"


def _annotated_places(
    problem: Problem, changed: Collection[str]
) -> list[tuple[str, int]]:
    """The lines to look at: code where it is written, a difference on the changed side.

    Where two languages differ and both have changed, either may be wrong.
    """
    if problem.snippet:
        file, _, line = problem.snippet.rpartition(":")
        return [(file, int(line))]
    own = (problem.path, problem.line)
    values = problem.message.values
    if problem.message.key == "pair_differs":
        twin = (str(values["twin"]), int(str(values["at"])))
    elif problem.message.key == "pair_missing":
        twin = (str(values["file"]), 1)
    else:
        return [own]
    on_changed = [place for place in (own, twin) if place[0] in changed]
    if problem.message.key == "pair_missing" and own in on_changed:
        return [own]  # the line that the other has not
    return on_changed or [own]
