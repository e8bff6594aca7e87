/* export: the result of a batch for machines and people: one function a format, each in a file of its own (export_*.c).
 *
 * All strings of a core are attackers' text: each format escapes by its own rules, and what cannot be written in it is replaced. Output is
 * the same for the same problems: no time, no host. */
#ifndef XC_EXPORT_H
#define XC_EXPORT_H

#include <stdio.h>

#include "batch/problems/problems.h"
#include "batch/util/wordlist.h"

struct xc_export_options {
	const char *
		source_root; /* this prefix of source paths is cut off, so that they are relative to the repository; or NULL */
	const char
		*manifest; /* a file of the repository that stands for crashes without a place: "README.md"; or NULL */
	unsigned limit;    /* clusters shown to people; 0: all */
	size_t before;     /* summary: bytes that the file holds already */
	bool color;        /* text */
	/* text: the file of a core, by its record's path, for what people run next; borrowed. NULL, also from it: nobody knows. */
	const char *(*file_of)(const void *user, const char *path);
	const void *user;
	/* text: what was given and is to be given to these commands that people run next. `triage --explain` then sees the same; `analyze` has
	 * no --no-host-files and no limits of a worker, looks at this host's files, too, and unless --redact was given shows values. */
	struct xc_wordlist analyze, explain;
	unsigned width; /* text: columns to fit; 0: 100 */
};

typedef struct xc_error *xc_export_fn(const struct xc_problems *problems, const struct xc_export_options *options,
				      FILE *out);

struct xc_export {
	const char *name;   /* "sarif" */
	const char *suffix; /* ".sarif" */
	const char *about;
	xc_export_fn *write;
};

/* The formats, in the order in which help lists them. A new format is a file export_NAME.c that defines
 * `const struct xc_export xc_export_NAME`, and its name in this list. */
#define XC_EXPORTS(X) X(json) X(jsonl) X(sarif) X(junit) X(github) X(summary) X(gitlab) X(markdown) X(html) X(text)

#define XC_EXPORT_DECLARE(name) extern const struct xc_export xc_export_##name;
XC_EXPORTS(XC_EXPORT_DECLARE)
#undef XC_EXPORT_DECLARE

/* All of them; NULL ends the array. */
extern const struct xc_export *const xc_exports[];

/* By name; NULL when there is none. */
const struct xc_export *xc_export_named(const char *name);

/* "json, jsonl, sarif, …": all names. Malloc'ed. */
char *xc_export_list(void);

/* A source path as it stands in exports: below source_root, relative; NULL stays NULL. Malloc'ed. */
char *xc_export_path(const struct xc_export_options *options, const char *file);

/* Does a path begin at the root, or at a home directory, as redaction shows it? */
bool xc_export_whole(const char *path);

/* Is a source path, as the compiler recorded it, the repository's? Where its root is known, when it lies below; else when it is relative,
 * and not above. False for NULL. */
bool xc_export_inside(const struct xc_export_options *options, const char *file);

#endif
