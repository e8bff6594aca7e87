/* blame: see blame.h. */
#include "triage/crash/blame.h"

#include <string.h>

#include "core/process/module.h"
#include "triage/util/user_code.h"

enum { MAX_FRAMES = 256 };

/* In a static program the C library is part of the executable; its functions are known by name there. */
static bool runtime_name(const char *name)
{
	static const char *const names[] = {"raise",
					    "abort",
					    "pthread_kill",
					    "__assert_fail",
					    "__assert_fail_base",
					    "free",
					    "malloc",
					    "realloc",
					    "calloc",
					    "_int_free",
					    "_int_malloc",
					    "malloc_printerr",
					    "__libc_message",
					    "__fortify_fail",
					    "__chk_fail",
					    "__stack_chk_fail",
					    "__pthread_kill_implementation",
					    "__pthread_kill_internal",
					    "__pthread_kill",
					    "__restore_rt",
					    "gsignal"};
	if (!name)
		return false;
	if (xc_begins_with(name, "__GI_"))
		name += 5;
	size_t len = strcspn(name, "."); /* ".constprop.0", ".part.1", ".cold" */
	for (size_t i = 0; i < XC_COUNT(names); i++)
		if (strlen(names[i]) == len && !memcmp(name, names[i], len))
			return true;
	return false;
}

/* Functions of the C library that use memory as they are told, by the names of their source or of a variant for some
 * processors: "__memcpy_avx512_unaligned_erms". Those that have debug information are the program's own. */
static bool memory_name(const struct xc_place *place)
{
	static const char *const names[] = {"memcpy",   "memmove",   "mempcpy", "memset",  "memchr",     "memrchr",
					    "memcmp",   "strlen",    "strnlen", "strcpy",  "stpcpy",     "strncpy",
					    "strcat",   "strncat",   "strcmp",  "strncmp", "strcasecmp", "strncasecmp",
					    "strchr",   "strchrnul", "strrchr", "strstr",  "strspn",     "strcspn",
					    "strpbrk",  "strdup",    "strndup", "bcopy",   "bzero",      "bcmp",
					    "vfprintf", "fputs",     "fwrite",  "puts",    "qsort"};
	const char *name = place->level_count ? NULL : place->symbol;
	bool reserved = name && xc_begins_with(name, "__");
	name += reserved ? 2 : 0;
	for (size_t i = 0; name && i < XC_COUNT(names); i++) {
		size_t len = strlen(names[i]);
		if (strncmp(name, names[i], len) == 0 &&
		    (!name[len] || name[len] == '.' || (reserved && name[len] == '_')))
			return true;
	}
	return false;
}

struct xc_blame xc_blame_find(const struct xc_process *p, struct xc_unwinder *u, const struct xc_frame *from)
{
	struct xc_frame at = *from;
	const char *stop;
	bool whole = xc_modules_are_static(p);
	struct xc_blame first = {.place = xc_debuginfo_place(p, xc_frame_lookup(from)), .frame = *from}, blame = first;
	for (size_t i = 0; i < MAX_FRAMES; i++) {
		const struct xc_place *place = xc_debuginfo_place(p, xc_frame_lookup(&at));
		size_t outermost = place->level_count ? place->level_count - 1 : 0;
		bool runtime = at.signal || (place->module && xc_module_is_runtime(place->module)) ||
			       (whole && (runtime_name(xc_place_function(place, outermost)) || memory_name(place)));
		if (!runtime && (place->module || xc_user_code_is_jit(place))) {
			blame.place = place;
			blame.frame = at;
			blame.caller = xc_place_function(place, 0);
			blame.caller_frame = at.index;
			return blame;
		}
		if (runtime && place->module && !blame.nameless) {
			blame.through = xc_place_function(place, outermost);
			blame.through_module = place->module->name;
		}
		if (!at.signal && !place->module && !blame.nameless)
			blame.nameless = at.pc;
		if (!xc_unwind_step(u, &at, &at, &stop))
			return first;
	}
	return first;
}
