#include "triage/go/goowner.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/format/format.h"
#include "triage/goroutine/gospan.h"
#include "triage/goroutine/gotype.h"
#include "triage/util/memory_search.h"

enum { HITS = 64, NAME_MOST = 100, OBJECT_MOST = 240 };

/* The struct that a value of the type is, or leads to; NULL: none. */
static const struct xc_type *record_of(const struct xc_type *type)
{
	const struct xc_type *plain = xc_gotype_plain(type);
	for (int i = 0; i < 2 && plain->kind == XC_TYPE_POINTER && plain->target; i++)
		plain = xc_gotype_plain(plain->target);
	return xc_type_is_record(plain) ? plain : NULL;
}

static const struct xc_member *member_of(const struct xc_type *type, const char *name)
{
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count; i++)
		if (members[i].name && strcmp(members[i].name, name) == 0)
			return &members[i];
	return NULL;
}

/* Its type is known where its value is not; that of one that escaped is named "&s". */
static const struct xc_type *variable_type(const struct xc_frame_context *context, size_t level, const char *name,
					   struct xc_arena *arena)
{
	struct xc_value value;
	xc_auto(xc_freep) char *escaped = xc_asprintf("&%s", name);
	return xc_variable_find(context, level, name, arena, &value) ||
			       xc_variable_find(context, level, escaped, arena, &value)
		       ? value.type
		       : NULL;
}

void xc_goowner_find(const struct xc_frame_context *context, size_t level, const char *name, struct xc_goowner *out)
{
	char parts[NAME_MOST], *rest = NULL;
	struct xc_arena scratch = {0};
	out->known = false;
	if (context->place->line_only || level >= context->place->level_count || strlen(name) >= sizeof parts ||
	    !strchr(name, '.'))
		return;
	memcpy(parts, name, strlen(name) + 1);
	const char *part = strtok_r(parts, ".", &rest);
	const struct xc_type *type = part ? variable_type(context, level, part, &scratch) : NULL;
	while (type && (part = strtok_r(NULL, ".", &rest))) {
		const struct xc_type *record = record_of(type);
		const struct xc_member *member = record ? member_of(record, part) : NULL;
		out->known = member != NULL;
		out->type = record;
		out->offset = member ? member->offset : 0;
		type = member ? member->type : NULL;
	}
	out->known = out->known && type && xc_gotype_is_channel(type);
	xc_arena_fini(&scratch);
}

bool xc_goowner_same(const struct xc_goowner *a, const struct xc_goowner *b)
{
	return a->known && b->known && a->offset == b->offset &&
	       strcmp(xc_type_name(a->type), xc_type_name(b->type)) == 0;
}

static bool wants_owner(void *user, const struct xc_type *type)
{
	const struct xc_goowner *owner = user;
	const struct xc_type *record = record_of(type);
	return record && strcmp(xc_type_name(record), xc_type_name(owner->type)) == 0;
}

bool xc_goowner_is_used(const struct xc_frame_context *context, const struct xc_goowner *owner)
{
	struct xc_arena scratch = {0};
	struct xc_goowner wanted = *owner;
	struct xc_named_value *values;
	size_t count = 0;
	for (size_t l = 0; !context->place->line_only && l < context->place->level_count && !count; l++)
		for (int locals = 0; locals < 2 && !count; locals++)
			count = xc_variable_values_of(context, l, locals, wants_owner, &wanted, &scratch, &values);
	xc_arena_fini(&scratch);
	return count > 0;
}

/* The only object that has the channel there; 0: none, or several. */
static xc_addr find_object(const struct xc_godeath *d, const struct xc_goowner *owner, xc_addr channel)
{
	struct xc_gospans spans = {.go = &d->go};
	xc_addr found[HITS], only = 0;
	uint64_t size;
	bool several = !xc_type_size(owner->type, &size) || !size;
	size_t count = several ? 0 : xc_memory_search_words(d->crash->process, channel, 0, found, HITS);
	for (size_t i = 0; i < count; i++) {
		const xc_addr at = found[i] - owner->offset;
		struct xc_goobject object;
		if (!xc_gospans_object(&spans, at, &object) || !object.has_pointers || object.size < size ||
		    (at - object.addr) % size || at - object.addr > object.size - size)
			continue;
		several |= only && only != at;
		only = at;
	}
	xc_gospans_fini(&spans);
	return several || count == HITS ? 0 : only;
}

void xc_goowner_report(const struct xc_godeath *d, const char *name, const struct xc_goowner *owner, xc_addr channel)
{
	struct xc_format_options options = xc_format_defaults();
	struct xc_report *report = d->crash->report;
	struct xc_text text = {0};
	const char *dot = strrchr(name, '.');
	const xc_addr at = owner->known && dot ? find_object(d, owner, channel) : 0;
	if (!at)
		return;
	const struct xc_value object = xc_value_memory(d->crash->process, owner->type, at);
	const char *type = xc_type_name(owner->type);
	options.depth = 1;
	options.length = OBJECT_MOST;
	if (xc_format_whole(&text, &object, &options)) {
		xc_verdict_evidence(report,
				    "`%.*s` likely led to the only %s that has the channel as `%s` (0x%" PRIx64 "): %s",
				    (int)(dot - name), name, type, dot + 1, at, xc_text_string(&text));
		xc_verdict_redact(report,
				  xc_arena_printf(&report->arena,
						  "`%.*s` likely led to the only %s that has the channel as `%s`",
						  (int)(dot - name), name, type, dot + 1));
	}
	xc_text_fini(&text);
}
