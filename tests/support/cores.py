"""cores: the available cases of the corpora."""

import os


def skipped(directory):
    """The reason why the case could not be built on this host; None if it exists. If neither holds, the caller
    fails."""
    try:
        with open(os.path.join(directory, "skipped"), encoding="utf-8") as stream:
            return stream.read().strip()
    except FileNotFoundError:
        return None


def divide(cases, directory_of):
    """(cases to test, [(case, reason for the skip)])"""
    reasons = [(case, skipped(directory_of(case))) for case in cases]
    return [case for case, reason in reasons if reason is None], [(case, reason) for case, reason in reasons if reason is not None]
