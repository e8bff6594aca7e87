/* records: the records of a set of inputs, each taken from the checkpoint or made by a worker. */
#ifndef XC_RECORDS_H
#define XC_RECORDS_H

#include "batch/run/batch.h"
#include "batch/run/checkpoint.h"

struct xc_records_options {
	struct xc_batch batch;            /* its arena, take and user are set by xc_records_make */
	struct xc_checkpoint *checkpoint; /* or NULL */
};

struct xc_records {
	struct xc_record **records; /* by path */
	size_t count;
	size_t reused; /* how many came from the checkpoint */
	/* how many could not be examined for reasons outside of their cores; not in the checkpoint */
	size_t unlooked;
	bool stopped;        /* the user interrupted: there are fewer records than inputs */
	const char *unkept;  /* why the checkpoint lacks some, or NULL */
	size_t unkept_count; /* how many it lacks */
	const char *silent;  /* a dependency that does not respond, or NULL: records that depend on it are kept */
};

/* All inputs' records, in the arena. A record that the checkpoint cannot store (full disk) is still returned. Errors:
 * of the environment. */
XC_MUST_CHECK struct xc_error *xc_records_make(const struct xc_input *const *inputs, size_t count,
					       const struct xc_records_options *options, struct xc_arena *arena,
					       struct xc_records *records_out);

/* Hash of the bytes, in hex; malloc'ed. */
char *xc_records_hash(const char *bytes, size_t len);

/* Hash of the inputs' paths and sizes, in order; hex, in the arena. */
const char *xc_records_manifest(const struct xc_input *inputs, size_t count, struct xc_arena *arena);

#endif
