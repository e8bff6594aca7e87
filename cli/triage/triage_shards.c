#include "cli/triage/triage_shards.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "batch/shard/emit.h"
#include "batch/export/export.h"
#include "core/io/folder.h"
#include "cli/triage/triage_usage.h"

enum { SHARDS = 8, WORKER_MEMORY = 2048 };

struct xc_error *xc_triage_save_part(const struct xc_part *part, const char *directory, bool shared)
{
	xc_auto(xc_freep) char *name = xc_part_name(part->shard, part->of);
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", directory, name);
	struct xc_output output;
	struct xc_error *err = xc_folder_make(directory, shared ? 0777 : 0700);
	if (err || (err = xc_output_open(&output, path, shared)))
		return err;
	if (!(err = xc_part_write(part, output.file)))
		return xc_output_commit(&output);
	xc_output_abandon(&output);
	return err;
}

struct xc_error *xc_triage_drop_part(const struct xc_shard *shard, const char *directory)
{
	xc_auto(xc_freep) char *name = xc_part_name(shard->index, shard->of);
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", directory, name);
	if (unlink(path) && errno != ENOENT)
		return xc_error_errno(errno, "%s", path);
	return NULL;
}

/* ---- job files ---- */

/* Options that affect a record, and options for the merge. Others concern processes and plugins, or are expressed by
 * the job file itself. */
static const char *const examining[] = {"exe",           "sysroot",   "debug-dir", "store",         "redact",
					"strict",        "no-redact", "timeout",   "worker-memory", "max-core-size",
					"no-host-files", "journal",   "no-cache",  "io-timeout",    NULL};
static const char *const merging[] = {
	"export",         "baseline",         "update-baseline", "today",    "fail-on", "frames",
	"policy",         "max-instructions", "max-memory",      "max-time", "limit",   "keep",
	"max-unreadable", "source-root",      "manifest",        "explain",  "format",  "color",
	"quiet",          "no-redact",        "io-timeout",      NULL};

struct xc_error *xc_triage_emit(const struct xc_job *job, const struct xc_triage_jobs *jobs, FILE *out)
{
	struct xc_arena arena = {0};
	struct xc_words examine = {0}, merge = {0};
	xc_triage_given(job, examining, &arena, &examine);
	xc_triage_given(job, merging, &arena, &merge);
	const struct xc_emit emit = {
		.operands = {job->operands.items, job->operands.count},
		.examine = {examine.items, examine.count},
		.merge = {merge.items, merge.count},
		.suffix = xc_export_named(job->common.format ? job->common.format : "text")->suffix,
		.shards = jobs->shards ? jobs->shards : SHARDS,
		.jobs = job->common.jobs,
		.memory = jobs->memory ? jobs->memory : WORKER_MEMORY,
	};
	struct xc_error *err = xc_emit_write(jobs->system, &emit, out);
	xc_words_fini(&examine);
	xc_words_fini(&merge);
	xc_arena_fini(&arena);
	return err;
}
