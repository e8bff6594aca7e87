/* layer: batch */
/* corename: the formats of kernels, systemd and apport, and names that only resemble them. */
#include "tests/support/check.h"

#include "batch/input/corename.h"

static void check_comm(const char *name, const char *comm)
{
	struct xc_arena arena = {0};
	const char *found = xc_corename_comm(name, &arena);
	if (!comm != !found || (comm && strcmp(comm, found) != 0))
		fail_msg("%s: '%s', not '%s'", name, found ? found : "(nothing)", comm ? comm : "(nothing)");
	xc_arena_fini(&arena);
}

#define BOOT "0123456789abcdef0123456789abcdef"
#define UUID "01234567-89ab-cdef-0123-456789abcdef"

static void systemd_names_tell_the_command(void **state)
{
	(void)state;
	check_comm("core.nginx.33." BOOT ".4711.1700000000000000.zst", "nginx");
	check_comm("core.nginx.33." BOOT ".4711.1700000000000000", "nginx");
	check_comm("core.Web\\x20Content.1000." BOOT ".1.1700000000000000.lz4", "Web Content");
	check_comm("core.python3\\x2e11.0." BOOT ".1.1700000000000000.xz", "python3.11");
	check_comm("core.a\\x00b\\x2.0." BOOT ".1.1700000000000000", "a?b\\x2"); /* systemd would not write this */
}

static void apport_names_tell_what_lies_in_a_bin_directory(void **state)
{
	(void)state;
	check_comm("core._usr_bin_sleep.1000." UUID ".99.12345", "sleep");
	check_comm("core._usr_sbin_my_daemon.0." UUID ".99.12345", "my_daemon");
	check_comm("core._opt_x_y.0." UUID ".99.12345", NULL); /* x/y or x_y: ambiguous */
}

static void patterns_tell_the_command_before_the_numbers(void **state)
{
	(void)state;
	check_comm("core.worker.4711", "worker");
	check_comm("core.worker.4711.1700000000", "worker");
	check_comm("core.python3.11.4711.1700000000.zst", "python3.11");
	check_comm("core-worker-4711-1700000000", "worker");
	check_comm("core.worker", NULL);
	check_comm("core", NULL);
	check_comm("core.", NULL);
	check_comm("core.4711", NULL);
	check_comm("core.4711.1700000000", NULL);
	check_comm("core..1", NULL);
	check_comm("score.worker.1", NULL);
	check_comm("", NULL);
}

static void cores_are_known_by_a_word(void **state)
{
	(void)state;
	static const char *const yes[] = {"core",         "core.1",        "core.zst",      "app.core",
					  "app.123.core", "my_core.gz",    "core-app-1",    "core12.xz",
					  "vm.core.1",    "score core.gz", "core.app.1.lz4"},
				 *const no[] = {"score.gz",
						"coreutils-9.1.xz",
						"cores.zst",
						"core.tar.gz",
						"encore",
						"vmcore",
						"core.tgz",
						"Core",
						"",
						"cor",
						"hardcore.xz",
						"core-js.tar.zst"};
	for (size_t i = 0; i < XC_COUNT(yes); i++)
		if (!xc_corename_is(yes[i]))
			fail_msg("%s is the name of a core", yes[i]);
	for (size_t i = 0; i < XC_COUNT(no); i++)
		if (xc_corename_is(no[i]))
			fail_msg("%s is no name of a core", no[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(systemd_names_tell_the_command),
		cmocka_unit_test(apport_names_tell_what_lies_in_a_bin_directory),
		cmocka_unit_test(patterns_tell_the_command_before_the_numbers),
		cmocka_unit_test(cores_are_known_by_a_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
