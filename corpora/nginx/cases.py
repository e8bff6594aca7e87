"""The cases of build-nginx: the nginx builds, and the way to write their worker's core."""

# A worker dies from a request for this uri. gcore writes the core of a running worker, between two events.
DEATHS = {
    "content": "/crash/content?id=crash-0", "timer": "/crash/timer?id=crash-0&how=timer",
    "thread": "/crash/thread?id=crash-0&how=thread", "filter": "/crash/filter?id=crash-0", "log": "/crash/log?id=crash-0",
}
FIRST = {"static-o0": ["gcore", "content", "timer"], "packaged": ["gcore", "content"]}
LONG = {"static": ["gcore", *DEATHS], "bullseye": ["gcore", "content"], "trixie": ["gcore", "content"], "sid": ["gcore", "content"]}
SMALL, BIG = 5, 500  # thousands of users


class Case:
    """One core of one worker."""

    def __init__(self, server, how, thousands=SMALL, suffix=""):
        self.server, self.how, self.thousands = server, how, thousands
        self.death = DEATHS.get(how)
        self.name = "%s-%s%s" % (server, how, suffix)


def of_servers(servers):
    return [Case(server, how) for server, ways in servers.items() for how in ways]


def chosen(only=None, long=False, big=False):
    """The selected cases; `only`, globs, selects from all cases, but big ones only by globs that end in -big."""
    large = [Case("static", "gcore", BIG, "-big")]
    if only:
        return of_servers(FIRST) + of_servers(LONG) + (large if any(glob.endswith("-big") for glob in only) else [])
    return large if big else of_servers(FIRST) + (of_servers(LONG) if long else [])
