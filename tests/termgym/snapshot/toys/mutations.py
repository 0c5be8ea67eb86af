"""What agents do to a tree: at least forty kinds, each on the toy tree of ``trees.py``."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import shutil
import stat
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .trees import LONG_AGO_NS, acl, add_socket

Action = Callable[[Path], None]


class Mutation(NamedTuple):
    act: Action
    needs: str
    """``any``, ``root`` (ids, devices, flags) or ``caps`` (root, or root of a user namespace)."""
    parts_links: bool
    """Has another outcome where copy-up parts hard links (overlay in a user namespace)."""
    changes: bool
    """Leaves the tree other than it was."""


MUTATIONS: dict[str, Mutation] = {}


def mutation(needs: str = "any", parts_links: bool = False, changes: bool = True) -> Callable[[Action], Action]:
    def register(act: Action) -> Action:
        MUTATIONS[act.__name__] = Mutation(act, needs, parts_links, changes)
        return act

    return register


def keep_mtime(path: Path, act: Action) -> None:
    """Act, then put the modification time back, as someone does who hides a change."""
    status = os.stat(path)
    act(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def overwrite(path: Path, content: bytes, offset: int = 0) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(content)


def move(source: Path, target: Path) -> None:
    """Move as mv(1) does: rename, or copy and delete where the filesystem refuses."""
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        subprocess.run(["cp", "-a", "--", source, target], check=True)
        shutil.rmtree(source)


@mutation()
def same_size_edit_with_old_mtime(home: Path) -> None:
    keep_mtime(home / "c", lambda path: overwrite(path, b"SAME"))


@mutation()
def mapped_edit_with_old_mtime(home: Path) -> None:
    def edit(path: Path) -> None:
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
            memory[5:9] = b"MMAP"
            memory.flush()

    keep_mtime(home / "c", edit)


@mutation()
def append(home: Path) -> None:
    with open(home / "a", "ab") as file:
        file.write(b"more\n")


@mutation()
def truncate(home: Path) -> None:
    os.truncate(home / "big", 100)


@mutation()
def lengthen_by_a_hole(home: Path) -> None:
    os.truncate(home / "a", 1 << 20)


@mutation()
def punch_a_hole_over_data(home: Path) -> None:
    subprocess.run(["fallocate", "-p", "-o", "4096", "-l", "8192", home / "big"], check=True)


@mutation(changes=False)
def fill_a_hole_with_zeros(home: Path) -> None:
    keep_mtime(home / "sparse", lambda path: overwrite(path, bytes(4096), 8192))


@mutation()
def write_into_a_hole(home: Path) -> None:
    overwrite(home / "sparse", b"middle", 2 << 20)


@mutation()
def make_a_huge_sparse_file(home: Path) -> None:
    with open(home / "huge", "wb") as file:
        file.truncate(1 << 26)
        file.seek(1 << 25)
        file.write(b"data")


@mutation()
def rename_a_file(home: Path) -> None:
    os.rename(home / "a", home / "renamed")


@mutation()
def rename_over_another_file(home: Path) -> None:
    os.rename(home / "a", home / "b")


@mutation(parts_links=True)
def rename_a_directory(home: Path) -> None:
    move(home / "d", home / "moved")


@mutation(parts_links=True)
def rename_a_directory_into_another(home: Path) -> None:
    move(home / "d" / "sub", home / "e" / "sub")


@mutation(parts_links=True)
def rename_a_directory_and_edit_in_it(home: Path) -> None:
    move(home / "d", home / "moved")
    overwrite(home / "moved" / "sub" / "three", b"edited")
    os.unlink(home / "moved" / "two")


@mutation()
def swap_two_files(home: Path) -> None:
    os.rename(home / "a", home / "swap")
    os.rename(home / "b", home / "a")
    os.rename(home / "swap", home / "b")


@mutation(parts_links=True)
def swap_two_directories(home: Path) -> None:
    move(home / "d", home / "swap")
    move(home / "e", home / "d")
    move(home / "swap", home / "e")


@mutation(changes=False)
def rename_a_file_and_back(home: Path) -> None:
    os.rename(home / "a", home / "away")
    os.rename(home / "away", home / "a")


@mutation()
def add_a_hard_link(home: Path) -> None:
    os.link(home / "a", home / "e" / "also-a")


@mutation(parts_links=True)
def add_a_hard_link_to_a_linked_file(home: Path) -> None:
    os.link(home / "l1", home / "e" / "l4")


@mutation(parts_links=True)
def write_through_a_hard_link(home: Path) -> None:
    overwrite(home / "l2", b"LINKED")


@mutation(parts_links=True)
def chmod_through_a_hard_link(home: Path) -> None:
    os.chmod(home / "l2", 0o600)


@mutation(parts_links=True)
def break_a_hard_link(home: Path) -> None:
    content = (home / "l2").read_bytes()
    os.unlink(home / "l2")
    (home / "l2").write_bytes(content)


@mutation(parts_links=True)
def remove_one_of_the_hard_links(home: Path) -> None:
    os.unlink(home / "l1")


@mutation(parts_links=True)
def remove_all_of_the_hard_links(home: Path) -> None:
    for name in ("l1", "l2", "d/l3"):
        os.unlink(home / name)


@mutation()
def join_two_equal_files(home: Path) -> None:
    """Two files of the same content become one: contents and times stay as they were."""
    os.unlink(home / "many" / "f3")
    os.link(home / "many" / "f2", home / "many" / "f3")


@mutation()
def retarget_a_symlink(home: Path) -> None:
    os.unlink(home / "sym")
    os.symlink("b", home / "sym")


@mutation()
def touch_a_symlink(home: Path) -> None:
    os.utime(home / "sym", ns=(0, 1), follow_symlinks=False)


@mutation()
def replace_a_file_by_a_symlink(home: Path) -> None:
    os.unlink(home / "a")
    os.symlink("b", home / "a")


@mutation()
def replace_a_directory_by_a_symlink(home: Path) -> None:
    shutil.rmtree(home / "e")
    os.symlink("emptydir", home / "e")


@mutation(parts_links=True)
def replace_a_directory_by_a_file(home: Path) -> None:
    shutil.rmtree(home / "d")
    (home / "d").write_bytes(b"a file now")


@mutation()
def replace_a_file_by_a_directory(home: Path) -> None:
    os.unlink(home / "a")
    (home / "a").mkdir()
    (home / "a" / "in").write_bytes(b"x")


@mutation()
def add_a_fifo(home: Path) -> None:
    os.mkfifo(home / "pipe")


@mutation()
def replace_a_fifo_by_a_file(home: Path) -> None:
    os.unlink(home / "fifo")
    (home / "fifo").write_bytes(b"")


@mutation()
def leave_a_socket(home: Path) -> None:
    add_socket(home / "socket")


@mutation()
def chmod_a_file(home: Path) -> None:
    os.chmod(home / "a", 0o640)


@mutation()
def chmod_a_directory(home: Path) -> None:
    os.chmod(home / "d", 0o711)


@mutation()
def set_the_setuid_bit(home: Path) -> None:
    os.chmod(home / "script.sh", 0o4755)


@mutation()
def set_the_sticky_bit(home: Path) -> None:
    os.chmod(home / "e", 0o1777)


@mutation()
def make_the_home_world_writable(home: Path) -> None:
    os.chmod(home, 0o777)


@mutation(needs="root")
def chown_a_file(home: Path) -> None:
    os.chown(home / "a", 1234, 4321)


@mutation(needs="root")
def chown_a_directory(home: Path) -> None:
    os.chown(home / "d", 1234, 4321)


@mutation(needs="root")
def chown_a_symlink(home: Path) -> None:
    os.chown(home / "sym", 1234, 4321, follow_symlinks=False)


@mutation()
def set_an_attribute(home: Path) -> None:
    os.setxattr(home / "a", "user.mark", b"\x00\x01")


@mutation()
def change_an_attribute(home: Path) -> None:
    os.setxattr(home / "b", "user.note", b"changed")


@mutation()
def remove_an_attribute(home: Path) -> None:
    os.removexattr(home / "b", "user.note")


@mutation()
def set_an_attribute_of_a_directory(home: Path) -> None:
    os.setxattr(home / "d", "user.mark", b"dir")


@mutation()
def set_attributes_and_close_over_them(home: Path) -> None:
    for name in ("a", "e"):
        os.setxattr(home / name, "user.mark", b"closed")
        os.chmod(home / name, 0)


@mutation()
def change_an_attribute_of_a_read_only_file(home: Path) -> None:
    os.chmod(home / "readonly", 0o644)
    os.setxattr(home / "readonly", "user.note", b"changed")
    os.chmod(home / "readonly", 0o444)


@mutation()
def set_an_acl(home: Path) -> None:
    os.setxattr(home / "a", "system.posix_acl_access", acl(os.getuid(), 5))


@mutation()
def remove_an_acl(home: Path) -> None:
    os.removexattr(home / "script.sh", "system.posix_acl_access")


@mutation()
def set_a_default_acl_and_create_under_it(home: Path) -> None:
    os.setxattr(home / "e", "system.posix_acl_default", acl(os.getuid(), 5))
    (home / "e" / "inherits").write_bytes(b"x")


@mutation(needs="caps")
def give_a_file_a_capability(home: Path) -> None:
    capability = struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0)  # cap_net_raw=ep
    os.setxattr(home / "script.sh", "security.capability", capability)


@mutation(needs="root")
def make_a_file_immutable_after_an_edit(home: Path) -> None:
    overwrite(home / "a", b"ALPHA")
    set_flags(home / "a", 0x10)


@mutation(needs="root")
def make_a_directory_append_only_after_a_deletion(home: Path) -> None:
    os.unlink(home / "e" / "one")
    (home / "e" / "two").write_bytes(b"new")
    set_flags(home / "e", 0x20)


def set_flags(path: Path, flags: int) -> None:
    """Do as chattr(1); where the filesystem has no flags the mutation is what was done before."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, 0x40086602, struct.pack("=Q", flags))
    except OSError as error:
        if error.errno not in (errno.ENOTTY, errno.EOPNOTSUPP):
            raise
    finally:
        os.close(descriptor)


@mutation(needs="root")
def make_a_device(home: Path) -> None:
    os.mknod(home / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))


@mutation()
def set_only_the_mtime(home: Path) -> None:
    os.utime(home / "a", ns=(LONG_AGO_NS, LONG_AGO_NS + 1))


@mutation(changes=False)
def set_the_mtime_of_a_directory_within_its_second(home: Path) -> None:
    """Not reported, because it follows from the entries; put back all the same."""
    os.utime(home / "e", ns=(LONG_AGO_NS, LONG_AGO_NS + 1000))


@mutation(changes=False)
def set_only_the_atime(home: Path) -> None:
    os.utime(home / "a", ns=(5, os.stat(home / "a").st_mtime_ns))


@mutation(changes=False)
def touch_and_put_back(home: Path) -> None:
    keep_mtime(home / "a", os.utime)


@mutation(changes=False)
def chmod_and_back(home: Path) -> None:
    os.chmod(home / "a", 0o600)
    os.chmod(home / "a", 0o644)


@mutation()
def write_the_same_bytes_again(home: Path) -> None:
    overwrite(home / "a", b"alpha")


@mutation(changes=False)
def create_and_delete(home: Path) -> None:
    (home / "d" / "temporary").write_bytes(b"x")
    os.unlink(home / "d" / "temporary")


@mutation()
def delete_a_file(home: Path) -> None:
    os.unlink(home / "a")


@mutation(parts_links=True)
def delete_a_directory(home: Path) -> None:
    shutil.rmtree(home / "d")


@mutation(changes=False)
def delete_and_recreate_the_same_file(home: Path) -> None:
    content, status = (home / "a").read_bytes(), os.stat(home / "a")
    os.unlink(home / "a")
    (home / "a").write_bytes(content)
    os.utime(home / "a", ns=(status.st_atime_ns, status.st_mtime_ns))


@mutation()
def delete_and_recreate_a_directory(home: Path) -> None:
    shutil.rmtree(home / "many")
    (home / "many").mkdir()
    (home / "many" / "f3").write_bytes(b"3")
    (home / "many" / "new").write_bytes(b"new")


@mutation()
def delete_everything_visible(home: Path) -> None:
    os.chmod(home / "locked", 0o700)
    subprocess.run("rm -rf -- *", shell=True, cwd=home, check=True)


@mutation()
def make_a_file_unreadable(home: Path) -> None:
    os.chmod(home / "a", 0)


@mutation()
def make_a_full_directory_unreadable(home: Path) -> None:
    (home / "d" / "hidden").write_bytes(b"hidden")
    os.chmod(home / "d" / "hidden", 0)
    os.chmod(home / "d" / "sub", 0)
    os.chmod(home / "d", 0)


@mutation()
def open_a_locked_directory(home: Path) -> None:
    os.chmod(home / "locked", 0o755)
    (home / "locked" / "inside").write_bytes(b"found\n")


@mutation()
def use_odd_names(home: Path) -> None:
    here = os.fsencode(home) + b"/"
    for name in (b"another\nline", b"\x80\x81", b"--help", b"\xf0\x9f\x90\xa7", b"m" * 255, b"tab\there", b"$(x)`y`"):
        with open(here + name, "wb") as file:
            file.write(b"odd")
    os.unlink(here + b"new\nline")
    with open(here + b"\xff\xfe", "ab") as file:
        file.write(b"!")


@mutation()
def make_empty_directories(home: Path) -> None:
    (home / "x" / "y" / "z").mkdir(parents=True)


@mutation()
def remove_an_empty_directory(home: Path) -> None:
    (home / "emptydir").rmdir()


@mutation()
def make_a_deep_directory(home: Path) -> None:
    (home / "/".join(["deep"] * 60)).mkdir(parents=True)
    (home / "deep" / "deep" / "file").write_bytes(b"x")


@mutation()
def make_many_files(home: Path) -> None:
    (home / "lots").mkdir()
    for number in range(150):
        (home / "lots" / str(number)).write_bytes(b"%d" % number)


@mutation()
def replace_a_file_by_rename_as_editors_do(home: Path) -> None:
    (home / ".a.swp").write_bytes(b"alpha, edited\n")
    os.chmod(home / ".a.swp", 0o644)
    os.replace(home / ".a.swp", home / "a")


@mutation()
def write_elsewhere_in_the_world(home: Path) -> None:
    (home.parents[1] / "tmp" / "scratch").write_bytes(b"tmp")
    (home.parents[1] / "srv" / "www").mkdir()


@mutation()
def leave_the_file_of_a_surviving_job(home: Path) -> None:
    """A job that outlived its shell wrote, and was killed while it held the file open."""
    program = 'exec 3>"$1"; echo line >&3; echo ready; read -r never'
    argv = ["sh", "-c", program, "sh", home / "job.log"]
    job = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert job.stdout is not None
    job.stdout.readline()
    job.kill()
    job.communicate()
