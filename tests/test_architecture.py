"""The floor table in a package's docstring is true, and so are its folders."""

import re

import pytest

from tests.layout import (
    ACTING,
    ROOT,
    SOURCES,
    circles,
    floors,
    layout_faults,
    sources,
    upward_imports,
)


@pytest.mark.parametrize("package", ["ppo_ref", "site_tools"])
def test_a_package_is_laid_out_as_its_docstring_says(package: str):
    acting = ACTING if package == "ppo_ref" else frozenset()
    assert list(layout_faults(package, sources(ROOT / package), acting)) == []


def test_what_starts_the_package_stands_on_top():
    floor_of = floors(SOURCES["__init__"])
    assert floor_of["__main__"] == max(floor_of.values())


TABLE = "\n    3   __main__\n    2   advantages  asserts  losses\n    1   masking\n"


def upward(module: str, source: str) -> list[str]:
    return upward_imports("ppo_ref", module, source, floors(TABLE))


def test_a_stage_that_imports_a_stage_is_found():
    spellings = [
        "from ppo_ref.losses import policy_loss",
        "import ppo_ref.losses",
        "from ppo_ref import losses",
        "from . import losses",
        "from .losses import policy_loss",
        "def late():\n    from ppo_ref.losses import policy_loss",
    ]
    for source in spellings:
        fault = "advantages (floor 2) imports losses (floor 2)"
        assert upward("advantages", source) == [fault], source
    assert upward("losses", "import ppo_ref.masking") == []
    fault = "masking (floor 1) imports losses (floor 2)"
    assert upward("masking", "import ppo_ref.losses") == [fault]


def test_a_folder_stands_on_one_floor_and_sees_below_and_its_own():
    source = "from ..losses import policy_loss"
    fault = "asserts (floor 2) imports losses (floor 2)"
    assert upward("asserts.models", source) == [fault]
    fault = "losses (floor 2) imports asserts (floor 2)"
    assert upward("losses", "from ppo_ref.asserts.models import loss") == [fault]
    for source in ("from . import batch", "import ppo_ref.masking"):
        assert upward("asserts.models", source) == []
    assert upward("__main__", "from ppo_ref.asserts.models import main") == []


@pytest.mark.parametrize("spelling", ["from . import b", "import ppo_ref.a.b"])
def test_a_circle_in_a_folder_is_found(spelling: str):
    modules = {"a": "", "a.c": spelling, "a.b": "from ppo_ref.a.d import f", "a.d": ""}
    assert circles("ppo_ref", modules) == []
    (way,) = circles("ppo_ref", modules | {"a.d": "from .c import f"})
    assert sorted(set(way.split(" imports "))) == ["a.b", "a.c", "a.d"]


@pytest.mark.parametrize(
    ("module", "source", "fault"),
    [
        ("c", "", "c: not in the table"),
        ("b.c", "", "b: not in the table"),
        ("a", '"""A."""\nfrom x.a.b import f', "a: __init__.py must hold a docstring"),
        ("__main__", "def main(): ...", "__main__: must define nothing"),
        ("a.b", "import x.__main__", "a (floor 1) imports __main__ (floor 2)"),
    ],
)
def test_what_differs_from_the_table_is_found(module: str, source: str, fault: str):
    table = '"""X.\n\n    2   __main__\n    1   a\n"""'
    sound = {"__init__": table, "a": '"""A."""', "a.b": "", "__main__": "main()"}
    assert list(layout_faults("x", sound, ACTING)) == []
    faults = list(layout_faults("x", sound | {module: source}, ACTING))
    assert any(re.match(re.escape(fault), one) for one in faults), faults


def test_a_folder_without_an_init_is_found():
    table = '"""X.\n\n    1   a\n"""'
    faults = list(layout_faults("x", {"__init__": table, "a.b": ""}))
    assert faults == ["a.b: its folder has no __init__.py"]
