/* layer: batch */
/* doctor: facts read from simulated systems, and the conclusions. */
#include "tests/support/check.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/doctor/corepattern.h"
#include "batch/doctor/doctor.h"
#include "core/render/render.h"
#include "tests/support/scratch.h"

static char *root; /* of the simulated system */

static void plant(const char *name, const char *text)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", root, name);
	scratch_file(path, text, strlen(text));
}

/* A machine with a core pattern and limits, in the kernel's format. */
static void plant_system(const char *name, const char *pattern, const char *soft, const char *hard)
{
	free(root);
	root = xc_strdup(name);
	xc_auto(xc_freep) char *limits =
		xc_asprintf("Limit                     Soft Limit           Hard Limit           Units\n"
			    "Max core file size        %-20s %-20s bytes\n"
			    "Max resident set          unlimited            unlimited            bytes\n",
			    soft, hard);
	plant("proc/sys/kernel/core_pattern", pattern);
	plant("proc/sys/kernel/core_uses_pid", "0\n");
	plant("proc/sys/kernel/core_pipe_limit", "16\n");
	plant("proc/sys/fs/suid_dumpable", "0\n");
	plant("proc/self/limits", limits);
	plant("proc/self/coredump_filter", "00000033\n");
	plant("proc/self/cwd/file", "");
}

static struct xc_doctor_facts facts_of_system(int pid)
{
	struct xc_doctor_facts facts;
	CHECK_OK(xc_doctor_facts_read(scratch_path(root), pid, &facts));
	return facts;
}

static char *told(int pid, const char *ci)
{
	struct xc_doctor_facts facts = facts_of_system(pid);
	struct xc_report *report = xc_report_new("doctor");
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	xc_doctor_report(report, &facts, ci);
	CHECK_OK(xc_render_text(report, &(struct xc_render_options){.width = 200}, out));
	fclose(out);
	xc_report_free(report);
	xc_doctor_facts_fini(&facts);
	return text;
}

static void check_told(int pid, const char *ci, const char *const *parts, size_t count)
{
	xc_auto(xc_freep) char *text = told(pid, ci);
	for (size_t i = 0; i < count; i++)
		if (!strstr(text, parts[i]))
			fail_msg("'%s' is not said:\n%s", parts[i], text);
}

#define CHECK_TOLD(pid, ci, ...)                                                                                       \
	check_told(pid, ci, (const char *const[]){__VA_ARGS__}, XC_COUNT(((const char *const[]){__VA_ARGS__})))

static void check_words(const char *pattern, const char *words)
{
	struct xc_text text = {0};
	xc_corepattern_words(pattern, &text);
	assert_string_equal(xc_text_string(&text), words);
	xc_text_fini(&text);
}

static void patterns_are_told_in_words(void **state)
{
	(void)state;
	check_words("core", "core");
	check_words("core.%e.%p.%t", "core.PROGRAM.PID.TIME");
	check_words("|/usr/share/apport/apport -p%p -s%s -c%c -d%d -P%P -u%u -g%g -F%F -- %E",
		    "|/usr/share/apport/apport -pPID -sSIGNAL -cCORE-LIMIT -dDUMP-MODE -PHOST-PID -uUID -gGID -FPIDFD "
		    "-- PATH");
	check_words("100%% %Zx%", "100% x");
	check_words("", "");
	assert_true(xc_corepattern_distinct("core.%e.%t", false));
	assert_false(xc_corepattern_distinct("core.%e.%%p", false));
	assert_true(xc_corepattern_distinct("core", true));
	assert_false(xc_corepattern_distinct("core%", false));
}

static void check_place(const char *pattern, const char *place)
{
	xc_auto(xc_freep) char *found = xc_corepattern_place(pattern);
	if (!place)
		assert_null(found);
	else
		assert_string_equal(found, place);
}

static void patterns_lead_to_places(void **state)
{
	(void)state;
	check_place("/var/cores/%e/core", "/var/cores");
	check_place("/core.%p", "/");
	check_place("/a/b-%h/c", "/a");
	check_place("| /usr/bin/handler %p", "/usr/bin/handler");
	check_place("cores/core", NULL);
	check_place("@/run/socket", NULL);
}

static void a_good_system_gets_a_yes(void **state)
{
	(void)state;
	plant_system("good", "/cores/core.%e.%p\n", "unlimited", "unlimited");
	plant("cores/x", "");
	CHECK_TOLD(0, NULL, "answer  yes", "core.PROGRAM.PID", "directory        /cores",
		   "container        none detected");
	xc_auto(xc_freep) char *text = told(0, NULL);
	assert_null(strstr(text, "What to change"));
}

static void a_limit_of_zero_is_in_the_way_of_a_file(void **state)
{
	(void)state;
	plant_system("zero", "core\n", "0", "0");
	CHECK_TOLD(0, NULL, "answer  no: the soft limit of the size of cores is 0", "limits.d/core.conf",
		   "core_uses_pid=1");
	plant(".dockerenv", "");
	CHECK_TOLD(0, NULL, "docker run --ulimit core=-1");
	CHECK_TOLD(0, "github", "container: {options: --ulimit core=-1}");
	plant_system("small", "core.%p", "4096", "unlimited");
	CHECK_TOLD(0, NULL, "answer  yes", "soft limit       4.00 KiB", "truncated at the soft limit",
		   "ulimit -c unlimited");
}

static void directories_must_be_there(void **state)
{
	(void)state;
	plant_system("lost", "/no/where/core.%p", "unlimited", "unlimited");
	CHECK_TOLD(0, NULL, "answer  no: /no/where does not exist", "install -d -m 1777 /no/where\n");
	plant_system("odd", "/it's/core.%p", "unlimited", "unlimited");
	CHECK_TOLD(0, NULL, "install -d -m 1777 '/it'\\''s'\n");
	plant_system("two", "/a b\033$(id)/core.%p", "unlimited", "unlimited");
	CHECK_TOLD(0, NULL, "install -d -m 1777 $'/a b\\x1b\\x24(id)'\n");
}

static void systemd_has_settings_of_its_own(void **state)
{
	(void)state;
	plant_system("systemd", "|/usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h", "unlimited", "unlimited");
	CHECK_TOLD(0, NULL, "answer  no: the handler does not exist");
	plant("usr/lib/systemd/systemd-coredump", "");
	chmod(scratch_path("systemd/usr/lib/systemd/systemd-coredump"), 0755);
	CHECK_TOLD(0, NULL, "answer  no: systemd-coredump is the handler, but systemd does not run");
	plant("run/systemd/system/x", "");
	plant("var/lib/systemd/coredump/x", "");
	CHECK_TOLD(0, NULL, "answer  yes", "ExternalSizeMax  32G (default)", "/var/lib/systemd/coredump");
	plant("etc/systemd/coredump.conf",
	      "[Coredump]\n#Storage=none\n Storage = journal \n[Other]\nStorage=external\n");
	CHECK_TOLD(0, NULL, "Storage          journal", "coredumpctl dump");
	plant("usr/lib/systemd/coredump.conf.d/50-a.conf", "[Coredump]\nStorage=external\nExternalSizeMax=0\n");
	CHECK_TOLD(0, NULL, "answer  no: systemd-coredump is configured to keep no cores", "keep.conf");
	plant("etc/systemd/coredump.conf.d/50-a.conf", "[Coredump]\nProcessSizeMax=2G\n"); /* hides the other */
	CHECK_TOLD(0, NULL, "answer  yes", "ProcessSizeMax   2G", "Storage          journal");
	plant("run/systemd/coredump.conf.d/60-b.conf", "[Coredump]\nProcessSizeMax=\nStorage=none\n");
	CHECK_TOLD(0, NULL, "answer  no: systemd-coredump is configured", "32G (default)");
}

static void handlers_run_outside_of_containers(void **state)
{
	(void)state;
	plant_system("boxed", "|/usr/share/apport/apport %p", "0", "unlimited");
	plant("proc/self/cgroup", "12:memory:/kubepods/besteffort/pod1/abc\n");
	plant("proc/self/mountinfo", "22 27 0:21 / /proc/sys ro,nosuid - proc proc rw\n");
	CHECK_TOLD(0, NULL, "answer  on the host, not in this container", "container           kubernetes",
		   "the handler runs on the host", "hostPath", "/proc/sys is read-only",
		   "on the host, as root: the pattern is the kernel's");
	CHECK_TOLD(0, "gitlab", ".gitlab-ci.yml");
}

static void what_cores_lack_is_told(void **state)
{
	(void)state;
	plant_system("filter", "core.%p", "unlimited", "unlimited");
	plant("proc/self/coredump_filter", "00000004\n");
	CHECK_TOLD(0, NULL, "0x4: private files", "cores lack stacks, heap and variables", "cores lack build-ids",
		   "echo 0x37 >/proc/self/coredump_filter");
}

static void processes_are_looked_at_by_number(void **state)
{
	(void)state;
	struct xc_doctor_facts facts;
	plant_system("many", "core.%p", "unlimited", "unlimited");
	plant("proc/77/limits", "Max core file size        0                    4096                 bytes\n");
	plant("proc/77/coredump_filter", "00000000\n");
	plant("proc/77/status", "Name:\tx\nUid:\t1000\t1000\t1000\t1000\n");
	plant("proc/77/cwd/x", "");
	CHECK_TOLD(77, NULL, "answer  no:", "prlimit --core=unlimited:unlimited --pid 77",
		   "echo 0x33 >/proc/77/coredump_filter");
	if (!geteuid())
		CHECK_TOLD(77, NULL, "the process must not be dumped", "fs.suid_dumpable=2");
	CHECK_ERROR(xc_doctor_facts_read(scratch_path("many"), 78, &facts), XC_ERR_NOT_FOUND, "there is no process 78");
}

static void what_is_not_there_is_unknown(void **state)
{
	(void)state;
	plant_system("bare", "core", "unlimited", "unlimited");
	free(root);
	root = xc_strdup("nothing");
	plant("x", "");
	CHECK_TOLD(0, NULL, "the kernel's pattern cannot be read");
	plant("proc/sys/kernel/core_pattern", "");
	CHECK_TOLD(0, NULL, "answer  no: the pattern is empty", "not readable");
	plant("proc/sys/kernel/core_pattern", "\033[31mcore\377");
	xc_auto(xc_freep) char *text = told(0, NULL);
	assert_null(strchr(text, '\033'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_are_told_in_words),
		cmocka_unit_test(patterns_lead_to_places),
		cmocka_unit_test(a_good_system_gets_a_yes),
		cmocka_unit_test(a_limit_of_zero_is_in_the_way_of_a_file),
		cmocka_unit_test(directories_must_be_there),
		cmocka_unit_test(systemd_has_settings_of_its_own),
		cmocka_unit_test(handlers_run_outside_of_containers),
		cmocka_unit_test(what_cores_lack_is_told),
		cmocka_unit_test(processes_are_looked_at_by_number),
		cmocka_unit_test(what_is_not_there_is_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
