"""Commands of tests/run: a limit counts what an idle machine would take."""

import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import command  # noqa: E402  pylint: disable=wrong-import-position

LIMIT = 5  # seconds


class Command(unittest.TestCase):
    def run_at(self, speed, *argv):
        with mock.patch.object(command, "share", lambda: speed), mock.patch.object(command, "STEP", 0.01):
            outcome = command.run("it", argv, "", LIMIT, command.Running())
        if not outcome.good:
            command.remove(outcome.kept)
        return outcome

    def test_what_takes_too_long_is_killed(self):
        outcome = self.run_at(1000, "sleep", "1000")
        self.assertFalse(outcome.good)
        self.assertIn("it took more than %d s" % LIMIT, " ".join(outcome.lines))

    def test_a_busy_machine_gives_more_time(self):
        self.assertTrue(self.run_at(1 / 1000, "sleep", "0.2").good)

    def test_the_speed_is_never_more_than_the_machine_has_nor_nothing(self):
        for load, speed in ((0, 1), (os.cpu_count(), 1), (2 * os.cpu_count(), 1 / 2), (1e6, 1 / command.MOST)):
            with mock.patch.object(os, "getloadavg", lambda load=load: (load, 0, 0)):
                self.assertEqual(command.share(), speed)


if __name__ == "__main__":
    unittest.main()
