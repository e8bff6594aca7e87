#include "triage/explain/null_place.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/types/field.h"
#include "triage/dataflow/deref.h"
#include "triage/util/same_type.h"
#include "triage/util/statics.h"

enum { NESTING = 16, ELEMENTS = 4096, MEMBERS = 64, TEXT = 40 };

/* ---- smart pointers ---- */

static const struct smart {
	const char *name, *words;
} smarts[] = {
	{"std::unique_ptr<",
	 "an empty std::unique_ptr: it was moved from, reset, released or destroyed, or never given an object"},
	{"std::shared_ptr<",
	 "an empty std::shared_ptr: it was moved from, reset or destroyed, or never given an object"},
};

/* The smart pointer on the way from the object to the word. */
static const struct smart *find_smart(const struct xc_type *type, uint64_t offset)
{
	struct xc_field_step step;
	for (unsigned i = 0; i < NESTING; i++) {
		type = xc_type_complete(xc_type_strip(type));
		for (size_t k = 0; k < XC_COUNT(smarts) && !offset; k++)
			if (type->name && strncmp(type->name, smarts[k].name, strlen(smarts[k].name)) == 0)
				return &smarts[k];
		if (!xc_field_step(type, offset, &step))
			return NULL;
		type = step.type;
		offset = step.offset;
	}
	return NULL;
}

static bool report_smart(struct xc_crash_context *crash, const struct xc_deref *bad)
{
	const struct xc_type *record = xc_same_type_pointed(bad->pointer_type);
	struct xc_verdict *v = crash->verdict;
	uint64_t size;
	if (!record || !bad->led_known || !xc_type_size(record, &size) || bad->at - bad->led >= size)
		return false;
	const struct smart *smart = find_smart(record, bad->at - bad->led);
	if (!smart)
		return false;
	v->cause = xc_arena_printf(&crash->report->arena, "%s%s%s", v->cause ? v->cause : "",
				   v->cause ? "; it is " : "", smart->words);
	return true;
}

/* ---- tables ---- */

/* An array of structures, and the word in it. */
struct table {
	const char *name;
	const struct xc_type *element;
	xc_addr begin;
	uint64_t size, count, index, offset; /* of an element; of the word in its element */
};

static bool find_table(const struct xc_crash_context *crash, xc_addr at, struct table *out)
{
	struct xc_held held = {.type = NULL};
	if (!crash->blame.place || !xc_statics_at(crash->process, crash->blame.place, crash->thread, at, &held) ||
	    !held.type || !held.name)
		return false;
	const struct xc_type *type = xc_type_complete(xc_type_strip(held.type));
	if (type->kind != XC_TYPE_ARRAY || !type->target || !type->count_known || type->count < 2)
		return false;
	*out = (struct table){.name = held.name,
			      .element = xc_type_complete(xc_type_strip(type->target)),
			      .begin = at - held.offset,
			      .count = type->count};
	if (!xc_same_type_is_record(out->element) || !xc_type_size(out->element, &out->size) || !out->size)
		return false;
	out->index = held.offset / out->size;
	out->offset = held.offset % out->size;
	return out->index < out->count;
}

/* The other elements that have something where this one has NULL. */
static size_t count_others(const struct xc_crash_context *crash, const struct table *t, size_t *read_out)
{
	size_t others = 0;
	uint64_t word;
	*read_out = 0;
	for (uint64_t i = 0; i < t->count && i < ELEMENTS; i++) {
		if (i == t->index || !xc_space_peek_uint(crash->process->space, t->begin + i * t->size + t->offset,
							 crash->process->arch->word, &word))
			continue;
		++*read_out;
		others += word != 0;
	}
	return others;
}

/* A string of the program's constants: no secret. */
static bool add_string(const struct xc_crash_context *crash, const struct table *t, struct xc_text *text)
{
	size_t count, len = 0;
	const struct xc_process *p = crash->process;
	const struct xc_member *members = xc_type_members(t->element, &count);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		char bytes[TEXT];
		uint64_t to;
		const struct xc_type *target = xc_same_type_pointed(members[i].type);
		if (!members[i].name || !target || target->kind != XC_TYPE_CHAR ||
		    !xc_space_peek_uint(p->space, t->begin + t->index * t->size + members[i].offset, p->arch->word,
					&to))
			continue;
		const struct xc_mapping *m = xc_process_mapping(p, to);
		size_t got =
			m && !m->writable && xc_process_module(p, to) ? xc_space_peek(p->space, to, bytes, TEXT) : 0;
		while (len < got && bytes[len])
			len++;
		if (!len || len == got)
			continue;
		xc_text_printf(text, ", `%s` \"", members[i].name);
		xc_text_escaped(text, bytes, len);
		xc_text_add(text, "\"");
		return true;
	}
	return false;
}

static void report_table(const struct xc_crash_context *crash, const struct xc_deref *bad)
{
	struct table table;
	struct xc_text text = {0}, member = {0};
	size_t read;
	if (!find_table(crash, bad->at, &table))
		return;
	size_t others = count_others(crash, &table, &read);
	xc_field_path(&member, table.element, table.offset, NULL);
	xc_text_printf(&text, "the NULL is `%s[%" PRIu64 "]%s`", table.name, table.index, xc_text_string(&member));
	add_string(crash, &table, &text);
	if (others && others == read)
		xc_text_printf(&text, "; all other elements, %zu, have something there", others);
	else if (others)
		xc_text_printf(&text, "; of %zu other elements %zu %s something there", read, others,
			       others == 1 ? "has" : "have");
	xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&member);
	xc_text_fini(&text);
}

void xc_null_place_report(struct xc_crash_context *crash)
{
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	uint64_t now;
	if (!xc_crash_context_is_null(crash) || !bad || !bad->at_known || !bad->value_known || bad->value ||
	    !xc_space_peek_uint(crash->process->space, bad->at, crash->process->arch->word, &now) || now)
		return;
	if (!report_smart(crash, bad))
		report_table(crash, bad);
}
