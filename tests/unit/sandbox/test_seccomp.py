"""The filter, decoded and run on system calls as the kernel would (classic BPF over ``struct seccomp_data``)."""

from __future__ import annotations

import errno
import struct

import pytest

from proctor.sandbox.seccomp import SUPPORTED_MACHINES, build_filter

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
X86, ARM = 0xC000003E, 0xC00000B7


def run(program: bytes, number: int, *, machine: int = X86, arguments: tuple[int, ...] = ()) -> int:
    """What the filter says to a call: its return value."""
    data = struct.pack("=IIQ6Q", number, machine, 0, *(*arguments, *[0] * (6 - len(arguments))))
    at, accumulator = 0, 0
    for _ in range(4096):
        code, on_true, on_false, k = struct.unpack_from("=HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, k)
        elif code == 0x06:
            return int(k)
        else:
            hit = {0x15: accumulator == k, 0x35: accumulator >= k, 0x45: bool(accumulator & k)}[code]
            at += on_true if hit else on_false
    raise AssertionError("the filter does not end")


@pytest.fixture(scope="module", params=[False, True], ids=["no network", "network"])
def network(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_what_no_agent_needs_fails_with_eperm(network: bool) -> None:
    program = build_filter(network=network, machine="x86_64") or b""
    for name, number in {"ptrace": 101, "mount": 165, "unshare": 272, "bpf": 321, "keyctl": 250, "setns": 308}.items():
        assert run(program, number) == ERRNO | errno.EPERM, name
    for name, number in {"io_uring_setup": 425, "userfaultfd": 323, "pidfd_getfd": 438, "vm_readv": 310}.items():
        assert run(program, number) == ERRNO | errno.EPERM, name


def test_what_programs_need_is_allowed(network: bool) -> None:
    program = build_filter(network=network, machine="x86_64") or b""
    for name, number in {"read": 0, "execve": 59, "openat": 257, "futex": 202, "exit_group": 231}.items():
        assert run(program, number) == ALLOW, name
    assert run(program, 56, arguments=(0x1200011,)) == ALLOW, "fork by clone"


@pytest.mark.parametrize("flag", [0x10000000, 0x20000000, 0x40000000, 0x00020000, 0x02000000, 0x04000000, 0x08000000])
def test_clone_makes_no_namespace(flag: int) -> None:
    program = build_filter(network=False, machine="x86_64") or b""
    assert run(program, 56, arguments=(flag | 17,)) == ERRNO | errno.EPERM
    assert run(program, 435) == ERRNO | errno.ENOSYS, "clone3's flags can't be read: callers fall back to clone"


def test_sockets_but_local_ones_are_refused_without_network() -> None:
    closed, opened = (build_filter(network=network, machine="x86_64") or b"" for network in (False, True))
    for family in (2, 10, 16, 17, 38, 40):  # inet, inet6, netlink, packet, alg, vsock
        assert run(closed, 41, arguments=(family, 1)) == ERRNO | errno.EAFNOSUPPORT
        assert run(opened, 41, arguments=(family, 1)) == ALLOW
    assert run(closed, 41, arguments=(1, 1)) == ALLOW


def test_another_architectures_numbers_kill_the_process() -> None:
    program = build_filter(network=False, machine="x86_64") or b""
    assert run(program, 0, machine=0x40000003) == KILL, "32-bit x86"
    assert run(program, 0x40000000 | 1) == KILL, "x32"
    arm = build_filter(network=False, machine="aarch64") or b""
    assert (run(arm, 63, machine=ARM), run(arm, 63, machine=X86)) == (ALLOW, KILL)
    assert run(arm, 117, machine=ARM) == ERRNO | errno.EPERM
    assert run(arm, 198, machine=ARM, arguments=(2,)) == ERRNO | errno.EAFNOSUPPORT


def test_every_path_through_the_filter_ends() -> None:
    for machine, audit in (("x86_64", X86), ("aarch64", ARM)):
        program = build_filter(network=False, machine=machine) or b""
        assert len(program) % 8 == 0
        for number in range(600):
            run(program, number, machine=audit)


def test_there_is_none_for_a_machine_whose_numbers_are_unknown() -> None:
    assert build_filter(network=False, machine="riscv64") is None
    assert set(SUPPORTED_MACHINES) == {"aarch64", "x86_64"}
