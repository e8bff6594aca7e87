/* framerules_impl: the reader of rule files (framerules_text.c), for framerules.c. */
#ifndef XC_FRAMERULES_IMPL_H
#define XC_FRAMERULES_IMPL_H

#include "core/base/arena.h"
#include "batch/signature/framerules.h"

/* A rule as read from its line, with the conditions of its heading. Strings are in the arena, except for the file's
 * name. */
struct xc_framerule_line {
	enum xc_frame_section section;
	const char *pattern;
	const char *modules, *paths, *other_paths; /* "module=", "path=", "path!="; may be NULL */
	unsigned languages;                        /* a bit for each; 0: any */
	const char *file;
	unsigned number;
};

/* Named sets of modules; later files may use the sets of earlier ones. */
struct xc_framerule_sets {
	struct {
		const char *name, *modules;
	} sets[64];
	size_t count;
};

/* Calls `add` for each rule, in order. Errors: XC_ERR_FORMAT with the line. */
XC_MUST_CHECK struct xc_error *xc_framerules_text(const char *text, size_t len, const char *name,
						  struct xc_arena *arena, struct xc_framerule_sets *sets,
						  void (*add)(void *user, const struct xc_framerule_line *line),
						  void *user);

#endif
