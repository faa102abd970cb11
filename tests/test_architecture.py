"""The floor table in a package's docstring is true, and so are its folders."""

import ast

import pytest

from tests.layout import ACTING, ROOT, SOURCES, layout_faults, sources

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


def test_the_package_is_whole_without_transformers():
    for name, source in SOURCES.items():
        for node in ast.parse(source).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert "transformers" not in ast.unparse(node), name
            assert name not in ACTING or not hasattr(node, "name")


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
