/* record: one table describes the members of the JSON object and of the struct, so writing and reading always agree.
 *
 * A reader bounds everything: strings to XC_RECORD_TEXT, rows to XC_RECORD_FRAMES, and every index to its array.
 * Writing and reading what it has read changes nothing: so a batch that keeps its records in files gives the same
 * result as one that does not. */
#include "batch/record/record.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/jsonvalue.h"
#include "batch/record/normalise.h"

enum { ABSENT_MAX = 1024 }; /* missing modules that are listed */

enum member_kind {
	TEXT,    /* const char * */
	COUNT,   /* uint64_t */
	SIZE,    /* size_t */
	NUMBER,  /* unsigned */
	FLAG,    /* bool */
	ADDRESS, /* uint64_t as "0x…" */
};

struct member {
	const char *key;
	enum member_kind kind;
	size_t offset;
};

#define RECORD(name, how)                                                                                              \
	{                                                                                                              \
#name, how, offsetof(struct xc_record, name)                                                           \
	}
#define FRAME(name, how)                                                                                               \
	{                                                                                                              \
#name, how, offsetof(struct xc_record_frame, name)                                                     \
	}

static const struct member record_head[] = {
	RECORD(why, TEXT),
	RECORD(path, TEXT),
	RECORD(core_id, TEXT),
	RECORD(stored, COUNT),
	RECORD(size, COUNT),
	RECORD(missing, COUNT),
	RECORD(note, TEXT),
	RECORD(program, TEXT),
	RECORD(build_id, TEXT),
	RECORD(package, TEXT),
	RECORD(arch, TEXT),
	RECORD(signal, TEXT),
	{"class", TEXT, offsetof(struct xc_record, class_name)},
	RECORD(kind, TEXT),
	RECORD(severity, TEXT),
	RECORD(confidence, TEXT),
	RECORD(headline, TEXT),
	RECORD(cause, TEXT),
	RECORD(expression, TEXT),
	RECORD(origin, TEXT),
	RECORD(message, TEXT),
	RECORD(function, TEXT),
	RECORD(file, TEXT),
	RECORD(line, NUMBER),
	RECORD(thread, TEXT),
	RECORD(threads, NUMBER),
	RECORD(elided, COUNT),
	RECORD(elided_at, SIZE),
	RECORD(cycle, TEXT),
	RECORD(fault_at, SIZE),
	RECORD(stop, TEXT),
	RECORD(unit, TEXT),
	RECORD(without_exe, FLAG),
};

static const struct member frame_members[] = {
	FRAME(function, TEXT),  FRAME(module, TEXT),   FRAME(build_id, TEXT), FRAME(package, TEXT),
	FRAME(offset, ADDRESS), FRAME(language, TEXT), FRAME(file, TEXT),     FRAME(line, NUMBER),
	FRAME(trust, TEXT),     FRAME(inlined, FLAG),  FRAME(signal, FLAG),   FRAME(unverified, FLAG),
	FRAME(thread, TEXT),
};

static const char *const status_names[] = {"ok", "unreadable", "timeout", "limit", "died"};

const char *xc_record_status_name(enum xc_record_status status)
{
	return status_names[status];
}

const char *xc_record_text(struct xc_arena *arena, const char *text)
{
	json_t *clean = xc_jsonvalue_text(text);
	const char *bytes = json_string_value(clean);
	const size_t len = json_string_length(clean);
	const char *kept = bytes ? xc_arena_strndup(arena, bytes, xc_normalise_cut(bytes, len, XC_RECORD_TEXT)) : NULL;
	json_decref(clean);
	return kept;
}

/* ---- writing ---- */

/* The JSON value of a member; NULL if the member is empty. */
static json_t *member_json(const void *base, const struct member *member)
{
	const void *at = (const char *)base + member->offset;
	const char *text;
	uint64_t number = 0;
	switch (member->kind) {
	case TEXT:
		text = *(const char *const *)at;
		return text ? xc_jsonvalue_text(text) : NULL;
	case FLAG:
		return *(const bool *)at ? json_true() : NULL;
	case ADDRESS:
		return xc_jsonvalue_address(*(const uint64_t *)at);
	case COUNT:
		number = *(const uint64_t *)at;
		break;
	case SIZE:
		number = *(const size_t *)at;
		break;
	case NUMBER:
		number = *(const unsigned *)at;
		break;
	}
	return number ? xc_jsonvalue_count(number) : NULL;
}

static void write_members(json_t *object, const void *base, const struct member *members, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_t *value = member_json(base, &members[i]);
		if (value)
			xc_jsonvalue_set(object, members[i].key, value);
	}
}

static json_t *frame_json(const struct xc_record_frame *frame)
{
	json_t *object = json_object();
	write_members(object, frame, frame_members, XC_COUNT(frame_members));
	if (!frame->has_offset)
		json_object_del(object, "offset");
	return object;
}

static json_t *known_json(const struct xc_record_known *known)
{
	return json_pack("[II]", (json_int_t)known->named, (json_int_t)known->all);
}

static void write_stack(json_t *object, const struct xc_record *record)
{
	json_t *frames = json_array(), *known = json_object();
	for (size_t i = 0; i < record->frame_count; i++)
		json_array_append_new(frames, frame_json(&record->frames[i]));
	xc_jsonvalue_set(object, "frames", frames);
	xc_jsonvalue_set(known, "all", known_json(&record->every));
	xc_jsonvalue_set(known, "crashed", known_json(&record->crashed));
	xc_jsonvalue_set(known, "top", known_json(&record->top));
	xc_jsonvalue_set(object, "known", known);
}

static void write_absent(json_t *object, const struct xc_record *record)
{
	json_t *absent = json_array();
	for (size_t i = 0; i < record->absent_count; i++)
		json_array_append_new(absent, xc_jsonvalue_text(record->absent[i]));
	xc_jsonvalue_set(object, "absent", absent);
}

json_t *xc_record_json(const struct xc_record *record)
{
	json_t *object = json_object();
	xc_jsonvalue_set(object, "schema", xc_jsonvalue_text(XC_RECORD_SCHEMA));
	xc_jsonvalue_set(object, "status", xc_jsonvalue_text(xc_record_status_name(record->status)));
	write_members(object, record, record_head, XC_COUNT(record_head));
	if (record->frame_count)
		write_stack(object, record);
	if (record->absent_count)
		write_absent(object, record);
	return object;
}

/* ---- reading ---- */

static struct xc_error *wrong(const char *key, const char *what)
{
	return xc_error_new(XC_ERR_FORMAT, "a record's \"%s\" is no %s", key, what);
}

static struct xc_error *read_text(const json_t *value, const char *key, struct xc_pool *pool, const char **text_out)
{
	if (!json_is_string(value))
		return wrong(key, "text");
	json_t *clean = xc_jsonvalue_text(json_string_value(value));
	const char *bytes = json_string_value(clean);
	const size_t len = json_string_length(clean);
	*text_out = xc_pool_text(pool, bytes, xc_normalise_cut(bytes, len, XC_RECORD_TEXT));
	json_decref(clean);
	return NULL;
}

/* Counts beyond 2^53 are written as text (jsonvalue.h). */
static bool number_of(const json_t *value, uint64_t *number_out)
{
	const char *text = json_string_value(value);
	char *end;
	if (text && *text >= '0' && *text <= '9') {
		*number_out = strtoull(text, &end, 0);
		return !*end;
	}
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return false;
	*number_out = (uint64_t)json_integer_value(value);
	return true;
}

static struct xc_error *read_number(const json_t *value, const struct member *member, void *at)
{
	uint64_t number;
	if (!number_of(value, &number))
		return wrong(member->key, "number");
	if (member->kind == NUMBER)
		*(unsigned *)at = number > UINT_MAX ? UINT_MAX : (unsigned)number;
	else if (member->kind == SIZE)
		*(size_t *)at = number;
	else
		*(uint64_t *)at = number;
	return NULL;
}

static struct xc_error *read_member(const json_t *value, const struct member *member, struct xc_pool *pool, void *base)
{
	void *at = (char *)base + member->offset;
	if (member->kind == TEXT)
		return read_text(value, member->key, pool, at);
	if (member->kind != FLAG)
		return read_number(value, member, at);
	if (!json_is_boolean(value))
		return wrong(member->key, "boolean");
	*(bool *)at = json_is_true(value);
	return NULL;
}

static struct xc_error *read_members(const json_t *object, const struct member *members, size_t count,
				     struct xc_pool *pool, void *base)
{
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_object_get(object, members[i].key);
		struct xc_error *err =
			value && !json_is_null(value) ? read_member(value, &members[i], pool, base) : NULL;
		if (err)
			return err;
	}
	return NULL;
}

static struct xc_error *read_frames(const json_t *array, struct xc_pool *pool, struct xc_record *record)
{
	struct xc_record_frame frames[XC_RECORD_FRAMES];
	size_t count = json_array_size(array);
	if (count > XC_RECORD_FRAMES)
		count = XC_RECORD_FRAMES;
	memset(frames, 0, sizeof frames); /* padding included: equal rows are equal bytes */
	for (size_t i = 0; i < count; i++) {
		const json_t *row = json_array_get(array, i);
		struct xc_record_frame *frame = &frames[i];
		struct xc_error *err = json_is_object(row)
					       ? read_members(row, frame_members, XC_COUNT(frame_members), pool, frame)
					       : wrong("frames", "array of objects");
		if (err)
			return err;
		const json_t *offset = json_object_get(row, "offset");
		frame->has_offset = offset && !json_is_null(offset);
	}
	record->frames = (void *)(uintptr_t)xc_pool_bytes(pool, frames, count * sizeof *frames);
	record->frame_count = count;
	return NULL;
}

static void read_known(const json_t *known, const char *key, struct xc_record_known *known_out)
{
	const json_t *pair = json_object_get(known, key);
	uint64_t named, all;
	if (number_of(json_array_get(pair, 0), &named) && number_of(json_array_get(pair, 1), &all) && all <= UINT_MAX &&
	    named <= all)
		*known_out = (struct xc_record_known){(unsigned)named, (unsigned)all};
}

static struct xc_error *read_absent(const json_t *array, struct xc_pool *pool, struct xc_record *record)
{
	size_t count = json_array_size(array);
	if (count > ABSENT_MAX)
		count = ABSENT_MAX;
	record->absent = xc_arena_alloc(pool->arena, (count + 1) * sizeof *record->absent);
	for (size_t i = 0; i < count; i++) {
		struct xc_error *err = read_text(json_array_get(array, i), "absent", pool, &record->absent[i]);
		if (err)
			return err;
	}
	record->absent_count = count;
	return NULL;
}

static struct xc_error *read_status(const json_t *object, struct xc_record *record)
{
	const char *name = json_string_value(json_object_get(object, "status"));
	for (size_t i = 0; name && i < XC_COUNT(status_names); i++) {
		if (!strcmp(name, status_names[i])) {
			record->status = (enum xc_record_status)i;
			return NULL;
		}
	}
	return wrong("status", "status that we know");
}

static struct xc_error *check(const struct xc_record *record)
{
	if (!record->path)
		return xc_error_new(XC_ERR_FORMAT, "a record without a path");
	if (record->status == XC_RECORD_OK && (!record->class_name || !record->severity || !record->confidence))
		return xc_error_new(XC_ERR_FORMAT, "%s: a record without a class, severity or confidence",
				    record->path);
	if (record->status != XC_RECORD_OK && !record->why)
		return xc_error_new(XC_ERR_FORMAT, "%s: a record that does not say why it failed", record->path);
	return NULL;
}

struct xc_error *xc_record_parse(const json_t *object, struct xc_pool *pool, struct xc_record **record_out)
{
	const char *schema = json_string_value(json_object_get(object, "schema"));
	struct xc_record *record = xc_arena_alloc(pool->arena, sizeof *record);
	const json_t *known = json_object_get(object, "known");
	struct xc_error *err;
	if (!schema || strcmp(schema, XC_RECORD_SCHEMA) != 0)
		return xc_error_new(XC_ERR_FORMAT, "not a record of the schema " XC_RECORD_SCHEMA);
	if ((err = read_status(object, record)) ||
	    (err = read_members(object, record_head, XC_COUNT(record_head), pool, record)) ||
	    (err = read_frames(json_object_get(object, "frames"), pool, record)) ||
	    (err = read_absent(json_object_get(object, "absent"), pool, record)) || (err = check(record)))
		return err;
	read_known(known, "all", &record->every);
	read_known(known, "crashed", &record->crashed);
	read_known(known, "top", &record->top);
	if (record->elided_at > record->frame_count)
		record->elided = record->elided_at = 0;
	if (record->fault_at >= record->frame_count)
		record->fault_at = 0;
	*record_out = record;
	return NULL;
}

struct xc_error *xc_record_read_into(const char *line, size_t len, struct xc_pool *pool, struct xc_record **record_out)
{
	json_error_t trouble;
	if (len > XC_RECORD_MAX)
		return xc_error_new(XC_ERR_LIMIT, "a record of more than %d bytes", XC_RECORD_MAX);
	json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES, &trouble);
	if (!object)
		return xc_error_new(XC_ERR_FORMAT, "not JSON: %s", trouble.text);
	struct xc_error *err = xc_record_parse(object, pool, record_out);
	json_decref(object);
	return err;
}

struct xc_error *xc_record_read(const char *line, size_t len, struct xc_arena *arena, struct xc_record **record_out)
{
	struct xc_pool pool = {.arena = arena, .single = true};
	return xc_record_read_into(line, len, &pool, record_out);
}

struct xc_record *xc_record_failed(struct xc_arena *arena, enum xc_record_status status, const char *path,
				   const char *why)
{
	struct xc_record *record = xc_arena_alloc(arena, sizeof *record);
	record->status = status;
	record->path = xc_record_text(arena, path);
	record->why = xc_record_text(arena, why);
	return record;
}

size_t xc_record_stack_end(const struct xc_record *record, size_t from)
{
	size_t end = from + 1;
	while (end < record->frame_count && !record->frames[end].thread)
		end++;
	return end < record->frame_count ? end : record->frame_count;
}

size_t xc_record_stack_start(const struct xc_record *record, size_t index)
{
	while (index && !record->frames[index].thread)
		index--;
	return index;
}

size_t xc_record_stack_count(const struct xc_record *record)
{
	size_t count = 0;
	for (size_t i = 0; i < record->frame_count; i = xc_record_stack_end(record, i))
		count++;
	return count;
}

const char *xc_record_thread(const struct xc_record *record, size_t index)
{
	return record->frames[xc_record_stack_start(record, index)].thread;
}

int xc_record_compare(const void *a, const void *b)
{
	const struct xc_record *const *left = a, *const *right = b;
	return strcmp((*left)->path, (*right)->path);
}
