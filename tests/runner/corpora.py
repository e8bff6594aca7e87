"""corpora: jobs that build the cores for the tests. Each case is built once, by its builder corpora/build-NAME.

Each builder is called once with --stale, to list the selected cases that are out of date. Each line it prints is a job:
the cases that are best built together. If a case cannot be built on this host, the builder leaves a file `skipped` with
the reason in the case's folder. Tests that need the case check that file."""

import collections
import fnmatch
import os
import subprocess


def stale(root, tests):
    """Returns ({key: command} of all jobs, {test path: keys of the jobs it waits for}). Raises ValueError for an
    unknown case."""
    wanted = collections.defaultdict(set)
    for test in tests:
        for need in test.cores:
            builder, glob = need.split(":", 1)
            wanted[builder].add(glob)
    jobs, makes = {}, collections.defaultdict(list)
    for builder, globs in sorted(wanted.items()):
        program = os.path.join(root, "corpora", "build-" + builder)
        for cases in listed(program, sorted(globs)):
            key = "%s:%s" % (builder, cases[0] if len(cases) == 1 else "%s and %d more" % (cases[0], len(cases) - 1))
            jobs[key] = [program, "-j", "1"] + [word for case in cases for word in ("--only", case)]
            makes[builder].append((key, cases))
    return jobs, {test.path: set(waited(test, makes)) for test in tests}


def waited(test, makes):
    for need in test.cores:
        builder, glob = need.split(":", 1)
        for key, cases in makes[builder]:
            if fnmatch.filter(cases, glob):
                yield key


def listed(program, globs):
    """The lines of --stale output, as lists of cases."""
    words = [word for glob in globs for word in ("--only", glob)]
    done = subprocess.run([program, "--stale", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise ValueError("%s --stale: %s" % (os.path.basename(program), done.stderr.decode(errors="replace").strip()))
    return [line.split() for line in done.stdout.decode().splitlines() if line.strip()]
