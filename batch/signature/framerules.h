/* framerules: which functions belong to the end of a program, are helpers, or are start-up code. The rules are data, in
 * a file that users may replace.
 *
 * The built-in file is frames.txt in this folder; its first line has its version. A section is a heading followed by
 * rules:
 *
 *	[SKIP-ABOVE]     drop the frame and all that it called, up to a signal's trampoline
 *	[RAISE]          likewise; also drop the handlers of signals that the process sent itself this way
 *	[SKIP]           drop the frame, continue with its caller
 *	[STOP]           drop the frame and all that called it
 *	[APP]            the program's own code: nothing skips it
 *	[NOT-APP]        other code: kept, but never shown as the place to look at
 *	[MODULES]        names for sets of modules: "@libc libc.so*|ld-linux*"
 *
 * A rule is a pattern for the whole name ('*' matches anything; a lone '?' matches a function without a name), followed
 * by conditions: `module=libc.so*|@glib`, `path=*glibc*` (of the source file), `path!=*glibc*` (known, and none of
 * these), `language=go|rust` (or c, c++: language.h). Conditions in a heading ("[SKIP module=@libc]") apply to all
 * rules below it that have no condition of that kind. Separators are blanks and tabs. Names are matched in normalised
 * form (normalise.h); a name with parameters could never match and is refused. A bare name without a module matches in
 * the program as well as in any library, so rules for runtimes name their modules. A '#' at the start of a line or
 * after a blank begins a comment. If several rules match, the last one decides. A first line "# xcore frames N" gives
 * the version of the file format; a version later than ours is refused. */
#ifndef XC_FRAMERULES_H
#define XC_FRAMERULES_H

#include "core/base/error.h"
#include "batch/record/language.h"

struct xc_framerules;

enum xc_frame_section {
	XC_FRAMES_ABOVE,
	XC_FRAMES_RAISE,
	XC_FRAMES_LEAF,
	XC_FRAMES_STOP,
	XC_FRAMES_APP,
	XC_FRAMES_NOT_APP
};

enum { XC_FRAMES_VERSION = 3 }; /* of the file format */

/* The pseudo-module of a C library that is linked statically. */
#define XC_FRAMES_LINKED_IN "libc.a"

struct xc_framerule {
	enum xc_frame_section section;
	const char *pattern; /* as written */
	const char *where;   /* "frames.txt:12" */
};

/* The built-in rules; the caller frees them. */
struct xc_framerules *xc_framerules_builtin(void);

/* Adds the rules of a file, which override the present ones; `name` appears in messages. Adds nothing on an error.
 * Errors: XC_ERR_FORMAT with the line. */
XC_MUST_CHECK struct xc_error *xc_framerules_add(struct xc_framerules *rules, const char *text, size_t len,
						 const char *name);

/* The properties that rules are matched against; name, module and path may be NULL. */
struct xc_framerule_frame {
	const char *name; /* normalised */
	const char *module, *path;
	enum xc_language language;
};

/* The last rule in any of `sections` (a bit each) that matches the frame; NULL: none. Cost: a hash look-up, and a
 * comparison with each pattern that begins like the name. */
const struct xc_framerule *xc_framerules_match(const struct xc_framerules *rules, unsigned sections,
					       const struct xc_framerule_frame *frame);

/* "SKIP-ABOVE", "SKIP", … */
const char *xc_framerules_section(enum xc_frame_section section);

/* SHA-256 of all rules, in hex; part of the configuration's hash. Lives as long as the rules. */
const char *xc_framerules_hash(const struct xc_framerules *rules);

void xc_framerules_free(struct xc_framerules *rules);
void xc_framerules_freep(struct xc_framerules **rules);

#endif
