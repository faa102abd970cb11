"""transformers, which may be missing, reads a folder and nothing but that folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

ONLY_THIS_FOLDER = {"local_files_only": True, "trust_remote_code": False}


def read(
    function: str, path: str | Path, content: str, reader: str, **options: Any
) -> Any:
    """Let a class of transformers read a folder, without network and foreign code.

    ``function`` and ``content``, what the folder is to hold, are words of a refusal;
    ``reader`` is the name of the class.
    """
    folder, shown = Path(path), repr(str(path))
    must = f"{function}: path must"
    if not folder.is_dir():
        raise ValueError(
            f"{must} be a folder, got {shown}; download the model first, since nothing "
            "is fetched here"
        )
    if (folder / "adapter_config.json").exists():
        raise ValueError(
            f"{must} hold a whole model, got an adapter in {shown}; merge it into its "
            "model first"
        )
    if not (folder / "config.json").exists():
        raise ValueError(f"{must} hold config.json, got none in {shown}")
    with _quiet(library(function)) as transformers:
        kind = getattr(transformers, reader)
        try:
            return kind.from_pretrained(str(folder), **ONLY_THIS_FOLDER, **options)
        except Exception as error:  # its names for what it does not read are many
            line = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]
            raise ValueError(f"{must} hold {content}, got {shown}: {line}") from error


def library(function: str) -> Any:
    """The package transformers; a ValueError of this function if it is missing."""
    try:
        return import_module("transformers")
    except ImportError as error:
        raise ValueError(
            f"{function}: the package transformers must be installed; make "
            "tools does it here, pip install transformers elsewhere"
        ) from error


@contextmanager
def _quiet(transformers: Any) -> Iterator[Any]:
    """A fault is raised, so warnings and bars would only be in the way."""
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
