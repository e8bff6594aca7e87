/* broker: treats every request (broker_protocol.h) as hostile. */
#include "batch/sandbox/broker.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/cache/cache.h"
#include "core/io/opener.h"
#include "core/store/store.h"
#include "dwarf/elf/inflate_cache.h"
#include "batch/input/corefd.h"
#include "batch/util/fd_passing.h"
#include "batch/sandbox/broker_protocol.h"

_Static_assert((int)XC_BROKER_NAME >= (int)XC_INFLATE_CACHE_NAME, "it holds the name of an image");

/* ---- opening ---- */

/* A program, library or debug file; not another core, which holds somebody's memory. e_type has the same offset in all
 * ELF classes. */
static bool is_code(int fd)
{
	unsigned char head[EI_NIDENT + 2];
	if (pread(fd, head, sizeof head, 0) != sizeof head || memcmp(head, ELFMAG, SELFMAG) != 0)
		return false;
	const bool big = head[EI_DATA] == ELFDATA2MSB;
	return (head[EI_NIDENT + big] | head[EI_NIDENT + !big] << 8) != ET_CORE;
}

/* Is it a file on a real file system? /proc/kcore, which the kernel synthesises, is an ELF file whose content is
 * memory. */
static bool is_stored(int fd)
{
	static const long made_up[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC};
	struct statfs fs;
	if (fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < XC_COUNT(made_up); i++)
		if (fs.f_type == made_up[i])
			return false;
	return true;
}

/* Is it one of the directories that the user gave? */
static bool allowed_root(const struct xc_broker *broker, const char *root)
{
	const struct xc_finder *finder = broker->finder;
	if (!root)
		return broker->host_files && !finder->sysroot;
	if (finder->sysroot && !strcmp(root, finder->sysroot))
		return true;
	for (size_t i = 0; i < finder->debug_dir_count; i++)
		if (!strcmp(root, finder->debug_dirs[i]))
			return true;
	return false;
}

/* Is the path lexically below the directory? */
static bool lies_below(const char *path, const char *directory)
{
	xc_auto(xc_freep) char *full = xc_opener_full(directory);
	const size_t len = strlen(full);
	return !strncmp(path, full, len) && path[len] == '/' && !strstr(path + len, "/..");
}

/* The user's store, --exe and --debug-dir name host files whatever the roots are. */
static bool allowed_path(const struct xc_broker *broker, const char *path)
{
	struct xc_store *store = broker->finder->store;
	struct xc_store_file file;
	xc_auto(xc_freep) char *exe = broker->finder->exe ? xc_opener_full(broker->finder->exe) : NULL;
	if (exe && !strcmp(exe, path))
		return true;
	for (size_t i = 0; i < broker->finder->debug_dir_count; i++)
		if (lies_below(path, broker->finder->debug_dirs[i]))
			return true;
	for (size_t i = 0; store && i < xc_store_file_count(store); i++)
		if (xc_store_file(store, i, &file) && !strcmp(file.path, path))
			return true;
	return false;
}

static bool is_allowed(const struct xc_broker *broker, const char *root, const char *path)
{
	return allowed_root(broker, root) || (!root && allowed_path(broker, path));
}

static int open_code(const struct xc_broker *broker, const char *root, const char *path, bool *special)
{
	if (broker->statuses && xc_broker_status_is_silent(broker->statuses, root, path)) {
		errno = ETIMEDOUT;
		return -1;
	}
	int fd = xc_opener_regular(root, path, special);
	if (fd >= 0 && !(is_stored(fd) && is_code(fd))) {
		close(fd);
		errno = EACCES;
		return -1;
	}
	return fd;
}

static int open_allowed(const struct xc_broker *broker, const char *root, const char *path, bool *special)
{
	errno = EACCES;
	return is_allowed(broker, root, path) ? open_code(broker, root, path, special) : -1;
}

/* Does the errno mean that this process or machine has run out of something? Such an error says nothing about the
 * name. */
static bool is_shortage(int number)
{
	return number == EMFILE || number == ENFILE || number == ENOMEM || number == ENOBUFS || number == EIO ||
	       number == ETOOMANYREFS || number == ESTALE;
}

static bool is_other(const struct xc_file_dependency *dependency, int fd, int number)
{
	char state[XC_FILE_DEPENDENCY_STATE];
	if (fd < 0)
		return dependency->was && number != ETIMEDOUT && !is_shortage(number);
	xc_file_dependency_state(fd, state);
	return !dependency->was || strcmp(dependency->was, state) != 0;
}

bool xc_broker_changed(const struct xc_broker *broker, struct xc_file_dependency *dependency)
{
	bool special;
	if (dependency->now != XC_FILE_DEPENDENCY_UNSEEN)
		return dependency->now == XC_FILE_DEPENDENCY_CHANGED;
	const int fd = open_allowed(broker, dependency->root, dependency->path, &special), number = errno;
	const bool changed = is_other(dependency, fd, number);
	if (fd >= 0)
		close(fd);
	dependency->now = changed ? XC_FILE_DEPENDENCY_CHANGED : XC_FILE_DEPENDENCY_STAYS;
	return changed;
}

/* ---- images missing from the cache ---- */

static void forget(struct xc_broker_seen *seen)
{
	free(seen->root);
	free(seen->path);
	*seen = (struct xc_broker_seen){.path = NULL};
}

static void remember(struct xc_broker *broker, const char *root, const char *path, int fd)
{
	struct xc_broker_seen *seen = &broker->seen[broker->seen_count % XC_BROKER_SEEN];
	char name[XC_INFLATE_CACHE_NAME];
	if (broker->wants < 0 || !broker->finder->cache_dir || !xc_inflate_cache_name(fd, name))
		return;
	forget(seen);
	seen->root = root ? xc_strdup(root) : NULL;
	seen->path = xc_strdup(path);
	memcpy(seen->name, name, sizeof name);
	broker->seen_count++;
}

/* The worker asked for the inflated image of a file that it was given, and the cache has none. A builder makes it, from
 * the file as our own rules find it. If too many requests are pending, nothing is built. */
static void have_built(const struct xc_broker *broker, const char *name)
{
	for (size_t i = 0; i < XC_BROKER_SEEN; i++) {
		const struct xc_broker_seen *seen = &broker->seen[i];
		char now[XC_INFLATE_CACHE_NAME];
		bool special;
		if (!seen->path || strcmp(seen->name, name) != 0)
			continue;
		const int fd = open_allowed(broker, seen->root, seen->path, &special);
		if (fd >= 0 && xc_inflate_cache_name(fd, now) && !strcmp(now, name))
			xc_fd_passing_send(broker->wants, now, sizeof now, &fd, 1, MSG_DONTWAIT);
		if (fd >= 0)
			close(fd);
		return;
	}
}

/* ---- requests ---- */

/* Logs a file that the broker may open, whether or not it exists. */
static void log_dependency(const struct xc_broker *broker, const char *root, const char *path, int fd)
{
	char state[XC_FILE_DEPENDENCY_STATE];
	const struct xc_file_dependency dependency = {.root = root, .path = path, .was = fd >= 0 ? state : NULL};
	if (!broker->statuses)
		return;
	if (fd >= 0)
		xc_file_dependency_state(fd, state);
	xc_broker_status_log(broker->statuses, broker->status, &dependency);
}

static int open_file(struct xc_broker *broker, const char *root, const char *path, bool *special)
{
	errno = EACCES;
	if (!is_allowed(broker, root, path))
		return -1;
	const int fd = open_code(broker, root, path, special), number = errno;
	if (fd >= 0)
		remember(broker, root, path, fd);
	log_dependency(broker, root, path, fd);
	errno = number;
	return fd;
}

/* Which kinds of cached files a worker may have: not, for example, those kept of other cores. */
static bool is_kept(const char *kind)
{
	return !strcmp(kind, "index") || !strcmp(kind, "debug");
}

static int open_kept(const struct xc_broker *broker, const char *kind, const char *name)
{
	const struct xc_cache cache = {.dir = broker->finder->cache_dir, .kind = kind};
	errno = ENOENT;
	if (!is_kept(kind))
		return -1;
	if (broker->statuses && xc_broker_status_is_silent(broker->statuses, kind, name)) {
		errno = ETIMEDOUT;
		return -1;
	}
	const int fd = xc_cache_open(&cache, name), number = errno;
	if (fd < 0 && broker->wants >= 0)
		have_built(broker, name);
	errno = number;
	return fd;
}

/* Always the same file, so that RLIMIT_FSIZE bounds what a worker takes of the disk. */
static int open_scratch(const struct xc_broker *broker)
{
	errno = broker->scratch_error;
	return broker->scratch < 0 ? -1 : fcntl(broker->scratch, F_DUPFD_CLOEXEC, 0);
}

/* Given once only: a later request would concern another core. */
static int open_core(struct xc_broker *broker)
{
	const struct xc_input *input = broker->core;
	struct xc_corefd core = {.fd = -1, .why = XC_BROKER_STATUS_NO_ANSWER, .hindered = true};
	broker->core = NULL;
	errno = EACCES;
	if (!input)
		return -1;
	if (!broker->statuses || !xc_broker_status_is_silent(broker->statuses, NULL, input->file))
		core = xc_corefd_open(input);
	if (core.fd < 0)
		xc_broker_status_no_core(broker->status, core.why, core.hindered);
	errno = EIO;
	return core.fd;
}

static void note_trouble(struct xc_broker_status *status, int number, enum xc_broker_status_lack lack)
{
	if (status->trouble)
		return;
	status->trouble = number;
	status->lack = lack;
}

static void note_error(struct xc_broker_status *status, enum xc_broker_request_kind kind, int number)
{
	if (kind == XC_BROKER_REQUEST_SCRATCH)
		note_trouble(status, number, XC_BROKER_STATUS_SCRATCH);
	else if (number == ETIMEDOUT)
		status->silent = true;
	else if (kind != XC_BROKER_REQUEST_CORE && is_shortage(number))
		note_trouble(status, number, XC_BROKER_STATUS_FILE);
}

/* Both texts end where they say. False for a packet of another form. */
static bool split(const struct xc_broker_request *request, size_t size, const char **second_out)
{
	const size_t head = offsetof(struct xc_broker_request, texts);
	if (size <= head || size > sizeof *request)
		return false;
	const char *end = (const char *)request + size;
	const char *nul = memchr(request->texts, 0, (size_t)(end - request->texts));
	if (!nul || nul + 1 >= end || end[-1] != '\0' || strlen(nul + 1) != (size_t)(end - nul) - 2)
		return false;
	*second_out = nul + 1;
	return true;
}

/* A worker that does not read its answers waits for them in vain until its time runs out. A descriptor that cannot be
 * sent is reported as an ordinary error. */
static void send_answer(const struct xc_broker *broker, int socket, struct xc_broker_answer answer, int fd)
{
	if (xc_fd_passing_send(socket, &answer, sizeof answer, &fd, fd >= 0, MSG_DONTWAIT) >= 0 || !is_shortage(errno))
		return;
	answer.error = errno;
	note_trouble(broker->status, answer.error, XC_BROKER_STATUS_ANSWER);
	xc_fd_passing_send(socket, &answer, sizeof answer, NULL, 0, MSG_DONTWAIT);
}

/* Opens what was asked for. -1 with errno set. */
static int open_asked(struct xc_broker *broker, const struct xc_broker_request *request, const char *second,
		      bool *special)
{
	const char *root = request->has_root ? request->texts : NULL;
	switch (request->kind) {
	case XC_BROKER_REQUEST_FILE:
		return open_file(broker, root, second, special);
	case XC_BROKER_REQUEST_KEPT:
		return open_kept(broker, request->texts, second);
	case XC_BROKER_REQUEST_SCRATCH:
		return open_scratch(broker);
	default:
		return open_core(broker);
	}
}

/* Writes down only what can be a place; all other texts are the worker's own choice. */
static void write_down(const struct xc_broker *broker, const struct xc_broker_request *request, const char *second)
{
	struct xc_broker_status *status = broker->status;
	status->number = request->number;
	status->core = request->kind == XC_BROKER_REQUEST_CORE && broker->core;
	if (status->core)
		xc_broker_status_set_place(status, NULL, broker->core->file);
	else if (request->kind == XC_BROKER_REQUEST_FILE)
		xc_broker_status_set_place(status, request->has_root ? request->texts : NULL, second);
	else if (request->kind == XC_BROKER_REQUEST_KEPT && is_kept(request->texts))
		xc_broker_status_set_place(status, request->texts, second);
	else
		xc_broker_status_set_place(status, NULL, "");
}

/* The worker gets no answer and keeps waiting; the process that watches the status ends it. */
static bool refuse(const struct xc_broker *broker, enum xc_broker_status_refusal why)
{
	broker->status->refused = why;
	return false;
}

/* False for a packet that breaks the rules. */
static bool serve(struct xc_broker *broker, int socket, const struct xc_broker_request *request, size_t size)
{
	const char *second;
	if (!split(request, size, &second) || request->kind < XC_BROKER_REQUEST_FILE ||
	    request->kind > XC_BROKER_REQUEST_CORE)
		return refuse(broker, XC_BROKER_STATUS_FOUL);
	if (broker->requests++ >= XC_BROKER_REQUESTS)
		return refuse(broker, XC_BROKER_STATUS_TOO_MUCH);
	write_down(broker, request, second);
	struct xc_broker_answer answer = {.number = request->number};
	const int fd = open_asked(broker, request, second, &answer.special);
	answer.error = fd < 0 ? errno : 0;
	if (answer.error)
		note_error(broker->status, (enum xc_broker_request_kind)request->kind, answer.error);
	send_answer(broker, socket, answer, fd);
	if (fd >= 0)
		close(fd);
	return true;
}

/* An empty packet looks like the end of the connection. */
static bool has_gone(int socket)
{
	struct pollfd polled = {.fd = socket};
	return poll(&polled, 1, 0) > 0 && (polled.revents & POLLHUP);
}

/* The clock runs from before the request is received until after its answer is sent: a replacement broker then knows
 * whether it must answer. */
bool xc_broker_serve(struct xc_broker *broker, int socket)
{
	static struct xc_broker_request request; /* 8 KiB; a process serves one request at a time */
	atomic_store(&broker->status->since_ns, xc_now_ns());
	const ssize_t size = recv(socket, &request, sizeof request, MSG_DONTWAIT);
	bool goes_on = errno == EAGAIN || errno == EINTR;
	if (size > 0)
		goes_on = serve(broker, socket, &request, (size_t)size);
	else if (!size)
		goes_on = !has_gone(socket) && refuse(broker, XC_BROKER_STATUS_FOUL);
	atomic_store(&broker->status->since_ns, 0);
	return goes_on;
}

_Noreturn void xc_broker_live(struct xc_broker *broker, int socket, uint32_t number)
{
	struct pollfd polled = {.fd = socket, .events = POLLIN};
	if (number)
		send_answer(broker, socket, (struct xc_broker_answer){.error = ETIMEDOUT, .number = number}, -1);
	do
		poll(&polled, 1, -1);
	while (xc_broker_serve(broker, socket));
	_exit(0); /* also after a refusal, which is the core's own fault */
}

void xc_broker_fini(struct xc_broker *broker)
{
	for (size_t i = 0; i < XC_BROKER_SEEN; i++)
		forget(&broker->seen[i]);
}
