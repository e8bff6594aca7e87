/* fortify: __memcpy_chk(to, from, size, size of to) and similar functions (glibc 2.36, debug/ and string2.h's
 * callers in bits/ headers).
 *
 * Those in assembler jump to __chk_fail, so that only the call instruction of the caller identifies them. */
#include "triage/runtime/fortify.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/elf/symbol.h"
#include "heap/query/whatis.h"
#include "triage/dataflow/argument.h"
#include "triage/dataflow/local.h"

enum { SYMBOL_MOST = 256, TEXT_MOST = 1 << 16, NO = -1 };

static const struct call {
	const char *name;
	int to, size, from, bytes; /* arguments: destination, its size, a text to copy, the number of bytes; NO */
} calls[] = {
	{"memcpy", 0, 3, NO, 2},     {"memmove", 0, 3, NO, 2},   {"mempcpy", 0, 3, NO, 2},   {"memset", 0, 3, NO, 2},
	{"strcpy", 0, 2, 1, NO},     {"stpcpy", 0, 2, 1, NO},    {"strcat", 0, 2, 1, NO},    {"strncpy", 0, 3, NO, 2},
	{"stpncpy", 0, 3, NO, 2},    {"strncat", 0, 3, 1, NO},   {"sprintf", 0, 2, NO, NO},  {"vsprintf", 0, 2, NO, NO},
	{"snprintf", 0, 3, NO, 1},   {"vsnprintf", 0, 3, NO, 1}, {"gets", 0, 1, NO, NO},     {"fgets", 0, 1, NO, 2},
	{"read", 1, 3, NO, 2},       {"pread", 1, 4, NO, 2},     {"recv", 1, 3, NO, 2},      {"recvfrom", 1, 3, NO, 2},
	{"readlink", 1, 3, NO, 2},   {"getcwd", 0, 2, NO, 1},    {"realpath", 1, 2, NO, NO}, {"fdelt", NO, NO, NO, NO},
	{"longjmp", NO, NO, NO, NO},
};

/* "__memcpy_chk", "___sprintf_chk", "__memcpy_chk_avx_unaligned_erms" → memcpy, sprintf, memcpy. */
static const struct call *call_named(const char *name)
{
	const char *end = name ? strstr(name, "_chk") : NULL;
	while (end && *name == '_')
		name++;
	for (size_t i = 0; end && i < XC_COUNT(calls); i++)
		if (strlen(calls[i].name) == (size_t)(end - name) &&
		    strncmp(calls[i].name, name, (size_t)(end - name)) == 0)
			return &calls[i];
	return NULL;
}

static const struct call *find_call(const struct xc_crash_context *crash)
{
	for (size_t i = 0; i < crash->blamed; i++) {
		const struct xc_place *place = xc_crash_context_place(crash, i);
		const struct call *call = call_named(place->symbol);
		if (call)
			return call;
	}
	return call_named(xc_argument_callee(crash, crash->blamed));
}

static bool argument(const struct xc_crash_context *crash, int number, uint64_t *value_out)
{
	return number != NO && xc_argument_find(crash, crash->blamed, (unsigned)number, value_out);
}

/* The size of the text to copy, with the NUL. */
static bool text_size(const struct xc_crash_context *crash, xc_addr from, uint64_t *size_out)
{
	xc_auto(xc_freep) char *text = xc_realloc(NULL, TEXT_MOST + 1);
	bool cut;
	long length = xc_space_peek_string(crash->process->space, from, text, TEXT_MOST, &cut);
	*size_out = (uint64_t)length + 1;
	return length >= 0 && !cut;
}

/* The name of the destination: a variable of the blamed function, or an object of the program that begins there. */
static const char *name_destination(const struct xc_crash_context *crash, xc_addr to)
{
	struct xc_text text = {0};
	const char *name = NULL;
	if (xc_local_at(crash, crash->blamed, to, &text))
		name = xc_arena_strdup(&crash->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
	char symbol[SYMBOL_MOST];
	const struct xc_mapping *m = xc_process_mapping(crash->process, to);
	if (!name && m && m->writable && xc_symbol_describe(crash->process, to, symbol, sizeof symbol) &&
	    !strchr(symbol, '+'))
		name = xc_arena_strdup(&crash->report->arena, symbol);
	return name;
}

static void report_call(struct xc_crash_context *crash, const struct call *call)
{
	uint64_t to, size, from, bytes = 0;
	struct xc_text text = {0};
	bool sized = argument(crash, call->size, &size), counted = argument(crash, call->bytes, &bytes);
	if (argument(crash, call->to, &to))
		crash->verdict->expression = name_destination(crash, to);
	if (!counted && argument(crash, call->from, &from))
		counted = text_size(crash, from, &bytes);
	const char *name = crash->verdict->expression;
	xc_text_printf(&text, "%s() was to write", call->name);
	if (counted)
		xc_text_printf(&text, " %" PRIu64 " bytes", bytes);
	xc_text_printf(&text, counted ? " into %s" : " past the end of %s", name ? name : "its destination");
	if (sized)
		xc_text_printf(&text, ", which has room for %" PRIu64, size);
	if (call->to != NO)
		crash->verdict->cause = xc_arena_strdup(&crash->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
	if (!name && crash->heap && argument(crash, call->to, &to)) {
		struct xc_what what = xc_what(crash->process, crash->heap, to);
		struct xc_text where = {0};
		xc_what_text(crash->process, crash->heap, &what, &where);
		xc_verdict_evidence(crash->report, "the destination, 0x%" PRIx64 ", is: %s", to,
				    xc_text_string(&where));
		xc_text_fini(&where);
	}
	if (!sized && call->size != NO)
		xc_verdict_evidence(crash->report, "the size of the destination is not known");
}

bool xc_fortify_classify(struct xc_crash_context *crash)
{
	static const char *const frames[] = {"__chk_fail",   "__fortify_fail",  "__fdelt_chk",
					     "__fdelt_warn", "____longjmp_chk", NULL};
	static const char *const texts[] = {"buffer overflow detected", "longjmp causes uninitialized",
					    "%n in writable segment detected", "invalid %N$ use detected"};
	const char *message = crash->verdict->message;
	bool told = false;
	for (size_t i = 0; message && i < XC_COUNT(texts); i++)
		told |= strstr(message, texts[i]) != NULL;
	if (!told && !xc_crash_context_find_name(crash, frames))
		return false;
	const char *cause = "a checked C library call would have written past the end of its destination";
	if (message && strstr(message, texts[1]))
		cause = "longjmp() targeted a function that has returned";
	else if (message && (strstr(message, texts[2]) || strstr(message, texts[3])))
		cause = "an untrusted format contains %n, or skips arguments";
	xc_crash_context_classify(crash, "fortify", NULL, "medium", "certain", cause);
	const struct call *call =
		crash->blame.place && (!message || strstr(message, texts[0])) ? find_call(crash) : NULL;
	if (call)
		report_call(crash, call);
	if (call && strcmp(call->name, "fdelt") == 0)
		crash->verdict->cause =
			"FD_SET() or a similar macro was given a descriptor that is negative or not below FD_SETSIZE";
	return true;
}
