"""The clock of a process, set to another day for whatever is imported after this.

Python's own functions are replaced, each by one that adds the same shift. Code in C
that asks the kernel still gets the right time.
"""

import datetime
import time
from collections.abc import Callable
from datetime import date as RealDate
from datetime import datetime as RealDateTime
from typing import Any

# To another year, month, weekday, hour, minute and second.
SHIFT = 500 * 86_400 + 7 * 3_600 + 11 * 60 + 13
SECONDS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
OF_NOW = ("gmtime", "localtime", "ctime")  # of now, where they are given no time


def shift_clocks() -> None:
    """Have this process read every clock of Python with a shift."""
    for name in SECONDS:
        _add(time, name, SHIFT)
        _add(time, f"{name}_ns", SHIFT * 10**9)
    for name in OF_NOW:
        _default_to_now(name)
    _shift_strftime()
    datetime.date = _Date  # type: ignore[misc]
    datetime.datetime = _DateTime  # type: ignore[misc]


def _add(module: Any, name: str, shift: int) -> None:
    real: Callable[[], Any] = getattr(module, name)

    def shifted() -> Any:
        return real() + shift

    setattr(module, name, shifted)


def _default_to_now(name: str) -> None:
    real: Callable[[float], Any] = getattr(time, name)

    def shifted(seconds: float | None = None) -> Any:
        return real(time.time() if seconds is None else seconds)

    setattr(time, name, shifted)


def _shift_strftime() -> None:
    real = time.strftime

    def shifted(form: str, *when: Any) -> str:
        return real(form, *(when or (time.localtime(),)))

    time.strftime = shifted


class _OfItsKind(type):
    """Takes the dates that were made before for its own."""

    def __instancecheck__(cls, instance: object) -> bool:
        kind = RealDateTime if cls.__name__ == "datetime.datetime" else RealDate
        return isinstance(instance, kind)


class _Date(RealDate, metaclass=_OfItsKind):
    @classmethod
    def today(cls) -> "_Date":
        return cls.fromtimestamp(time.time())


class _DateTime(RealDateTime, metaclass=_OfItsKind):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> "_DateTime":
        return cls.fromtimestamp(time.time(), tz)

    @classmethod
    def today(cls) -> "_DateTime":
        return cls.now()

    @classmethod
    def utcnow(cls) -> "_DateTime":
        return cls.now(datetime.UTC).replace(tzinfo=None)


# What is printed is the same as of the real ones.
_Date.__name__, _DateTime.__name__ = "datetime.date", "datetime.datetime"
