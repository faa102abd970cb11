"""The site that is published: both languages, or what was there before."""

import re
from pathlib import Path

import pytest

from tests.site import trial_site


def publish(root: Path) -> tuple[int, str]:
    run = trial_site.start(root, "docs.theme.publish")
    output, _ = run.communicate()
    return run.returncode, output


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
