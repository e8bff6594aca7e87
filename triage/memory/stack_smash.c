/* stack_smash: local arrays that text overran, over the return address, before a stack protector checked. */
#include "triage/memory/pointer_diagnosis.h"

#include <ctype.h>
#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "triage/dataflow/local.h"
#include "triage/blocks/value_place.h"

enum { FRAMES = 8, WORD = 8, PIECE = 256, LONGEST = 64 << 10, GAPS = 4 };

static bool is_text(unsigned char c)
{
	return isascii(c) && (isprint(c) || c == '\n' || c == '\t');
}

/* The start of the text that ends at an address; the address itself when there is none. */
static xc_addr begin_of(const struct xc_crash_context *crash, xc_addr end)
{
	unsigned char bytes[PIECE];
	xc_addr at = end;
	while (at >= PIECE && end - at < LONGEST &&
	       xc_space_peek(crash->process->space, at - PIECE, bytes, PIECE) == PIECE) {
		size_t left = PIECE;
		while (left && is_text(bytes[left - 1]))
			left--;
		at -= PIECE - left;
		if (left)
			break;
	}
	return at;
}

static const char *function_of(const struct xc_crash_context *crash, size_t index)
{
	const struct xc_place *place = xc_crash_context_place(crash, index);
	const char *name = place && place->level_count ? place->levels[place->level_count - 1].function : NULL;
	return name ? name : place && place->symbol ? place->symbol : "the function";
}

struct smash {
	size_t frame;
	xc_addr back;         /* of the return address */
	struct xc_text array; /* its name */
	xc_addr at;
	uint64_t size;
};

/* Of a structure the member that the text begins in. */
static void name_member(const struct xc_crash_context *crash, xc_addr begin, struct smash *out)
{
	struct xc_text name = {0};
	if (xc_local_at(crash, out->frame, begin > out->at ? begin : out->at, &name)) {
		xc_text_fini(&out->array);
		out->array = name;
	} else
		xc_text_fini(&name);
}

/* The array that the text begins in: of those that it runs over the lowest. */
static bool find_array(const struct xc_crash_context *crash, xc_addr begin, struct smash *out)
{
	xc_addr below = out->back, at;
	uint64_t size;
	struct xc_text name = {0};
	bool found = false;
	while (xc_local_array_below(crash, out->frame, below, &name, &at, &size) != SIZE_MAX &&
	       at + size + WORD >= begin) { /* a NUL may end the array */
		xc_text_fini(&out->array);
		out->array = name;
		name = (struct xc_text){0};
		out->at = below = at;
		out->size = size;
		found = true;
		if (begin >= at)
			break;
	}
	xc_text_fini(&name);
	if (found)
		name_member(crash, begin, out);
	return found;
}

/* The same where variables that were set since interrupt the text: up to GAPS words. */
static bool find_array_far(const struct xc_crash_context *crash, xc_addr begin, struct smash *out)
{
	for (unsigned gaps = 0; gaps < GAPS && begin > WORD; gaps++) {
		xc_addr end = (begin - 1) & ~(xc_addr)(WORD - 1);
		begin = begin_of(crash, end);
		if (begin < end && find_array(crash, begin, out) && begin < out->at + out->size)
			return true;
	}
	return false;
}

static bool find_in_frame(const struct xc_crash_context *crash, size_t index, struct smash *out)
{
	struct xc_frame frame = crash->frames[index];
	*out = (struct smash){.frame = index};
	if (!xc_unwind_cfa(crash->unwinder, &frame) || frame.cfa < WORD)
		return false;
	xc_addr begin = begin_of(crash, frame.cfa);
	out->back = frame.cfa - WORD;
	if (begin > out->back)
		return false;
	if (find_array(crash, begin, out) || find_array_far(crash, begin, out))
		return true;
	xc_text_fini(&out->array);
	return false;
}

/* At its `ret` a function whose variables are found by the frame pointer has popped that: it was the word below the
 * return address. */
static bool find_after_pop(const struct xc_crash_context *crash, struct smash *out)
{
	struct xc_crash_context before = *crash;
	struct xc_frame frame;
	xc_addr back;
	if (!crash->frame_count || !crash->fault.computed || !xc_value_place_returned(crash, &back))
		return false;
	frame = crash->frames[0];
	xc_regs_set(&frame.regs, crash->process->arch->fp, back - WORD);
	before.frames = &frame;
	before.frame_count = 1;
	return find_in_frame(&before, 0, out);
}

static bool find(const struct xc_crash_context *crash, struct smash *out)
{
	if (crash->process->arch->machine != EM_X86_64)
		return false;
	for (size_t i = 0; i < crash->frame_count && i < FRAMES; i++)
		if (find_in_frame(crash, i, out))
			return true;
	return find_after_pop(crash, out);
}

bool xc_stack_smash_exists(const struct xc_crash_context *crash)
{
	struct smash smash;
	bool found = find(crash, &smash);
	if (found)
		xc_text_fini(&smash.array);
	return found;
}

/* A return that went wrong says more than that its address was overwritten. */
static void classify(struct xc_crash_context *crash)
{
	struct xc_verdict *v = crash->verdict;
	if (v->kind && strcmp(v->kind, "ret") == 0)
		return;
	xc_crash_context_classify(crash, "stack-smash", NULL, "critical", "likely", v->cause);
}

bool xc_stack_smash_diagnose(struct xc_pointer_diagnosis *s, const char *what)
{
	struct xc_crash_context *crash = s->crash;
	struct smash smash;
	if (!find(crash, &smash))
		return false;
	const char *name = xc_text_string(&smash.array), *function = function_of(crash, smash.frame);
	xc_verdict_evidence(crash->report,
			    "%s (%s%" PRIu64 " bytes at 0x%" PRIx64
			    ") of %s was written past its end: text follows it, up to the return address at 0x%" PRIx64
			    " and over it",
			    name, strpbrk(name, ".>[") ? "in an object of " : "", smash.size, smash.at, function,
			    smash.back);
	if (what)
		xc_pointer_diagnosis_explain(s, "its bytes are text: likely a string was written over %s", what);
	xc_pointer_diagnosis_explain(s, "likely `%s` was written past its end, over the return address of %s%s", name,
				     function, what ? " too" : "");
	classify(crash);
	xc_text_fini(&smash.array);
	return true;
}
