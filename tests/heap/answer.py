"""xcore's view of a heap, compared with the program's own account (corpora/heap/account.h)."""

import bisect
import json
import os
import re
import subprocess
import time

# The requirements; shares are of one core.
RECALL, TYPED, STRONG_RIGHT, RIGHT = 0.995, 0.95, 0.99, 0.98
SHOWN = 8
MAX_THREADS = 65  # of programs that record only totals
TCACHE = "struct tcache_perthread_struct"
TCACHE_SIZES = {0x18c, 0x248, 0x288, 0x298, 0x2f8, 0x308}  # glibc of i386, 2.26, 2.30, the same in a chunk that is 16 bytes larger, 2.43
SAME_TYPE = {"uint64_t": "unsigned long", "uint32_t": "unsigned int", "uint16_t": "unsigned short", "uint8_t": "unsigned char",
             "size_t": "unsigned long", "uintptr_t": "unsigned long", "int64_t": "long", "wchar_t": "int",
             "char32_t": "char32_t", "std::string": "std::__cxx11::basic_string<char,std::char_traits<char>,std::allocator<char>>"}


def normal(name):
    """A canonical spelling of a type's name: only the type itself, and the words of integer types in one order."""
    name = re.sub(r"\b(struct|class|union|enum|const|volatile)\b", " ", name)
    name = re.sub(r"\[\d*\]", "", name)
    name = re.sub(r"\b(\d+)(u|l|ul|ull|ll)\b", r"\1", name)
    name = re.sub(r"\b(?:(?:short|long|unsigned|signed|int|char)\s*)+\b", lambda words: integer(words.group()), name)
    name = re.sub(r"\s+", " ", name).strip()
    name = re.sub(r" ?([<>,*&()]) ?", r"\1", name)
    return SAME_TYPE.get(name, name)


def integer(words):
    words = words.split()
    if "char" in words:
        return " ".join([word for word in words if word != "char"] + ["char"])
    size = "short" if "short" in words else "long" if "long" in words else "int"
    return ("unsigned " if "unsigned" in words else "") + size


def demangled(names):
    """Demangles the typeid names that C++ programs record."""
    names = sorted(names)
    done = subprocess.run(["c++filt", "-t"], input="\n".join(names).encode(), stdout=subprocess.PIPE, check=True)
    return dict(zip(names, done.stdout.decode().splitlines()))


class Account:
    """used: addr -> (size, acceptable types or None, count, leaked); freed, possible: addresses, of blocks that are freed, and that
    only words lead to that the program does not mean."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as stream:
            rows = [json.loads(line) for line in stream]
        totals = [row["totals"] for row in rows if "totals" in row]
        rows = [row for row in rows if "addr" in row]
        names = demangled({one for row in rows if row["type"] for one in row["type"].split("|")})
        normals = {name: normal(full) for name, full in names.items()}
        self.used, self.freed, self.possible, self.totals = {}, [], [], totals[0] if totals else None
        for row in rows:
            addr = int(row["addr"], 16)
            if row["state"] == "freed":
                self.freed.append(addr)
                continue
            types = {normals[one] for one in row["type"].split("|")} if row["type"] else None
            self.used[addr] = (row["size"], types, row["count"], row["state"] == "leaked")
            if row["state"] == "possible":
                self.possible.append(addr)


def lines_of(xcore, core, options):
    """The lines of `heap objects`, in order. Waits for an xcore that is just being linked."""
    argv = [xcore, "heap", "objects", "--format", "jsonl"] + options + [core]
    for _ in range(300):
        if os.access(xcore, os.X_OK):
            break
        time.sleep(0.1)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        yield from child.stdout
        said = child.stderr.read().decode(errors="replace").strip()
    if child.returncode != 0:
        raise RuntimeError("exit status %d: %s" % (child.returncode, said[-500:]))


def parsed(line):
    row = json.loads(line)
    state = "possible" if row["possible"] and row["state"] == "live" else row["state"]
    return row["size"], state, row.get("type"), row.get("confidence"), row.get("via")


def address(line):
    """The address of a line, without parsing all of it: addr comes first."""
    return int(line[9:line.index(b'"', 9)], 16)


def objects(xcore, core, options):
    """The output of `heap objects`, by address: (size, state, type, confidence, via)."""
    return {address(line): parsed(line) for line in lines_of(xcore, core, options)}


def large_objects(xcore, core, options, wanted):
    """The same for the wanted addresses, and the number of live and of leaked blocks."""
    out, used, leaked = {}, 0, 0
    for line in lines_of(xcore, core, options):
        is_leaked = b'"state":"leaked"' in line
        leaked += is_leaked
        used += is_leaked or b'"state":"live"' in line
        addr = address(line)
        if addr in wanted:
            out[addr] = parsed(line)
    return out, used, leaked


class Verdict:
    """Figures and complaints of one core."""

    def __init__(self):
        self.figures, self.complaints = {}, []

    def add(self, **figures):
        self.figures.update(figures)

    def complain(self, what, examples=()):
        self.complaints.append(what)
        self.complaints += ["    " + one for one in list(examples)[:SHOWN]]

    def line(self):
        figure = self.figures
        words = ["%d blocks" % figure["blocks"]]
        words += ["%d %s" % (figure[key], key) for key in ("missing", "wrong size", "false", "freed shown") if figure[key]]
        words.append("leaks %d of %d" % (figure["leaks found"], figure["leaks"]))
        if figure["false leaks"]:
            words.append("%d false leaks" % figure["false leaks"])
        if figure.get("of type"):
            words.append("typed %.1f %%, right %.1f %%, strong %.1f %% (right %.1f %%)" % (
                100 * share(figure["typed"], figure["of type"]), 100 * share(figure["right"], figure["judged"]),
                100 * share(figure["strong"], figure["typed"]), 100 * share(figure["strong right"], figure["strong judged"])))
        return ", ".join(words)


def share(part, whole):
    return part / whole if whole else 1.0


def own_blocks(account, said, allocator, threads):
    """Blocks that an allocator takes from itself without a malloc call are not the program's: a tcache per thread, with
    a type only in glibc's debug information; tcmalloc's two extension objects, one of which it replaces and leaks."""
    if allocator == "glibc":
        more = [addr for addr, row in said.items() if addr not in account.used and row[1] == "live"]
        tcaches = [addr for addr in more if said[addr][2] == TCACHE or (not said[addr][2] and said[addr][0] in TCACHE_SIZES)]
        return set(tcaches[:threads])
    if allocator == "tcmalloc":
        for addr in [addr for addr, row in account.used.items() if row[0] <= 16 and not row[1]]:
            del account.used[addr]
        return {addr for addr, row in said.items() if row[0] <= 16 and addr not in account.used}
    return set()


def thread_count(core):
    """The number of register notes in the core."""
    done = subprocess.run(["readelf", "-nW", core], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.count(b"NT_PRSTATUS")


def unaligned(account, said):
    """mimalloc does not record the offset of an aligned address in its block: match blocks by their end."""
    starts = sorted(said)
    for addr in [addr for addr in account.used if addr not in said]:
        at = bisect.bisect_right(starts, addr) - 1
        size, *rest = account.used[addr]
        if at >= 0 and starts[at] + said[starts[at]][0] == addr + size and starts[at] not in account.used:
            del account.used[addr]
            account.used[starts[at]] = (said[starts[at]][0], *rest)


def compare(account, answer, typed=True, whole=True, allocator="glibc", threads=1, least=None):
    """typed: there is debug information; whole: the account has every block of the process; least: instead of TYPED."""
    verdict = Verdict()
    said = {addr: row for addr, row in answer.items() if row[1] in ("live", "possible", "leaked")}
    if allocator == "mimalloc":
        unaligned(account, said)
    for addr in own_blocks(account, said, allocator, threads):
        del said[addr]
    compare_blocks(verdict, account, answer, said, whole)
    compare_leaks(verdict, account, said)
    if typed:
        compare_types(verdict, account, said, least or TYPED)
    return verdict


def compare_blocks(verdict, account, answer, said, whole):
    missing = [addr for addr in account.used if addr not in said]
    sizes = [addr for addr, row in account.used.items() if addr in said and said[addr][0] != row[0]]
    false = [addr for addr in said if addr not in account.used] if whole else []
    shown = [addr for addr in account.freed if addr in said and addr not in account.used]
    verdict.add(**{"blocks": len(account.used), "missing": len(missing), "wrong size": len(sizes), "false": len(false),
                   "freed shown": len(shown)})
    if missing:
        verdict.complain("%d blocks are not found as live ones" % len(missing), (
            "0x%x, %d bytes: %s" % (addr, account.used[addr][0], answer.get(addr, ("nothing there",))[:2]) for addr in missing))
    if sizes:
        verdict.complain("%d sizes are wrong" % len(sizes), (
            "0x%x: %d instead of %d" % (addr, said[addr][0], account.used[addr][0]) for addr in sizes))
    if false:
        verdict.complain("%d blocks that were never allocated" % len(false), (
            "0x%x, %d bytes, %s" % (addr, said[addr][0], said[addr][1]) for addr in false))
    if shown:
        verdict.complain("%d freed blocks are shown as live ones" % len(shown), ("0x%x" % addr for addr in shown))


def compare_leaks(verdict, account, said):
    leaks = {addr for addr, row in account.used.items() if row[3]}
    found = {addr for addr, row in said.items() if row[1] == "leaked"}
    false = sorted(found - leaks)
    firm = [addr for addr in account.possible if addr in said and said[addr][1] != "possible"]
    verdict.add(**{"leaks": len(leaks), "leaks found": len(leaks & found), "false leaks": len(false)})
    if share(len(leaks & found), len(leaks)) < RECALL:
        verdict.complain("%d of %d leaks are not found" % (len(leaks - found), len(leaks)), (
            "0x%x, %s" % (addr, account.used[addr][1]) for addr in sorted(leaks - found)))
    if firm:
        verdict.complain("%d of %d possible leaks are not called so" % (len(firm), len(account.possible)), (
            "0x%x, %s" % (addr, said[addr][1]) for addr in firm))
    if false:
        verdict.complain("%d false leaks" % len(false), (
            "0x%x, %d bytes, %s" % (addr, said[addr][0], account.used.get(addr, (0, "not in the account"))[1]) for addr in false))


def compare_types(verdict, account, said, least):
    """A block that the account permits as void is plain bytes: no type is required, but a reported one must be
    permitted. So it is for one that the account permits as unknown, whatever the confidence."""
    count = dict.fromkeys(("of type", "typed", "judged", "right", "strong", "strong judged", "strong right"), 0)
    wrong, untyped = {}, {}
    for addr, (_, types, _, leaked) in account.used.items():
        if leaked or not types or addr not in said:
            continue
        _, _, name, confidence, via = said[addr]
        strong = confidence in ("exact", "strong")
        if not types & {"void", "unknown"}:
            count["of type"] += 1
            count["typed"] += name is not None
            count["strong"] += strong and name is not None
            if name is None:
                untyped[min(types)] = untyped.get(min(types), 0) + 1
        if name is None or ("void" in types and confidence == "weak"):
            continue
        right = normal(name) in types or ("void" in types and normal(name) in ("char", "unsigned char"))
        count["judged"] += 1
        count["right"] += right
        count["strong judged"] += strong
        count["strong right"] += strong and right
        if not right:
            wrong.setdefault((min(types), name, confidence, via), []).append(addr)
    verdict.add(**count)
    judge_types(verdict, count, wrong, untyped, least)


def judge_types(verdict, count, wrong, untyped, least):
    mistakes = ["%d of %s: %s (%s, by %s), first 0x%x" % (len(addrs), truth, name, confidence, via, addrs[0])
                for (truth, name, confidence, via), addrs in sorted(wrong.items(), key=lambda item: -len(item[1]))]
    if share(count["typed"], count["of type"]) < least:
        verdict.complain("%.1f %% of the live blocks are typed" % (100 * share(count["typed"], count["of type"])), (
            "%d of %s" % (number, name) for name, number in sorted(untyped.items(), key=lambda item: -item[1])))
    if share(count["strong right"], count["strong judged"]) < STRONG_RIGHT:
        verdict.complain("%.1f %% of strong types are right" % (100 * share(count["strong right"], count["strong judged"])), mistakes)
    elif share(count["right"], count["judged"]) < RIGHT:
        verdict.complain("%.1f %% of types are right" % (100 * share(count["right"], count["judged"])), mistakes)


def verify_case(xcore, directory):
    """The verdict on a case of corpora/build-heap."""
    with open(os.path.join(directory, "meta.json"), encoding="utf-8") as stream:
        meta = json.load(stream)
    account, core = Account(os.path.join(directory, meta["account"])), os.path.join(directory, meta["core"])
    if account.totals:
        return verify_totals(xcore, core, meta, account)
    return compare(account, objects(xcore, core, meta["options"]), meta["typed"], meta["whole"], meta["allocator"], thread_count(core),
                   meta.get("least"))


def verify_totals(xcore, core, meta, account):
    """Checks the sample like any account, and the sums. Each thread may have its own block (a tcache)."""
    answer, used, leaked = large_objects(xcore, core, meta["options"], set(account.used))
    verdict = compare(account, answer, meta["typed"], False)
    totals = account.totals
    if not totals["blocks"] <= used <= totals["blocks"] + MAX_THREADS:
        verdict.complain("%d blocks in use instead of %d" % (used, totals["blocks"]))
    if not totals["leaked"] * RECALL <= leaked <= totals["leaked"]:
        verdict.complain("%d leaked blocks instead of %d" % (leaked, totals["leaked"]))
    verdict.add(**{"blocks": used, "leaks": totals["leaked"], "leaks found": leaked})
    return verdict
