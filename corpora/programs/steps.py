"""steps: what the column `steps` of programs/cases does to the files of a case, in the order of the table.

Each is a function of the case at hand (`Made` of build-programs): its folder, its program's name, and what xcore must be told."""

import glob
import os
import shutil

from builder import Skip, run


def tool(made, *words):
    """Runs a tool of the host's in the folder; one that is not installed is no fault of the case."""
    if not shutil.which(words[0]):
        raise Skip("no " + words[0])
    return run(list(words), cwd=made.dir)


def split(made, debug):
    tool(made, "objcopy", "--only-keep-debug", made.prog, debug)
    tool(made, "strip", "--strip-all", made.prog)


def debuglink(made):
    split(made, made.prog + ".debug")
    tool(made, "objcopy", "--add-gnu-debuglink=%s.debug" % made.prog, made.prog)


def buildid(made):
    told = tool(made, "readelf", "-n", made.prog).split("Build ID:")
    if len(told) != 2:
        raise RuntimeError("the program has no build-id")
    number = told[1].split()[0]
    folder = os.path.join("debug", ".build-id", number[:2])
    os.makedirs(os.path.join(made.dir, folder))
    split(made, os.path.join(folder, number[2:] + ".debug"))
    made.options += ["--debug-dir", os.path.join(made.dir, "debug")]


def strip(made):
    tool(made, "strip", "--strip-all", made.prog)


def symbols(made, *options):
    """(name, letter) of each."""
    told = tool(made, "nm", *options, made.prog, "--format=posix", "--defined-only")
    return [line.split()[:2] for line in told.splitlines()]


def minidebug(made):
    """As gdb's manual builds it ("MiniDebugInfo"): the function symbols that .dynsym lacks, in an xz-compressed ELF."""
    dynamic = {name for name, _ in symbols(made, "-D")}
    kept = os.path.join(made.dir, "keep_symbols")
    with open(kept, "w", encoding="utf-8") as stream:
        stream.writelines(name + "\n" for name, letter in symbols(made) if letter in "DTt" and name not in dynamic)
    tool(made, "objcopy", "--only-keep-debug", made.prog, "mini_debug")
    tool(made, "objcopy", "-S", "--remove-section", ".gdb_index", "--remove-section", ".comment", "--keep-symbols=keep_symbols", "mini_debug")
    tool(made, "strip", "--strip-all", made.prog)
    tool(made, "xz", "-q", "mini_debug")
    tool(made, "objcopy", "--add-section", ".gnu_debugdata=mini_debug.xz", made.prog)
    os.unlink(kept)
    os.unlink(os.path.join(made.dir, "mini_debug.xz"))


def dwz(made):
    libraries = sorted(os.path.basename(path) for path in glob.glob(os.path.join(made.dir, "*.so")))
    tool(made, "dwz", "-m", "common.dwz", made.prog, *libraries)
    if "gnu_debugaltlink" not in tool(made, "readelf", "-SW", made.prog):
        raise RuntimeError("dwz found nothing to share")


def dwp(made):
    tool(made, "dwp", "-e", made.prog, "-o", made.prog + ".dwp")
    for path in glob.glob(os.path.join(made.dir, "*.dwo")):
        os.unlink(path)


def compress(how):
    return lambda made: tool(made, "objcopy", "--compress-debug-sections=" + how, made.prog)


def keep(made):
    made.exe += ".kept"
    shutil.copy2(os.path.join(made.dir, made.prog), made.exe)
    made.options += ["--exe", made.exe]


def sysroot(made):
    """After the death: moves the program below sysroot/ and copies there every library the core names, with the links to their
    folders (/lib is one on a merged-usr system, and link_map names files by it)."""
    root = os.path.join(made.dir, "sysroot")
    os.makedirs(root + made.dir)
    for link in ("/lib", "/lib64"):
        if os.path.islink(link):
            os.symlink(os.readlink(link), root + link)
    words = [line.split() for line in tool(made, "eu-readelf", "-n", "core").splitlines()]
    named = {line[-1] for line in words if len(line) > 1 and "-" in line[0] and line[-1].startswith("/")}
    for path in sorted(named - {os.path.join(made.dir, made.prog)}):
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        shutil.copy2(path, root + path)
    made.exe = os.path.join(root + made.dir, made.prog)
    shutil.move(os.path.join(made.dir, made.prog), made.exe)
    made.options += ["--sysroot", root]


BEFORE = {"debuglink": debuglink, "buildid": buildid, "strip": strip, "minidebug": minidebug, "dwz": dwz, "dwp": dwp,
          "zdebug-zlib": compress("zlib"), "zdebug-zstd": compress("zstd"), "keep": keep}
AFTER = {"sysroot": sysroot}
ELSEWHERE = ("objects", "guest=")  # matters of compiling and of running


def check(row):
    for step in row.steps:
        if step not in BEFORE and step not in AFTER and not step.startswith(ELSEWHERE):
            raise RuntimeError("%s: unknown step" % step)
