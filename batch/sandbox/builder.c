/* builder: the parent drafts the cache file, orders the process from the fork server, and polls without blocking. */
#include "batch/sandbox/builder.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dwarf/elf/elffile.h"
#include "dwarf/elf/inflate_cache.h"
#include "batch/sandbox/worker_child.h"
#include "batch/sandbox/fork_server.h"

enum { ELF_FILE = XC_WORKER_CHILD_FIRST, IMAGE };

/* ---- in the sandbox ---- */

static struct xc_error *inflate(void)
{
	const struct xc_source_options plain = {.as_is = true};
	struct xc_source *source;
	struct xc_elffile file = {0};
	struct xc_error *err = xc_source_open_fd(ELF_FILE, "a debug file", &plain, &source);
	if (err)
		return err;
	if (!xc_elffile_open(&file, source, true))
		return xc_error_new(XC_ERR_FORMAT, "not an ELF file");
	return xc_inflate_cache_write(source, file.elf, IMAGE); /* freed by process exit */
}

_Noreturn void xc_builder_live(const struct xc_worker_options *options, pid_t parent, int file, int image)
{
	const int descriptors[] = {file, image};
	const struct xc_cache cache = xc_inflate_cache_in(options->finder->cache_dir);
	struct xc_worker_options own = *options;
	own.max_core_size = xc_cache_largest(&cache); /* it writes a cache file, not a core */
	struct xc_error *err = xc_worker_child_enter(&own, parent, descriptors, XC_COUNT(descriptors));
	if (!err)
		err = inflate();
	_exit(err ? XC_WORKER_CHILD_BROKEN : 0);
}

/* ---- in the parent ---- */

static bool is_new(struct xc_builder *b, const char *name)
{
	for (size_t i = 0; i < b->tried_count; i++)
		if (!strcmp(b->tried[i], name))
			return false;
	if (b->tried_count == XC_BUILDER_FILES)
		return false;
	b->tried[b->tried_count++] = xc_strdup(name);
	return true;
}

static void start(struct xc_builder *b, int fd)
{
	xc_error_free(xc_fork_server_build(b->options->fork_server, fd, b->draft.fd, &b->pid));
	b->process = b->pid > 0 ? (int)syscall(SYS_pidfd_open, b->pid, 0) : -1;
	b->deadline_ns = xc_now_ns() + xc_worker_options_seconds(b->options) * UINT64_C(1000000000);
	if (b->process >= 0)
		return;
	if (b->pid > 0) {
		kill(b->pid, SIGKILL);
		xc_fork_server_reap(b->options->fork_server, b->pid);
	}
	xc_cache_finish(&b->draft, false);
}

void xc_builder_want(struct xc_builder *b, const char *name, int fd)
{
	const struct xc_cache cache = xc_inflate_cache_in(b->options->finder->cache_dir);
	if (b->process >= 0 || !is_new(b, name))
		return;
	if (xc_cache_begin(&cache, name, 0, &b->draft))
		start(b, fd);
}

static void take(struct xc_builder *b, int status)
{
	close(b->process);
	b->process = -1;
	xc_cache_finish(&b->draft, WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void xc_builder_serve(struct xc_builder *b)
{
	int status;
	if (b->process < 0)
		return;
	if (xc_now_ns() >= b->deadline_ns)
		kill(b->pid, SIGKILL);
	const pid_t pid = waitpid(b->pid, &status, WNOHANG);
	if (pid == b->pid)
		take(b, status);
	else if (pid < 0 && errno == ECHILD) /* SIGCHLD is ignored: the exit status is lost */
		take(b, XC_WORKER_CHILD_BROKEN << 8);
}

void xc_builder_finish(struct xc_builder *b, unsigned milliseconds)
{
	struct pollfd polled = {.fd = b->process, .events = POLLIN};
	if (b->process >= 0) {
		poll(&polled, 1, (int)milliseconds);
		xc_builder_serve(b);
	}
	if (b->process >= 0) {
		kill(b->pid, SIGKILL);
		xc_fork_server_reap(b->options->fork_server, b->pid);
		take(b, SIGKILL);
	}
	for (size_t i = 0; i < b->tried_count; i++)
		free(b->tried[i]);
	b->tried_count = 0;
}
