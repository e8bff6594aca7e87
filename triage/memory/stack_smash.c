#include "triage/memory/stack_smash.h"

#include <ctype.h>
#include <elf.h>
#include <inttypes.h>

#include "core/base/text.h"
#include "triage/dataflow/local.h"

enum { FRAMES = 8, WORD = 8, PIECE = 256, LONGEST = 64 << 10 };

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

static bool diagnose_frame(struct xc_pointer_diagnosis *s, size_t index, const char *what)
{
	struct xc_crash_context *crash = s->crash;
	struct xc_frame frame = crash->frames[index];
	if (!xc_unwind_cfa(crash->unwinder, &frame) || frame.cfa < WORD)
		return false;
	xc_addr back = frame.cfa - WORD, at = 0, begin = begin_of(crash, frame.cfa);
	struct xc_text name = {0};
	uint64_t size = 0;
	bool good = begin <= back && xc_local_array_below(crash, index, back, &name, &at, &size) != SIZE_MAX &&
		    back - at >= size && at + size + WORD >= begin; /* a NUL may end the array */
	if (good) {
		xc_verdict_evidence(
			crash->report,
			"%s (%" PRIu64 " bytes at 0x%" PRIx64
			") of %s was written past its end: text follows it, up to the return address at 0x%" PRIx64
			" and over it",
			xc_text_string(&name), size, at, function_of(crash, index), back);
		xc_pointer_diagnosis_explain(s,
					     "its bytes are text: likely a string was written over %s; likely `%s` was "
					     "written past its end, over the return address too",
					     what, xc_text_string(&name));
	}
	xc_text_fini(&name);
	return good;
}

bool xc_stack_smash_diagnose(struct xc_pointer_diagnosis *s, const char *what)
{
	const struct xc_crash_context *crash = s->crash;
	if (crash->process->arch->machine != EM_X86_64)
		return false;
	for (size_t i = 0; i < crash->frame_count && i < FRAMES; i++)
		if (diagnose_frame(s, i, what))
			return true;
	return false;
}
