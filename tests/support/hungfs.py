#!/usr/bin/env python3
"""hungfs.py [OPTION]... FOLDER PLACE RULES -- COMMAND...: run a command that sees FOLDER at PLACE, through a file
system that hangs.

The file system is real (FUSE). It performs requests in FOLDER, but never answers a request that matches one of the
RULES. A rule is OPERATION or OPERATION:PATTERN (of names; several with commas): lookup, getattr, setattr, mkdir,
unlink, rename, link, open, read, write, statfs, flush, fsync, opendir, readdir, create. Only COMMAND sees the file
system. A process that waits for such an answer cannot be killed until COMMAND has ended.

  --signal NAME     send COMMAND this signal after the first unanswered request
  --times N         answer the first N matching requests
  --within SECONDS  time limit for COMMAND after that signal, or without one after the first unanswered request

Exit status: that of COMMAND, or 128 plus the number of the signal that ended it; 97 if it took too long; 98 if one of
its processes remains and was not killed; 77 if no file system can be mounted here, with the reason on standard
error."""

import argparse
import ctypes
import errno
import fnmatch
import os
import select
import signal
import struct
import subprocess
import sys
import time

CLONE_NEWNS, CLONE_NEWUSER, MS_NOSUID, MS_NODEV, MS_REC, MS_PRIVATE = 0x20000, 0x10000000, 2, 4, 0x4000, 0x40000
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CANNOT, LATE, LEFT, PATIENCE = 77, 97, 98, 120
LIBC = ctypes.CDLL(None, use_errno=True)
NAMES = {1: "lookup", 3: "getattr", 4: "setattr", 9: "mkdir", 10: "unlink", 12: "rename", 13: "link", 14: "open", 15: "read", 16: "write", 17: "statfs",
         20: "fsync", 25: "flush", 27: "opendir", 28: "readdir", 35: "create", 45: "rename"}
UNANSWERED = (2, 36, 42)  # forget, interrupt, batch_forget


def call(name, *arguments):
    if getattr(LIBC, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, "%s: %s" % (name, os.strerror(number)))


# ---- the file system ----

class Server:
    """Performs requests in a folder, or leaves them unanswered."""

    def __init__(self, fuse, folder, rules, times, told):
        self.fuse, self.folder, self.rules, self.times, self.told = fuse, folder, rules, times, told
        self.paths, self.nodes, self.files = {1: ""}, {"": 1}, {}

    def at(self, path):
        return os.path.join(self.folder, path)

    def node(self, path):
        if path not in self.nodes:
            self.nodes[path] = len(self.paths) + 1
            self.paths[self.nodes[path]] = path
        return self.nodes[path]

    def hangs(self, operation, path):
        for rule in self.rules:
            name, _, pattern = rule.partition(":")
            if operation == name and fnmatch.fnmatch(os.path.basename(path), pattern or "*"):
                self.times -= 1
                return self.times < 0
        return False

    def attributes(self, path):
        st = os.lstat(self.at(path))
        seconds = [int(t) for t in (st.st_atime, st.st_mtime, st.st_ctime)]
        nanos = [t % 10**9 for t in (st.st_atime_ns, st.st_mtime_ns, st.st_ctime_ns)]
        return struct.pack("<6Q10I", self.node(path), st.st_size, st.st_blocks, *seconds, *nanos, st.st_mode, st.st_nlink, os.getuid(), os.getgid(), 0,
                           4096, 0)

    def entry(self, path):
        attributes = self.attributes(path)
        return struct.pack("<4Q2I", self.node(path), 0, 0, 0, 0, 0) + attributes

    def opened(self, descriptor):
        self.files[descriptor] = descriptor
        return struct.pack("<Q2I", descriptor, 0, 0)

    def listing(self, path, offset, size):
        bytes_ = b""
        for index, name in enumerate([".", ".."] + sorted(os.listdir(self.at(path)))):
            raw = os.fsencode(name)
            item = struct.pack("<2Q2I", index + 2, index + 1, len(raw), 0) + raw
            item += b"\0" * (-len(item) % 8)
            if index >= offset and len(bytes_) + len(item) <= size:
                bytes_ += item
            elif index >= offset:
                break
        return bytes_

    def target(self, operation, path, body):
        """The path of a request: below `path` if the request has a name."""
        skip = {1: 0, 9: 8, 10: 0, 11: 0, 12: 8, 13: 8, 35: 16, 45: 16}.get(operation)
        if skip is None:
            return path
        return os.path.join(path, os.fsdecode(body[skip:].split(b"\0")[0]))

    def answer(self, operation, path, body):
        if operation == 26:
            return struct.pack("<4I2H2I2HI7I", 7, 31, 1 << 17, 0, 12, 9, 1 << 16, 1, 16, 0, 0, *[0] * 7)
        if operation == 1:
            return self.entry(path)
        if operation == 3:
            return struct.pack("<Q2I", 0, 0, 0) + self.attributes(path)
        if operation == 4:
            valid, size = struct.unpack_from("<I12xQ", body)
            if valid & 8:
                os.truncate(self.at(path), size)
            return struct.pack("<Q2I", 0, 0, 0) + self.attributes(path)
        if operation == 9:
            os.mkdir(self.at(path))
            return self.entry(path)
        if operation in (10, 11):
            (os.unlink if operation == 10 else os.rmdir)(self.at(path))
            return b""
        if operation in (12, 45):
            skip = 8 if operation == 12 else 16
            new = os.path.join(self.paths[struct.unpack_from("<Q", body)[0]], os.fsdecode(body[skip:].split(b"\0")[1]))
            os.rename(self.at(path), self.at(new))
            node = self.node(path)
            self.paths[node], self.nodes[new] = new, node
            del self.nodes[path]
            return b""
        if operation == 14:
            return self.opened(os.open(self.at(path), struct.unpack_from("<I", body)[0] & ~(os.O_NOFOLLOW | os.O_CREAT)))
        if operation == 15:
            descriptor, offset, size = struct.unpack_from("<2QI", body)
            return os.pread(descriptor, size, offset)
        if operation == 16:
            descriptor, offset, size = struct.unpack_from("<2QI", body)
            return struct.pack("<2I", os.pwrite(descriptor, body[40:40 + size], offset), 0)
        if operation == 17:
            return struct.pack("<5Q4I6I", 1 << 20, 1 << 19, 1 << 19, 1 << 16, 1 << 15, 4096, 255, 4096, 0, *[0] * 6)
        if operation == 18:
            os.close(self.files.pop(struct.unpack_from("<Q", body)[0]))
            return b""
        if operation in (20, 25, 29, 30):
            return b""
        if operation == 27:
            return struct.pack("<Q2I", 0, 0, 0)
        if operation == 28:
            _, offset, size = struct.unpack_from("<2QI", body)
            return self.listing(path, offset, size)
        if operation == 35:
            flags, mode = struct.unpack_from("<2I", body)
            descriptor = os.open(self.at(path), flags | os.O_CREAT, mode & 0o777)
            return self.entry(path) + self.opened(descriptor)
        raise OSError(errno.ENOSYS, "")

    def take(self):
        packet = os.read(self.fuse, 1 << 18)
        _, operation, unique, node = struct.unpack_from("<2I2Q", packet)
        body = packet[40:]
        if operation in UNANSWERED:
            return
        path = self.target(operation, self.paths.get(node, ""), body)
        if self.hangs(NAMES.get(operation), path):
            os.write(self.told, b"!")
            return
        try:
            data, number = self.answer(operation, path, body), 0
        except OSError as err:
            data, number = b"", -err.errno
        try:
            os.write(self.fuse, struct.pack("<IiQ", 16 + len(data), number, unique) + data)
        except OSError:
            pass  # the requester no longer waits

    def live(self):
        while True:
            try:
                self.take()
            except OSError:
                os._exit(0)


def enter():
    """Creates a mount namespace and, if required, a user namespace."""
    if os.getuid():
        uid, gid = os.getuid(), os.getgid()
        call("unshare", CLONE_NEWNS | CLONE_NEWUSER)
        for name, text in (("setgroups", "deny"), ("uid_map", "0 %d 1" % uid), ("gid_map", "0 %d 1" % gid)):
            with open("/proc/self/" + name, "w", encoding="ascii") as stream:
                stream.write(text)
    else:
        call("unshare", CLONE_NEWNS)
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)


def mount(place):
    fuse = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = "fd=%d,rootmode=40000,user_id=%d,group_id=%d" % (fuse, os.getuid(), os.getgid())
    call("mount", b"hungfs", os.fsencode(place), b"fuse.hung", MS_NOSUID | MS_NODEV, options.encode())
    return fuse


def serve(options):
    """Starts a server. Returns its pid, and the descriptor that reports an unanswered request."""
    ends = os.pipe()
    enter()
    fuse = mount(options.place)
    pid = os.fork()
    if pid == 0:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        for descriptor in (0, 1):
            os.close(descriptor)
        folder = options.folder
        Server(fuse, folder, options.rules.split(","), options.times, ends[1]).live()
    os.close(fuse)
    os.close(ends[1])
    return pid, ends[0]


# ---- the command ----

def is_killed(pid):
    """Has it ended, or does it end as soon as it can?"""
    pending, state = 0, "Z"
    try:
        with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as stream:
            for line in stream:
                words = line.split()
                if words[0] in ("SigPnd:", "ShdPnd:"):
                    pending |= int(words[1], 16)
                if words[0] == "State:":
                    state = words[1]
    except OSError:
        return True
    return state in "ZX" or pending >> (signal.SIGKILL - 1) & 1


def children():
    with open("/proc/self/task/%d/children" % os.getpid(), encoding="ascii") as stream:
        return [int(pid) for pid in stream.read().split()]


def settles(server):
    """Whether all remaining processes of the command (now our children) die in time: the kernel kills them after their
    parents end."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        left = [pid for pid in children() if pid != server and not is_killed(pid)]
        if not left:
            return True
        time.sleep(0.01)
    print("hungfs.py: left: %s" % left, file=sys.stderr)
    return False


def wait(run, silent, options):
    """Waits for its end. Returns its status, or LATE."""
    deadline = time.monotonic() + PATIENCE
    told = False
    while run.poll() is None:
        if time.monotonic() > deadline:
            run.kill()
            return LATE
        if not told and select.select([silent], [], [], 0.01)[0]:
            told = bool(os.read(silent, 1))
            if options.signal:
                run.send_signal(getattr(signal, "SIG" + options.signal))
            if options.within:
                deadline = time.monotonic() + options.within
        elif told:
            time.sleep(0.002)
    return run.returncode if run.returncode >= 0 else 128 - run.returncode


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--signal")
    parser.add_argument("--times", type=int, default=0)
    parser.add_argument("--within", type=float)
    parser.add_argument("folder")
    parser.add_argument("place")
    parser.add_argument("rules")
    at = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:at])
    # Resolved now: the place may be in the working directory.
    options.folder, options.place = os.path.realpath(options.folder), os.path.realpath(options.place)
    try:
        server, silent = serve(options)
    except OSError as err:
        print("no file system can be mounted here (%s)" % err, file=sys.stderr)
        return CANNOT
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
    run = subprocess.Popen(sys.argv[at + 1:])
    status = wait(run, silent, options)
    if status != LATE and not settles(server):
        status = LEFT
    os.kill(server, signal.SIGKILL)  # then all waiting processes get an answer
    return status


if __name__ == "__main__":
    sys.exit(main())
