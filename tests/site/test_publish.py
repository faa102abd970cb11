"""The site that is published: both languages, or what was there before."""

import re
import subprocess
from pathlib import Path

import pytest

from docs.theme import publish as publishing
from tests.site import trial_site


def publish(root: Path) -> tuple[int, str]:
    run = trial_site.start(root, "docs.theme.publish")
    output, _ = run.communicate()
    return run.returncode, output


def test_a_build_does_not_print_the_notice_of_material(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_MKDOCS_2_WARNING", raising=False)
    monkeypatch.setenv("SITE_URL", "https://example.org")
    told: dict[str, str] = {}
    monkeypatch.setattr(subprocess, "Popen", lambda _, env: told.update(env))
    publishing.start("zh")
    assert told["NO_MKDOCS_2_WARNING"] == "1"
    assert told["SITE_URL"] == "https://example.org"


@pytest.mark.slow
def test_a_site_that_does_not_build_replaces_nothing(tmp_path: Path) -> None:
    trial_site.write(tmp_path)
    assert publish(tmp_path)[0] == 0
    site = tmp_path / "site"
    assert (site / "alignment/first/index.html").exists()
    assert (site / "en/alignment/first/index.html").exists()
    before = (site / "en/index.html").read_text("utf-8")
    (tmp_path / "docs/en/index.md").write_text("# Home\n\n[x](#nowhere)\n", "utf-8")
    code, output = publish(tmp_path)
    assert code == 1
    assert re.search(r"not built: en, see above; site/ is as it was$", output.strip())
    assert (site / "en/index.html").read_text("utf-8") == before
