"""A slip in a name of verl or OpenRLHF in prose is told, with the nearest name."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from site_tools.judge.upstream import check_upstream
from site_tools.judge.upstream_defaults import check_said_defaults
from site_tools.messages import Problem
from site_tools.page.page import read_page
from tests.layout import ROOT

PATH = "docs/en/gae/sums.md"
CORE = """import torch


def compute_gae_advantage(rewards, values):
    return rewards - values


class Gathered:
    def take_all(self):
        metrics["actor/pg_loss"] = 1
        metrics[f"rollout_corr/{name}"] = k3_kl
"""
CONFIG = """actor_rollout_ref:
  actor:
    ppo_epochs: 1
    clip_ratio: 0.2
    use_kl_loss: false
algorithm:
  lam: 1.0
critic:
  ppo_epochs: ${oc.select:actor_rollout_ref.actor.ppo_epochs,1}
"""
OPTIONS = """parser.add_argument("--algo.kl.use_loss", type=bool, default=False)
parser.add_argument(f"--{prefix}.lr", type=float, default=1e-6)
"""
FILES = {
    "verl-0.9.1": {
        "verl/trainer/ppo/core_algos.py": CORE,
        "verl/trainer/config/ppo_trainer.yaml": CONFIG,
    },
    "verl-0.4.0": {"verl/old.py": "def former_name(): ...\n"},
    "openrlhf-0.11.2": {"openrlhf/cli/train_ppo_ray.py": OPTIONS},
}
PINS = "verl==0.9.1\nverl==0.4.0\nopenrlhf==0.11.2\ntrl==1.16.0\n"
BOTH = '["verl 0.9.1", "OpenRLHF 0.11.2"]'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with three wheels, and one that is pinned and not here."""
    wheels = tmp_path / ".cache/wheels"
    wheels.mkdir(parents=True)
    for name, files in FILES.items():
        with ZipFile(wheels / f"{name}-py3-none-any.whl", "w") as wheel:
            for path, text in files.items():
                wheel.writestr(path, text)
    (tmp_path / "pins").mkdir()
    (tmp_path / "pins/peers.txt").write_text(PINS)
    (tmp_path / "mkdocs.yml").symlink_to(ROOT / "mkdocs.yml")
    (tmp_path / "ppo_ref").mkdir()
    (tmp_path / "ppo_ref/loops.py").write_text("def own_name(): ...\n")
    return tmp_path


def told(root: Path, text: str, refs: str = BOTH) -> list[Problem]:
    page = f"---\ntitle: Sums\nrefs: {refs}\n---\n\n{text}\n"
    read = read_page(root, PATH, page)
    return [*check_upstream(read), *check_said_defaults(read)]


@pytest.mark.parametrize(
    "text",
    [
        "`compute_gae_advantage`, `compute_gae_advantage()`, `Gathered.take_all()`",
        "`actor_rollout_ref.actor.clip_ratio=0.3`, `actor.clip_ratio`, `algorithm.lam`",
        "`+actor_rollout_ref.actor.take_all=1`",
        "`--algo.kl.use_loss`, `--critic.lr`, `verl.trainer.ppo.core_algos`",
        "`actor/pg_loss`, `rollout_corr/k3_kl`",
        "`core_algos.py`, `verl/trainer/ppo/core_algos.py`",
        "`compute_gae_advantage` is `core_algos.py:4-5`",
        "`compute_gae_advantage` is `core_algos.py`, line 4; see lines 4 to 5",
        "`compute_gae_advantage` 在 `core_algos.py` 第 4 行到第 5 行",
        "`own_name` and the block's `held_here`\n\n```python\nheld_here = 1\n```",
        '!!! quote "Dialogue 001·1"\n\n    `not_a_name`\n\nThere is no `not_a_name`.',
        "[`of_vllm`](https://docs.vllm.ai) and `gae`, `old`, `scores[:, 0]`",
    ],
)
def test_names_that_stand_there_pass(project, text):
    assert told(project, text) == []


def test_a_config_that_is_only_shown_does_not_excuse_its_slip(project):
    shown = "```yaml\nactor_rollout_ref:\n  actor:\n    clip_ratioo: 0.2\n```"
    in_it, beside = told(project, f"{shown}\n\nSet `clip_ratioo`.")
    assert in_it.line == 9 and "actor.clip_ratioo` stands nowhere" in in_it.found
    assert beside.line == 12 and "`clip_ratioo` stands nowhere" in beside.found
    assert told(project, shown.replace("ratioo", "ratio")) == []


def test_what_a_command_is_given_is_looked_up(project):
    command = "```bash\npython -m x \\\n  actor_rollout_ref.actor.clip_ratioo=0.2\n```"
    (problem,) = told(project, command)
    assert problem.line == 8 and "actor.clip_ratioo` stands nowhere" in problem.found
    assert told(project, command.replace("ratioo", "ratio")) == []
    assert told(project, command.replace("actor_rollout_ref.actor.", "A=")) == []
    added = command.replace("actor_rollout_ref", "+actor_rollout_ref")
    assert len(told(project, added)) == 1
    assert told(project, added.replace("clip_ratioo", "take_all")) == []


@pytest.mark.parametrize(
    ("text", "found", "fix"),
    [
        (
            "`compute_gae_advantages`",
            "`compute_gae_advantages` stands nowhere in verl 0.9.1, OpenRLHF 0.11.2",
            "`compute_gae_advantage` (verl 0.9.1 · verl/trainer/ppo/core_algos.py:4-5)",
        ),
        ("`PPOGatheredd`", "`PPOGatheredd`", "`Gathered`"),
        ("`Gathered.take_al()`", "`Gathered.take_al`", "`Gathered.take_all`"),
        ("`actor_rollout_ref.actor.clip_ratioo`", "clip_ratioo", "actor.clip_ratio`"),
        ("`algorithm.ppo_epochs=2`", "`algorithm.ppo_epochs`", "ppo_epochs`"),
        ("`algoritm.lam`", "`algoritm.lam`", "`algorithm.lam`"),
        ("`--algo.kl.use_los`", "`algo.kl.use_los`", "`algo.kl.use_loss`"),
        ("`verl.trainer.ppo.core_algo`", "core_algo`", "`verl.trainer.ppo.core_algos`"),
        ("`actor/pg_los`", "`actor/pg_los`", "`actor/pg_loss` (verl 0.9.1 ·"),
        ("see verl/trainer/ppo/core.py", "ppo/core.py`", "ppo/core_algos.py`"),
        ("`former_name`", "but in verl 0.4.0", "name the release that you mean"),
        ("`core_algos.py:9999`", "the file has 12 lines", "verl 0.9.1"),
        ("`core_algos.py`, line 9999", "core_algos.py:9999`: the file has", "0.9.1"),
        ("`core_algos.py` 第 9999 行", "core_algos.py:9999`: the file has", "0.9.1"),
        ("`core_algos.py` 的第 5 到 99 行", "core_algos.py:5-99`: the file", "0.9.1"),
        (
            "Lines 9 and 9999 of `core_algos.py`",
            "core_algos.py:9-9999`: the file",
            "0.9.1",
        ),
        (
            "`compute_gae_advantage` is at lines 8–9 of `core_algos.py`",
            "core_algos.py:8-9`: `compute_gae_advantage` is not on these lines",
            "`verl/trainer/ppo/core_algos.py:4-5`",
        ),
        (
            "`compute_gae_advantage` is verl/trainer/ppo/core_algos.py:8",
            "`compute_gae_advantage` is not on these lines",
            "`verl/trainer/ppo/core_algos.py:4-5`",
        ),
    ],
)
def test_a_slip_is_told_with_what_stands_there(project, text, found, fix):
    (problem,) = told(project, f"First.\n\n{text}\n")
    assert (problem.path, problem.line) == (PATH, 8)
    assert found in problem.found and fix in problem.fix
    assert problem.text("zh")


RIGHT_DEFAULTS = (
    "`actor.ppo_epochs=2` (default 1) and `algorithm.lam` is 1 by default",
    "`critic.ppo_epochs=1` (the default), `--algo.kl.use_loss` is off by default",
    "`algorithm.lam=1` is the default; the default of `clip_ratio` is `0.2`",
    "`ppo_epochs` 默认是 1，`--actor.lr`（默认 1e-6），`algo.kl.use_loss` 默认关着",
    "In `ppo_ref`, `lam` defaults to 0.95; by default `own_name` is 3",
    "`actor.use_kl_loss=True` (default: off), `use_kl_loss=False` (the default)",
    "In OpenRLHF this is not so; in verl `clip_ratio=0.3` (default 0.2)",
    "Unless set, `actor.ppo_epochs` is one; `ppo_epochs` 缺省为一，不设时 `lam` 是 1",
    "If set, `ppo_epochs` is 4; `ppo_epochs` 设了四轮；`ppo_epochs` 默认一起更新",
)
WRONG_DEFAULTS = (
    ("by default `ppo_epochs` is 4", "ppo_epochs", "4", "1"),
    ("By default, `ppo_epochs` is 4", "ppo_epochs", "4", "1"),
    ("`ppo_epochs` (4 by default)", "ppo_epochs", "4", "1"),
    ("`clip_ratio`, which defaults to 0.3", "clip_ratio", "0.3", "0.2"),
    ("`clip_ratio=0.1` (default 0.3)", "clip_ratio", "0.3", "0.2"),
    ("`algorithm.lam=0.95`（默认值）", "algorithm.lam", "0.95", "1.0"),
    ("`ppo_epochs` 默认是 4", "ppo_epochs", "4", "1"),
    ("`ppo_epochs`（默认 4）", "ppo_epochs", "4", "1"),
    ("`ppo_epochs` 的默认值是 4", "ppo_epochs", "4", "1"),
    ("默认 `ppo_epochs` 是 4", "ppo_epochs", "4", "1"),
    ("默认的 `ppo_epochs=4`", "ppo_epochs", "4", "1"),
    ("`--algo.kl.use_loss` 默认打开", "algo.kl.use_loss", "打开", "False"),
    ("Unless set, `ppo_epochs` is four", "ppo_epochs", "four", "1"),
    ("`ppo_epochs` is 4 unless you set it", "ppo_epochs", "4", "1"),
    ("Unless you set it, `ppo_epochs` is four", "ppo_epochs", "four", "1"),
    ("If it is not set, `clip_ratio` is 0.3", "clip_ratio", "0.3", "0.2"),
    ("`ppo_epochs` 的缺省值为 4", "ppo_epochs", "4", "1"),
    ("`ppo_epochs` 缺省是四轮", "ppo_epochs", "四", "1"),
    ("不设时 `ppo_epochs` 是四", "ppo_epochs", "四", "1"),
    ("`ppo_epochs` 没设的话就是 4", "ppo_epochs", "4", "1"),
)


@pytest.mark.parametrize("text", RIGHT_DEFAULTS)
def test_defaults_that_are_so_pass(project, text):
    assert told(project, text) == []


@pytest.mark.parametrize(("text", "key", "said", "there"), WRONG_DEFAULTS)
def test_a_default_that_is_another_is_told(project, text, key, said, there):
    (problem,) = told(project, f"First.\n\n{text}\n")
    assert f"`{key}` is said to be {said} by default" in problem.found
    assert problem.found.endswith(f"it is {there}") and there in problem.fix
    if key == "clip_ratio":
        assert "verl/trainer/config/ppo_trainer.yaml:4;" in problem.fix
    assert problem.line == 8 and "默认" in problem.text("zh")


def test_a_sentence_is_held_to_the_release_that_it_names(project):
    with ZipFile(project / ".cache/wheels/verl-0.4.0-py3-none-any.whl", "w") as wheel:
        path = "verl/trainer/config/ppo_trainer.yaml"
        wheel.writestr(path, CONFIG.replace("clip_ratio: 0.2", "clip_ratio: 0.3"))
    refs = '["verl 0.9.1", "verl 0.4.0"]'
    assert told(project, "In verl 0.4.0 `clip_ratio` is 0.3 by default", refs) == []
    (problem,) = told(project, "Today `clip_ratio` is 0.3 by default", refs)
    assert "in verl 0.9.1 it is 0.2" in problem.found


def test_a_release_in_refs_that_is_not_pinned_is_refused(project):
    (problem,) = told(project, "Text.", '["verl 0.9.7", "arXiv:1707.06347"]')
    assert "refs names verl 0.9.7" in problem.found and "verl 0.9.1" in problem.fix


def test_nothing_is_said_where_no_wheel_is_here(project):
    assert told(project, "`of_no_release`", '["TRL 1.16.0"]') == []
