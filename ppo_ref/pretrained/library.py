"""transformers, which may be missing, reads a folder and nothing but that folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

ONLY_THIS_FOLDER = {"local_files_only": True, "trust_remote_code": False}


def read(
    function: str, path: str | Path, wanted: str, reader: str, **given: Any
) -> Any:
    """Let a class of transformers read a folder, without network and foreign code.

    Args:
        function: Name of the public function that was called.
        path: Of the folder.
        wanted: What it is to hold, in words.
        reader: Name of the class, as in ``"AutoConfig"``.
        given: What else ``from_pretrained`` is to be told.

    Returns:
        What the class makes of it.

    Raises:
        ValueError: if there is no such folder or no ``config.json`` in it, if it holds
            an adapter, transformers is missing, or the class refuses.

    Example:
        >>> read("pretrained_actor", "gpt2", "a model", "AutoConfig")
        Traceback (most recent call last):
        ValueError: pretrained_actor: path must be a folder, got 'gpt2'; download the \
model first, since nothing is fetched here
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(
            f"{function}: path must be a folder, got {str(path)!r}; download the model "
            "first, since nothing is fetched here"
        )
    if (folder / "adapter_config.json").exists():
        raise ValueError(
            f"{function}: path must hold a whole model, got an adapter in "
            f"{str(path)!r}; merge it into its model first"
        )
    if not (folder / "config.json").exists():
        raise ValueError(
            f"{function}: path must hold config.json, got none in {str(path)!r}"
        )
    with _quiet(library(function)) as transformers:
        kind = getattr(transformers, reader)
        try:
            return kind.from_pretrained(str(folder), **ONLY_THIS_FOLDER, **given)
        except Exception as error:  # its names for what it does not read are many
            told = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]
            raise ValueError(
                f"{function}: path must hold {wanted}, got {str(path)!r}: {told}"
            ) from error


def library(function: str) -> Any:
    """The package transformers.

    Args:
        function: Name of the public function that was called.

    Returns:
        The module.

    Raises:
        ValueError: if it cannot be imported.

    Example:
        >>> import sys
        >>> from unittest.mock import patch
        >>> with patch.dict(sys.modules, {"transformers": None}):
        ...     library("pretrained_actor")
        Traceback (most recent call last):
        ValueError: pretrained_actor: the package transformers must be installed; \
make transformers does it here, pip install transformers elsewhere
    """
    try:
        return import_module("transformers")
    except ImportError as error:
        raise ValueError(
            f"{function}: the package transformers must be installed; make "
            "transformers does it here, pip install transformers elsewhere"
        ) from error


@contextmanager
def _quiet(transformers: Any) -> Iterator[Any]:
    """What is wrong is raised, so warnings and bars would only be in the way."""
    logging = transformers.utils.logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield transformers
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
