"""The site that is published: both languages, or what was there before."""

import re
from pathlib import Path

import pytest

from tests.site import trial_site


@pytest.mark.slow
def test_a_site_that_does_not_build_replaces_nothing(tmp_path: Path) -> None:
    trial_site.write(tmp_path)
    before = {"site/en/index.html": "as it was"}
    trial_site.write_files(tmp_path, before)
    trial_site.write_files(tmp_path, {"docs/en/index.md": "# Home\n\n[x](#nowhere)\n"})
    output, _ = (run := trial_site.start(tmp_path, "docs.theme.publish")).communicate()
    assert run.returncode == 1
    assert re.search(r"not built: en, see above; site/ is as it was$", output.strip())
    files = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    assert {f.relative_to(tmp_path).as_posix(): f.read_text() for f in files} == before
