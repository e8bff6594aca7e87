/* export_html_data: 20,000 cores have a few thousand distinct strings and stack rows, so a page with all of them takes
 * a few megabytes. Clusters are objects of numbers that index two lists. jansson's objects serve as look-up tables. */
#include "batch/export/export_html.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/jsonstream.h"
#include "core/text/jsonvalue.h"
#include "core/render/render.h"
#include "batch/export/export_cluster.h"

enum { ABSENT_MAX = 64 }; /* missing modules named per core; all are counted */

/* Items that the page has once, numbered by key. Number 0 means nothing. */
struct numbered {
	json_t *numbers; /* key → number */
	json_t *list;
};

struct page {
	const struct xc_export_options *options;
	struct numbered strings, rows;
	struct xc_text scratch;
};

static struct numbered numbered_new(void)
{
	struct numbered n = {.numbers = json_object(), .list = json_array()};
	json_array_append_new(n.list, json_null());
	return n;
}

/* The number for the key, and whether it is new. */
static json_int_t number_of(struct numbered *n, const char *key, bool *is_new_out)
{
	json_t *known = json_object_get(n->numbers, key);
	json_int_t number = known ? json_integer_value(known) : (json_int_t)json_array_size(n->list);
	*is_new_out = !known;
	if (!known)
		xc_jsonvalue_set(n->numbers, key, json_integer(number));
	return number;
}

/* ---- strings ---- */

static json_t *clean_string(struct page *page, const char *clean)
{
	bool is_new;
	json_int_t number = number_of(&page->strings, clean, &is_new);
	if (is_new)
		json_array_append_new(page->strings.list, xc_jsonvalue_text(clean));
	return json_integer(number);
}

static json_t *string(struct page *page, const char *text)
{
	if (!text)
		return json_integer(0);
	page->scratch.len = 0;
	xc_text_addn(&page->scratch, "", 0);
	xc_text_name(&page->scratch, text);
	return clean_string(page, xc_text_string(&page->scratch));
}

/* pairs: member and text in turn, ended by a NULL member. Members without a text are omitted. */
static void set_strings(struct page *page, json_t *object, const char *const *pairs)
{
	for (; pairs[0]; pairs += 2)
		if (pairs[1])
			xc_jsonvalue_set(object, pairs[0], string(page, pairs[1]));
}

/* Adds a text that may have several lines. */
static void set_lines(struct page *page, json_t *object, const char *key, const char *text)
{
	if (!text)
		return;
	page->scratch.len = 0;
	xc_text_addn(&page->scratch, "", 0);
	xc_render_lines(&page->scratch, text);
	xc_jsonvalue_set(object, key, clean_string(page, xc_text_string(&page->scratch)));
}

static void set_count(json_t *object, const char *key, uint64_t count)
{
	if (count)
		xc_jsonvalue_set(object, key, xc_jsonvalue_count(count));
}

static void set_flag(json_t *object, const char *key, bool flag)
{
	if (flag)
		xc_jsonvalue_set(object, key, json_true());
}

/* ---- stacks ---- */

static const char *offset_text(const struct xc_record_frame *frame, char text[19])
{
	if (!frame->has_offset)
		return NULL;
	snprintf(text, 19, "0x%" PRIx64, frame->offset);
	return text;
}

/* [function, name, module, build-id, offset, file, line, trust, inlined 1 | signal 2 | unverified 4, fate, rule, thread
 * (where its stack begins)] */
static json_t *row_of(struct page *page, const struct xc_record_frame *frame, const struct xc_signature_frame *judged)
{
	char offset[19];
	xc_auto(xc_freep) char *file = xc_export_path(page->options, frame->file);
	const char *const before[] = {
		frame->function, judged->shown, frame->module, frame->build_id, offset_text(frame, offset), file};
	json_t *row = json_array();
	for (size_t i = 0; i < XC_COUNT(before); i++)
		json_array_append_new(row, string(page, before[i]));
	json_array_append_new(row, json_integer(frame->line));
	json_array_append_new(row, string(page, frame->trust));
	json_array_append_new(row, json_integer(frame->inlined | frame->signal << 1 | frame->unverified << 2));
	json_array_append_new(row, string(page, xc_export_fate(judged->fate)));
	json_array_append_new(row, string(page, judged->rule));
	json_array_append_new(row, string(page, frame->thread));
	return row;
}

static json_t *row_number(struct page *page, json_t *row)
{
	bool is_new;
	xc_auto(xc_freep) char *key = json_dumps(row, JSON_COMPACT);
	json_int_t number = number_of(&page->rows, key, &is_new);
	if (is_new)
		json_array_append(page->rows.list, row);
	json_decref(row);
	return json_integer(number);
}

static json_t *stack_of(struct page *page, const struct xc_problem_member *member)
{
	const struct xc_record *r = member->record;
	json_t *rows = json_array();
	for (size_t i = 0; i < r->frame_count; i++)
		json_array_append_new(rows,
				      row_number(page, row_of(page, &r->frames[i], &member->signature->frames[i])));
	return rows;
}

static json_t *kept_of(const struct xc_signature *signature)
{
	json_t *kept = json_array();
	for (size_t i = 0; i < signature->kept_count; i++)
		json_array_append_new(kept, xc_jsonvalue_count(signature->kept[i]));
	return kept;
}

/* ---- members ---- */

static json_t *absent_of(struct page *page, const struct xc_record *record)
{
	json_t *absent = json_array();
	for (size_t i = 0; i < record->absent_count && i < ABSENT_MAX; i++)
		json_array_append_new(absent, string(page, record->absent[i]));
	return absent;
}

/* [path, program, build-id, package, architecture, copy of, exact key, stored, missing, quality, absent count, absent,
 * guessed] */
static json_t *member_of(struct page *page, const struct xc_problem_member *member)
{
	const struct xc_record *r = member->record;
	const char *const texts[] = {
		xc_record_shown(r),      r->program, r->build_id, r->package, r->arch, member->copy_of,
		member->signature->exact};
	json_t *row = json_array();
	for (size_t i = 0; i < XC_COUNT(texts); i++)
		json_array_append_new(row, string(page, texts[i]));
	json_array_append_new(row, xc_jsonvalue_count(r->stored));
	json_array_append_new(row, xc_jsonvalue_count(r->missing));
	json_array_append_new(row, json_integer((json_int_t)(100 * member->signature->quality + 0.5)));
	json_array_append_new(row, xc_jsonvalue_count(r->absent_count));
	json_array_append_new(row, absent_of(page, r));
	json_array_append_new(row, json_boolean(member->guessed));
	return row;
}

static json_t *members_of(struct page *page, const struct xc_problem *problem)
{
	json_t *members = json_array();
	for (size_t i = 0; i < problem->member_count; i++)
		json_array_append_new(members, member_of(page, &problem->members[i]));
	return members;
}

/* ---- clusters ---- */

static void set_verdict(struct page *page, json_t *object, const struct xc_record *r)
{
	const char *const texts[] = {
		"headline",   r->headline,   "expression", r->expression, "kind",   r->kind,
		"confidence", r->confidence, "signal",     r->signal,     "thread", r->thread,
		"cycle",      r->cycle,      "stop",       r->stop,       NULL,
	};
	set_strings(page, object, texts);
	set_lines(page, object, "cause", r->cause);
	set_lines(page, object, "origin", xc_export_origin(r));
	set_lines(page, object, "message", r->message);
	set_count(object, "threads", r->threads);
	set_count(object, "elided", r->elided);
	set_count(object, "elided_at", r->elided_at);
}

static void set_signature(struct page *page, json_t *object, const struct xc_signature *s)
{
	const char *const texts[] = {"group", s->class_group, "exact",  s->exact, "sig",
				     s->sig,  "loose",        s->loose, "doubt",  xc_signature_doubt(s),
				     NULL};
	set_strings(page, object, texts);
	set_flag(object, "complete", s->complete);
	xc_jsonvalue_set(object, "kept", kept_of(s));
}

static void set_place(struct page *page, json_t *object, const struct xc_export_cluster *c)
{
	struct xc_text place = {0};
	xc_export_place(&place, c);
	const char *const texts[] = {"place", place.len ? place.bytes : NULL, "function", c->function, NULL};
	set_strings(page, object, texts);
	xc_text_fini(&place);
}

static void set_other_classes(struct page *page, json_t *object, const struct xc_export_cluster *c)
{
	struct xc_text also = {0};
	xc_export_other_classes(&also, c);
	const char *const texts[] = {"also", also.len ? also.bytes : NULL, NULL};
	set_strings(page, object, texts);
	xc_text_fini(&also);
}

static json_t *cluster_of(struct page *page, const struct xc_problem *problem)
{
	struct xc_export_cluster c = xc_export_cluster(problem, page->options);
	const struct xc_problem_member *shown = xc_problem_shown(problem);
	const char *const texts[] = {
		"id",       problem->id,         "state",   c.state,
		"severity", c.severity,          "class",   c.class_name,
		"names",    xc_export_names(&c), "note",    problem->note,
		"why",      problem->why,        "expires", problem->expires,
		NULL,
	};
	json_t *object = json_object();
	set_strings(page, object, texts);
	xc_jsonvalue_set(object, "members", members_of(page, problem));
	if (shown) {
		set_place(page, object, &c);
		set_other_classes(page, object, &c);
		set_verdict(page, object, shown->record);
		set_signature(page, object, shown->signature);
		set_count(object, "unique", problem->unique);
		set_count(object, "shown", problem->representative);
		xc_jsonvalue_set(object, "stack", stack_of(page, shown));
	}
	xc_export_cluster_fini(&c);
	return object;
}

/* [path, what became of it, why, stored] */
static json_t *failure_of(struct page *page, const struct xc_record *record)
{
	json_t *row = json_array();
	json_array_append_new(row, string(page, xc_record_shown(record)));
	json_array_append_new(row, string(page, xc_record_status_name(record->status)));
	json_array_append_new(row, string(page, record->why));
	json_array_append_new(row, xc_jsonvalue_count(record->stored));
	return row;
}

static void list_clusters(struct page *page, const struct xc_problems *problems, struct xc_jsonstream *stream)
{
	size_t shown = xc_export_shown(problems, page->options);
	xc_jsonstream_open(stream, "clusters", '[');
	for (size_t i = 0; i < shown; i++) {
		xc_jsonstream_line(stream);
		xc_jsonstream_element(stream, cluster_of(page, &problems->problems[i]));
	}
	xc_jsonstream_close(stream, ']');
	xc_jsonstream_open(stream, "failed", '[');
	for (size_t i = 0; i < problems->failed_count; i++)
		xc_jsonstream_element(stream, failure_of(page, problems->failed[i]));
	xc_jsonstream_close(stream, ']');
}

static struct xc_error *write_json(const struct xc_problems *problems, const struct xc_export_options *options,
				   FILE *out)
{
	struct xc_jsonstream stream =
		xc_jsonstream_start(out); /* first: from here on jansson stops when memory runs out */
	struct page page = {.options = options, .strings = numbered_new(), .rows = numbered_new()};
	xc_jsonstream_open(&stream, NULL, '{');
	list_clusters(&page, problems, &stream);
	json_decref(page.strings.numbers);
	json_decref(page.rows.numbers);
	xc_jsonstream_line(&stream);
	xc_jsonstream_member(&stream, "rows", page.rows.list);
	xc_jsonstream_line(&stream);
	xc_jsonstream_member(&stream, "strings", page.strings.list);
	xc_jsonstream_close(&stream, '}');
	xc_text_fini(&page.scratch);
	return xc_jsonstream_finish(&stream);
}

/* Writes '<' as its number: in JSON it occurs in strings only. */
static void write_inert(const char *json, size_t len, FILE *out)
{
	const char *end = json + len;
	for (const char *at = json, *next; at < end; at = next + 1) {
		next = memchr(at, '<', (size_t)(end - at));
		if (!next)
			next = end;
		fwrite(at, 1, (size_t)(next - at), out);
		if (next < end)
			fputs("\\u003c", out);
	}
}

struct xc_error *xc_html_data(const struct xc_problems *problems, const struct xc_export_options *options, FILE *out)
{
	xc_auto(xc_freep) char *json = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&json, &len);
	if (!memory)
		return xc_error_errno(errno, "making the page");
	struct xc_error *err = write_json(problems, options, memory);
	fclose(memory);
	if (!err)
		write_inert(json, len, out);
	return err;
}
