"""Code that hangs on chance, the clock or the machine is named before it runs."""

import pytest

from site_tools.judge.chance import check_chance
from tests.site.sample import page


def keys(code: str) -> list[tuple[int, str]]:
    read = page(f"```python\n{code}\n```")
    return [(problem.line, problem.message.key) for problem in check_chance(read)]


@pytest.mark.parametrize(
    ("code", "key"),
    [
        ("import torch\nassert torch.rand(1) < 0.95", "code_unseeded"),
        ("import random as r\nassert r.random() < 0.95", "code_unseeded"),
        ("import numpy as np\nx = np.random.default_rng()", "code_unseeded"),
        ("import os\nprint(os.urandom(1)[0] < 999)", "code_draws_afresh"),
        ("import secrets\nprint(secrets.randbelow(9))", "code_draws_afresh"),
        ("from uuid import uuid4\nprint(uuid4())", "code_draws_afresh"),
        ("x = 1\nprint(hash('a'))", "code_reads_address"),
        ("x = 1\nprint(id(x))", "code_reads_address"),
        ("import time\nseed = int(time.time())", "code_reads_clock"),
        ("import datetime\nprint(datetime.date.today().year)", "code_reads_clock"),
        ("import torch\nprint(torch.__version__)", "code_reads_machine"),
        ("import platform\nprint(platform.machine())", "code_reads_machine"),
        ("import sys\nprint(sys.version_info[0])", "code_reads_machine"),
        ("import sysconfig\nprint(sysconfig.get_platform())", "code_reads_machine"),
        ("import torch\nd = torch.cuda.is_available()", "code_reads_machine"),
        ("import threading as t\nt.Thread(target=f).start()", "code_unjoined"),
        (
            "from threading import Thread\nt = Thread(target=f), ' '.join(x)",
            "code_unjoined",
        ),
    ],
)
def test_what_hangs_on_chance_is_named_at_its_line(code, key):
    (told,) = keys(code)
    first = page(f"```python\n{code}\n```").blocks[0].fence.line
    assert told == (first + 2, key)


def test_what_is_seeded_or_fixed_is_left_alone():
    sound = (
        "import torch\ntorch.manual_seed(0)\ntorch.rand(1)",
        "import torch\ng = torch.Generator()\ntorch.rand(1, generator=g)",
        "import random\nrandom.seed(1)\nrandom.random()",
        "import numpy as np\nnp.random.default_rng(3)",
        "from datetime import datetime\nprint(datetime(2025, 1, 9))",
        "id = 3\nprint(id)",
        "import threading\nt = threading.Thread(target=f)\nt.start()\nt.join()",
    )
    for code in sound:
        assert keys(code) == [], code
