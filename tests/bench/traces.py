"""traces: parts of a batch with 20,000 records of 64 frames, all different, as `triage --merge` reads them. Generated;
there are no cores."""

import json
import random

COUNT, FRAMES = 20000, 64
HEAD = {"schema": "xcore.part/1", "version": "bench", "config": "0" * 64, "manifest": "0" * 64, "shard": 0, "of": 1, "cores": COUNT}
BUILD = "ab" * 20


def record(number, names):
    frames = [{"function": name, "module": "server", "build_id": BUILD, "offset": "0x%x" % (4096 + 16 * at), "trust": "cfi"}
              for at, name in enumerate(names)]
    every = [len(frames)] * 2
    return {"schema": "xcore.record/1", "status": "ok", "path": "core.%05d" % number, "core_id": "%032x" % number, "stored": 4096, "size": 4096,
            "program": "server", "build_id": BUILD, "arch": "x86-64", "signal": "SIGSEGV", "class": "wild-read", "severity": "medium",
            "confidence": "certain", "headline": "SIGSEGV", "cause": "a read of no memory", "thread": "server", "threads": 1,
            "stop": "outermost frame", "frames": frames, "known": {"all": every, "crashed": every, "top": [5, 5]}}


def write(stream, stacks):
    seen = set()
    stream.write(json.dumps(HEAD) + "\n")
    for number, names in enumerate(stacks):
        assert tuple(names) not in seen
        seen.add(tuple(names))
        stream.write(json.dumps(record(number, names), separators=(",", ":")) + "\n")


def server(stream):
    """500 problems with 40 stacks each; some frames differ, the outer frames are common."""
    chance, common = random.Random(7), ["serve_%d" % i for i in range(24)]

    def stacks():
        for number in range(COUNT):
            own = random.Random(number % 500)
            names = ["work_%d" % own.randrange(20000) for _ in range(FRAMES - len(common))] + common
            for _ in range(4):
                names[chance.randrange(1, FRAMES)] = "work_%d" % chance.randrange(20000)
            yield names

    write(stream, stacks())


def few_names(stream):
    """All records have the same three names, in different orders: every pair is compared."""
    chance = random.Random(7)
    write(stream, (["step_%d" % chance.randrange(3) for _ in range(FRAMES)] for _ in range(COUNT)))


SHAPES = {"a server's": server, "of three names": few_names}
