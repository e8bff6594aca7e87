/* export: the result of a batch in formats for machines and people. Each format is in a file of its own (export_*.c).
 *
 * All strings of a core are attacker-controlled. Each format escapes by its own rules, and replaces what it cannot
 * represent. The output depends on the problems only: it has no time and no host name. */
#ifndef XC_EXPORT_H
#define XC_EXPORT_H

#include <stdio.h>

#include "batch/problems/problems.h"
#include "batch/util/wordlist.h"

struct xc_export_options {
	/* this prefix is removed from source paths, which makes them relative to the repository; or NULL */
	const char *source_root;
	/* a file of the repository to which crashes without a location are attributed: "README.md"; or NULL */
	const char *manifest;
	unsigned limit; /* clusters shown to people; 0: all */
	size_t before;  /* summary: current size of the file, in bytes */
	bool color;     /* text */
	/* text: maps a record's path to the core's file, for suggested commands; borrowed. It may be NULL or return
	 * NULL: unknown. */
	const char *(*file_of)(const void *user, const char *path);
	const void *user;
	/* text: the given options to repeat in these suggested commands. `triage --explain` then sees the same.
	 * `analyze` has no --no-host-files and no worker limits, also uses this host's files, and shows values unless
	 * --redact was given. */
	struct xc_wordlist analyze, explain;
	unsigned width; /* text: line width in columns; 0: 100 */
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

/* Finds a format by name; NULL if there is none. */
const struct xc_export *xc_export_named(const char *name);

/* "json, jsonl, sarif, …": all names. Malloc'ed. */
char *xc_export_list(void);

/* A source path as it appears in exports: relative if it is below source_root. NULL stays NULL. Malloc'ed. */
char *xc_export_path(const struct xc_export_options *options, const char *file);

/* Does a path begin at the root, or at a home directory in its redacted form? */
bool xc_export_whole(const char *path);

/* Does a source path, as the compiler recorded it, belong to the repository? If the source root is known: is it below
 * it? Else: is it relative, without leading above? False for NULL. */
bool xc_export_inside(const struct xc_export_options *options, const char *file);

#endif
