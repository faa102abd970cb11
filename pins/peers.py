"""Download the wheels that the package is compared with, to .cache/wheels."""

import hashlib
import os
import re
import tempfile

import environment

FOLDER = os.path.join(environment.ROOT, ".cache", "wheels")
# They are read and never installed, so every machine takes the same files; that of
# OpenRLHF says it is for one Python on Linux, though nothing in it is compiled.
ANYWHERE = ["--python-version=3.11", "--platform=manylinux1_x86_64"]


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
