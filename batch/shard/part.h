/* part: the records of one shard as a file, and the records of all shards again.
 *
 *	{"schema":"xcore.part/1","version":"…","config":"…","manifest":"…","shard":3,"of":8,"cores":61}
 *	{"schema":"xcore.record/1",…}           one line a core, by path
 *
 * The first line of records that were redacted has "redacted":true. That of who could not look everywhere has "left_out", too, and "unread"
 * where there may be cores; "unlooked" is how many cores of this shard are missing here. "run" is what the run of all shards is called, where
 * that was said.
 *
 * Parts that are to be merged must have been made by the same version, with the same settings, of the same inputs: that is what the first
 * lines say. Those that say of which run they are must be of one: a shard that was never started leaves the part of an earlier run. A part is
 * read as hostile text. */
#ifndef XC_PART_H
#define XC_PART_H

#include <stdio.h>

#include "batch/record/record.h"

#define XC_PART_SCHEMA "xcore.part/1"

struct xc_part {
	const char *name;     /* of the file, for messages: its last component */
	const char *version;  /* of xcore */
	const char *config;   /* hash of what decides about a record */
	const char *manifest; /* hash of the paths and sizes of all inputs, of all shards */
	const char *run;      /* or NULL: it goes with those of any run */
	bool redacted;        /* a part that does not say so is not */
	unsigned shard, of;
	size_t left_out; /* names of the inputs, of all shards, that could not be looked into (input.h's notes) */
	size_t unread;   /* those of them that nobody could open, as in input.h */
	size_t unlooked; /* cores of this shard that nobody could look at, for reasons that are not theirs: they have no record here */
	struct xc_record **records; /* by path */
	size_t count;
};

/* "part-00003-of-00008.jsonl"; malloc'ed. */
char *xc_part_name(unsigned shard, unsigned of);

/* Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_part_write(const struct xc_part *part, FILE *out);

/* Read a part; all of it is put into the arena. Errors: those of opening, and XC_ERR_FORMAT with file and line: also when it has fewer
 * lines than it says, since a part is whole or none. */
XC_MUST_CHECK struct xc_error *xc_part_read(const char *path, struct xc_arena *arena, struct xc_part **part_out);

struct xc_parts {
	struct xc_part **parts; /* in any order */
	size_t count;
};

/* Read all parts of files, directories and patterns (wildcard.h): in directories those named part-*-of-*.jsonl, and only those of so many shards
 * where `of` is not 0. Errors: a name that leads nowhere, a pattern that none fits, or for which a directory cannot be searched; those of
 * xc_part_read. */
XC_MUST_CHECK struct xc_error *xc_parts_read(const char *const *paths, size_t count, unsigned of,
					     struct xc_arena *arena, struct xc_parts *parts_out);

struct xc_merged {
	const struct xc_record **records; /* by path */
	size_t count;
	const char **missing; /* names of the parts that are not there */
	size_t missing_count;
	size_t left_out; /* the most of any part, and the unlooked of all */
	size_t unread;   /* the most of any part */
	const char *version, *config;
	bool redacted; /* all parts */
};

/* Put them together. A part that is there twice must be the same twice. Errors: XC_ERR_MISMATCH when they do not belong together,
 * XC_ERR_NOT_FOUND when there is none. */
XC_MUST_CHECK struct xc_error *xc_parts_merge(const struct xc_parts *parts, struct xc_arena *arena,
					      struct xc_merged *merged_out);

#endif
