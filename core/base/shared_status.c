/* shared_status: a slot of a temporary file is taken first and marked complete once its path is written: the keeper may
 * read it at any time. */
#include "core/base/shared_status.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct xc_shared_status unshared, *in_use = &unshared;

struct xc_shared_status *xc_shared_status_map(void)
{
	struct xc_shared_status *status =
		mmap(NULL, sizeof *status, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (status == MAP_FAILED)
		return NULL;
	atomic_store(&status->timeout_s, XC_SHARED_TIMEOUT_S);
	return status;
}

void xc_shared_status_use(struct xc_shared_status *status)
{
	in_use = status;
}

void xc_shared_status_allow_ptrace(void)
{
	if (in_use->keeper)
		prctl(PR_SET_PTRACER, in_use->keeper);
}

void xc_shared_status_detach(void)
{
	if (in_use != &unshared)
		munmap(in_use, sizeof *in_use);
	in_use = &unshared;
}

struct xc_shared_status *xc_shared_status(void)
{
	return in_use;
}

static bool is_unresponsive(const char *path)
{
	const char *slash = strrchr(path, '/');
	const size_t len = slash ? (size_t)(slash - path) : 0;
	for (unsigned i = 0; i < in_use->unresponsive_count; i++)
		if (strlen(in_use->unresponsive[i]) == len && !memcmp(in_use->unresponsive[i], path, len))
			return true;
	return false;
}

bool xc_shared_status_begin_open(const char *path)
{
	if (is_unresponsive(path))
		return false;
	if (in_use != &unshared && strlen(path) < PATH_MAX) { /* sandboxes deny gettid */
		strcpy(in_use->opening_path, path);
		atomic_store(&in_use->opening_tid, (int)syscall(SYS_gettid));
	}
	return true;
}

void xc_shared_status_end_open(void)
{
	atomic_store(&in_use->opening_tid, 0);
}

void xc_shared_status_add_tempfile(const char *path)
{
	for (size_t i = 0; i < XC_SHARED_TEMPFILES && strlen(path) < PATH_MAX; i++) {
		if (atomic_exchange(&in_use->tempfiles[i].taken, true))
			continue;
		strcpy(in_use->tempfiles[i].path, path);
		atomic_store(&in_use->tempfiles[i].complete, true);
		return;
	}
}

void xc_shared_status_remove_tempfile(const char *path)
{
	for (size_t i = 0; i < XC_SHARED_TEMPFILES; i++) {
		if (!atomic_load(&in_use->tempfiles[i].complete) || strcmp(in_use->tempfiles[i].path, path) != 0)
			continue;
		atomic_store(&in_use->tempfiles[i].complete, false);
		atomic_store(&in_use->tempfiles[i].taken, false);
		return;
	}
}

/* Do the first `len` bytes end in "-PID", ".PID" or ".PID-NUMBER"? */
static bool ends_in_pid(const char *name, size_t len, pid_t pid)
{
	char number[16];
	const size_t digits = (size_t)snprintf(number, sizeof number, "%ld", (long)pid);
	size_t end = len;
	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	if (len - end == digits && end && strchr("-.", name[end - 1]) && !memcmp(name + end, number, digits))
		return true;
	return end > digits + 1 && end < len && name[end - 1] == '-' && name[end - digits - 2] == '.' &&
	       !memcmp(name + end - 1 - digits, number, digits);
}

bool xc_shared_status_is_tempfile(const char *path, pid_t pid)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	return xc_ends_with(name, ".part") && ends_in_pid(name, strlen(name) - strlen(".part"), pid);
}
