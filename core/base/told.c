/* told: a slot of an aside is taken first, and counts when all of its path is there: its keeper may look at any time. */
#include "core/base/told.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct xc_told untold, *in_use = &untold;

struct xc_told *xc_told_map(void)
{
	struct xc_told *told =
		mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (told == MAP_FAILED)
		return NULL;
	atomic_store(&told->patience_s, XC_TOLD_SECONDS);
	return told;
}

void xc_told_use(struct xc_told *told)
{
	in_use = told;
}

void xc_told_admit(void)
{
	if (in_use->keeper)
		prctl(PR_SET_PTRACER, in_use->keeper);
}

void xc_told_leave(void)
{
	if (in_use != &untold)
		munmap(in_use, sizeof *in_use);
	in_use = &untold;
}

struct xc_told *xc_told(void)
{
	return in_use;
}

static bool is_silent(const char *path)
{
	const char *slash = strrchr(path, '/');
	const size_t len = slash ? (size_t)(slash - path) : 0;
	for (unsigned i = 0; i < in_use->silent_count; i++)
		if (strlen(in_use->silent[i]) == len && !memcmp(in_use->silent[i], path, len))
			return true;
	return false;
}

bool xc_told_seek(const char *path)
{
	if (is_silent(path))
		return false;
	if (in_use != &untold && strlen(path) < PATH_MAX) { /* in a jail nobody asks for the number of a thread */
		strcpy(in_use->sought, path);
		atomic_store(&in_use->seeker, (int)syscall(SYS_gettid));
	}
	return true;
}

void xc_told_found(void)
{
	atomic_store(&in_use->seeker, 0);
}

void xc_told_aside(const char *path)
{
	for (size_t i = 0; i < XC_TOLD_ASIDES && strlen(path) < PATH_MAX; i++) {
		if (atomic_exchange(&in_use->asides[i].taken, true))
			continue;
		strcpy(in_use->asides[i].path, path);
		atomic_store(&in_use->asides[i].whole, true);
		return;
	}
}

void xc_told_done(const char *path)
{
	for (size_t i = 0; i < XC_TOLD_ASIDES; i++) {
		if (!atomic_load(&in_use->asides[i].whole) || strcmp(in_use->asides[i].path, path) != 0)
			continue;
		atomic_store(&in_use->asides[i].whole, false);
		atomic_store(&in_use->asides[i].taken, false);
		return;
	}
}

/* "-PID", ".PID", or the latter with "-NUMBER" behind it, at the end of the first `len` bytes. */
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

bool xc_told_is_aside(const char *path, pid_t pid)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	return xc_ends_with(name, ".part") && ends_in_pid(name, strlen(name) - strlen(".part"), pid);
}
