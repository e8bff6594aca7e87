/* text_overwrite: text that was written over a pointer, and other copies of it. */
#include "triage/memory/pointer_diagnosis.h"

#include <ctype.h>
#include <inttypes.h>

#include "heap/query/rootword.h"
#include "heap/query/whatis.h"
#include "triage/blocks/block_types.h"
#include "triage/util/memory_search.h"
#include "triage/memory/stack_smash.h"

enum { TEXT_LEAST = 5, HITS = 64, TOLD = 2, AROUND = 24 };

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

/* The text around a place, to both ends. */
static void text_around(const struct xc_process *p, xc_addr at, unsigned len, struct xc_text *out)
{
	char bytes[2 * AROUND + 8];
	xc_addr from = at - AROUND;
	size_t want = 2 * AROUND + len, got = at >= AROUND ? xc_space_peek(p->space, from, bytes, want) : 0;
	size_t lo = AROUND, hi = AROUND + len;
	if (got < AROUND + len) {
		lo = 0;
		hi = got = xc_space_peek(p->space, at, bytes, len);
	}
	while (lo > 0 && is_text((unsigned char)bytes[lo - 1]))
		lo--;
	while (hi < got && is_text((unsigned char)bytes[hi]))
		hi++;
	xc_text_escaped(out, bytes + lo, hi - lo);
}

/* The part of the heap that contains the text, else the part of the program. */
static bool report_place(struct xc_crash_context *crash, xc_addr at, unsigned len, struct xc_text *cause)
{
	struct xc_text place = {0}, shown = {0}, redacted = {0};
	struct xc_what what = xc_what(crash->process, crash->heap, at);
	bool good = what.kind == XC_WHAT_BLOCK || what.kind == XC_WHAT_STACK || what.kind == XC_WHAT_DATA;
	if (good && crash->heap)
		xc_rootword_place(crash->heap, at, true, &place);
	else if (good)
		xc_what_text(crash->process, NULL, &what, &place);
	if (good) {
		text_around(crash->process, at, len, &shown);
		xc_verdict_evidence(crash->report, "the same text is at 0x%" PRIx64 ", in %s: \"%s\"", at,
				    xc_text_string(&place), xc_text_string(&shown));
		xc_text_printf(&redacted, "the same text is at 0x%" PRIx64 ", in %s", at, xc_text_string(&place));
		xc_verdict_redact(crash->report, xc_text_string(&redacted));
		if (!cause->len)
			xc_field_overrun_report(crash, at, cause);
	}
	xc_text_fini(&place);
	xc_text_fini(&shown);
	xc_text_fini(&redacted);
	return good;
}

static void report_text(struct xc_crash_context *crash, const struct xc_suspect *it, const char *text, unsigned len,
			struct xc_text *cause)
{
	struct xc_text shown = {0}, redacted = {0};
	xc_addr found[HITS];
	size_t told = 0;
	xc_text_escaped(&shown, text, len);
	xc_verdict_evidence(crash->report, "the bytes of %s are text, \"%s\"", it->who, xc_text_string(&shown));
	xc_text_printf(&redacted, "the bytes of %s are text", it->who);
	xc_verdict_redact(crash->report, xc_text_string(&redacted));
	if (crash->heap)
		xc_block_types_infer(crash);
	size_t count = xc_memory_search_bytes(crash->process, text, len, found, HITS);
	for (size_t i = 0; i < count && told < TOLD; i++)
		if (!i || found[i] - found[i - 1] > AROUND) /* a repeated character matches everywhere */
			told += report_place(crash, found[i], len, cause);
	xc_text_fini(&redacted);
	xc_text_fini(&shown);
}

bool xc_text_overwrite_diagnose(struct xc_pointer_diagnosis *s)
{
	for (size_t i = 0; i < s->suspect_count; i++) {
		char text[8];
		unsigned len = text_of(s->suspects[i].value, s->crash->process->arch->word, text);
		if (!len || xc_process_mapping(s->crash->process, s->suspects[i].value))
			continue; /* letters by chance, as in one of fifty addresses */
		struct xc_text cause = {0};
		report_text(s->crash, &s->suspects[i], text, len, &cause);
		xc_pointer_diagnosis_explain(s, "its bytes are text: likely a string was written over %s%s%s",
					     s->crash->fault.access == XC_ACCESS_EXECUTE ? "the address to go to"
											 : "the pointer",
					     cause.len ? ": " : "", xc_text_string(&cause));
		xc_text_fini(&cause);
		xc_stack_smash_diagnose(s);
		xc_pointer_diagnosis_raise(s);
		return true;
	}
	return false;
}
