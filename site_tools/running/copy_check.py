"""What is copied from a block against what the page says it does."""

from site_tools.page.copying import Copy
from site_tools.problems import Problem
from site_tools.running.model import Result

FIX = (
    "let the block read by name what it needs from those above it, and draw random "
    "numbers from a seed of its own; or make one block of them"
)


def check_copy(path: str, copy: Copy, result: Result) -> Problem | None:
    """Judge the run of what the copy button of a block gives.

    Args:
        path: The page.
        copy: The copied text.
        result: What it did in a fresh namespace.
    """
    block = copy.block
    if "cont" in block.classes and len(copy.chain) == 1:
        return Problem(
            path,
            block.fence.line,
            ".cont on a block that needs nothing of those above it",
            "a block that continues others, since readers are told so",
            "remove .cont",
        )
    done, line = result.printed, block.fence.line
    if result.failure:
        done += f"{result.failure.type}: {result.failure.message}".rstrip()
        at = min([at for _, at in result.failure.lines[-1:]], default=None)
        line = copy.lines[min(at, len(copy.lines)) - 1].page_line if at else line
    done = "\n".join(text.rstrip() for text in done.splitlines()).strip("\n")
    if done == copy.states:
        return None
    chain = ", ".join(str(part.fence.line) for part in copy.chain)
    return Problem(
        path,
        line,
        f"copied, the code of lines {chain} ends with\n{done or 'no output'}",
        "a copied text that prints what the page shows, alone and in a fresh process:\n"
        f"{copy.states or 'no output'}",
        FIX,
    )
