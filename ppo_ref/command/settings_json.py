"""Settings as JSON: what ``config.json`` and every checkpoint say of a run."""

import dataclasses
import math
from typing import Any

from ppo_ref.command.settings import CHOICES, PARTS, Settings


def as_json(settings: Settings) -> dict[str, dict[str, Any]]:
    """The settings as JSON knows them; what is not finite becomes a string.

    Args:
        settings: Of a run.

    Returns:
        The fields by name, of each of the two parts.

    Example:
        >>> from ppo_ref.command.settings import given
        >>> as_json(given({"device": "cpu"}))["config"]["max_kl"]
        'inf'
    """
    return {
        part: {name: _json(value) for name, value in fields.items()}
        for part, fields in dataclasses.asdict(settings).items()
    }


def from_json(found: Any) -> Settings:
    """Settings again, from what ``as_json`` gave.

    Args:
        found: What a file holds.

    Returns:
        The same settings.

    Raises:
        ValueError: naming what is missing, unknown, or refused.

    Example:
        >>> from_json({"options": {}, "config": {"widht": 8}})
        Traceback (most recent call last):
        ValueError: options must be those of this ppo_ref, got none
    """
    parts: dict[str, Any] = {}
    for part, kind in PARTS.items():
        types: dict[str, Any] = {
            x.name: type(x.default) for x in dataclasses.fields(kind)
        }
        values = found.get(part) if isinstance(found, dict) else None
        if not isinstance(values, dict) or (differing := values.keys() ^ types.keys()):
            came = f"it differs in {', '.join(differing)}" if values else "got none"
            raise ValueError(f"{part} must be those of this ppo_ref, {came}")
        for name, value in values.items():
            if name in CHOICES and value not in CHOICES[name]:
                known = ", ".join(CHOICES[name])
                raise ValueError(f"{name} must be one of {known}, got {value!r}")
        parts[part] = kind(**{name: types[name](values[name]) for name in types})
    return Settings(**parts)


def _json(value: Any) -> Any:
    return (
        str(value) if isinstance(value, float) and not math.isfinite(value) else value
    )
