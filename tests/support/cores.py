"""cores: which cases of the corpora are there."""

import os


def skipped(directory):
    """Why the case could not be made on this host; None when it is there. A case that is neither is the caller's failure."""
    try:
        with open(os.path.join(directory, "skipped"), encoding="utf-8") as stream:
            return stream.read().strip()
    except FileNotFoundError:
        return None


def divide(cases, directory_of):
    """(those to look at, [(case, why it was skipped)])"""
    reasons = [(case, skipped(directory_of(case))) for case in cases]
    return [case for case, reason in reasons if reason is None], [(case, reason) for case, reason in reasons if reason is not None]
