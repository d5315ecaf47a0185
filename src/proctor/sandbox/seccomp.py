"""A seccomp filter as bytes: a deny-list of system calls that no agent needs, and no sockets but local ones.

The program is classic BPF over ``struct seccomp_data`` (linux/seccomp.h): calls by another architecture's numbers kill
the process, denied ones fail with EPERM, ``clone3`` with ENOSYS (its flags can't be read here, and callers then use
``clone``). Left out: installing it (bubblewrap does).
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping

__all__ = ["SUPPORTED_MACHINES", "build_filter"]

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_X32_BIT = 0x40000000
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET,TIME}."""
_AF_UNIX = 1

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": (56, 435), "aarch64": (220, 435)}
_SOCKET = {"x86_64": 41, "aarch64": 198}

_DENIED: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "ptrace": 101,
        "syslog": 103,
        "personality": 135,
        "pivot_root": 155,
        "chroot": 161,
        "acct": 163,
        "mount": 165,
        "umount2": 166,
        "swapon": 167,
        "swapoff": 168,
        "reboot": 169,
        "iopl": 172,
        "ioperm": 173,
        "init_module": 175,
        "delete_module": 176,
        "quotactl": 179,
        "kexec_load": 246,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "unshare": 272,
        "perf_event_open": 298,
        "fanotify_init": 300,
        "name_to_handle_at": 303,
        "open_by_handle_at": 304,
        "setns": 308,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "kcmp": 312,
        "finit_module": 313,
        "kexec_file_load": 320,
        "bpf": 321,
        "userfaultfd": 323,
        "io_uring_setup": 425,
        "io_uring_enter": 426,
        "io_uring_register": 427,
        "open_tree": 428,
        "move_mount": 429,
        "fsopen": 430,
        "fsconfig": 431,
        "fsmount": 432,
        "pidfd_getfd": 438,
        "process_madvise": 440,
        "mount_setattr": 442,
    },
    "aarch64": {
        "acct": 89,
        "personality": 92,
        "unshare": 97,
        "kexec_load": 104,
        "init_module": 105,
        "delete_module": 106,
        "syslog": 116,
        "ptrace": 117,
        "umount2": 39,
        "mount": 40,
        "pivot_root": 41,
        "chroot": 51,
        "quotactl": 60,
        "reboot": 142,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "swapon": 224,
        "swapoff": 225,
        "perf_event_open": 241,
        "fanotify_init": 262,
        "name_to_handle_at": 264,
        "open_by_handle_at": 265,
        "setns": 268,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "kcmp": 272,
        "finit_module": 273,
        "bpf": 280,
        "userfaultfd": 282,
        "kexec_file_load": 294,
        "io_uring_setup": 425,
        "io_uring_enter": 426,
        "io_uring_register": 427,
        "open_tree": 428,
        "move_mount": 429,
        "fsopen": 430,
        "fsconfig": 431,
        "fsmount": 432,
        "pidfd_getfd": 438,
        "process_madvise": 440,
        "mount_setattr": 442,
    },
}

SUPPORTED_MACHINES = tuple(sorted(_DENIED))


def build_filter(*, network: bool, machine: str | None = None) -> bytes | None:
    """The filter for a machine (this one by default), as bubblewrap's ``--seccomp`` reads it; None for an unknown one.

    ``network``: whether sockets other than AF_UNIX may be made.
    """
    name = machine or platform.machine()
    if name not in _DENIED:
        return None
    program = [
        _op(_LOAD, k=_ARCHITECTURE),
        _op(_JUMP_EQUAL, _ARCHITECTURES[name], on_true=1),
        _op(_RETURN, _KILL),
        _op(_LOAD, k=_NUMBER),
    ]
    if name == "x86_64":
        program += [_op(_JUMP_GREATER_EQUAL, _X32_BIT, on_false=1), _op(_RETURN, _KILL)]
    for number in _DENIED[name].values():
        program += _fail_if(number, errno.EPERM)
    clone, clone3 = _CLONE[name]
    program += _fail_if(clone3, errno.ENOSYS)
    program += [
        _op(_JUMP_EQUAL, clone, on_false=4),
        _op(_LOAD, k=_FIRST_ARGUMENT),
        _op(_JUMP_SET, _NEW_NAMESPACES, on_false=1),
        _op(_RETURN, _ERRNO | errno.EPERM),
        _op(_LOAD, k=_NUMBER),
    ]
    if not network:
        program += [
            _op(_JUMP_EQUAL, _SOCKET[name], on_false=3),
            _op(_LOAD, k=_FIRST_ARGUMENT),
            _op(_JUMP_EQUAL, _AF_UNIX, on_true=1),
            _op(_RETURN, _ERRNO | errno.EAFNOSUPPORT),
        ]
    program.append(_op(_RETURN, _ALLOW))
    return b"".join(program)


def _op(code: int, k: int = 0, *, on_true: int = 0, on_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, on_true, on_false, k)


def _fail_if(number: int, error: int) -> list[bytes]:
    return [_op(_JUMP_EQUAL, number, on_false=1), _op(_RETURN, _ERRNO | error)]
