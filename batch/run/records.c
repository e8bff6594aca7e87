#include "batch/run/records.h"

#include <inttypes.h>
#include <sha256.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "batch/run/dependency_check.h"

struct making {
	const struct xc_records_options *options;
	struct xc_records *records;
	struct xc_arena *arena;
	struct xc_pool pool;     /* in the arena: shared parts of records are kept once */
	struct xc_arena scratch; /* for the record that finished last */
};

/* Adds what is known from outside of the core, such as the program's name from the file name if the core has none. Not
 * in the checkpoint, because the journal may differ each time. */
static struct xc_record *hinted(struct xc_record *record, const struct xc_input *input, struct xc_arena *arena)
{
	record->unit = xc_record_text(arena, input->unit);
	if (!record->program)
		record->program = xc_record_text(arena, input->comm);
	return record;
}

/* The record as the checkpoint and a part would return it. */
static struct xc_error *keep(struct making *m, const struct xc_record *record, struct xc_record **kept_out)
{
	json_t *object = xc_record_json(record);
	struct xc_error *err = xc_record_parse(object, &m->pool, kept_out);
	json_decref(object);
	if (!err) {
		(*kept_out)->unlooked = record->unlooked;
		(*kept_out)->passing = record->passing;
		(*kept_out)->dependencies = record->dependencies;
		(*kept_out)->dependency_count = record->dependency_count;
	}
	return err;
}

/* A full disk may have room for the next record. */
static void remember(struct making *m, const struct xc_input *input, const struct xc_record *record)
{
	struct xc_records *records = m->records;
	xc_auto(xc_error_freep) struct xc_error *full = xc_checkpoint_add(m->options->checkpoint, input, record);
	if (!full)
		return;
	if (!records->unkept)
		records->unkept = xc_arena_strdup(m->arena, full->message);
	records->unkept_count++;
}

static struct xc_error *take(void *user, const struct xc_input *input, struct xc_record *record)
{
	struct making *m = user;
	struct xc_records *records = m->records;
	struct xc_record *kept;
	xc_record_fit(record, &m->scratch);
	struct xc_error *err = keep(m, record, &kept);
	if (!err && m->options->checkpoint && !kept->unlooked && !kept->passing)
		remember(m, input, kept);
	xc_arena_fini(&m->scratch);
	if (err)
		return err;
	kept->dependency_count = 0; /* freed with its arena */
	records->unlooked += kept->unlooked;
	records->records[records->count++] = hinted(kept, input, m->arena);
	return NULL;
}

/* Then it cannot be examined again. */
static bool is_gone(const struct xc_input *input)
{
	return !input->mtime_ns && !input->ctime_ns && !input->ino;
}

/* Has a file changed that it depends on? */
static bool is_behind(const struct xc_record *record)
{
	for (size_t i = 0; i < record->dependency_count; i++)
		if (record->dependencies[i]->now == XC_FILE_DEPENDENCY_CHANGED)
			return true;
	return false;
}

/* Checks the dependencies of the records in the checkpoint. */
static struct xc_error *look(const struct making *m, const struct xc_input *const *inputs, size_t count)
{
	const struct xc_batch *batch = &m->options->batch;
	struct xc_dependency_check check = {.worker = &batch->worker};
	for (size_t i = 0; i < count; i++) {
		const struct xc_record *known = xc_checkpoint_find(m->options->checkpoint, inputs[i]);
		if (known && !is_gone(inputs[i]))
			xc_dependency_check_add(&check, known);
	}
	struct xc_error *err = xc_dependency_check_run(&check);
	if (check.silent)
		m->records->silent = xc_record_text(m->arena, check.silent->path);
	xc_dependency_check_fini(&check);
	return err;
}

/* Takes records from the checkpoint, unless they may be outdated and their cores can be examined again. Returns the
 * number of the other inputs, in `rest`. */
static size_t reuse(const struct making *m, const struct xc_input *const *inputs, size_t count,
		    const struct xc_input **rest)
{
	struct xc_records *records = m->records;
	size_t left = 0;
	for (size_t i = 0; i < count; i++) {
		struct xc_record *known =
			m->options->checkpoint ? xc_checkpoint_find(m->options->checkpoint, inputs[i]) : NULL;
		if (known && !xc_worker_options_stopped(&m->options->batch.worker) &&
		    (is_gone(inputs[i]) || !is_behind(known)))
			records->records[records->count++] = hinted(known, inputs[i], m->arena);
		else
			rest[left++] = inputs[i];
	}
	records->reused = records->count;
	return left;
}

struct xc_error *xc_records_make(const struct xc_input *const *inputs, size_t count,
				 const struct xc_records_options *options, struct xc_arena *arena,
				 struct xc_records *records_out)
{
	struct xc_records records = {.records = xc_arena_alloc(arena, (count + 1) * sizeof *records.records)};
	struct making m = {.options = options, .records = &records, .arena = arena, .pool = {.arena = arena}};
	struct xc_batch batch = options->batch;
	const struct xc_input **rest = xc_alloc((count + 1) * sizeof(struct xc_input *));
	struct xc_error *err = options->checkpoint ? look(&m, inputs, count) : NULL;
	const size_t left = err ? 0 : reuse(&m, inputs, count, rest);
	size_t done = 0;
	batch.arena = &m.scratch;
	batch.take = take;
	batch.user = &m;
	if (!err)
		err = xc_batch_run(&batch, rest, left, &done);
	free(rest);
	xc_pool_fini(&m.pool);
	xc_arena_fini(&m.scratch);
	if (err)
		return err;
	records.stopped = done < left;
	if (records.count)
		qsort(records.records, records.count, sizeof *records.records, xc_record_compare);
	*records_out = records;
	return NULL;
}

/* ---- hashes ---- */

static const char *hash_of(struct xc_text *text, struct xc_arena *arena)
{
	char hex[SHA256_DIGEST_STRING_LENGTH];
	SHA256Data((const uint8_t *)xc_text_string(text), text->len, hex);
	xc_text_fini(text);
	return xc_arena_strdup(arena, hex);
}

char *xc_records_hash(const char *bytes, size_t len)
{
	return SHA256Data((const uint8_t *)bytes, len, NULL);
}

const char *xc_records_manifest(const struct xc_input *inputs, size_t count, struct xc_arena *arena)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < count; i++) {
		xc_text_addn(&text, inputs[i].path, strlen(inputs[i].path) + 1);
		xc_text_printf(&text, "%" PRIu64 "\n", inputs[i].size);
	}
	return hash_of(&text, arena);
}
