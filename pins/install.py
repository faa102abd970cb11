"""Make .venv from the pins, once: python3 pins/install.py [--again | --tools ...].

Silent and quick where .venv answers to the pins already. Whatever goes wrong ends in
one sentence; .venv/.ready is written last and says that nothing did. The releases to
compare with come along (peers.py), --again asks for them again. --tools brings what
only the slow tests need; behind it may stand browser, transformers, smollm2 or verl.
"""

import contextlib
import glob
import hashlib
import os
import platform
import sys

import environment
import inside_verl
import machine
import peers
import smollm2

STAMP = os.path.join(environment.VENV, ".ready")
CACHE = os.path.join(environment.ROOT, ".cache")
PINNED = ("python.txt", "package.json", "package-lock.json", "environment.py")


def fingerprint():
    """What .venv/.ready must hold: a hash of the pins."""
    digest = hashlib.sha256()
    for name in PINNED:
        with open(os.path.join(environment.PINS, name), "rb") as pins:
            digest.update(pins.read())
    return digest.hexdigest()


def is_ready():
    try:
        with open(STAMP) as stamp:
            return stamp.read() == fingerprint() and os.path.exists(environment.PYTHON)
    except (FileNotFoundError, NotADirectoryError):
        return False


@contextlib.contextmanager
def alone(making=".venv"):
    """Let a second make wait for the first, where the file system has locks."""
    import fcntl

    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "install.lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Another make is setting up {making}; waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            pass
        yield


def check_machine():
    refusal = machine.python_refusal(sys.version_info, sys.executable)
    refusal = refusal or machine.platform_refusal(
        platform.system(),
        platform.machine(),
        platform.libc_ver(),
        platform.mac_ver(),
    )
    if refusal:
        raise environment.Stopped(f"This project {refusal}.")


def install():
    size = machine.download_size(platform.system())
    print(f"Setting up .venv, once. To download: {size}.", flush=True)
    # Without the old stamp a half-made environment cannot pass for ready, not
    # even when the pins are changed back.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.remove(STAMP)
    environment.make_venv()
    environment.install_python_packages()
    environment.install_node_packages()
    write_signpost(environment.VENV)
    with open(STAMP, "w") as stamp:
        stamp.write(fingerprint())


def write_signpost(venv):
    """What python -m site_tools finds in any folder but the project's: where to go."""
    for packages in glob.glob(os.path.join(venv, "lib", "python3.*", "site-packages")):
        with open(os.path.join(packages, "site_tools.py"), "w") as signpost:
            here = f"In the folder of the project, please: cd {environment.ROOT}"
            signpost.write(f"raise SystemExit({here!r})\n")


def install_verl():
    with alone(".cache/verl"):
        inside_verl.install()


def install_smollm2():
    with alone(".cache/smollm2"):
        smollm2.bring()


TOOLS = {
    "browser": environment.install_browser_driver,
    "transformers": environment.install_transformers,
    "smollm2": install_smollm2,
    "verl": install_verl,
}


def install_tools(names):
    """What only the slow tests need: those named, or all; one may fail alone."""
    if not set(names) <= set(TOOLS):
        raise environment.Stopped(f"The tools are {', '.join(TOOLS)}, got {names}.")
    failed = []
    for name in names or TOOLS:
        try:
            TOOLS[name]()
        except environment.Stopped as reason:
            failed.append(str(reason))
    if failed:
        raise environment.Stopped("\n".join(failed))


def main(arguments):
    try:
        if not is_ready():
            check_machine()
            with alone():
                if not is_ready():
                    install()
        again = arguments == ["--again"]
        if not peers.is_ready(again):
            with alone(".cache/wheels"):
                peers.bring(again)
        if arguments[:1] == ["--tools"]:
            install_tools(arguments[1:])
    except environment.Stopped as reason:
        sys.exit(str(reason))
    except OSError as error:
        sys.exit(f"Setting up .venv failed: {error}.")
    except KeyboardInterrupt:
        sys.exit("\nStopped; run the same command again to continue.")


if __name__ == "__main__":
    main(sys.argv[1:])
