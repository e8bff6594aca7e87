/* text_overwrite: text that was written over a pointer, and other copies of it. */
#include "triage/memory/pointer_diagnosis.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "heap/query/rootword.h"
#include "heap/query/whatis.h"
#include "triage/blocks/block_types.h"
#include "dwarf/types/field.h"
#include "triage/blocks/value_place.h"
#include "triage/util/memory_search.h"
#include "triage/util/same_type.h"
#include "triage/util/statics.h"

enum { TEXT_LEAST = 5, HITS = 64, TOLD = 2, AROUND = 24, BEFORE = 512, OFFSET = 4096 };

static bool is_text(int c)
{
	return isascii(c) && (isprint(c) || c == '\n' || c == '\t');
}

/* The bytes of a pointer in memory order, when they are characters; some NULs may end them. Returns how many. */
static unsigned text_of(uint64_t value, unsigned word, char text[8])
{
	unsigned len = word;
	while (len > 0 && (value >> (8 * (len - 1)) & 255) == 0)
		len--;
	for (unsigned i = 0; i < len; i++) {
		text[i] = (char)(value >> (8 * i) & 255);
		if (!is_text((unsigned char)text[i]))
			return 0;
	}
	return len >= TEXT_LEAST || len == word ? len : 0;
}

/* The text around a place, to both ends. True when it begins before the place. */
static bool text_around(const struct xc_process *p, xc_addr at, unsigned len, struct xc_text *out)
{
	char bytes[2 * AROUND + 8];
	xc_addr from = at - AROUND;
	size_t want = 2 * AROUND + len, got = at >= AROUND ? xc_space_peek(p->space, from, bytes, want) : 0;
	size_t lo = AROUND, hi = AROUND + len;
	bool whole = got >= AROUND + len;
	if (!whole) {
		lo = 0;
		hi = got = xc_space_peek(p->space, at, bytes, len);
	}
	while (lo > 0 && is_text((unsigned char)bytes[lo - 1]))
		lo--;
	while (hi < got && is_text((unsigned char)bytes[hi]))
		hi++;
	xc_text_escaped(out, bytes + lo, hi - lo);
	return whole && lo < AROUND;
}

/* ---- the evidence ---- */

/* The text, where it is, and where other copies of it are. */
struct copies {
	struct xc_pointer_diagnosis *s;
	const char *who; /* has the text */
	uint64_t value;
	char text[8];
	unsigned len;
	xc_addr found[HITS];
	size_t count;
	bool placed; /* the value was read from `place` */
	struct xc_deref place;
	bool only; /* no pointer that led there is known */
};

static xc_addr text_begin(const struct xc_process *p, xc_addr at)
{
	xc_addr from = at;
	char byte;
	while (at - from < BEFORE && xc_space_peek(p->space, from - 1, &byte, 1) == 1 && is_text((unsigned char)byte))
		from--;
	return from;
}

/* Has the type of the block a pointer where the text is, and no characters that it could have run over from? Then it
 * may be none. */
static bool is_pointer_there(const struct xc_crash_context *crash, const struct xc_typed *typed, uint32_t block,
			     xc_addr at)
{
	const xc_addr object = xc_block_addr(&crash->heap->blocks, block) + typed->offset;
	const xc_addr begin = text_begin(crash->process, at);
	uint64_t size, rest;
	if (!typed->type || !xc_type_size(typed->type, &size) || !size || begin < object)
		return false;
	const struct xc_type *there = xc_field_path(NULL, typed->type, (at - object) % size, &rest);
	const struct xc_type *first = xc_field_path(NULL, typed->type, (begin - object) % size, &rest);
	return there && xc_type_is_pointer(there) && !xc_same_type_is_bytes(first);
}

/* "(likely) ": the type of the block there is a guess. Texts are what their bytes are. */
static const char *likely(const struct xc_crash_context *crash, xc_addr at)
{
	uint32_t block;
	const struct xc_typed *typed = crash->heap ? xc_block_types_at(crash, at, &block) : NULL;
	bool guess = typed && typed->shape != XC_TYPED_TEXT &&
		     (typed->confidence < XC_TYPE_STRONG || is_pointer_there(crash, typed, block, at));
	return guess ? "(likely) " : "";
}

/* In the heap, in a variable of the program, in one of a frame; other words of stacks are left over. */
static bool describe_place(const struct xc_crash_context *crash, xc_addr at, struct xc_text *place)
{
	struct xc_what what = xc_what(crash->process, crash->heap, at);
	bool stack = what.kind == XC_WHAT_STACK;
	if (what.kind != XC_WHAT_BLOCK && what.kind != XC_WHAT_DATA && !stack)
		return false;
	xc_text_add(place, likely(crash, at));
	what = xc_what(crash->process, crash->heap, at); /* types may have renumbered the blocks */
	if (crash->heap)
		xc_rootword_place(crash->heap, at, true, place);
	else
		xc_what_text(crash->process, NULL, &what, place);
	return !stack || !crash->heap || (strstr(xc_text_string(place), "#") != NULL);
}

static bool report_place(const struct xc_crash_context *crash, const char *what, xc_addr at, unsigned len)
{
	struct xc_text place = {0}, shown = {0}, redacted = {0};
	xc_addr returned;
	bool good = describe_place(crash, at, &place);
	if (!good && xc_value_place_returned(crash, &returned) && returned == at) {
		place.len = 0;
		xc_text_add(&place, "the stack: the return address that was popped");
		good = true;
	}
	if (good) {
		xc_text_add(&place, xc_block_types_only_by(crash, at));
		bool within = text_around(crash->process, at, len, &shown);
		xc_verdict_evidence(crash->report, "%s at 0x%" PRIx64 ", in %s%s \"%s\"", what, at,
				    xc_text_string(&place), within ? ", within" : ":", xc_text_string(&shown));
		xc_text_printf(&redacted, "%s at 0x%" PRIx64 ", in %s", what, at, xc_text_string(&place));
		xc_verdict_redact(crash->report, xc_text_string(&redacted));
	}
	xc_text_fini(&place);
	xc_text_fini(&shown);
	xc_text_fini(&redacted);
	return good;
}

static void report_text(const struct copies *c)
{
	const struct xc_crash_context *crash = c->s->crash;
	struct xc_text shown = {0}, redacted = {0};
	size_t told = 0;
	xc_text_escaped(&shown, c->text, c->len);
	xc_verdict_evidence(crash->report, "the bytes of %s are text, \"%s\"", c->who, xc_text_string(&shown));
	xc_text_printf(&redacted, "the bytes of %s are text", c->who);
	xc_verdict_redact(crash->report, xc_text_string(&redacted));
	if (c->placed)
		report_place(crash, c->only ? "it was likely read" : "it was read", c->place.at, c->len);
	for (size_t i = 0; i < c->count && told < TOLD; i++) {
		bool near = i && c->found[i] - c->found[i - 1] <= AROUND; /* a repeated character matches everywhere */
		if (!near && (!c->placed || c->found[i] != c->place.at))
			told += report_place(crash, "the same text is", c->found[i], c->len);
	}
	xc_text_fini(&redacted);
	xc_text_fini(&shown);
}

/* ---- what it means ---- */

/* Text that began in an array of characters of the same object, before the pointer. */
static bool explain_member(const struct copies *c, const char *what)
{
	struct xc_text cause = {0};
	bool good = c->placed && xc_field_overrun_report(c->s->crash, c->place.at, &cause);
	for (size_t i = 0; i < c->count && !good && !c->placed; i++)
		good = xc_field_overrun_report(c->s->crash, c->found[i], &cause);
	if (good)
		xc_pointer_diagnosis_explain(c->s, "its bytes are text: likely a string was written over %s: %s", what,
					     xc_text_string(&cause));
	xc_text_fini(&cause);
	return good;
}

/* What object a place is in, for comparison: the block, or the variable. False: not known. */
static bool object_at(const struct xc_crash_context *crash, xc_addr at, uint64_t *object_out)
{
	struct xc_held held;
	struct xc_what what = xc_what(crash->process, crash->heap, at);
	*object_out = at;
	if (what.kind == XC_WHAT_BLOCK)
		*object_out = xc_block_addr(&crash->heap->blocks, what.block);
	else if (what.kind == XC_WHAT_DATA && crash->blame.place &&
		 xc_statics_at(crash->process, crash->blame.place, crash->thread, at, &held))
		*object_out = at - held.offset;
	else
		return false;
	return true;
}

/* Text that began in the block or variable before, and ran on into this one. */
static bool explain_before(const struct copies *c, const char *what)
{
	const struct xc_crash_context *crash = c->s->crash;
	uint64_t here, there;
	struct xc_text place = {0};
	char bytes[BEFORE];
	size_t got = c->placed && c->place.at > BEFORE ? sizeof bytes : 0, len = 0;
	if (!got || xc_space_peek(crash->process->space, c->place.at - got, bytes, got) < got)
		return false;
	while (len < got && is_text((unsigned char)bytes[got - 1 - len]))
		len++;
	if (!object_at(crash, c->place.at, &here) || !object_at(crash, c->place.at - len, &there) || there >= here ||
	    here - (c->place.at - len) < TEXT_LEAST || !describe_place(crash, c->place.at - len, &place))
		return false;
	xc_verdict_evidence(crash->report, "the text begins at 0x%" PRIx64 " or before it, in %s", c->place.at - len,
			    xc_text_string(&place));
	xc_text_fini(&place);
	xc_pointer_diagnosis_explain(
		c->s, "its bytes are text: likely a string was written over %s, from the object before it in memory",
		what);
	return true;
}

/* Exactly the bytes of the pointer are text: a string would go on, or end in a NUL. */
static bool explain_alone(const struct copies *c)
{
	const struct xc_crash_context *crash = c->s->crash;
	unsigned word = crash->process->arch->word;
	uint64_t before, behind, next;
	const struct xc_space *space = crash->process->space;
	if (!c->placed || c->len < word || !xc_space_peek_uint(space, c->place.at - 1, 1, &before) ||
	    !xc_space_peek_uint(space, c->place.at + word, 1, &behind) ||
	    !xc_space_peek_uint(space, c->place.at + word, word, &next))
		return false;
	bool ends = behind && (!is_text((int)behind) || xc_process_mapping(crash->process, next));
	if (is_text((int)before) || !ends)
		return false;
	xc_pointer_diagnosis_explain(c->s,
				     "its bytes are text, and the bytes around them are not: likely it was never set, "
				     "and holds the earlier contents of its memory, or it was copied from text");
	return true;
}

/* The type of the block has characters there: its own text. */
static bool explain_own_text(const struct copies *c)
{
	const struct xc_crash_context *crash = c->s->crash;
	uint32_t block;
	uint64_t size, offset, rest;
	const struct xc_typed *typed = c->placed && crash->heap ? xc_block_types_at(crash, c->place.at, &block) : NULL;
	if (!typed || typed->confidence < XC_TYPE_STRONG || typed->shape == XC_TYPED_TEXT ||
	    !xc_type_size(typed->type, &size) || !size)
		return false;
	offset = c->place.at - xc_block_addr(&crash->heap->blocks, block) - typed->offset;
	if (offset >= size && typed->shape != XC_TYPED_ARRAY)
		return false;
	const struct xc_type *leaf = xc_field_path(NULL, typed->type, offset % size, &rest);
	if (leaf == typed->type || !xc_same_type_is_bytes(leaf))
		return false;
	c->s->crash->verdict->confidence = "likely";
	xc_pointer_diagnosis_explain(c->s,
				     "its bytes are text, and lie in a text of %s: likely it was read as another type, "
				     "after a wrong cast, or after its object was freed",
				     xc_type_name(typed->type));
	return true;
}

/* In a block one of the causes is a use after free: the class is none that is certain. */
static void explain_any(const struct copies *c, const char *what)
{
	bool block = c->placed && c->s->crash->heap &&
		     xc_blocks_find(&c->s->crash->heap->blocks, c->place.at) != XC_NO_BLOCK;
	if (block) {
		c->s->crash->verdict->confidence = "likely";
		xc_pointer_diagnosis_explain(c->s, "its bytes are text: the object was overwritten, its block has "
						   "another owner now, or nothing has set that member");
	} else {
		xc_pointer_diagnosis_explain(c->s,
					     "its bytes are text: %s was overwritten or never set, or the memory that "
					     "it was read from is no such object",
					     what);
	}
}

/* A return address is never unset, and in no object. */
static void explain_returned(const struct copies *c)
{
	if (!xc_stack_smash_diagnose(c->s, "the address to go to"))
		xc_pointer_diagnosis_explain(c->s, "its bytes are text: likely a string was written past the end of an "
						   "array on the stack");
}

static void explain(const struct copies *c)
{
	struct xc_crash_context *crash = c->s->crash;
	xc_addr at;
	const char *what = crash->fault.access == XC_ACCESS_EXECUTE ? "the address to go to" : "the pointer";
	struct xc_stale stale = {.kind = XC_STALE_NOT};
	if (xc_value_place_returned(crash, &at)) {
		explain_returned(c);
		return;
	}
	if (xc_stack_smash_diagnose(c->s, what))
		return;
	if (c->placed && c->place.led_known)
		stale = xc_stale_pointer_at(crash, &c->place);
	if (xc_stale_pointer_report(crash, &stale, false))
		return;
	if (!explain_member(c, what) && !explain_before(c, what) && !explain_alone(c) &&
	    !(stale.kind == XC_STALE_TEXT && xc_stale_pointer_report(crash, &stale, true)) && !explain_own_text(c))
		explain_any(c, what);
	xc_pointer_diagnosis_raise(c->s);
}

/* The value as it was in memory: the code may have added an offset since. */
static void undo_offset(const struct xc_crash_context *crash, struct copies *c)
{
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	if (!bad || !bad->value_known || bad->value == c->value || c->value - bad->value + OFFSET > 2 * OFFSET)
		return;
	c->value = bad->value;
	if (bad->text)
		c->who = xc_arena_printf(&crash->report->arena, "`%s`", bad->text);
}

bool xc_text_overwrite_diagnose(struct xc_pointer_diagnosis *s)
{
	const struct xc_crash_context *crash = s->crash;
	for (size_t i = 0; i < s->suspect_count; i++) {
		struct copies c = {.s = s, .who = s->suspects[i].who, .value = s->suspects[i].value};
		undo_offset(crash, &c);
		c.len = text_of(c.value, crash->process->arch->word, c.text);
		if (!c.len || xc_process_mapping(crash->process, c.value))
			continue; /* letters by chance, as in one of fifty addresses */
		if (crash->heap)
			xc_block_types_infer(crash);
		c.count = xc_memory_search_bytes(crash->process, c.text, c.len, c.found, HITS);
		if (!c.count && c.len < crash->process->arch->word)
			continue; /* the same, in an address that was computed: no memory has these letters */
		c.placed = xc_value_place_find(crash, c.value, c.found, c.count, &c.place);
		const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
		c.only = !c.place.led_known && !c.place.exact && !(bad && bad->at_known);
		report_text(&c);
		explain(&c);
		return true;
	}
	return false;
}
