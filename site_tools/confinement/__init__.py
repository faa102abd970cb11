"""The confinement of a block: its own folder, few calls, and a guard in words.

It is put on from inside. The time and the memory of a block are watched from outside,
and its environment is clean: ``run.worker``.

Landlock (``files``) holds it to its own folder and to what Python itself needs, where
the kernel has it: Linux 5.13 and later, on any machine, without a privilege. A filter
of system calls (``calls``, Linux on x86-64 and aarch64) gives it no network, no further
process and no reach into another one. Where the kernel cuts nothing off (macOS), the
``guard`` is all there is, and code that goes past Python goes past it; elsewhere it
says what the kernel would only refuse. Nothing of this can be taken back, and it holds
for whatever is started.

confine     all of it, put on
files       the files in reach, by Landlock
calls       the calls that are refused, by seccomp
guard       what Python itself refuses, in words
limits      how much a block may take
kernel      calls that Python has no function for
"""
