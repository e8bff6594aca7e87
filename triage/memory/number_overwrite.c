/* number_overwrite: values that are no pointers, as the numbers that programs have: doubles, pairs of small integers,
 * small negative integers. Only the form shows it, so each is likely at most.
 *
 *	0x4000000000000000    2.0: no pointer has these upper bits
 *	0x0000000600000005    5 and 6, two integers of 32 bits
 *	0xfffffffffffffff4    -12, -ENOMEM; -1 is MAP_FAILED
 *	0x0000000000018bba    101306: below everything that is mapped */
#include "triage/memory/pointer_diagnosis.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "heap/query/rootword.h"
#include "heap/query/whatis.h"
#include "triage/code/operand.h"
#include "triage/blocks/block_types.h"
#include "triage/blocks/value_place.h"
#include "triage/util/memory_search.h"

enum {
	HITS = 64,
	TOLD = 2,
	ERRORS = 4095, /* the kernel's MAX_ERRNO */
	COMMON = 0xffff,
	LETTERS = 3,
	UPPER = 4096, /* pointers to user memory have more in their upper half */
	LOWER = 1000000,
};

bool xc_number_is_double(uint64_t value, char *text, size_t size)
{
	double number;
	memcpy(&number, &value, sizeof number);
	if (xc_operand_canonical(value) || !isfinite(number) || fabs(number) < 1e-6 || fabs(number) > 1e15)
		return false;
	snprintf(text, size, "the double %.17g", number);
	char shorter[40];
	double same;
	for (int digits = 1; digits < 17; digits++) {
		snprintf(shorter, sizeof shorter, "%.*g", digits, number);
		/* 40, not 4e+01: more digits make it a plain number */
		if (!strchr(shorter, '+') && sscanf(shorter, "%lf", &same) == 1 &&
		    memcmp(&same, &number, sizeof same) == 0) {
			snprintf(text, size, "the double %s%s", shorter, strpbrk(shorter, ".e") ? "" : ".0");
			break;
		}
	}
	return true;
}

/* Below everything that is mapped. Where the pointer has no name it may as well be an offset from NULL. */
static bool is_low(const struct xc_crash_context *crash, uint64_t value)
{
	return value <= UINT32_MAX && crash->process->mapping_count && value < crash->process->mappings[0].lo &&
	       crash->pointer == value;
}

/* In words: "the double 2.0"; false when the value has no such form. */
static bool describe(const struct xc_crash_context *crash, uint64_t value, char *text, size_t size)
{
	int64_t number = (int64_t)value;
	uint64_t upper = value >> 32, lower = value & UINT32_MAX;
	if (crash->process->arch->word != 8)
		return false;
	if (number < 0 && number >= -ERRORS)
		snprintf(text, size, "the number %" PRId64 ", %s", number,
			 number == -1 ? "as MAP_FAILED and other results of functions that failed"
				      : "as an error number that a function returned");
	else if (value == UINT32_MAX)
		snprintf(text, size, "the number 4294967295, (unsigned)-1");
	else if (is_low(crash, value))
		snprintf(text, size, "the number %" PRIu64, value);
	else if (upper && upper < UPPER && lower < LOWER)
		snprintf(text, size, "the numbers %" PRIu64 " and %" PRIu64 " if they are two of 32 bits", lower,
			 upper);
	else
		return xc_number_is_double(value, text, size);
	return true;
}

/* Does the array in front of the word hold numbers of this kind? Then it likely ran over. */
static bool report_array(struct xc_pointer_diagnosis *s, xc_addr at)
{
	struct xc_field_array array;
	uint64_t size;
	if (!xc_field_array_before(s->crash, at, &array) || at - array.end >= s->crash->process->arch->word)
		return false;
	const struct xc_type *type = xc_type_strip(array.element);
	if ((type->kind != XC_TYPE_FLOAT && type->kind != XC_TYPE_INT) || !xc_type_size(type, &size) || !size)
		return false;
	xc_verdict_evidence(s->crash->report,
			    "%s, %" PRIu64 " elements of %s at 0x%" PRIx64
			    ", ends where the number begins: it was likely "
			    "written past its end",
			    array.name, (array.end - array.begin) / size, xc_type_name(array.element), array.begin);
	xc_pointer_diagnosis_explain(s, "likely %s was written past its end", array.name);
	return true;
}

/* Where the value was read: by its way, or by a variable that leads there. */
static void report_read(const struct xc_pointer_diagnosis *s, const struct xc_deref *place)
{
	struct xc_text text = {0};
	xc_rootword_place(s->crash->heap, place->at, true, &text);
	xc_verdict_evidence(s->crash->report, "it was %sread at 0x%" PRIx64 ", in %s%s", place->place ? "" : "likely ",
			    place->at, xc_text_string(&text), xc_block_types_only_by(s->crash, place->at));
	xc_text_fini(&text);
}

/* True when an array explains it. */
static bool report_places(struct xc_pointer_diagnosis *s, uint64_t value)
{
	const struct xc_crash_context *crash = s->crash;
	xc_addr found[HITS];
	size_t told = 0;
	struct xc_deref place;
	bool read = xc_value_place_find(crash, value, NULL, 0, &place);
	if (crash->heap)
		xc_block_types_infer(crash);
	bool explained = read && report_array(s, place.at);
	if (!crash->heap || value >= UINT64_MAX - ERRORS || value <= COMMON)
		return explained; /* such words are everywhere */
	if (read)
		report_read(s, &place);
	size_t count = xc_memory_search_words(crash->process, value, 0, found, HITS);
	for (size_t i = 0; i < count && told < TOLD; i++) {
		struct xc_text where = {0};
		struct xc_what what = xc_what(crash->process, crash->heap, found[i]);
		bool live =
			what.kind == XC_WHAT_BLOCK && xc_block_state(&crash->heap->blocks, what.block) == XC_BLOCK_LIVE;
		if ((live || what.kind == XC_WHAT_DATA) && !(read && found[i] == place.at)) {
			xc_rootword_place(crash->heap, found[i], true, &where);
			xc_verdict_evidence(crash->report, "the same bytes are at 0x%" PRIx64 ", in %s%s", found[i],
					    xc_text_string(&where), xc_block_types_only_by(crash, found[i]));
			told++;
		}
		if (!explained && value > UINT32_MAX &&
		    (live || what.kind == XC_WHAT_DATA || what.kind == XC_WHAT_STACK))
			explained = report_array(s, found[i]);
		xc_text_fini(&where);
	}
	return explained;
}

/* A number of few bytes may as well be a short word. */
static void report_letters(const struct xc_crash_context *crash, uint64_t value)
{
	char text[8];
	size_t len = 0;
	for (; len < sizeof text && value; value >>= 8) {
		if (!isgraph((int)(value & 255)))
			return;
		text[len++] = (char)(value & 255);
	}
	if (len < LETTERS || len > sizeof(uint32_t))
		return;
	xc_verdict_evidence(crash->report, "or they are text, \"%.*s\"", (int)len, text);
	xc_verdict_redact(crash->report, "or they are text");
}

bool xc_number_overwrite_diagnose(struct xc_pointer_diagnosis *s)
{
	for (size_t i = 0; i < s->suspect_count; i++) {
		const struct xc_suspect *it = &s->suspects[i];
		char text[200];
		if (xc_process_mapping(s->crash->process, it->value) ||
		    !describe(s->crash, it->value, text, sizeof text))
			continue;
		xc_verdict_evidence(s->crash->report, "the bytes of %s are %s", it->who, text);
		report_letters(s->crash, it->value);
		xc_pointer_diagnosis_explain(s, "its bytes are %s: likely no pointer was stored there", text);
		if (!report_places(s, it->value))
			xc_unset_local_partly(s);
		return true;
	}
	return false;
}
