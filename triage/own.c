/* own: by its name, or by where its source is. What stands in a header and is no inlined call is the program's own: compilers give
 * lines of what they inlined to the function round it. */
#include "own.h"

#include "../core/module.h"
#include "names.h"

static bool is_library_name(const char *function)
{
	static const char *const names[] = {
		"std::",     "void std::",  "__gnu_cxx::",  "__cxxabiv1::",   "core::",
		"alloc::",   "<core::",     "<alloc::",     "<std::",         "__rust",
		"__gthread", "__invoke",    "boost::",      "decltype",       "__clang_call_terminate",
		"__asan",    "__sanitizer", "__ubsan",      "__interceptor_", "__cxa_",
		"__gxx_",    "_Unwind_",    "operator new", "runtime.",       "runtime/",
		NULL};
	return xc_names_begin(names, function);
}

static bool is_library_file(const char *file, bool inlined)
{
	static const char *const headers[] = {"/usr/include/", "/include/c++/", NULL};
	static const char *const sources[] = {"/rustlib/src/", "/rustc/", NULL};
	return xc_names_in(sources, file) || (inlined && xc_names_in(headers, file));
}

bool xc_own_is(const struct xc_place *place, size_t level)
{
	const char *file = level < place->level_count ? place->levels[level].file : NULL;
	return !is_library_name(xc_place_function(place, level)) &&
	       !is_library_file(file, level + 1 < place->level_count);
}

bool xc_own_is_told(const struct xc_place *place)
{
	return !place->module && (place->level_count || place->symbol);
}

bool xc_own_level(const struct xc_place *place, size_t *level_out)
{
	if (!xc_own_is_told(place) && (!place->module || xc_module_is_runtime(place->module)))
		return false;
	for (size_t l = 0; l == 0 || l < place->level_count; l++) {
		*level_out = l;
		if (xc_own_is(place, l))
			return true;
	}
	return false;
}
