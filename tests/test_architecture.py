"""The floor table in a package's docstring is true, and so are its folders."""

import ast
import sys

import pytest

from tests.layout import ACTING, ROOT, SOURCES, imported, layout_faults, sources

SOUND = {
    "__init__": '"""X.\n\n    2   asserts  losses\n    1   kl\n"""',
    "asserts": '"""Asserts."""',
    "asserts.masks": "from x.asserts import slices",
    "asserts.slices": "from x.kl import kl_k1",
    "losses": "from x import kl",
    "kl": "",
}


@pytest.mark.parametrize("package", ["ppo_ref", "site_tools"])
def test_a_package_is_laid_out_as_its_docstring_says(package):
    assert list(layout_faults(package, sources(ROOT / package))) == []


def packages(source: str) -> set[str]:
    """The packages that a module cannot be imported without."""
    found = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return {name.partition(".")[0] for name in found} - sys.stdlib_module_names


def test_the_package_needs_torch_alone():
    for name, source in SOURCES.items():
        assert packages(source) <= {"ppo_ref", "torch"}, name
    assert packages("import numpy.linalg\nfrom transformers import x") == {
        "numpy",
        "transformers",
    }


def test_the_definitions_stand_apart():
    """They judge the rest, and what a learner wrote: only that judge may use them."""
    assert packages(SOURCES["loops"]) == {"torch"}
    for name, source in SOURCES.items():
        modules = [used.split(".")[0] for used in imported("ppo_ref", source)]
        assert "loops" not in modules or name.startswith("practice."), name
    assert imported("ppo_ref", "from ppo_ref import loops") == ["loops"]


def test_what_is_imported_to_be_run_defines_nothing():
    for name in ACTING:
        for node in ast.parse(SOURCES[name]).body:
            assert not hasattr(node, "name"), name


@pytest.mark.parametrize(
    ("module", "source", "fault"),
    [
        ("kl", "import x.losses", "kl (floor 1) imports losses (floor 2)"),
        ("kl", "from x import losses", "kl (floor 1) imports losses (floor 2)"),
        ("losses", "import x.asserts.masks", "losses (floor 2) imports asserts"),
        ("asserts.slices", "import x.asserts.masks", "asserts.masks imports asserts."),
        ("losses", "from .kl import kl_k1", "losses: an import must name the package"),
        ("rewards", "", "rewards: not in the table"),
        ("dump.reading", '"""D."""', "dump.reading: its folder has no __init__.py"),
        ("asserts", "import x.kl", "asserts: __init__.py must hold a docstring"),
    ],
)
def test_what_differs_from_the_table_is_found(module, source, fault):
    assert list(layout_faults("x", SOUND)) == []
    faults = list(layout_faults("x", SOUND | {module: source}))
    assert any(one.startswith(fault) for one in faults), faults
