/* sanitizer: the report went to standard error, but its data is still in memory.
 *
 * AddressSanitizer (LLVM 14 and gcc 12: asan_errors.h, asan_scariness_score.h): while it reports, the error is in
 * the frame of the reporting function, and its score contains a text like "8-byte-read-heap-use-after-free".
 * UndefinedBehaviorSanitizer: the name of the handler is the kind: __ubsan_handle_add_overflow_abort. */
#include "triage/runtime/sanitizer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "triage/dataflow/argument.h"
#include "triage/util/names.h"

enum { FRAMES = 40, STACK_MOST = 64 << 10, ACCESS_MOST = 16 };

/* Longer names before those that they contain. */
static const char *const kinds[] = {
	"heap-use-after-free",
	"dynamic-stack-buffer-overflow",
	"heap-buffer-overflow",
	"stack-buffer-overflow",
	"stack-buffer-underflow",
	"global-buffer-overflow",
	"stack-use-after-return",
	"stack-use-after-scope",
	"container-overflow",
	"intra-object-redzone",
	"use-after-poison",
	"double-free",
	"bad-free",
	"alloc-dealloc-mismatch",
	"new-delete-type-mismatch",
	"param-overlap",
	"calloc-overflow",
	"null-deref",
	"use-of-uninitialized-value",
	"wild-jump",
	"wild-addr",
};

/* Functions that report one kind only. */
static const struct {
	const char *part, *kind;
} reporters[] = {
	{"ReportDoubleFree", "double-free"},
	{"ReportFreeNotMalloced", "bad-free"},
	{"ReportAllocTypeMismatch", "alloc-dealloc-mismatch"},
	{"ReportNewDeleteTypeMismatch", "new-delete-type-mismatch"},
	{"ReportStringFunctionMemoryRangesOverlap", "param-overlap"},
	{"ReportOutOfMemory", "out-of-memory"},
	{"ReportAllocationSizeTooBig", "allocation-size-too-big"},
	{"ReportODRViolation", "odr-violation"},
};

struct found {
	const char *kind;
	const char *access; /* "read", "write", or NULL */
	unsigned size;      /* bytes of it; 0: not known */
	size_t reporter;    /* the outermost frame of the sanitizer with information; frame_count when there is none */
	bool sanitizer;
	size_t last; /* its outermost frame */
};

/* "load8", "store4_noabort", "load_n". */
static void read_access(struct found *found, const char *name)
{
	bool load = strncmp(name, "load", 4) == 0, store = strncmp(name, "store", 5) == 0;
	if (!load && !store)
		return;
	found->access = load ? "read" : "write";
	unsigned long size = strtoul(name + (load ? 4 : 5), NULL, 10);
	found->size = size <= ACCESS_MOST ? (unsigned)size : 0; /* there is no function for a larger size */
}

static void read_handler(struct xc_crash_context *crash, struct found *found, const char *name)
{
	char *kind = xc_arena_strdup(&crash->report->arena, name), *end = strstr(kind, "_abort");
	if (end)
		*end = '\0';
	for (char *at = kind; *at; at++)
		*at = *at == '_' ? '-' : *at;
	found->kind = kind;
}

static void read_name(struct xc_crash_context *crash, struct found *found, size_t index, const char *name)
{
	static const char *const names[] = {"__asan", "__sanitizer::", "__ubsan", "__msan", "__tsan", "__hwasan", NULL};
	const char *at;
	if (xc_names_begin(names, name)) {
		found->sanitizer = true;
		found->last = index;
	}
	if ((at = strstr(name, "__asan_report_"))) {
		read_access(found, at + strlen("__asan_report_"));
		found->reporter = index;
	}
	if ((at = strstr(name, "__ubsan_handle_")))
		read_handler(crash, found, at + strlen("__ubsan_handle_"));
	for (size_t i = 0; i < XC_COUNT(reporters); i++)
		if (strstr(name, reporters[i].part))
			found->kind = reporters[i].kind;
}

static void read_frame(struct xc_crash_context *crash, struct found *found, size_t index)
{
	const struct xc_place *place = xc_crash_context_place(crash, index);
	if (place->symbol)
		read_name(crash, found, index, place->symbol);
	for (size_t l = 0; l < place->level_count; l++)
		if (place->levels[l].function)
			read_name(crash, found, index, place->levels[l].function);
}

/* A function of the C library that the sanitizer replaces. */
static bool is_stand_in(const struct xc_crash_context *crash, size_t index)
{
	static const char *const names[] = {"free",         "malloc",          "calloc", "realloc", "cfree",
					    "operator new", "operator delete", "memcpy", "memmove", "memset",
					    "memcmp",       "strcpy",          "strcat", "strlen",  NULL};
	const struct xc_place *place = xc_crash_context_place(crash, index);
	return !place->level_count && xc_names_begin(names, place->symbol);
}

static bool has_text(const char *bytes, size_t len, const char *text)
{
	return memmem(bytes, len, text, strlen(text)) != NULL;
}

/* The text of the error in the frames of the sanitizer. */
static void read_stack(const struct xc_crash_context *crash, struct found *found)
{
	uint64_t from, end;
	int sp = crash->process->arch->sp;
	if (!xc_regs_get(&crash->frames[0].regs, sp, &from) ||
	    !xc_regs_get(&crash->frames[crash->blamed].regs, sp, &end) || end <= from)
		return;
	size_t size = end - from < STACK_MOST ? (size_t)(end - from) : STACK_MOST;
	char *bytes = xc_realloc(NULL, size);
	size = xc_space_peek(crash->process->space, from, bytes, size);
	for (size_t i = 0; i < XC_COUNT(kinds) && !found->kind; i++)
		if (has_text(bytes, size, kinds[i]))
			found->kind = kinds[i];
	if (found->kind && !found->access)
		found->access = has_text(bytes, size, "-byte-write")  ? "write"
				: has_text(bytes, size, "-byte-read") ? "read"
								      : NULL;
	free(bytes);
}

static void report_access(struct xc_crash_context *crash, const struct found *found)
{
	uint64_t addr;
	if (found->access && found->size)
		xc_verdict_evidence(crash->report, "it was a %s of %u byte%s", found->access, found->size,
				    found->size == 1 ? "" : "s");
	else if (found->access)
		xc_verdict_evidence(crash->report, "it was a %s", found->access);
	if (found->reporter + 1 < crash->frame_count && xc_argument_find(crash, found->reporter + 1, 0, &addr))
		xc_verdict_evidence(crash->report, "at the address 0x%" PRIx64, addr);
	if (!found->kind)
		xc_verdict_evidence(crash->report, "its report is not known: it is on the program's standard error");
}

bool xc_sanitizer_classify(struct xc_crash_context *crash)
{
	struct found found = {.reporter = crash->frame_count};
	for (size_t i = 0; i < crash->frame_count && i < FRAMES; i++)
		read_frame(crash, &found, i);
	if (!found.sanitizer)
		return false;
	size_t own = found.last + 1;
	while (own < crash->frame_count && is_stand_in(crash, own))
		own++;
	xc_crash_context_blame(crash, own);
	if (!found.kind && crash->blame.place)
		read_stack(crash, &found);
	bool write = found.access && strcmp(found.access, "write") == 0;
	bool null = found.kind && strcmp(found.kind, "null-deref") == 0;
	xc_auto(xc_freep) char *cause = xc_asprintf("a sanitizer stopped the program%s%s", found.kind ? ": " : "",
						    found.kind ? found.kind : "");
	xc_crash_context_classify(crash, "sanitizer", found.kind,
				  write  ? "high"
				  : null ? "low"
					 : "medium",
				  "certain", cause);
	report_access(crash, &found);
	return true;
}
