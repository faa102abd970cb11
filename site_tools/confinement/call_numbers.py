"""The numbers of the system calls that a block is refused, as Linux counts them."""

# Name, number on x86-64, number on aarch64; a dash where there is none.
TABLE = """
socket 41 198
connect 42 203
bind 49 200
listen 50 201
socketpair 53 199
clone 56 220
fork 57 -
vfork 58 -
clone3 435 435
execve 59 221
execveat 322 281
kill 62 129
tkill 200 130
tgkill 234 131
rt_sigqueueinfo 129 138
rt_tgsigqueueinfo 297 240
pidfd_send_signal 424 424
pidfd_open 434 434
pidfd_getfd 438 438
ptrace 101 117
process_vm_readv 310 270
process_vm_writev 311 271
process_madvise 440 440
kcmp 312 272
prlimit64 302 261
unshare 272 97
setns 308 268
io_uring_setup 425 425
bpf 321 280
perf_event_open 298 241
userfaultfd 323 282
keyctl 250 219
add_key 248 217
request_key 249 218
memfd_create 319 279
memfd_secret 447 447
shmget 29 194
msgget 68 186
semget 64 190
mq_open 240 180
fcntl 72 25
ioctl 16 29
mmap 9 222
open 2 -
openat 257 56
open_by_handle_at 304 265
truncate 76 45
chmod 90 -
fchmod 91 52
fchmodat 268 53
fchmodat2 452 452
chown 92 -
fchown 93 55
lchown 94 -
fchownat 260 54
setxattr 188 5
lsetxattr 189 6
fsetxattr 190 7
setxattrat 463 463
removexattr 197 14
lremovexattr 198 15
fremovexattr 199 16
removexattrat 466 466
utime 132 -
utimes 235 -
futimesat 261 -
utimensat 280 88
"""
ROWS = [line.split() for line in TABLE.split("\n") if line]
# By what ``platform.machine`` says: the kernel's own name for it, and the numbers.
ARCHITECTURES = {
    machine: (kind, {row[0]: int(row[at]) for row in ROWS if row[at] != "-"})
    for machine, kind, at in (
        ("x86_64", 0xC000003E, 1),
        ("aarch64", 0xC00000B7, 2),
    )
}
# Those that depend on their arguments; what they are asked for stands with the rules.
CONDITIONAL = (
    "clone",
    "socket",
    "socketpair",
    "kill",
    "tgkill",
    "prlimit64",
    "open",
    "openat",
    "fcntl",
    "ioctl",
    "mmap",
)
FORBIDDEN = tuple(row[0] for row in ROWS if row[0] not in CONDITIONAL)
