"""What a number must be, in the words the caller reads."""


def require_unit_interval(function: str, **numbers: float) -> None:
    """Refuse a number outside [0, 1].

    Args:
        function: Name of the public function that was called.
        numbers: The numbers, by argument name.

    Raises:
        ValueError: if one of the numbers is outside [0, 1] or nan.

    Example:
        >>> require_unit_interval("gae", gamma=1.5)
        Traceback (most recent call last):
        ValueError: gae: gamma must lie in [0, 1], got 1.5
    """
    for name, number in numbers.items():
        if not 0 <= number <= 1:
            raise ValueError(f"{function}: {name} must lie in [0, 1], got {number}")


def require_at_least(function: str, least: float, **numbers: float) -> None:
    """Refuse a number below a bound.

    Args:
        function: Name of the public function that was called.
        least: The smallest number allowed.
        numbers: The numbers, by argument name.

    Raises:
        ValueError: if one of the numbers is below the bound or nan.

    Example:
        >>> require_at_least("n_step_advantages", 1, steps=0)
        Traceback (most recent call last):
        ValueError: n_step_advantages: steps must be at least 1, got 0
    """
    for name, number in numbers.items():
        if not number >= least:
            raise ValueError(
                f"{function}: {name} must be at least {least}, got {number}"
            )


def require_above(function: str, bound: float, **numbers: float) -> None:
    """Refuse a number that is not above a bound.

    Args:
        function: Name of the public function that was called.
        bound: The largest number refused.
        numbers: The numbers, by argument name.

    Raises:
        ValueError: if one of the numbers is at most the bound or nan.

    Example:
        >>> require_above("policy_loss", 1, dual_clip=1)
        Traceback (most recent call last):
        ValueError: policy_loss: dual_clip must be greater than 1, got 1
    """
    for name, number in numbers.items():
        if not number > bound:
            raise ValueError(
                f"{function}: {name} must be greater than {bound}, got {number}"
            )


def require_clip_range(function: str, low: float, high: float) -> None:
    """Refuse a range whose lower end is 0 or less, or that leaves out 1.

    Args:
        function: Name of the public function that was called.
        low: How far the ratio may fall below 1.
        high: How far it may rise above 1.

    Raises:
        ValueError: if ``low`` is outside [0, 1), or ``high`` is negative or nan.

    Example:
        >>> require_clip_range("f", 1.5, 0.2)
        Traceback (most recent call last):
        ValueError: f: clip_range must lie in [0, 1) and [0, inf), got (1.5, 0.2)
    """
    if not (0 <= low < 1 and high >= 0):
        raise ValueError(
            f"{function}: clip_range must lie in [0, 1) and [0, inf), "
            f"got ({low}, {high})"
        )


def require_bounds(function: str, low: float, high: float) -> None:
    """Refuse bounds of a ratio that fall, or that begin below 0.

    Args:
        function: Name of the public function that was called.
        low: The least ratio accepted.
        high: The greatest.

    Raises:
        ValueError: unless 0 <= low <= high; nan is neither.

    Example:
        >>> require_bounds("accepted_tokens", 2, 0.5)
        Traceback (most recent call last):
        ValueError: accepted_tokens: bounds must rise from at least 0, got (2, 0.5)
    """
    if not 0 <= low <= high:
        raise ValueError(
            f"{function}: bounds must rise from at least 0, got ({low}, {high})"
        )


def require_index(function: str, length: int, **indices: int) -> None:
    """Refuse an index beyond a length.

    Args:
        function: Name of the public function that was called.
        length: How many things there are.
        indices: The indices, by argument name.

    Raises:
        ValueError: if an index is negative or not below the length.

    Example:
        >>> require_index("trace", 2, row=2)
        Traceback (most recent call last):
        ValueError: trace: row must lie in [0, 2), got 2
    """
    for name, index in indices.items():
        if not 0 <= index < length:
            raise ValueError(
                f"{function}: {name} must lie in [0, {length}), got {index}"
            )
