"""Make .cache/verl, where verl is really installed and ppo_ref runs inside of it."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys

import environment

FOLDER = os.path.join(environment.ROOT, ".cache", "verl")
PYTHON = os.path.join(FOLDER, "bin", "python")
STAMP = os.path.join(FOLDER, ".ready")
REQUIREMENTS = os.path.join(environment.PINS, "verl.txt")
# Installed first, with what it needs on this machine; no other package brings another.
FIRST = ("torch==", "setuptools==")
SUITS = "import sys, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 13))"


def fingerprint():
    with open(REQUIREMENTS, "rb") as pins:
        return hashlib.sha256(pins.read()).hexdigest()


def is_ready():
    try:
        with open(STAMP) as stamp:
            return stamp.read() == fingerprint() and os.path.exists(PYTHON)
    except (FileNotFoundError, NotADirectoryError):
        return False


def suitable_python():
    """The Python of .venv, or one on the PATH, that verl 0.9.1 can run on."""
    named = [shutil.which("python3.12"), shutil.which("python3.11")]
    for python in [sys.executable, *filter(None, named)]:
        probe = [python, "-c", SUITS]
        if subprocess.call(probe, stderr=subprocess.DEVNULL) == 0:
            return python
    raise environment.Stopped(
        "verl 0.9.1 needs Python 3.11 or 3.12, and .venv has {}.{}: put a python3.12 "
        "on the PATH, then run make tools ARGS=verl again.".format(*sys.version_info)
    )


def wanted():
    """The pinned requirements, those that come first apart."""
    with open(REQUIREMENTS) as pins:
        lines = [line.strip() for line in pins]
    lines = [line for line in lines if line and not line.startswith("#")]
    first = [line for line in lines if line.startswith(FIRST)]
    return first, [line for line in lines if line not in first]


def pip(*arguments):
    failure = (
        "Installing verl failed, see pip's message above; run make tools ARGS=verl "
        "again to continue."
    )
    environment.pip_install(["--quiet", *arguments], failure, python=PYTHON)


def install():
    """Silent and quick where .cache/verl answers to the pins already."""
    if is_ready():
        return
    print("Setting up .cache/verl, once: verl 0.9.1 and what it imports.", flush=True)
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.remove(STAMP)
    if subprocess.call([suitable_python(), "-m", "venv", FOLDER]) != 0:
        raise environment.Stopped(
            ".cache/verl cannot be made: remove it (rm -r .cache/verl), then run "
            "make tools ARGS=verl again."
        )
    first, others = wanted()
    pip("--only-binary=:all:", "--constraint", REQUIREMENTS, *first)
    # One of them is published as source alone, in Python; the setuptools that came
    # first builds it. verl asks for more than it imports: see verl.in.
    apart = ["--only-binary=:all:", "--no-binary=antlr4-python3-runtime"]
    pip("--no-deps", "--no-build-isolation", "--use-pep517", *apart, *others)
    with open(STAMP, "w") as stamp:
        stamp.write(fingerprint())
