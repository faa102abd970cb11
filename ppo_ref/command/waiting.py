"""A score of one's own that takes long: the terminal says what is waited for."""

from threading import Event, Timer

from ppo_ref.command.terminal import say
from ppo_ref.train.tasks import Question, Score

PATIENCE = 5  # seconds


def told_if_slow(name: str, score: Score) -> Score:
    """The same score; that it takes long is said the first time, and only then."""
    told = Event()

    def tell() -> None:
        told.set()
        say(f"\nwaiting for {name}, {PATIENCE} s by now; Ctrl-C twice stops at once")

    def waited_for(question: Question, response: str) -> float:
        if told.is_set():
            return score(question, response)
        timer = Timer(PATIENCE, tell)
        timer.daemon = True  # the process may end before
        timer.start()
        try:
            return score(question, response)
        finally:
            timer.cancel()

    return waited_for
