"""The floor table in the package's docstring is true, and so are its folders."""

import re
from pathlib import Path

import pytest

import ppo_ref
import site_tools
from tests.layout import (
    FILES,
    MODULES,
    SOURCES,
    cycles,
    floors,
    folder_faults,
    imported,
    upward_imports,
)


def test_the_table_names_every_module_and_folder_once():
    names = {name.partition(".")[0] for name in SOURCES} - {"__init__"}
    assert sorted(floors(ppo_ref.__doc__)) == sorted(names)


def test_the_map_of_the_site_tools_names_every_module_and_folder_once():
    folder = Path(site_tools.__path__[0])
    there = {f.stem for f in folder.iterdir() if f.suffix == ".py" or f.is_dir()}
    named = re.findall(r"^    (\w+) ", site_tools.__doc__, re.M)
    assert sorted(named) == sorted(there - {"__init__", "__pycache__"})


def test_imports_go_down():
    floor_of = floors(ppo_ref.__doc__)
    for name in SOURCES.keys() - {"__init__"}:
        assert upward_imports(name, SOURCES[name], floor_of) == []
    assert cycles(SOURCES) == []
    assert sum(len(imported(name, SOURCES[name])) for name in MODULES) > len(MODULES)


def test_what_starts_the_package_stands_on_top():
    floor_of = floors(ppo_ref.__doc__)
    assert floor_of.get("__main__", 99) >= max(floor_of.values())


def test_folders_hold_modules_and_nothing_is_re_exported():
    assert list(folder_faults(FILES)) == []


TABLE = "\n    3   __main__\n    2   advantages  asserts  losses\n    1   masking\n"


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
        found = upward_imports("advantages", source, floors(TABLE))
        assert found == ["advantages (floor 2) imports losses (floor 2)"], source
    assert not upward_imports("losses", "import ppo_ref.masking", floors(TABLE))
    upward = upward_imports("masking", "import ppo_ref.losses", floors(TABLE))
    assert upward == ["masking (floor 1) imports losses (floor 2)"]


@pytest.mark.parametrize(
    ("module", "source", "other"),
    [
        ("asserts.models", "from ppo_ref.losses import policy_loss", "losses"),
        ("asserts.models", "from ..losses import policy_loss", "losses"),
        ("asserts.models", "from .. import losses", "losses"),
        ("asserts.models", "from ppo_ref import asserts", "asserts"),
        ("losses", "from ppo_ref.asserts.models import loss", "asserts"),
        ("losses", "import ppo_ref.asserts.models", "asserts"),
    ],
)
def test_a_folder_stands_on_one_floor(module: str, source: str, other: str):
    own = module.partition(".")[0]
    found = upward_imports(module, source, floors(TABLE))
    assert found == [f"{own} (floor 2) imports {other} (floor 2)"]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("asserts.models", "from ppo_ref.asserts.batch import f"),
        ("asserts.models", "from . import batch"),
        ("asserts.models", "from ppo_ref.masking import masked_mean"),
        ("__main__", "from ppo_ref.asserts.models import main"),
    ],
)
def test_a_folder_sees_below_and_its_own(module: str, source: str):
    assert upward_imports(module, source, floors(TABLE)) == []


@pytest.mark.parametrize("spelling", ["from . import b", "import ppo_ref.a.b"])
def test_a_circle_in_a_folder_is_found(spelling: str):
    sources = {"a": "", "a.c": spelling, "a.b": "from ppo_ref.a.d import f", "a.d": ""}
    assert cycles(sources) == []
    (way,) = cycles(sources | {"a.d": "from .c import f"})
    assert sorted(set(way.split(" imports "))) == ["a.b", "a.c", "a.d"]


@pytest.mark.parametrize(
    ("file", "source", "fault"),
    [
        ("a/b/c.py", "", "a folder holds modules, no folder"),
        ("b/c.py", "", "its folder has no __init__.py"),
        ("a/__init__.py", '"""A."""\nfrom ppo_ref.a.b import f', "must hold a doc"),
        ("__init__.py", "", "must hold a docstring and nothing else"),
        ("__main__.py", "def main(): ...", "must define nothing"),
        ("verl_plugin.py", "def install(): ...", "must define nothing"),
    ],
)
def test_a_folder_that_is_none_is_found(file: str, source: str, fault: str):
    sound = {"__init__.py": '"""."""', "a/__init__.py": '"""A."""', "a/b.py": "x = 1"}
    assert list(folder_faults(sound | {"__main__.py": '"""Go."""\nmain()'})) == []
    found = list(folder_faults(sound | {file: source}))
    assert found[0].startswith(f"{file}: {fault}")
