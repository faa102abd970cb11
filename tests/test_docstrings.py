"""Functions that pages call have a full contract; everything else a true sentence.

The contract: what it is, takes and gives, and a run that is executed.
"""

import ast
import doctest
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import NoReturn

import pytest
import torch

from tests.layout import FOLDERS, MODULES, ROOT, sources

SECTIONS = ["Args", "Returns", "Raises", "Source", "Example"]
# The stages, the assertions, and what pages show of a training.
FACES = (
    "train.experience.collect_experience",
    "train.estimates.whitened_gae",
    "train.rollout.sample_responses",
    "train.update.update_actor",
)

# Of modules beside the stages: what readers do not call.
INNER = ("inside_verl.", "precision.", "require.")

# What the stages share.
SHARED = {
    "kl.bounded_log_ratio",
    "losses.require_clip_range",
    "losses.require_number",
    "losses.averaged",
    "losses.clipped_policy_losses",
    "losses.clipped_value_losses",
    "losses.policy_terms",
}


def is_stage(name: str) -> bool:
    """True of the dotted names of the river's functions."""
    return name.count(".") == 1 and not name.startswith(INNER) and name not in SHARED


def has_contract(name: str) -> bool:
    """True of the dotted names of functions that must have a full docstring."""
    asserts = name.startswith("check.asserts.") and ".assert_" in name
    return is_stage(name) or asserts or name.startswith(FACES)


def public(kind: Callable[[object], bool]) -> Iterator[tuple[str, FunctionType]]:
    """Dotted name and value of all that modules define without an underscore."""
    for name in MODULES:
        module = importlib.import_module(f"ppo_ref.{name}")
        for attribute, value in vars(module).items():
            own = getattr(value, "__module__", None) == module.__name__
            if own and kind(value) and not attribute.startswith("_"):
                yield f"{name}.{attribute}", value


FUNCTIONS = dict(public(inspect.isfunction))
CLASSES = dict(public(inspect.isclass))
METHODS = {
    f"{name}.{attribute}": method
    for name, owner in CLASSES.items()
    for attribute, method in vars(owner).items()
    if inspect.isfunction(method) and not attribute.startswith("_")
}


def sections(doc: str) -> dict[str, str]:
    """Section title to text; what stands before the first has the title ''."""
    parts = re.split(r"^([A-Z]\w+):$", inspect.cleandoc(doc), flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def sentence_faults(doc: str | None) -> list[str]:
    """The faults of the first line."""
    summary, *rest = inspect.cleandoc(doc or "").splitlines() or [""]
    checks = {
        "must end with a period": summary.endswith("."),
        "must stand alone": not rest or rest[0] == "",
    }
    return [f"the first line {fault}" for fault, holds in checks.items() if not holds]


def contract_faults(function: Callable[..., object]) -> list[str]:
    """The faults of a docstring that must be a full contract."""
    parts = sections(function.__doc__ or "")
    signature = inspect.signature(function)
    documented = re.findall(r"^    (\w+): ", parts.get("Args", ""), flags=re.MULTILINE)
    parameters = [name for name in signature.parameters if name != "self"]
    returns = signature.return_annotation not in (None, NoReturn)
    checks = {
        "the first line must begin with a capital": parts[""][:1].isupper(),
        f"sections must come from {SECTIONS}, in this order": (
            [*parts][1:] == [title for title in SECTIONS if title in parts]
        ),
        f"Args must be {parameters}, got {documented}": documented == parameters,
        "Returns must stand if and only if something returns": (
            ("Returns" in parts) == returns
        ),
        "Example must show a run": ">>> " in parts.get("Example", ""),
    }
    faults = [fault for fault, holds in checks.items() if not holds]
    return sentence_faults(function.__doc__) + faults


@pytest.mark.parametrize("name", [*filter(has_contract, FUNCTIONS)])
def test_what_readers_call_has_a_full_contract(name):
    assert contract_faults(FUNCTIONS[name]) == []


@pytest.mark.parametrize("name", [*MODULES, *sorted(FOLDERS)])
def test_everything_has_a_sentence_and_examples_print_what_they_show(name, capsys):
    module = importlib.import_module(f"ppo_ref.{name}")
    assert sentence_faults(module.__doc__) == []
    for full_name, thing in (FUNCTIONS | CLASSES | METHODS).items():
        if thing.__module__ == module.__name__:
            assert sentence_faults(thing.__doc__) == [], full_name
    found = doctest.testmod(module, extraglobs={"torch": torch})
    assert found.failed == 0, capsys.readouterr().out


# With these words a docstring says something about a thing, and not what it is.
ASIDE = re.compile(r"(What|Whether|So many|Those|Loaded)\b")


def begun_aside(source: str) -> list[str]:
    """First lines of docstrings that do not begin with what a thing is or does."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first, _, _ = (ast.get_docstring(node) or "").partition("\n")
            if ASIDE.match(first):
                found.append(first)
    return found


# Those of site_tools that are left out here still have docstrings to mend.
ROOMS = (
    *("run", "confinement", "contributing", "data", "stored_runs"),
    *("compile", "build", "finish"),
)


@pytest.mark.parametrize("package", ["ppo_ref", *ROOMS])
def test_a_docstring_begins_with_what_a_thing_is_or_does(package):
    folder = ROOT / package if package == "ppo_ref" else ROOT / "site_tools" / package
    modules = sources(folder)
    told = {name: begun_aside(source) for name, source in modules.items()}
    assert {name: lines for name, lines in told.items() if lines} == {}


def test_a_docstring_that_begins_aside_is_found():
    source = 'def fresh():\n    """Whether it is new."""\n    return "What"\n'
    assert begun_aside(source) == ["Whether it is new."]
    assert begun_aside(source.replace("Whether it is", "True where it is")) == []


def double(x: int) -> int:
    """doubles a number
    Args:
        y: Any number.
    Yields:
        Twice the number.
    """
    return 2 * x


def test_planted_faults_are_found():
    told = "; ".join(contract_faults(double))
    for fault in ("a period", "stand alone", "a capital", "Args must be ['x']"):
        assert fault in told
    for fault in ("sections must come from", "Returns must stand", "show a run"):
        assert fault in told
