/* shifted_pointer: see shifted_pointer.h. Records with a pointer in them are aligned to it, unless they are packed. */
#include "triage/survey/shifted_pointer.h"

#include <inttypes.h>
#include <string.h>

#include "triage/survey/survey.h"
#include "triage/util/same_type.h"

enum { MEMBERS = 64, DEPTH = 3, OBJECTS = 32, MARKS = 3 };

struct search {
	const struct xc_crash_context *crash;
	uint64_t bad;       /* the pointer that was used */
	const char *path;   /* of the pointer that led there; NULL: not found */
	xc_addr at;         /* where that is stored */
	uint64_t pointer;   /* its value */
	const char *member; /* through which the bad one is read */
	const char *type;   /* what it points to */
	const char *array;  /* in front of it */
	struct object {
		const struct xc_type *type;
		xc_addr at;
	} objects[OBJECTS]; /* on the way */
	size_t passed;
};

/* The pointer that the access used, or what it called. */
static bool find_bad(const struct xc_crash_context *crash, uint64_t *bad_out)
{
	const struct xc_fault *f = &crash->fault;
	*bad_out = f->addr;
	if (f->access == XC_ACCESS_EXECUTE)
		return f->addr_known;
	return f->frame_known && f->operand_known && f->operand.base >= 0 &&
	       xc_regs_get(&f->frame.regs, f->operand.base, bad_out);
}

/* The member, a pointer, that reads as the bad one in an object at `at`; NULL: none. */
static const char *find_member(const struct search *s, const struct xc_type *record, xc_addr at)
{
	const unsigned word = s->crash->process->arch->word;
	size_t count;
	uint64_t value;
	const struct xc_member *members = xc_type_members(record, &count);
	for (size_t i = 0; i < count && i < MEMBERS; i++)
		if (members[i].name && xc_type_is_pointer(xc_type_strip(members[i].type)) &&
		    members[i].offset % word == 0 &&
		    xc_space_peek_uint(s->crash->process->space, at + members[i].offset, word, &value) &&
		    value == s->bad)
			return members[i].name;
	return NULL;
}

/* Remember an object that the walk goes through. */
static void pass(struct search *s, const struct xc_type *type, xc_addr at)
{
	if (xc_same_type_is_record(type))
		s->objects[s->passed++ % OBJECTS] = (struct object){xc_type_complete(type), at};
}

/* The object passed that the address is in, the largest. */
static const struct object *find_object(const struct search *s, xc_addr at)
{
	const struct object *found = NULL;
	uint64_t size, largest = 0;
	for (size_t i = 0; i < OBJECTS && i < s->passed; i++)
		if (xc_type_size(s->objects[i].type, &size) && at - s->objects[i].at < size && size > largest) {
			found = &s->objects[i];
			largest = size;
		}
	return found;
}

static void look(void *user, const struct xc_surveyed *it)
{
	struct search *s = user;
	uint64_t pointer;
	const bool placed = it->value->kind == XC_VALUE_MEMORY;
	if (s->path)
		return;
	if (!xc_type_is_pointer(xc_type_strip(it->value->type))) {
		if (placed)
			pass(s, xc_type_strip(it->value->type), it->value->addr);
		return;
	}
	const struct xc_type *type = xc_same_type_pointed(it->value->type);
	if (!type || !xc_value_load(it->value, &pointer))
		return;
	if (pointer % s->crash->process->arch->word == 0) {
		pass(s, type, pointer);
		return;
	}
	const unsigned word = s->crash->process->arch->word;
	uint64_t size;
	if (!xc_same_type_is_record(type) || !xc_type_size(type, &size) || size % word != 0)
		return; /* a packed record may begin anywhere */
	const char *member = find_member(s, type, pointer);
	if (!member || find_member(s, type, pointer - pointer % word))
		return; /* the bytes there are all alike: they say nothing of the pointer */
	s->path = xc_arena_strdup(&s->crash->report->arena, it->path);
	s->at = placed ? it->value->addr : 0;
	s->pointer = pointer;
	s->member = member;
	s->type = xc_type_name(type);
}

/* The array in an object that ends where the pointer begins, or less than a word before. */
static const struct xc_type *find_array(struct search *s, const struct xc_type *type, xc_addr at, unsigned depth)
{
	size_t count;
	uint64_t size;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; depth && i < count && i < MEMBERS; i++) {
		const struct xc_type *one = xc_type_complete(xc_type_strip(members[i].type));
		const xc_addr begin = at + members[i].offset;
		if (members[i].bit_size || members[i].dynamic || !xc_type_size(one, &size) || begin > s->at ||
		    begin + size > s->at || s->at - begin - size >= s->crash->process->arch->word)
			continue;
		const struct xc_type *found = one->kind == XC_TYPE_ARRAY ? one : find_array(s, one, begin, depth - 1);
		if (found && members[i].name)
			s->array = xc_arena_printf(&s->crash->report->arena, "%s%s%s", members[i].name,
						   s->array ? "." : "", s->array ? s->array : "");
		if (found)
			return found;
	}
	return NULL;
}

static void report_array(struct search *s)
{
	const struct object *object = find_object(s, s->at);
	const struct xc_type *array = object ? find_array(s, object->type, object->at, DEPTH) : NULL;
	if (!array || !s->array)
		return;
	xc_verdict_evidence(s->crash->report,
			    "the array `%s` of %s ends in front of it, at 0x%" PRIx64
			    ": perhaps it was written past its end%s",
			    s->array, xc_type_name(object->type), s->at,
			    strstr(s->array, "fds_bits") ? ", by FD_SET() for a descriptor of FD_SETSIZE or more" : "");
}

void xc_shifted_pointer_report(struct xc_crash_context *crash)
{
	struct search s = {.crash = crash};
	struct xc_verdict *v = crash->verdict;
	struct xc_text block = {0};
	if (crash->fault.sent || !(xc_crash_context_is_access(crash) || xc_crash_context_is(crash, "pc-control")) ||
	    xc_crash_context_is(crash, "heap-overrun") || !find_bad(crash, &s.bad) || !s.bad)
		return;
	xc_survey_walk(crash, look, &s);
	if (!s.path)
		return;
	const struct xc_blocks *blocks = crash->heap ? &crash->heap->blocks : NULL;
	const uint32_t found = blocks ? xc_blocks_find(blocks, s.pointer) : XC_NO_BLOCK;
	const uint64_t offset = found == XC_NO_BLOCK ? 0 : s.pointer - xc_block_addr(blocks, found);
	const bool begins = offset && offset < crash->process->arch->word; /* a little less is where one begins */
	if (offset)
		xc_text_printf(&block, ", but %" PRIu64 " byte%s behind the beginning of a block", offset,
			       offset == 1 ? "" : "s");
	xc_verdict_evidence(crash->report,
			    "`%s` = 0x%" PRIx64 " is not where a %s would begin%s; read there, its `%s` is 0x%" PRIx64
			    "%s",
			    s.path, s.pointer, s.type, xc_text_string(&block), s.member, s.bad,
			    begins && offset <= MARKS ? "; or its low bits hold a mark that has to be removed" : "");
	xc_text_fini(&block);
	report_array(&s);
	v->cause = xc_arena_printf(&crash->report->arena, "%s%s%s it came from `%s->%s`, and `%s` itself was changed",
				   v->cause ? v->cause : "", v->cause ? "; " : "", begins ? "likely" : "perhaps",
				   s.path, s.member, s.path);
}
