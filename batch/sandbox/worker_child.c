/* worker_child: all of this runs in the worker. Its descriptors have fixed numbers, so all others can be closed without
 * listing them. */
#include "batch/sandbox/worker_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io/decompress.h"
#include "core/process/process.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/elf/demangle.h"
#include "batch/sandbox/broker_client.h"
#include "batch/record/examine.h"
#include "batch/sandbox/worker_sandbox.h"
#include "batch/sandbox/sandbox_probe.h"

enum { RESULT = XC_WORKER_CHILD_FIRST, BROKER, ABOVE = XC_WORKER_CHILD_FIRST + XC_WORKER_CHILD_DESCRIPTORS };

/* ---- the record ---- */

static void write_all(const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(RESULT, bytes, len);
		if (n <= 0 && errno != EINTR)
			_exit(XC_WORKER_CHILD_BROKEN);
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

static char *text_of(struct xc_record *record)
{
	json_t *object = xc_record_json(record);
	char *text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	return text;
}

static void write_record(struct xc_record *record)
{
	struct xc_arena arena = {0};
	xc_record_fit(record, &arena);
	char *text = text_of(record);
	if (!text)
		_exit(XC_WORKER_CHILD_OUT_OF_MEMORY);
	write_all(text, strlen(text));
	free(text);
	xc_arena_fini(&arena);
}

/* ---- the work ---- */

static enum xc_record_status status_of(const struct xc_error *err)
{
	return err->code == XC_ERR_LIMIT ? XC_RECORD_LIMIT : XC_RECORD_UNREADABLE;
}

/* Messages need not begin with the path, which is a member of the record. */
static const char *without_path(const char *message, const char *path)
{
	const size_t len = strlen(path);
	return !strncmp(message, path, len) && !strncmp(message + len, ": ", 2) ? message + len + 2 : message;
}

_Noreturn static void fail(const struct xc_input *input, const struct xc_error *err)
{
	struct xc_arena arena = {0};
	write_record(xc_record_failed(&arena, status_of(err), input->path, without_path(err->message, input->path)));
	if (err->code == XC_ERR_LIMIT && err->hint && !strcmp(err->hint, XC_DECOMPRESS_MORE_ROOM))
		_exit(XC_WORKER_CHILD_NO_ROOM);
	_exit(err->code == XC_ERR_IO ? XC_WORKER_CHILD_BROKEN : 0); /* a full or failing disk is not the core's fault */
}

/* Was this file identified as the core's program? */
static bool is_program(const struct xc_process *process, const char *file)
{
	const struct xc_module *m = process->module_count ? process->modules[0] : NULL;
	return m && m->kind == XC_MODULE_EXE && (m->identity == XC_VERIFIED || m->identity == XC_UNVERIFIED) &&
	       m->file_path && !strcmp(m->file_path, file);
}

_Noreturn static void work(const struct xc_input *input, const struct xc_worker_options *options)
{
	struct xc_arena arena = {0};
	const int core = xc_broker_client_core();
	if (core < 0)
		_exit(XC_WORKER_CHILD_BROKEN); /* the broker has reported why */
	struct xc_finder finder = *options->finder;
	struct xc_process *process = NULL;
	finder.jobs = 1;
	finder.quiet = true;
	finder.debuginfod = false;
	finder.exe_optional = true; /* a file that matches no core is reported at the end (without_exe) */
	const struct xc_open_options open = {.finder = &finder,
					     .strict = finder.strict,
					     .max_core_size = xc_worker_options_core_size(options),
					     .room = options->room};
	struct xc_error *err = xc_process_open_core_fd(core, input->path, &open, &process);
	if (err)
		fail(input, err);
	const bool without_exe = finder.exe && !is_program(process, finder.exe);
	finder.exe =
		without_exe ? NULL : finder.exe; /* an explicit name outranks files that were found (debugfile.h) */
	xc_debugfiles_use(process, &finder);
	const struct xc_examine_options how = {
		.path = input->path, .redact = options->redact, .without_heap = options->heapless != NULL};
	struct xc_record *record = xc_examine(process, &how, &arena); /* freed by process exit */
	record->without_exe = without_exe;
	write_record(record);
	_exit(0);
}

/* ---- entering the sandbox ---- */

/* The environment often holds secrets. The parent keeps its own: the broker needs it to open files. */
static void forget_environment(void)
{
	for (char **variable = environ; variable && *variable; variable++)
		explicit_bzero(*variable, strlen(*variable));
	clearenv();
}

bool xc_worker_child_shed(const int *descriptors, size_t count)
{
	int high[XC_WORKER_CHILD_DESCRIPTORS], null = open("/dev/null", O_RDWR);
	if (null < 0)
		return false;
	for (size_t i = 0; i < count; i++) /* duplicates above the range that is about to be overwritten */
		if ((high[i] = fcntl(descriptors[i], F_DUPFD, ABOVE)) < 0)
			return false;
	for (int fd = 0; fd <= 2; fd++)
		if (dup2(null, fd) < 0)
			return false;
	for (size_t i = 0; i < count; i++)
		if (dup2(high[i], XC_WORKER_CHILD_FIRST + (int)i) < 0)
			return false;
	const int first = XC_WORKER_CHILD_FIRST + (int)count;
	if (syscall(SYS_close_range, first, ~0U, 0))
		for (int fd = first; fd < (1 << 16); fd++) /* Linux before 5.9 */
			close(fd);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return true;
}

struct xc_error *xc_worker_child_enter(const struct xc_worker_options *options, pid_t parent, const int *descriptors,
				       size_t count)
{
	const struct xc_worker_sandbox sandbox = xc_worker_options_sandbox(options);
	if (options->probe)
		xc_sandbox_probe_enter(options->probe);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* only now: a change of name spaces may clear it */
	if (getppid() != parent)
		_exit(XC_WORKER_CHILD_BROKEN);
	/* a terminal's ^C is for the parent: a worker that it killed would count as one killed by its core */
	setsid();
	if (!xc_worker_child_shed(descriptors, count))
		_exit(XC_WORKER_CHILD_BROKEN);
	forget_environment();
	return xc_worker_sandbox_enter(&sandbox);
}

_Noreturn void xc_worker_child_run(const struct xc_worker_child *child)
{
	const int descriptors[] = {child->result, child->socket};
	struct xc_error *err = xc_worker_child_enter(child->options, child->parent, descriptors, XC_COUNT(descriptors));
	if (err) {
		err->code = XC_ERR_IO;
		fail(child->input, err);
	}
	xc_demangle_here(xc_worker_sandbox_stack());
	xc_broker_client_begin(BROKER);
	work(child->input, child->options);
}
