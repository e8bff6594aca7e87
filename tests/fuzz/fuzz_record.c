/* layer: batch
 *
 * A record as written by a compromised worker: a record that was read is written and read again unchanged, and has a
 * signature. */
#include <stdlib.h>
#include <string.h>

#include "batch/record/record.h"
#include "batch/signature/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *written(const struct xc_record *record)
{
	json_t *object = xc_record_json(record);
	char *text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (!text)
		abort();
	return text;
}

static void write_again(const struct xc_record *record, struct xc_arena *arena)
{
	struct xc_record *copy;
	char *first = written(record);
	if (strlen(first) <= XC_RECORD_MAX) {
		if (xc_record_read(first, strlen(first), arena, &copy))
			abort();
		char *second = written(copy);
		if (strcmp(first, second) != 0)
			abort();
		free(second);
	}
	free(first);
}

static void sign(const struct xc_record *record, struct xc_arena *arena)
{
	static struct xc_framerules *rules;
	if (!rules)
		rules = xc_framerules_builtin();
	const struct xc_signature *s = xc_signature(record, rules, NULL, arena);
	if (!s->text || s->kept_count > record->frame_count || xc_signature_place(record, s) > record->frame_count)
		abort();
	for (size_t i = 0; i < s->shown_count; i++)
		if (s->shown[i] >= record->frame_count)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xc_arena arena = {0};
	struct xc_record *record;
	struct xc_error *err = xc_record_read((const char *)data, size, &arena, &record);
	if (!err)
		write_again(record, &arena);
	if (!err && record->status == XC_RECORD_OK)
		sign(record, &arena);
	xc_error_free(err);
	xc_arena_fini(&arena);
	return 0;
}
