/* records: those of a set of inputs, each taken from the checkpoint or made by a worker. */
#ifndef XC_RECORDS_H
#define XC_RECORDS_H

#include "batch/run/batch.h"
#include "batch/run/checkpoint.h"

struct xc_records_options {
	struct xc_batch batch;            /* its arena, take and user are set here */
	struct xc_checkpoint *checkpoint; /* or NULL */
};

struct xc_records {
	struct xc_record **records; /* by path */
	size_t count;
	size_t reused; /* of them, from the checkpoint */
	size_t unlooked; /* of them, those that nobody could look at for reasons that are not theirs: not in the checkpoint */
	bool stopped;        /* the user interrupted: there are fewer than inputs */
	const char *unkept;  /* why the checkpoint has not all of them, or NULL */
	size_t unkept_count; /* how many it lacks for that */
	const char *silent;  /* a file that does not say whether it changed, or NULL: what depends on it stays */
};

/* All inputs' records, in the arena. One for which the checkpoint has no room (a full disk) is not kept. Errors: of the
 * environment. */
XC_MUST_CHECK struct xc_error *xc_records_make(const struct xc_input *const *inputs, size_t count,
					       const struct xc_records_options *options, struct xc_arena *arena,
					       struct xc_records *records_out);

/* Hash of bytes; hex, malloc'ed. */
char *xc_records_hash(const char *bytes, size_t len);

/* Hash of paths and sizes of inputs, in their order; hex, the arena's. */
const char *xc_records_manifest(const struct xc_input *inputs, size_t count, struct xc_arena *arena);

#endif
