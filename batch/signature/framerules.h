/* framerules: which functions are how a program ends, helpers, or start-up code: data, in a file that users may replace.
 *
 * The built-in file is frames.txt in this folder (its first line tells its version). A section is a heading and rules below it:
 *
 *	[SKIP-ABOVE]     the frame and all that it called go, up to a signal's trampoline
 *	[RAISE]          likewise, and signals that the process so sent itself are no matter: their handlers go, too
 *	[SKIP]           the frame goes, its caller is looked at
 *	[STOP]           the frame and all that called it go
 *	[APP]            these are mine: nothing skips them
 *	[NOT-APP]        others' code: kept, but never shown as the place to look at
 *	[MODULES]        names for sets of modules: "@libc libc.so*|ld-linux*"
 *
 * A rule is a pattern for the whole name ('*' stands for anything; '?' alone for a function without a name), then conditions:
 * `module=libc.so*|@glib`, `path=*glibc*` (of the source file), `path!=*glibc*` (known, and none of these), `language=go|rust` (or c, c++: language.h). Conditions in a heading
 * ("[SKIP module=@libc]") hold for all rules below it that have none of that kind. Blanks and tabs separate. Names are matched
 * normalised (normalise.h); one with parameters, which could never match, is refused. A bare name without a module belongs to the
 * program as well as to any library, so that rules of runtimes name their modules. A # that begins a line or stands after a blank begins
 * a comment. Of several rules that hold the last one decides. A first line "# xcore frames N" says for which version of this form a file
 * is made; a later one than ours is refused. */
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

enum { XC_FRAMES_VERSION = 3 }; /* of the form of such files */

/* The module that stands for a C library which is linked into the program. */
#define XC_FRAMES_LINKED_IN "libc.a"

struct xc_framerule {
	enum xc_frame_section section;
	const char *pattern; /* as written */
	const char *where;   /* "frames.txt:12" */
};

/* The built-in rules; the caller frees them. */
struct xc_framerules *xc_framerules_builtin(void);

/* Add those of a file, which win over what is there; `name` stands in messages. After an error nothing is added.
 * Errors: XC_ERR_FORMAT with the line. */
XC_MUST_CHECK struct xc_error *xc_framerules_add(struct xc_framerules *rules, const char *text, size_t len,
						 const char *name);

/* What rules are asked about; name, module and path may be NULL. */
struct xc_framerule_frame {
	const char *name; /* normalised */
	const char *module, *path;
	enum xc_language language;
};

/* The last rule of any of `sections` (a bit each) that a frame matches; NULL: none. Cost: a look-up, and a comparison with each
 * pattern that begins like the name. */
const struct xc_framerule *xc_framerules_match(const struct xc_framerules *rules, unsigned sections,
					       const struct xc_framerule_frame *frame);

/* "SKIP-ABOVE", "SKIP", … */
const char *xc_framerules_section(enum xc_frame_section section);

/* SHA-256 of all rules, hex: a part of the configuration's hash. Lives as long as the rules. */
const char *xc_framerules_hash(const struct xc_framerules *rules);

void xc_framerules_free(struct xc_framerules *rules);
void xc_framerules_freep(struct xc_framerules **rules);

#endif
