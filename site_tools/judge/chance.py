"""Code whose result hangs on chance, the clock or the machine, named without a run."""

import ast
from collections.abc import Iterator
from contextlib import suppress

from site_tools.messages import Problems
from site_tools.page.page import Page
from site_tools.source.blocks import Copy

# By the key of the message: names as they are imported; below a name all that it has.
SOURCES_OF = {
    "code_reads_clock": (
        "time.time time.time_ns time.monotonic time.monotonic_ns time.perf_counter"
        " time.perf_counter_ns time.process_time time.thread_time time.localtime"
        " time.gmtime time.ctime time.strftime datetime.datetime.now"
        " datetime.datetime.today datetime.datetime.utcnow datetime.date.today"
    ),
    "code_draws_afresh": "secrets uuid.uuid1 uuid.uuid4 os.urandom random.SystemRandom",
    "code_reads_machine": (
        "platform sys.version sys.version_info sys.hexversion sys.platform"
        " torch.__version__ torch.version numpy.__version__ importlib.metadata.version"
        " os.getpid os.cpu_count os.uname torch.get_num_threads socket.gethostname"
        " sysconfig torch.cuda.is_available torch.cuda.device_count"
        " torch.cuda.get_device_name torch.cuda.get_device_capability"
        " torch.cuda.get_device_properties torch.backends.mps.is_available"
    ),
    "code_reads_address": "id hash",
}
# Generators that begin anywhere unless they are given a number, and how to give it.
UNSEEDED = ("random.Random", "numpy.random.default_rng", "random.seed", "torch.seed")
# Draws, and the call that must stand above them.
DRAWS = {
    "torch.manual_seed": ("torch.rand", "torch.randn", "torch.randint", "torch.normal"),
    "random.seed": (
        "random.random",
        "random.randint",
        "random.choice",
        "random.shuffle",
        "random.sample",
        "random.uniform",
        "random.gauss",
    ),
    "numpy.random.seed": (
        "numpy.random.rand",
        "numpy.random.randn",
        "numpy.random.randint",
        "numpy.random.random",
        "numpy.random.normal",
        "numpy.random.choice",
        "numpy.random.permutation",
    ),
}


def check_chance(page: Page) -> Problems:
    """Each line of code that reads chance, the clock or the machine."""
    for copy in page.copies:
        if not copy.block.runs:
            continue
        above = len(copy.lines) - len(copy.block.lines)
        told = set[int]()
        for at, key, name in _found(copy):
            if at <= above or at in told:
                continue
            told.add(at)
            text, line, snippet = copy.lines[at - 1]
            values = {"name": name, "text": text.strip()}
            yield page.problem(line, key, snippet=snippet, **values)


def _found(copy: Copy) -> Iterator[tuple[int, str, str]]:
    """The line in a copy, the key of the message and the name of each source."""
    with suppress(SyntaxError):
        nodes = list(ast.walk(ast.parse(copy.text)))
        known = _imported(nodes)
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        seeded = {_dotted_name(call.func, known) for call in calls if call.args}
        for node in nodes:
            if isinstance(node, ast.Name | ast.Attribute):
                name = _dotted_name(node, known)
                for key, sources in SOURCES_OF.items():
                    if _is_among_sources(name, sources.split()):
                        yield node.lineno, key, name
        for call in calls:
            name = _dotted_name(call.func, known)
            bare = not call.args and not call.keywords
            if name in UNSEEDED and bare:
                yield call.lineno, "code_unseeded", name
            if name == "threading.Thread" and not any(map(_waits, calls)):
                yield call.lineno, "code_unjoined", name
            given = any(keyword.arg == "generator" for keyword in call.keywords)
            for seed, draws in DRAWS.items():
                if name in draws and not given and seed not in seeded:
                    yield call.lineno, "code_unseeded", name


def _waits(call: ast.Call) -> bool:
    """True for ``thread.join()``; the ``join`` of a text is given what it joins."""
    waited = call.args[0] if call.args else ast.Constant(0)
    is_join = getattr(call.func, "attr", "") == "join"
    return is_join and isinstance(waited, ast.Constant)


def _imported(nodes: list[ast.AST]) -> dict[str, str]:
    """What each name stands for that an import brings, and builtins not rebound."""
    known = {"id": "id", "hash": "hash"}
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                full = each.name if each.asname else each.name.partition(".")[0]
                known[each.asname or full] = full
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                known[each.asname or each.name] = f"{node.module}.{each.name}"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.pop(node.id, None)
        elif isinstance(node, ast.arg):
            known.pop(node.arg, None)
    return known


def _dotted_name(node: ast.AST, known: dict[str, str]) -> str:
    """The full name of an attribute of something imported; nothing of others."""
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    if isinstance(node, ast.Attribute):
        owner = _dotted_name(node.value, known)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def _is_among_sources(name: str, sources: list[str]) -> bool:
    if name in ("secrets", "platform", "sysconfig"):
        return False  # the module alone reads nothing
    return any(name == each or name.startswith(f"{each}.") for each in sources)
