#include "triage/libc/bad_descriptor.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "triage/libc/error_number.h"
#include "triage/survey/survey.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"

enum { FOUND = 32, MEMBERS = 64, LEVELS = 4, LEFT = 16 /* bytes of a freed block that the allocator has written */ };

struct descriptor {
	const char *name;
	const void *root; /* of a variable of the blamed function: not NULL */
	xc_addr at;       /* 0: not in memory */
	int number;
	bool freed; /* in an object that was freed */
};

struct search {
	const struct xc_crash_context *crash;
	struct descriptor items[FOUND];
	size_t count;
	struct xc_named_value *own[2]; /* arguments and local variables of the blamed function */
	size_t own_count[2];
};

static bool is_named_so(const char *name)
{
	static const char *const words[] = {"fd",     "fds", "sock", "socket", "sockfd", "descriptor",
					    "pipefd", "rfd", "wfd",  "fildes", NULL};
	char word[XC_NAMES_WORD];
	while (name && xc_names_next_word(&name, word))
		if (xc_names_find(words, word))
			return true;
	return false;
}

static bool number_of(const struct xc_value *value, int *out)
{
	const struct xc_type *type = value->type ? xc_type_strip(value->type) : NULL;
	uint64_t bits, size;
	if (!type || type->kind != XC_TYPE_INT || !xc_type_size(type, &size) || size != sizeof(int) ||
	    !xc_value_load(value, &bits))
		return false;
	*out = (int)(int32_t)bits;
	return true;
}

/* Does the path begin with a variable of the blamed function? */
static const void *root_of(const struct search *s, const char *path)
{
	size_t len = strcspn(path, ".-[,");
	for (size_t k = 0; k < XC_COUNT(s->own); k++)
		for (size_t i = 0; i < s->own_count[k]; i++)
			if (s->own[k][i].name && strncmp(s->own[k][i].name, path, len) == 0 && !s->own[k][i].name[len])
				return &s->own[k][i];
	return NULL;
}

static void take(struct search *s, const char *path, const struct xc_value *value, bool freed)
{
	struct descriptor one = {.root = root_of(s, path), .freed = freed};
	one.at = value->kind == XC_VALUE_MEMORY ? value->addr : 0;
	if (s->count == FOUND || !number_of(value, &one.number))
		return;
	for (size_t i = 0; i < s->count; i++)
		if (one.at && s->items[i].at == one.at)
			return;
	one.name = xc_arena_strdup(&s->crash->report->arena, path);
	s->items[s->count++] = one;
}

static void take_members(struct search *s, const struct xc_value *record, const char *path, const char *joint,
			 bool freed)
{
	size_t count;
	const struct xc_member *members = xc_type_members(xc_type_complete(xc_type_strip(record->type)), &count);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		struct xc_value member;
		struct xc_text name = {0};
		if (members[i].dynamic || members[i].bit_size || !members[i].type || !is_named_so(members[i].name) ||
		    (freed && members[i].offset < LEFT))
			continue;
		xc_value_field(record, &members[i], &member);
		xc_text_printf(&name, "%s%s%s", path, joint, members[i].name);
		take(s, xc_text_string(&name), &member, freed);
		xc_text_fini(&name);
	}
}

/* What is left of an object that was freed: a descriptor is closed before. */
static void take_freed(struct search *s, const struct xc_surveyed *it)
{
	const struct xc_heap *heap = s->crash->heap;
	const struct xc_type *target = xc_same_type_pointed(it->value->type);
	uint64_t addr;
	if (!heap || !target || !xc_same_type_is_record(target) || !xc_value_load(it->value, &addr))
		return;
	uint32_t block = xc_blocks_find(&heap->blocks, addr);
	if (block == XC_NO_BLOCK || !xc_block_is_freed(xc_block_state(&heap->blocks, block)) ||
	    xc_block_addr(&heap->blocks, block) != addr)
		return;
	const struct xc_value record = xc_value_memory(s->crash->process, target, addr);
	take_members(s, &record, it->path, "->", true);
}

static void look(void *user, const struct xc_surveyed *it)
{
	struct search *s = user;
	if (xc_type_is_pointer(it->value->type))
		take_freed(s, it);
	else if (xc_same_type_is_record(it->value->type) && !it->view)
		take_members(s, it->value, it->path, it->joint, false);
}

static void take_variables(struct search *s)
{
	const struct xc_frame_context context = xc_crash_context_frame(s->crash, s->crash->blamed);
	for (int locals = 0; locals <= 1; locals++)
		s->own_count[locals] = xc_variable_values(&context, s->crash->blame.level, locals,
							  &s->crash->report->arena, &s->own[locals]);
	for (size_t k = 0; k < XC_COUNT(s->own); k++)
		for (size_t i = 0; i < s->own_count[k]; i++)
			if (is_named_so(s->own[k][i].name))
				take(s, s->own[k][i].name, &s->own[k][i].value, false);
}

/* The only number that the blamed function works with. NULL: there are several, or none. */
static const struct descriptor *find_used(const struct search *s)
{
	const struct descriptor *used = NULL;
	for (size_t i = 0; i < s->count; i++) {
		const struct descriptor *one = &s->items[i];
		if (!one->root || one->freed)
			continue;
		if (used && used->number != one->number)
			return NULL;
		used = used ? used : one;
	}
	return used;
}

/* Another place that has the same number. */
static const struct descriptor *find_other(const struct search *s, const struct descriptor *used)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i].number == used->number && s->items[i].root != used->root)
			return &s->items[i];
	return NULL;
}

static void explain(struct xc_crash_context *crash, const char *why)
{
	struct xc_verdict *v = crash->verdict;
	v->cause =
		xc_arena_printf(&crash->report->arena, "%s%s%s", v->cause ? v->cause : "", v->cause ? "; " : "", why);
}

static void report(struct search *s, struct xc_crash_context *crash)
{
	struct xc_arena *arena = &crash->report->arena;
	const struct descriptor *used = find_used(s), *other = used ? find_other(s, used) : NULL;
	if (!used)
		return;
	if (used->number < 0) {
		explain(crash,
			xc_arena_printf(arena,
					"likely `%s` is no open descriptor: it is %d; it was never opened, opening "
					"it failed, or it was closed before",
					used->name, used->number));
		return;
	}
	explain(crash, xc_arena_printf(arena,
				       "likely descriptor %d, `%s`, had been closed: by a second close() of an earlier "
				       "file with that number, or too early by its owner",
				       used->number, used->name));
	if (other)
		xc_verdict_evidence(crash->report, "`%s`%s has the same number, %d", other->name,
				    other->freed ? ", of an object that was freed," : "", other->number);
	xc_verdict_evidence(crash->report,
			    "EBADF also results from a write to a descriptor that was opened for reading");
}

void xc_bad_descriptor_report(struct xc_crash_context *crash)
{
	static const char *const names[] = {"abort", "assertion", "terminate", "uncaught-exception", NULL};
	struct search *s;
	if (!xc_names_find(names, crash->verdict->class_name) || !crash->blame.place ||
	    !crash->blame.place->level_count || crash->blame.place->line_only || crash->blamed >= crash->frame_count ||
	    xc_error_number_of(crash) != EBADF)
		return;
	s = xc_arena_alloc(&crash->report->arena, sizeof *s);
	*s = (struct search){.crash = crash};
	take_variables(s);
	xc_survey_walk(crash, look, s);
	report(s, crash);
}
