"""The cases of build-heap: programs, build options, allocators and C libraries."""

import glob
import os

LIB = "usr/lib/x86_64-linux-gnu"
PRELOADED = {"jemalloc": LIB + "/libjemalloc.so.2", "tcmalloc": LIB + "/libtcmalloc_minimal.so.4",
             "mimalloc": LIB + "/libmimalloc.so.2"}
# <asm/…> is the same for both widths; next to the cross compilers, no package adds it to i386's path.
I386 = ["-m32", "-idirafter", "/usr/include/x86_64-linux-gnu"]
ORDINARY = ("structs", "lists", "hashes", "trees", "strings", "arrays", "leaks", "sizes", "ends", "roots", "classes", "containers",
            "unions", "payloads", "intrusive", "tvalues", "variants", "guesses", "frame", "gateway", "vfs", "mint", "studio", "deques",
            "market")
GRID = ("structs", "leaks", "sizes", "threads")
MIXED = ("frame", "gateway", "vfs", "mint")
# The share of blocks that must have a type, where less than usual says what the others are: references in integers (frame), void
# pointers in lists of everything (gateway), values of one size that their numbers do not tell apart (mint).
TYPED = {"frame": 0.8, "gateway": 0.8, "mint": 0.8}


class Case:
    """One core: a program, its flags, and the libraries below it."""

    def __init__(self, program, level, allocator="glibc", root="", strip=False, by_loader=False, environment=None, suffix="",
                 symbols=True, arguments=(), totals=False, bits=64):
        self.program, self.level, self.allocator, self.root = program, level, allocator, root
        self.strip, self.by_loader, self.symbols = strip, by_loader, symbols
        self.environment, self.arguments, self.totals, self.bits = environment or {}, list(arguments), totals, bits
        self.source = program + (".c" if os.path.exists(os.path.join(os.path.dirname(__file__), program + ".c")) else ".cc")
        self.cxx = self.source.endswith(".cc")
        self.compiler = "g++" if self.cxx else "gcc"
        words = [program, "o%d" % level, allocator if allocator != "glibc" else "", root, suffix, "i386" if bits == 32 else ""]
        self.name = "-".join(word for word in words if word)

    @property
    def typed(self):
        """Whether there is debug information for typing blocks."""
        return not self.strip

    @property
    def least(self):
        """The share of blocks that must have a type; None: as usual."""
        return TYPED.get(self.program)

    @property
    def whole(self):
        """Whether the account has every block, including those of the libraries."""
        return not self.allocator.startswith("musl") and not self.totals

    def roots(self):
        return ([self.root] if self.root else []) + (["allocators"] if self.allocator != "glibc" else [])

    def commands(self, folder, exe, roots):
        """The account is C even if the program is C++, and optimised, so that its last frame has no unwritten slot."""
        flags = ["-D_GNU_SOURCE", "-g", "-Wall", "-Wextra"] + (I386 if self.bits == 32 else [])
        linked = ["-lpthread", "-ldl"]
        if self.allocator.startswith("musl"):
            flags += musl_flags(roots["allocators"])
            linked = musl_libraries(roots["allocators"], self.allocator == "musl-static")
        elif self.root == "bare":
            flags += loader_flags(os.path.join(roots["bare"], "lib"))
        elif self.root:
            flags += release_flags(roots[self.root])
            linked = [os.path.join(library_folder(roots[self.root]), name) for name in ("libpthread.so.0", "libdl.so.2")]
        book, own = exe + "-account.o", ["-std=c++17", "-I", os.path.join(folder, "told"), "new.cc"] if self.cxx else []
        return [["gcc", "-c", "-o", book, "account.c", "-O2"] + (["-DACCOUNT_TOTALS"] if self.totals else []) + flags,
                [self.compiler, "-o", exe, self.source, book, "-O%d" % self.level] + flags + own + linked]

    def loaded(self, roots):
        """Libraries that affect the core."""
        if self.allocator.startswith("musl"):
            return [os.path.join(roots["allocators"], "lib/ld-musl-x86_64.so.1")]
        folder = "/lib32" if self.bits == 32 else "/lib/x86_64-linux-gnu"
        if self.root:
            folder = os.path.join(roots["bare"], "lib") if self.root == "bare" else library_folder(roots[self.root])
        preloaded = [os.path.join(roots["allocators"], PRELOADED[self.allocator])] if self.allocator in PRELOADED else []
        return [os.path.join(folder, "libc.so.6")] + preloaded

    def run_environment(self, roots):
        preload = {"LD_PRELOAD": os.path.join(roots["allocators"], PRELOADED[self.allocator])} if self.allocator in PRELOADED else {}
        return {**self.environment, **preload}

    def argv(self, exe, roots):
        if self.by_loader:
            folder = library_folder(roots[self.root])
            return [os.path.join(folder, "ld-linux-x86-64.so.2"), "--library-path", folder, exe] + self.arguments
        return [exe] + self.arguments

    def options(self, roots):
        options = []
        if self.root and self.root != "bare" and self.symbols:
            options += ["--debug-dir", os.path.join(roots[self.root], "usr/lib/debug")]
        return options


def library_folder(root):
    return next(path for path in (os.path.join(root, "lib/x86_64-linux-gnu"), os.path.join(root, LIB))
                if os.path.exists(os.path.join(path, "libc.so.6")))


def loader_flags(folder):
    return ["-Wl,--dynamic-linker=%s/ld-linux-x86-64.so.2" % folder, "-Wl,--disable-new-dtags,-rpath," + folder]


def release_flags(root):
    """The compiler's own folders precede a sysroot's and contain the system's C library."""
    folder = os.path.join(root, LIB)
    return ["--sysroot=" + root, "-B" + folder, "-L" + folder] + loader_flags(library_folder(root))


def musl_flags(root):
    """Like musl-gcc, but from a root: headers and libraries of musl instead of the system's."""
    return ["-DACCOUNT_NO_HOOKS", "-nostdinc", "-isystem", os.path.join(root, "usr/include/x86_64-linux-musl"),
            "-isystem", glob.glob("/usr/lib/gcc/x86_64-linux-gnu/*/include")[-1], "-nostdlib", "-no-pie",
            "-Wl,--dynamic-linker=" + os.path.join(root, "lib/ld-musl-x86_64.so.1")]


def musl_libraries(root, static):
    folder = os.path.join(root, "usr/lib/x86_64-linux-musl")
    library = os.path.join(folder, "libc.a") if static else os.path.join(root, "lib/x86_64-linux-musl/libc.so")
    start, middle, end = (os.path.join(folder, name) for name in ("crt1.o", "crti.o", "crtn.o"))
    return (["-static"] if static else []) + [start, middle, library, "-lgcc", library, end]


def big_cases():
    """N million blocks, and a list of one million; only totals and a sample are recorded."""
    out = [Case("million", 2, suffix="%d" % count, arguments=("%d000000" % count,), totals=True) for count in (1, 4, 15)]
    out += [Case("tables", 2, suffix="%d" % count, arguments=("%d000000" % count,), totals=True) for count in (1, 10)]
    return out + [Case("chain", 2, suffix=kind, arguments=("1000000", kind), totals=True) for kind in ("single", "double")]


def few():
    """The cases of `make test`: each program but the slowest once, each allocator, C library and form once."""
    programs = ["%s-o%d" % (program, 2 * (number % 2 and program != "containers")) for number, program in enumerate(ORDINARY)
                if program != "market"]
    return programs + ["threads-o0-arenas-5", "lists-o0-i386", "leaks-o2-bare-stripped", "leaks-o2-jemalloc",
                       "structs-o2-tcmalloc", "structs-o2-mimalloc", "structs-o2-musl"]


def all_cases():
    """All but the big ones."""
    out = [Case(program, level) for program in ORDINARY for level in (0, 2)]
    out += [Case(program, level, bits=32) for program in ("structs", "lists", "hashes", "trees", "strings", "arrays", "leaks")
            for level in (0, 2)]
    out += [Case("threads", 2), Case("threads", 0, suffix="arenas-5", arguments=("64", "5"))]
    out += [Case(program, 2, strip=True, root="bare", suffix="stripped") for program in ("leaks", "threads", "lists")]
    for root in ("bullseye", "trixie", "sid"):
        out += [Case(program, 2, root=root) for program in GRID + ("ends",)]
        out += [Case(program, 2, root=root, symbols=False, suffix="no-symbols") for program in GRID + ("ends",)]
    out += [Case("structs", 2, root="trixie", by_loader=True, suffix="by-loader")]
    out += [Case(program, 2, root="bare") for program in GRID]
    for allocator in ("jemalloc", "tcmalloc", "mimalloc"):
        out += [Case(program, 2, allocator) for program in GRID + ("classes", "containers", "studio", "deques", "market") + MIXED]
    out += [Case(program, 2, "musl") for program in MIXED]
    return out + [Case(program, 2, allocator) for allocator in ("musl", "musl-static") for program in GRID]
