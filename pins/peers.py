"""Download the wheels that the package is compared with, to .cache/wheels."""

import hashlib
import os
import re
import tempfile

import environment

FOLDER = os.path.join(environment.ROOT, ".cache", "wheels")
# They are read and never installed, so every machine takes the same files. Those of
# OpenRLHF and TorchRL say they are for one Python on Linux; what is read is Python.
LINUX = ["--platform=manylinux1_x86_64", "--platform=manylinux_2_28_x86_64"]
ANYWHERE = ["--python-version=3.11", *LINUX]


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
        safe = ["--no-deps", "--only-binary=:all:", "--require-hashes"]
        source = ["--requirement", single.name, "--dest", FOLDER]
        environment.pip(["download", *safe, *ANYWHERE, *source], requirement.split()[0])


def download():
    here, failed = present(), []
    for requirement in wanted():
        if not here.intersection(re.findall(r"--hash=sha256:(\w+)", requirement)):
            try:
                fetch(requirement)
            except environment.Stopped as name:
                failed.append(str(name))
    if failed:
        raise environment.Stopped(
            "Not downloaded: {}, see pip's message above; run the same command again "
            "to continue.".format(", ".join(failed))
        )
    print("The peers' wheels are in .cache/wheels.")
