"""Ask the package index for newer releases than the pinned ones; say what they change.

A workflow runs it once a week. For a framework the facts are moved to its new release,
as a dry run: the patch lies in releases/, and what a person must read is in the text.
Whoever opens the issue gets its title and its text as one line of JSON, behind
``issue=`` in the file that GITHUB_OUTPUT names; there is none where nothing is new.
"""

import json
import os
import re
import subprocess
import sys

import environment
import peers

# Each distribution, and the list that pins it.
PINNED_IN = {
    "verl": "peers.txt",
    "trl": "peers.txt",
    "openrlhf": "peers.txt",
    "torch": "python.txt",
    "mkdocs-material": "python.txt",
}
# Those with facts, as docs/facts spells them.
FRAMEWORKS = {"verl": "verl", "trl": "TRL", "openrlhf": "OpenRLHF"}
PATCHES = os.path.join(environment.ROOT, "releases")
MOST_CHARACTERS = 20_000  # of one framework: GitHub takes 65,536 for a whole text
# What is said about a release may hold anything, so its fence is one that none has.
FENCE = "~" * 12


def by_number(version):
    return [int(number) for number in re.findall(r"\d+", version)]


def newest_pinned(name):
    path = os.path.join(environment.PINS, PINNED_IN[name])
    with open(path) as pins:
        versions = re.findall(rf"(?m)^{re.escape(name)}==([^\s;]+)", pins.read())
    if not versions:
        raise environment.Stopped(f"pins/{PINNED_IN[name]} pins no {name}.")
    return max(versions, key=by_number)


def pip(*arguments):
    """Run pip, and return how it ended and what it said."""
    command = [sys.executable, "-I", "-m", "pip", *arguments]
    own = dict(os.environ, **environment.OWN)
    return subprocess.run(command, env=own, capture_output=True, text=True)


def newest_published(name):
    """The newest final release that the index has."""
    asked = pip("index", "versions", name)
    found = re.match(rf"{re.escape(name)} \((\d[^\s)+]*)", asked.stdout)
    if asked.returncode != 0 or not found:
        raise environment.Stopped(
            f"The package index says no release of {name}; pip said: "
            f"{asked.stderr.strip()}"
        )
    return found[1]


def new_releases():
    """Each distribution with a newer release: its name, the pinned one, the new one."""
    found = []
    for name in PINNED_IN:
        pinned, published = newest_pinned(name), newest_published(name)
        if by_number(published) > by_number(pinned):
            found.append((name, pinned, published))
    return found


def facts_moved(name, version):
    """What make facts says of a release; its patch lies in PATCHES."""
    safe = ["--no-deps", "--only-binary=:all:", "--quiet", f"--dest={peers.FOLDER}"]
    got = pip("download", *safe, *peers.ANYWHERE, f"{name}=={version}")
    if got.returncode != 0:
        return f"Its wheel cannot be had; pip said: {got.stderr.strip()}"
    os.makedirs(PATCHES, exist_ok=True)
    patch = os.path.join(PATCHES, f"{name}-{version}.patch")
    words = ["--lang=en", "facts", FRAMEWORKS[name], version, f"--patch={patch}"]
    command = [sys.executable, "-m", "site_tools", *words]
    said = subprocess.run(
        command,
        cwd=environment.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if not os.path.exists(patch):
        raise environment.Stopped(
            f"make facts wrote no patch for {name} {version}; it said: {said.stdout}"
        )
    return said.stdout.strip()


def section(name, pinned, published):
    """The part of the text about one release."""
    head = f"## {name} {published}\n\nPinned is {pinned}."
    if name not in FRAMEWORKS:
        return f"{head} Raise it in pins/python.in; then make test and make slow."
    said = facts_moved(name, published)
    if len(said) > MOST_CHARACTERS:
        print(said)
        said = f"{said[:MOST_CHARACTERS]}\n... the rest is in the log of the run"
    written = f'make facts TO="{FRAMEWORKS[name]} {published}"'
    return f"{head} `{written}` writes this:\n\n{FENCE}text\n{said}\n{FENCE}"


def issue(found):
    """The title and the text of the issue about new releases."""
    names = [f"{name} {published}" for name, _, published in found]
    parts = [section(*release) for release in found]
    steps = "The patches are the artifact of the run. What to do: MAINTAINING.md."
    return {"title": f"New: {', '.join(names)}", "body": "\n\n".join([*parts, steps])}


def main():
    try:
        found = new_releases()
        if not found:
            print("Nothing is newer than what is pinned.")
            return 0
        told = issue(found)
    except environment.Stopped as stopped:
        print(stopped)
        return 1
    print(told["body"])
    with open(os.environ.get("GITHUB_OUTPUT", os.devnull), "a") as output:
        output.write(f"issue={json.dumps(told)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
