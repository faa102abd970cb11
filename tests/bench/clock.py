"""A clock that stands still unless a contender moves it."""

from collections.abc import Callable


class Clock:
    """Seconds that pass only by ``spend``."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def __call__(self) -> float:
        return self.now

    def spend(self, name: str, *seconds: float) -> Callable[[], None]:
        """A contender that takes these seconds in turn, the last ones ever after."""
        left = list(seconds)

        def call() -> None:
            self.calls.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return call
