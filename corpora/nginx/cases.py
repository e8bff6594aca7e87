"""The cases of build-nginx: which nginx, and how its worker's core is taken."""

# How a worker dies: by a request of this uri. gcore is taken of a worker that lives, between two events.
DEATHS = {
    "content": "/crash/content?id=crash-0", "timer": "/crash/timer?id=crash-0&how=timer",
    "thread": "/crash/thread?id=crash-0&how=thread", "filter": "/crash/filter?id=crash-0", "log": "/crash/log?id=crash-0",
}
SERVERS = {"static": ["gcore", "content", "timer", "thread", "filter", "log"], "packaged": ["gcore", "content"]}
LONG_SERVERS = {"bullseye": ["gcore", "content"], "trixie": ["gcore", "content"], "sid": ["gcore", "content"]}
SMALL, BIG = 5, 500  # thousands of users


class Case:
    """One core of one worker."""

    def __init__(self, server, how, thousands=SMALL, suffix=""):
        self.server, self.how, self.thousands = server, how, thousands
        self.death = DEATHS.get(how)
        self.name = "%s-%s%s" % (server, how, suffix)


def all_cases(long=False, big=False):
    if big:
        return [Case("static", "gcore", BIG, "-big")]
    return [Case(server, how) for server, ways in (LONG_SERVERS if long else SERVERS).items() for how in ways]
