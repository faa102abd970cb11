"""Download the wheels that the package is compared with, to .cache/wheels.

Nothing else needs them: without a network the comparisons are skipped, and say so.
"""

import hashlib
import os
import re
import tempfile
import time

import environment

FOLDER = os.path.join(environment.ROOT, ".cache", "wheels")
# Which pins were fetched, or that they could not be and when that was tried.
STAMP = os.path.join(FOLDER, ".ready")
DAY = 24 * 3600
# They are read and never installed, so every machine takes the same files. Those of
# OpenRLHF and TorchRL say they are for one Python on Linux; what is read is Python.
LINUX = ["--platform=manylinux1_x86_64", "--platform=manylinux_2_28_x86_64"]
ANYWHERE = ["--python-version=3.11", *LINUX]


def fingerprint():
    with open(os.path.join(environment.PINS, "peers.txt"), "rb") as pins:
        return hashlib.sha256(pins.read()).hexdigest()


def is_ready(again):
    """Whether all are here, or were asked for in vain within a day."""
    try:
        with open(STAMP) as stamp:
            state = stamp.read()
        tried = time.time() - os.path.getmtime(STAMP) < DAY and not again
    except OSError:
        return False
    return state == fingerprint() or (tried and state == "missing " + fingerprint())


def wanted():
    """The pinned requirements of peers.txt, each with its hashes."""
    with open(os.path.join(environment.PINS, "peers.txt")) as pins:
        lines = [line.strip() for line in pins]
    return [line for line in lines if line and not line.startswith("#")]


def present():
    """The hashes of the wheels that are here already."""
    names = os.listdir(FOLDER) if os.path.isdir(FOLDER) else []
    hashes = set()
    for name in names:
        with open(os.path.join(FOLDER, name), "rb") as wheel:
            hashes.add(hashlib.sha256(wheel.read()).hexdigest())
    return hashes


def fetch(requirement):
    # A file of its own for each: releases of one project exclude each other,
    # and pip takes hashes from files only.
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as single:
        single.write(requirement + "\n")
        single.flush()
        safe = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--retries=1"]
        source = ["--quiet", "--requirement", single.name, "--dest", FOLDER]
        environment.pip(["download", *safe, *ANYWHERE, *source], requirement.split()[0])


def bring(again=False):
    """Silent and quick where all are here; one sentence where they cannot be had.

    Args:
        again: Ask once more, even if it was in vain a moment ago.
    """
    if is_ready(again):
        return
    here = present()
    absent = [
        requirement
        for requirement in wanted()
        if not here.intersection(re.findall(r"--hash=sha256:(\w+)", requirement))
    ]
    if absent:
        print("Downloading the releases to compare with, once: 20 MB.", flush=True)
    try:
        for requirement in absent:
            fetch(requirement)
        state = fingerprint()
    except environment.Stopped as name:
        state = "missing " + fingerprint()
        print(
            f"Not downloaded: {name}, see pip's message above; comparisons with it are "
            "skipped until make ready brings it."
        )
    os.makedirs(FOLDER, exist_ok=True)
    with open(STAMP, "w") as stamp:
        stamp.write(state)
