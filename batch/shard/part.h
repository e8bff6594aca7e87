/* part: the records of one shard as a file, and the merging of all shards.
 *
 *	{"schema":"xcore.part/1","version":"…","config":"…","manifest":"…","shard":3,"of":8,"cores":61}
 *	{"schema":"xcore.record/1",…}           one line per core, by path
 *
 * Optional members of the first line: "redacted":true if the records were redacted; "left_out" if some inputs could not
 * be searched, with "unread" for those that may be cores; "unlooked", the number of this shard's cores that are missing
 * here; "run", the name of the run of all shards, if given.
 *
 * Parts can be merged if they were made by the same version, with the same settings, from the same inputs; their first
 * lines show this. Parts that name their run must name the same one: a shard that was never started leaves the part of
 * an earlier run. A part is read as hostile text. */
#ifndef XC_PART_H
#define XC_PART_H

#include <stdio.h>

#include "batch/record/record.h"

#define XC_PART_SCHEMA "xcore.part/1"

struct xc_part {
	const char *name;     /* last component of the file's name, for messages */
	const char *version;  /* of xcore */
	const char *config;   /* hash of the settings that affect a record */
	const char *manifest; /* hash of the paths and sizes of all shards' inputs */
	const char *run;      /* or NULL: it fits any run */
	bool redacted;        /* false unless the part says so */
	unsigned shard, of;
	size_t left_out; /* number of inputs, of all shards, that could not be searched (the notes of input.h) */
	size_t unread;   /* how many of them could not be opened, as in input.h */
	/* cores of this shard that could not be examined for reasons outside of them; they have no record here */
	size_t unlooked;
	struct xc_record **records; /* by path */
	size_t count;
};

/* "part-00003-of-00008.jsonl"; malloc'ed. */
char *xc_part_name(unsigned shard, unsigned of);

/* Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_part_write(const struct xc_part *part, FILE *out);

/* Reads a part into the arena. Errors: those of opening; XC_ERR_FORMAT with file and line, also if lines are missing,
 * because an incomplete part is useless. */
XC_MUST_CHECK struct xc_error *xc_part_read(const char *path, struct xc_arena *arena, struct xc_part **part_out);

struct xc_parts {
	struct xc_part **parts; /* in any order */
	size_t count;
};

/* Reads all parts in files, directories and patterns (wildcard.h). In directories these are the files
 * part-*-of-*.jsonl; if `of` is not 0, only those of that many shards. Errors: a name that does not exist, a pattern
 * without a match or with a directory that cannot be searched; those of xc_part_read. */
XC_MUST_CHECK struct xc_error *xc_parts_read(const char *const *paths, size_t count, unsigned of,
					     struct xc_arena *arena, struct xc_parts *parts_out);

struct xc_merged {
	const struct xc_record **records; /* by path */
	size_t count;
	const char **missing; /* names of the absent parts */
	size_t missing_count;
	size_t left_out; /* the maximum of the parts, plus the unlooked of all */
	size_t unread;   /* the maximum of the parts */
	const char *version, *config;
	bool redacted; /* all parts are */
};

/* Merges the parts. Two copies of a part must be equal. Errors: XC_ERR_MISMATCH if they do not belong together,
 * XC_ERR_NOT_FOUND if there is none. */
XC_MUST_CHECK struct xc_error *xc_parts_merge(const struct xc_parts *parts, struct xc_arena *arena,
					      struct xc_merged *merged_out);

#endif
