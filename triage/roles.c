/* roles: from the outer end of a stack inward, past what starts threads, to the first function that somebody wrote for this program. */
#include "roles.h"

#include <string.h>

#include "../core/module.h"

enum { OUTER = 24 }; /* frames that starting a thread takes, at most */

static bool starts_with(const char *name, const char *const *prefixes)
{
	for (; name && *prefixes; prefixes++)
		if (strncmp(name, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

static bool is_among(const char *name, const char *const *names)
{
	for (; name && *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

static bool library_name(const char *function)
{
	static const char *const prefixes[] = {"std::",   "__gnu_cxx::", "__cxxabiv1::", "core::",     "alloc::",
					       "<core::", "<alloc::",    "<std::",       "__rust",     "__gthread",
					       "boost::", "__invoke",    "decltype",     "void std::", NULL};
	return starts_with(function, prefixes);
}

static bool library_file(const struct xc_place *place, size_t level)
{
	const char *file = level < place->level_count ? place->levels[level].file : NULL;
	bool inlined = level + 1 < place->level_count;
	return file && (strstr(file, "/rustlib/src/") || strstr(file, "/rustc/") ||
			(inlined && (strstr(file, "/include/c++/") || strstr(file, "/usr/include/"))));
}

static bool own(const struct xc_place *place, size_t level)
{
	return !library_name(xc_place_function(place, level)) && !library_file(place, level);
}

bool xc_roles_own_level(const struct xc_place *place, size_t *level_out)
{
	if (!place->module || xc_module_is_runtime(place->module))
		return false;
	for (size_t l = 0; l == 0 || l < place->level_count; l++)
		if (own(place, l)) {
			*level_out = l;
			return true;
		}
	return false;
}

/* What begins threads and is in no run-time library: of static programs, of GLib, Qt, and pools that hand out the work. */
static bool begins(const char *name)
{
	static const char *const names[] = {"start_thread",
					    "clone",
					    "clone3",
					    "__clone",
					    "__clone3",
					    "_start",
					    "__libc_start_main",
					    "__libc_start_main_impl",
					    "__libc_start_call_main",
					    "g_thread_proxy",
					    "g_thread_pool_thread_proxy",
					    "execute_native_thread_routine",
					    "thread_start",
					    "QThreadPrivate::start",
					    "QThreadPoolThread::run",
					    "uv__thread_start",
					    NULL};
	return is_among(name, names);
}

static bool is_beginning(const struct xc_place *place)
{
	size_t outermost = place->level_count ? place->level_count - 1 : 0;
	return begins(xc_place_function(place, outermost)) || !place->module || xc_module_is_runtime(place->module);
}

/* The outermost own level. */
static bool outer_own(const struct xc_place *place, size_t *level_out)
{
	size_t count = place->level_count ? place->level_count : 1;
	for (size_t l = count; l-- > 0;)
		if (own(place, l) && xc_place_function(place, l)) {
			*level_out = l;
			return true;
		}
	return false;
}

void xc_roles_find(const struct xc_process *process, const struct xc_frame *frames, size_t count, xc_addr *routine_out,
		   const char **name_out)
{
	bool begun = false;
	for (size_t i = count, n = 0; i-- > 0 && n < OUTER; n++) {
		const struct xc_place *place = xc_debuginfo_place(process, xc_frame_lookup(&frames[i]));
		size_t outermost = place->level_count ? place->level_count - 1 : 0, level;
		if (begins(xc_place_function(place, outermost))) {
			begun = true;
			continue;
		}
		if (!begun)
			return;
		if (is_beginning(place) || !outer_own(place, &level))
			continue;
		*routine_out = frames[i].pc;
		*name_out = xc_place_function(place, level);
		return;
	}
}
