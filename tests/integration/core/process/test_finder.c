/* layer: core */
/* The finder: how files are opened, and where they are searched. */
#include "tests/integration/core/process/found_file.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- opening ---- */

static void regular_files_open(void **state)
{
	(void)state;
	struct xc_source *s = NULL;
	const char *path = scratch_file("plain", "hello", 5);
	CHECK_OK(xc_finder_open(NULL, path, &s));
	assert_int_equal(s->size, 5);
	assert_string_equal(s->path, path);
	xc_source_close(s);
	CHECK_OK(xc_finder_open(scratch_dir(), "/plain", &s));
	assert_string_equal(s->path, path);
	xc_source_close(s);
	CHECK_OK(xc_finder_open(scratch_dir(), "plain", &s));
	xc_source_close(s);
}

static void links_and_dots_stay_below_the_root(void **state)
{
	(void)state;
	struct xc_source *s = NULL;
	scratch_file("root/etc/passwd", "inside", 6);
	shell("ln -sfn /etc/passwd root/absolute && ln -sfn ../../../../../../etc/passwd root/relative");
	const char *root = scratch_path("root");
	const char *const names[] = {"absolute", "relative", "/etc/passwd", "../../../../../../etc/passwd",
				     "etc/../../../etc/passwd"};
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		CHECK_OK(xc_finder_open(root, names[i], &s));
		assert_int_equal(s->size, 6);
		xc_source_close(s);
	}
	shell("ln -sfn loop root/loop");
	struct xc_error *err = xc_finder_open(root, "loop", &s);
	assert_non_null(err);
	xc_error_free(err);
}

static void magic_links_lead_nowhere(void **state)
{
	(void)state;
	struct xc_source *s = NULL;
	char path[64];
	int fd = open(scratch_file("held", "secret", 6), O_RDONLY);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct xc_error *err = xc_finder_open(NULL, path, &s);
	assert_non_null(err);
	xc_error_free(err);
	close(fd);
}

/* Under an alarm: a FIFO must not block. */
static void special_files_are_refused_at_once(void **state)
{
	(void)state;
	struct xc_source *s = NULL;
	alarm(120);
	shell("rm -f fifo && mkfifo fifo");
	CHECK_ERROR(xc_finder_open(NULL, scratch_path("fifo"), &s), XC_ERR_UNSUPPORTED, "not a regular file");
	CHECK_ERROR(xc_finder_open(NULL, "/dev/zero", &s), XC_ERR_UNSUPPORTED, "not a regular file");
	CHECK_ERROR(xc_finder_open(NULL, scratch_dir(), &s), XC_ERR_UNSUPPORTED, "not a regular file");
	CHECK_ERROR(xc_finder_open(NULL, scratch_path("none"), &s), XC_ERR_NOT_FOUND, "none");
	alarm(0);
}

static void what_a_core_names_is_never_inflated(void **state)
{
	(void)state;
	struct xc_source *s = NULL;
	const char *path = scratch_file("bomb", "\x28\xb5\x2f\xfd\x00\x00\x00\x00", 8);
	CHECK_ERROR(xc_finder_open(NULL, path, &s), XC_ERR_UNSUPPORTED, "compressed");
}

/* 0 if all checks pass; in a child, because a filter is permanent. */
static int without_openat2(int refusal, const char *path, const char *root)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	struct xc_source *s = NULL;
	if (!filter || seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)refusal), SCMP_SYS(openat2), 0) ||
	    seccomp_load(filter))
		return 1;
	struct xc_error *err = xc_finder_open(NULL, path, &s);
	if (err)
		return 2;
	xc_source_close(s);
	err = xc_finder_open(root, "plain", &s);
	if (!err || err->code != XC_ERR_UNSUPPORTED || !strstr(err->message, "no openat2"))
		return 3;
	return 0;
}

/* Old kernels, and container filters without the call. */
static void without_openat2_only_the_real_root_is_followed(void **state)
{
	(void)state;
	const int refusals[] = {ENOSYS, EPERM};
	const char *path = scratch_file("plain", "hello", 5), *root = scratch_dir();
	for (size_t i = 0; i < XC_COUNT(refusals); i++) {
		int status;
		pid_t pid = fork();
		if (pid == 0)
			_exit(without_openat2(refusals[i], path, root));
		waitpid(pid, &status, 0);
		assert_int_equal(status, 0);
	}
}

/* ---- places ---- */

static void a_sysroot_replaces_the_root(void **state)
{
	(void)state;
	const struct xc_finder finder = {.sysroot = scratch_path("sysroot")};
	const char *image = build("a.so", ID_A, TEXT_A);
	shell("mkdir -p sysroot/opt && cp a.so sysroot/opt/liba.so");
	struct mapped m = map_file(image, "/opt/liba.so", true);
	xc_finder_module(&finder, m.process, m.module);
	expect(&m, XC_VERIFIED, NULL);
	assert_string_equal(m.module->file_path, scratch_path("sysroot/opt/liba.so"));
	unmap(&m);
	m = map_file(image, image, true); /* exists on the host only */
	xc_finder_module(&finder, m.process, m.module);
	expect(&m, XC_NO_FILE, "No such file");
	unmap(&m);
}

static void a_debug_dir_is_searched_by_build_id_path_and_name(void **state)
{
	(void)state;
	const char *dirs[] = {scratch_path("store")};
	const struct xc_finder finder = {.debug_dirs = dirs, .debug_dir_count = 1};
	const char *const places[] = {"store/.build-id/aa/aaaaaaaaaaaaaaaaaa", "store/opt/liba.so", "store/liba.so"};
	const char *image = build("a.so", ID_A, TEXT_A);
	for (size_t i = 0; i < XC_COUNT(places); i++) {
		shell("rm -rf store && mkdir -p \"$(dirname %s)\" && cp a.so %s", scratch_word(places[i]),
		      scratch_word(places[i]));
		struct mapped m = map_file(image, "/opt/liba.so", true);
		xc_finder_module(&finder, m.process, m.module);
		expect(&m, XC_VERIFIED, NULL);
		assert_string_equal(m.module->file_path, scratch_path(places[i]));
		unmap(&m);
	}
}

static void a_wrong_file_does_not_hide_the_right_one(void **state)
{
	(void)state;
	const char *dirs[] = {scratch_path("store")};
	const struct xc_finder finder = {.debug_dirs = dirs, .debug_dir_count = 1};
	const char *image = build("a.so", ID_A, TEXT_A), *wrong = build("b.so", ID_B, TEXT_B);
	shell("rm -rf store && mkdir -p store/.build-id/aa && cp a.so store/.build-id/aa/aaaaaaaaaaaaaaaaaa");
	struct mapped m = map_file(image, wrong, true);
	xc_finder_module(&finder, m.process, m.module);
	expect(&m, XC_VERIFIED, NULL);
	unmap(&m);
}

/* Another file may have taken its name since then. */
static void a_deleted_file_is_searched_by_build_id_only(void **state)
{
	(void)state;
	const char *dirs[] = {scratch_path("store")};
	const struct xc_finder finder = {.debug_dirs = dirs, .debug_dir_count = 1};
	const char *path = build("a.so", ID_A, TEXT_A);
	struct mapped m = map_file(path, path, true);
	m.module->deleted = true;
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_NO_FILE, "deleted");
	shell("rm -rf store && mkdir -p store/.build-id/aa && cp a.so store/.build-id/aa/aaaaaaaaaaaaaaaaaa");
	xc_finder_module(&finder, m.process, m.module);
	expect(&m, XC_VERIFIED, NULL);
	unmap(&m);
}

static void the_exe_option_takes_no_other_file(void **state)
{
	(void)state;
	const char *right = build("a.so", ID_A, TEXT_A), *wrong = build("b.so", ID_B, TEXT_B);
	const char *const options[] = {right, wrong, scratch_path("none")};
	const enum xc_identity expected[] = {XC_VERIFIED, XC_REFUSED, XC_NO_FILE};
	for (size_t i = 0; i < XC_COUNT(options); i++) {
		struct xc_finder finder = {.exe = options[i]};
		struct mapped m = map_file(right, right, true);
		m.module->kind = XC_MODULE_EXE;
		xc_finder_module(&finder, m.process, m.module);
		expect(&m, expected[i], i == 1 ? "bbbbbbbbbbbbbbbbbbbb in" : i == 2 ? "No such file" : NULL);
		unmap(&m);
	}
}

static void another_programs_exe_leaves_the_search_as_it_is(void **state)
{
	(void)state;
	const char *own = build("a.so", ID_A, TEXT_A), *other = build("b.so", ID_B, TEXT_B);
	struct xc_finder finder = {.exe = other, .exe_optional = true};
	struct mapped m = map_file(own, own, true);
	m.module->kind = XC_MODULE_EXE;
	xc_finder_module(&finder, m.process, m.module);
	expect(&m, XC_VERIFIED, NULL);
	assert_string_equal(m.module->file_path, own);
	unmap(&m);
	m = map_file(own, scratch_path("gone"), true);
	m.module->kind = XC_MODULE_EXE;
	xc_finder_module(&finder, m.process, m.module);
	expect(&m, XC_NO_FILE, "gone"); /* not refused: it was not mistaken for the other one */
	assert_null(m.module->file_path);
	assert_int_equal(m.module->file_build_id.size, 0);
	unmap(&m);
}

static void the_vdso_is_its_memory(void **state)
{
	(void)state;
	const char *path = build("a.so", ID_A, TEXT_A);
	struct mapped m = map_file(path, "[vdso]", true);
	m.module->kind = XC_MODULE_VDSO;
	m.module->hi = m.module->lo + 0xfff;
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_VERIFIED, NULL);
	assert_int_equal(m.module->file->size, 0x1000);
	assert_memory_equal(m.module->file->bytes, m.image->bytes, 0x1000);
	unmap(&m);
}

/* ---- live ---- */

static struct xc_module *exe_of(const struct xc_process *process)
{
	for (size_t i = 0; i < process->module_count; i++)
		if (process->modules[i]->kind == XC_MODULE_EXE)
			return process->modules[i];
	return NULL;
}

/* As root: by map_files or /proc/PID/exe. */
static void a_running_program_whose_file_was_deleted_is_found(void **state)
{
	(void)state;
	static const char program[] =
		"#include <unistd.h>\nint main(void) { write(1, \"x\", 1); pause(); return 0; }\n";
	struct xc_finder finder = {0};
	struct xc_open_options options = {.finder = &finder};
	struct xc_process *process = NULL;
	char byte;
	int ready[2];
	scratch_file("sleeper.c", program, strlen(program));
	shell("gcc -o sleeper sleeper.c");
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ready[1], 1);
		execl(scratch_path("sleeper"), "sleeper", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	shell("rm sleeper");
	CHECK_OK(xc_process_open_live(pid, &options, &process));
	const struct xc_module *exe = exe_of(process);
	assert_non_null(exe);
	assert_true(exe->deleted);
	assert_int_equal(exe->identity, XC_VERIFIED);
	assert_non_null(exe->file);
	xc_process_close(process);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regular_files_open),
		cmocka_unit_test(links_and_dots_stay_below_the_root),
		cmocka_unit_test(magic_links_lead_nowhere),
		cmocka_unit_test(special_files_are_refused_at_once),
		cmocka_unit_test(what_a_core_names_is_never_inflated),
		cmocka_unit_test(without_openat2_only_the_real_root_is_followed),
		cmocka_unit_test(a_sysroot_replaces_the_root),
		cmocka_unit_test(a_debug_dir_is_searched_by_build_id_path_and_name),
		cmocka_unit_test(a_wrong_file_does_not_hide_the_right_one),
		cmocka_unit_test(a_deleted_file_is_searched_by_build_id_only),
		cmocka_unit_test(the_exe_option_takes_no_other_file),
		cmocka_unit_test(another_programs_exe_leaves_the_search_as_it_is),
		cmocka_unit_test(the_vdso_is_its_memory),
		cmocka_unit_test(a_running_program_whose_file_was_deleted_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
