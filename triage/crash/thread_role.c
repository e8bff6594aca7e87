/* thread_role: from the outer end of a stack inward, past the functions that start threads, to the first function of
 * user code. */
#include "triage/crash/thread_role.h"

#include "core/process/module.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum { OUTER = 24 }; /* frames of starting a thread, at most */

/* Functions that start threads and are in no runtime library: of static programs, of GLib, Qt, and thread pools. */
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
	return xc_names_find(names, name);
}

/* Code without a name may be the start function itself: then no other is. */
static bool is_known(const struct xc_place *place)
{
	size_t outermost = place->level_count ? place->level_count - 1 : 0;
	return place->module && (xc_module_is_runtime(place->module) || xc_place_function(place, outermost));
}

/* The outermost level of user code. */
static bool outer_own(const struct xc_place *place, size_t *level_out)
{
	size_t count = place->level_count ? place->level_count : 1;
	for (size_t l = count; l-- > 0;)
		if (xc_user_code_is(place, l) && xc_place_function(place, l)) {
			*level_out = l;
			return true;
		}
	return false;
}

void xc_thread_role_find(const struct xc_process *process, const struct xc_frame *frames, size_t count,
			 xc_addr *routine_out, const char **name_out)
{
	bool begun = false;
	for (size_t i = count, n = 0; i-- > 0 && n < OUTER; n++) {
		const struct xc_place *place = xc_debuginfo_place(process, xc_frame_lookup(&frames[i]));
		size_t outermost = place->level_count ? place->level_count - 1 : 0, level;
		if (begins(xc_place_function(place, outermost))) {
			begun = true;
			continue;
		}
		if (!begun || !is_known(place))
			return;
		if (xc_module_is_runtime(place->module) || !outer_own(place, &level))
			continue;
		*routine_out = frames[i].pc;
		*name_out = xc_place_function(place, level);
		return;
	}
}
