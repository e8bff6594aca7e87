"""Profiles by chance, written as docs/formats.md says, without xcore: an oracle for its reader and for the page.

    profile = Profile(stacks=100000, seed=3)
    profile.write("big.xprof")
"""
import random
import struct
import subprocess

KERNEL, THREADS, SLICES, DEEPEST = 2, 30, 800, 80


def uleb(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def sleb(n):
    out = bytearray()
    while not -64 <= n <= 63:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n & 0x7F)
    return bytes(out)


class Profile:
    def __init__(self, stacks, functions=3000, waits=39, seed=3):
        self.texts, self.numbers, self.chance = [""], {"": 0}, random.Random(seed)
        self.functions = [(self.text(f"ns::Class{i % 97}::method_{i}(int, std::string const&)"), self.text(f"lib{i % 20}.so"), 0)
                          for i in range(functions)]
        self.frames = [(i % functions, self.text(f"/src/dir/file{i % 200}.cc"), self.chance.randrange(1, 2000),
                        KERNEL if i % functions < functions // 20 else 0) for i in range(3 * functions)]
        self.threads = [(1, 100 + i, self.text("worker" if i % 3 else f"io-{i}")) for i in range(THREADS)]
        self.waits = [(0, 0)] + [(self.text(f"mutex `m{i}`"), 0) for i in range(waits)]
        self.nodes, self.depth, self.sums, self.parts = [(0, 0)], [0], {}, []
        while len(self.sums) < stacks:
            self.add_stack()
        self.sums = [key + value for key, value in self.sums.items()]
        for number, row in enumerate(self.sums):
            self.add_parts(number, row[3])
        self.head = (self.text("CPU time of pid:1"), self.text("many samples"), self.text("pid:1   big"), 0, 0, 1, 1, SLICES,
                     10101010, 16777216, SLICES * 16777216)

    def text(self, text):
        if text not in self.numbers:
            self.numbers[text] = len(self.texts)
            self.texts.append(text)
        return self.numbers[text]

    def add_stack(self):
        chance, last = self.chance, len(self.nodes)
        at = chance.randrange(max(0, last - 5000), last) if chance.random() < 0.7 else chance.randrange(last)
        at = 0 if self.depth[at] > DEEPEST else at
        for _ in range(chance.randrange(1, 8)):
            self.nodes.append((at, chance.randrange(len(self.frames) if self.depth[at] > 3 else 12)))
            self.depth.append(self.depth[at] + 1)
            at = len(self.nodes) - 1
        wait = 0 if chance.random() < 0.7 else chance.randrange(1, len(self.waits))
        self.sums[at, wait, chance.randrange(THREADS)] = (chance.randrange(3, 50), 50)

    def add_parts(self, number, samples):
        slices = sorted(self.chance.sample(range(SLICES), 3))
        for turn, where in enumerate(slices):
            self.parts.append((number, where, samples - 2 * (samples // 3) if turn == 0 else samples // 3))

    def totals(self, wanted=lambda _: True):
        """By function: its own samples, and those of stacks that it is in; of the sums that are wanted."""
        own, total = {}, {}
        for row in self.sums:
            if not wanted(row):
                continue
            node, path = row[0], set()
            own[self.frames[self.nodes[node][1]][0]] = own.get(self.frames[self.nodes[node][1]][0], 0) + row[3]
            while node:
                path.add(self.frames[self.nodes[node][1]][0])
                node = self.nodes[node][0]
            for function in path:
                total[function] = total.get(function, 0) + row[3]
        return own, total

    def name(self, function):
        return self.texts[self.functions[function][0]]

    def table(self, tag, rows, columns):
        body = bytearray(uleb(len(rows)))
        for column in range(columns):
            before = 0
            for row in rows:
                body += sleb(row[column] - before)
                before = row[column]
        return uleb(tag) + uleb(len(body)) + bytes(body)

    def write(self, path):
        texts = uleb(len(self.texts)) + b"".join(text.encode() + b"\0" for text in self.texts)
        tables = [([self.head], 11), ([], 10), ([], 10), (self.functions, 3), (self.frames, 4), (self.nodes, 2),
                  (self.threads, 3), (self.waits, 2), (self.sums, 5), (self.parts, 3)]
        raw = uleb(1) + uleb(len(texts)) + texts + b"".join(self.table(2 + i, *table) for i, table in enumerate(tables))
        packed = subprocess.run(["zstd", "-qc"], input=raw, stdout=subprocess.PIPE, check=True).stdout
        with open(path, "wb") as stream:
            stream.write(struct.pack("<II", 0x184D2A5D, 16) + b"XCOREPRF" + struct.pack("<II", 1, 0) + packed)
