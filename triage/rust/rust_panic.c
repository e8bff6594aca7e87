/* rust_panic: all panics go through core::panicking::panic_fmt to the handler of std. The functions between it and
 * the program determine the reason.
 *
 *	rust_begin_unwind ← panic_fmt ← core::option::unwrap_failed ← Option<T>::unwrap [inlined] ← the program
 *	rust_begin_unwind ← panic_fmt ← panic_bounds_check(index, length) ← the program
 *	rust_begin_unwind ← panic_fmt ← panic(text, length) ← …
 *
 *	rust_begin_unwind ← panic_nounwind_fmt ← panic_in_cleanup, panic_null_pointer_dereference(), … ← the program
 *
 * Names of rustc 1.63 to 1.95 (library/core/src/panicking.rs, option.rs, slice/index.rs). */
#include "triage/rust/rust_panic.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/types/type.h"
#include "dwarf/stack/variable.h"
#include "triage/dataflow/argument.h"
#include "triage/rust/rust_consequence.h"
#include "triage/rust/rust_location.h"
#include "triage/rust/rust_payload.h"
#include "triage/rust/rust_refcell.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum { FRAMES = 64, TEXT_MOST = 500 };

/* The first entry with its part in a name on the path determines the kind. */
static const struct {
	const char *part, *kind, *words;
} reasons[] = {
	{"panic_cannot_unwind", "no unwind", "is a function that must not unwind, and a panic reached it"},
	{"panic_in_cleanup", "double panic", "was unwound by a panic, and a destructor that it then ran panicked, too"},
	{"panic_misaligned_pointer_dereference", "misaligned pointer", "dereferenced a pointer that is not aligned"},
	{"panic_null_pointer_dereference", "null pointer", "dereferenced a null pointer"},
	{"panic_null_reference_constructed", "null pointer", "made a reference of a null pointer"},
	{"panic_invalid_enum_construction", "invalid enum", "made an enum of a value that it does not have"},
	{"precondition_check", "unsafe precondition", "violated a precondition of unsafe code"},
	{"core::cell::RefCell<T>::borrow", "borrow",
	 "borrowed a RefCell that was already borrowed"}, /* by expect(), up to 1.6x */
	{"Option<T>::expect", "expect", "called expect() on None"},
	{"Option<T>::unwrap", "unwrap", "called unwrap() on None"},
	{"Result<T,E>::expect", "expect", "called expect() on an Err"},
	{"Result<T,E>::unwrap", "unwrap", "called unwrap() on an Err"},
	{"core::option::expect_failed", "expect", "called expect() on None"},
	{"core::option::unwrap_failed", "unwrap", "called unwrap() on None"},
	{"core::result::unwrap_failed", "unwrap", "called unwrap() or expect() on an Err"},
	{"panic_bounds_check", "index", "used an index that is out of bounds"},
	{"core::slice::index::slice_", "slice", "took a slice out of bounds"},
	{"core::str::slice_error_fail", "slice", "sliced a str out of bounds or within a character"},
	{"_overflow", "overflow", "computed a number that does not fit its type"},
	{"_by_zero", "division by zero", "divided by zero"},
	{"assert_failed", "assert", "failed an assertion"},
	{"already_borrowed", "borrow", "borrowed a RefCell that was already borrowed"},
	{"already_mutably_borrowed", "borrow", "borrowed a RefCell that was already borrowed"},
	{"unreachable_display", "unreachable", "reached code marked as unreachable"},
	{"panic_nounwind", NULL,
	 "panicked, by a panic that does not unwind"}, /* who may unwind decides, and not this */
};

/* Older compilers pass the reason as a text. */
static const struct {
	const char *begins, *has, *kind, *words;
} texts[] = {
	{"attempt to ", "overflow", "overflow", "computed a number that does not fit its type"},
	{"attempt to ", "zero", "division by zero", "divided by zero"},
	{"assertion failed", "", "assert", "failed an assertion"},
	{"internal error: entered unreachable", "", "unreachable", "reached code marked as unreachable"},
	{"called `Option::unwrap()`", "", "unwrap", "called unwrap() on None"},
	{"unsafe precondition(s) violated", "", "unsafe precondition", "violated a precondition of unsafe code"},
};

/* Does a function of the frame, or one inlined below the blamed level, have this in its name? */
static bool has_part(const struct xc_crash_context *crash, size_t index, const char *part)
{
	const struct xc_place *place = xc_crash_context_place(crash, index);
	size_t count = index == crash->blamed ? crash->blame.level : place->level_count;
	for (size_t l = 0; l < count; l++)
		if (place->levels[l].function && strstr(place->levels[l].function, part))
			return true;
	return index != crash->blamed && place->symbol && strstr(place->symbol, part);
}

static bool way_has(const struct xc_crash_context *crash, const char *part, size_t *index_out)
{
	for (size_t i = 0; i <= crash->blamed && i < crash->frame_count && i < FRAMES; i++)
		if (has_part(crash, i, part)) {
			*index_out = i;
			return true;
		}
	return false;
}

static unsigned count_frames(const struct xc_crash_context *crash, const char *part)
{
	unsigned count = 0;
	for (size_t i = 0; i < crash->frame_count; i++) {
		const char *symbol = xc_crash_context_place(crash, i)->symbol;
		count += symbol && strstr(symbol, part);
	}
	return count;
}

/* ---- what was passed on the way ---- */

/* The text passed to core::panicking::panic() or an expect: a constant of the program. */
static const char *constant_text(struct xc_crash_context *crash)
{
	static const char *const takers[] = {"core::panicking::panic",
					     "core::option::expect_failed",
					     "core::result::unwrap_failed",
					     "core::panicking::panic_str",
					     "core::panicking::panic_nounwind",
					     "std::panicking::begin_panic::<&str>",
					     NULL};
	size_t taker = xc_crash_context_find_frame(crash, takers);
	uint64_t addr, length;
	char text[TEXT_MOST];
	if (taker + 1 >= crash->frame_count || !xc_argument_find(crash, taker + 1, 0, &addr) ||
	    !xc_argument_find(crash, taker + 1, 1, &length) || !length || length > sizeof text)
		return NULL;
	const struct xc_mapping *m = xc_process_mapping(crash->process, addr);
	if (!m || m->writable || xc_space_peek(crash->process->space, addr, text, (size_t)length) != length ||
	    xc_text_readable_length(text, (size_t)length) != length)
		return NULL;
	return xc_arena_strndup(&crash->report->arena, text, (size_t)length);
}

static void report_bounds(const struct xc_crash_context *crash, size_t checker)
{
	uint64_t index, length;
	if (!xc_argument_find(crash, checker + 1, 0, &index) || !xc_argument_find(crash, checker + 1, 1, &length) ||
	    index < length)
		return;
	xc_verdict_evidence(crash->report, "the index is %" PRIu64 ", the length %" PRIu64, index, length);
	xc_verdict_redact(crash->report, "the index is not below the length");
}

static void report_alignment(const struct xc_crash_context *crash, size_t checker)
{
	uint64_t required, found;
	if (!xc_argument_find(crash, checker + 1, 0, &required) || !xc_argument_find(crash, checker + 1, 1, &found) ||
	    !required || !(found % required))
		return;
	xc_verdict_evidence(crash->report, "the pointer is 0x%" PRIx64 ", its type demands an alignment of %" PRIu64,
			    found, required);
	xc_verdict_redact(crash->report, "the pointer is not aligned as its type demands");
}

/* "core::ptr::copy_nonoverlapping::precondition_check" */
static void report_precondition(const struct xc_crash_context *crash, size_t checker)
{
	const struct xc_place *place = xc_crash_context_place(crash, checker);
	const char *name = xc_place_outer_function(place);
	const char *end = name ? strstr(name, "::precondition_check") : NULL;
	if (end)
		xc_verdict_evidence(crash->report, "the arguments of %.*s violate its precondition", (int)(end - name),
				    name);
}

/* What the functions on the way were passed. */
static const struct {
	const char *part;
	void (*report)(const struct xc_crash_context *crash, size_t frame);
} passed[] = {
	{"panic_bounds_check", report_bounds},
	{"panic_misaligned_pointer_dereference", report_alignment},
	{"precondition_check", report_precondition},
};

/* ---- */

static void classify(struct xc_crash_context *crash, const char *kind, const char *words)
{
	xc_auto(xc_freep) char *cause = xc_asprintf("%s %s", xc_crash_context_culprit(crash), words);
	xc_crash_context_classify(crash, "panic", kind, "low", "certain", cause);
}

static bool has_name(const struct xc_blame *blame)
{
	return blame->place && xc_place_function(blame->place, blame->level);
}

/* A panic that must not go on, or a second one: the first one has the reason. */
static void report_first(struct xc_crash_context *crash)
{
	const char *kind = crash->verdict->kind;
	const char *message = kind && (strcmp(kind, "no unwind") == 0 || strcmp(kind, "double panic") == 0)
				      ? xc_rust_payload_in_flight(crash)
				      : NULL;
	if (!message)
		return;
	xc_verdict_evidence(crash->report, "the panic that unwound the stack before: \"%s\"", message);
	xc_verdict_redact(crash->report, "the panic that unwound the stack before has a message");
	if (!crash->verdict->message)
		crash->verdict->message = message;
}

/* The handler's frames end with core::panicking::panic_fmt(). */
static const char *formatted_text(const struct xc_crash_context *crash, const char *begins_with)
{
	static const char *const taker[] = {"core::panicking::panic_fmt", NULL};
	return xc_rust_payload_formatted(crash, xc_crash_context_find_frame(crash, taker), begins_with);
}

/* The texts of the functions that have no other (library/core/src/panicking.rs, panic_const). */
static const char *text_by_name(const struct xc_crash_context *crash)
{
	static const struct {
		const char *part, *text;
	} known[] = {
		{"panic_const_add_overflow", "attempt to add with overflow"},
		{"panic_const_sub_overflow", "attempt to subtract with overflow"},
		{"panic_const_mul_overflow", "attempt to multiply with overflow"},
		{"panic_const_div_overflow", "attempt to divide with overflow"},
		{"panic_const_rem_overflow", "attempt to calculate the remainder with overflow"},
		{"panic_const_neg_overflow", "attempt to negate with overflow"},
		{"panic_const_shl_overflow", "attempt to shift left with overflow"},
		{"panic_const_shr_overflow", "attempt to shift right with overflow"},
		{"panic_const_div_by_zero", "attempt to divide by zero"},
		{"panic_const_rem_by_zero", "attempt to calculate the remainder with a divisor of zero"},
	};
	size_t at;
	for (size_t i = 0; i < XC_COUNT(known); i++)
		if (way_has(crash, known[i].part, &at))
			return known[i].text;
	return NULL;
}

/* The library's function that the blamed one called, and that panicked: Vec<T,A>::remove. NULL where the program itself
 * called what makes the panic. */
static const char *library_callee(const struct xc_crash_context *crash)
{
	static const char *const machinery[] = {
		"core::panicking::", "std::panicking::", "core::panic::", "std::panic::",
		"__rustc::",         "rust_begin_",      "std::rt::",     NULL};
	const struct xc_blame *blame = &crash->blame;
	const char *name = NULL;
	if (!has_name(blame))
		return NULL;
	if (blame->level) {
		name = xc_place_function(blame->place, blame->level - 1);
	} else if (crash->blamed && crash->blamed < crash->frame_count) {
		const struct xc_place *place = xc_crash_context_place(crash, crash->blamed - 1);
		name = xc_place_outer_function(place);
	}
	return name && !xc_names_begin(machinery, name) ? name : NULL;
}

static void classify_in_library(struct xc_crash_context *crash, const char *kind, const char *callee, const char *what)
{
	xc_auto(xc_freep) char *words = xc_asprintf("called %s(), which %s", callee, what);
	classify(crash, kind, words);
}

/* Reasons that a library's function can have of its own: HashMap's index calls expect(). */
static bool is_reason_within(const char *callee, const char *kind)
{
	static const char *const of_program[] = {"core::option::", "core::result::", NULL};
	static const char *const kinds[] = {"assert", "unwrap", "expect", "overflow", "division by zero", NULL};
	return callee && kind && xc_names_find(kinds, kind) && !xc_names_begin(of_program, callee);
}

static void classify_panic(struct xc_crash_context *crash)
{
	const char *text = constant_text(crash), *made = formatted_text(crash, text), *callee = library_callee(crash);
	size_t at;
	if (!text && !made)
		made = text_by_name(crash);
	if ((made || text) && !crash->verdict->message)
		crash->verdict->message = made ? made : text;
	for (size_t i = 0; i < XC_COUNT(reasons); i++)
		if (way_has(crash, reasons[i].part, &at)) {
			if (is_reason_within(callee, reasons[i].kind))
				classify_in_library(crash, reasons[i].kind, callee, reasons[i].words);
			else
				classify(crash, reasons[i].kind, reasons[i].words);
			for (size_t k = 0; k < XC_COUNT(passed); k++)
				if (strcmp(reasons[i].part, passed[k].part) == 0)
					passed[k].report(crash, at);
			return;
		}
	for (size_t i = 0; text && i < XC_COUNT(texts); i++)
		if (strncmp(text, texts[i].begins, strlen(texts[i].begins)) == 0 && strstr(text, texts[i].has)) {
			classify(crash, texts[i].kind, texts[i].words);
			return;
		}
	if (count_frames(crash, "rust_begin_unwind") > 1)
		classify(crash, "double panic", "panicked while it unwound after a panic");
	else if (callee)
		classify_in_library(crash, "library", callee, "panicked");
	else if (!has_name(&crash->blame)) /* it may be the library's, which panics for many reasons */
		classify(crash, NULL, "panicked");
	else
		classify(crash, "explicit", "panicked: panic!(), or assert!() with its own message");
}

/* ---- out of memory ---- */

/* The place of the size in a Layout: the first member is passed first. */
static bool size_is_first(const struct xc_crash_context *crash, bool *first_out)
{
	const struct xc_query query = {.name = "core::alloc::layout::Layout", .kinds = XC_NAME_TYPE};
	struct xc_definition layout;
	uint64_t size = UINT64_MAX, align = UINT64_MAX;
	size_t count;
	if (!xc_lookup_one(crash->process, &query, &layout))
		return false;
	const struct xc_type *type = xc_type_get(xc_types_of(crash->process), &layout.die);
	const struct xc_member *members = xc_type_members(xc_type_complete(xc_type_strip(type)), &count);
	for (size_t i = 0; i < count; i++) {
		if (members[i].name && strncmp(members[i].name, "size", 4) == 0)
			size = members[i].offset;
		if (members[i].name && strncmp(members[i].name, "align", 5) == 0)
			align = members[i].offset;
	}
	*first_out = size < align;
	return size != UINT64_MAX && align != UINT64_MAX;
}

static bool may_align(uint64_t value)
{
	return value && !(value & (value - 1));
}

/* A Layout is passed as two numbers, in an order that rustc chooses (1.63: size, alignment; later the reverse).
 * Without its type, a number that is not a power of two is the size; when both are powers of two, the alignment is
 * likely the smaller one. */
static void add_size(const struct xc_crash_context *crash, uint64_t a, uint64_t b, struct xc_text *text)
{
	bool first;
	if (size_is_first(crash, &first))
		xc_text_printf(text, "%" PRIu64 " bytes", first ? a : b);
	else if (may_align(a) != may_align(b))
		xc_text_printf(text, "%" PRIu64 " bytes", may_align(a) ? b : a);
	else
		xc_text_printf(text, "%" PRIu64 " bytes (or %" PRIu64 ": one of the two is the alignment)",
			       a > b ? a : b, a > b ? b : a);
}

/* What the collection was to hold, or to grow by: an argument of the library's functions on the way. */
static const char *find_growth(const struct xc_crash_context *crash, size_t handler, uint64_t *count_out)
{
	static const struct {
		const char *argument, *words;
	} known[] = {{"additional", "more elements"}, {"capacity", "elements"}};
	for (size_t i = handler; i <= crash->blamed && i < crash->frame_count && i - handler < FRAMES; i++) {
		const struct xc_place *place = xc_crash_context_place(crash, i);
		const struct xc_frame_context context = xc_crash_context_frame(crash, i);
		for (size_t l = 0; !place->line_only && l < place->level_count && !xc_user_code_is(place, l); l++) {
			struct xc_named_value *values;
			size_t count = xc_variable_values(&context, l, false, &crash->report->arena, &values);
			for (size_t v = 0; v < count * XC_COUNT(known); v++) {
				const struct xc_named_value *value = &values[v / XC_COUNT(known)];
				if (value->name && strcmp(value->name, known[v % XC_COUNT(known)].argument) == 0 &&
				    xc_value_load(&value->value, count_out))
					return known[v % XC_COUNT(known)].words;
			}
		}
	}
	return NULL;
}

static void classify_memory(struct xc_crash_context *crash, size_t handler)
{
	uint64_t a, b;
	struct xc_text size = {0};
	const char *elements;
	if (xc_argument_find(crash, handler + 1, 0, &a) && xc_argument_find(crash, handler + 1, 1, &b))
		add_size(crash, a, b, &size);
	else if ((elements = find_growth(crash, handler, &a)) != NULL)
		xc_text_printf(&size, "%" PRIu64 " %s of a collection", a, elements);
	xc_auto(xc_freep) char *cause = xc_asprintf("%s asked for %s that could not be allocated",
						    xc_crash_context_culprit(crash), size.len ? size.bytes : "memory");
	xc_text_fini(&size);
	xc_crash_context_classify(crash, "out-of-memory", NULL, "low", "certain", cause);
}

/* The program's call that led into the panic which has reached frame `at`: the frames in between are the library's,
 * also those without a name. */
static size_t entry_of(const struct xc_crash_context *crash, size_t at)
{
	static const char *const entries[] = {"core::panicking::panic_fmt", "std::panicking::begin_panic", NULL};
	for (size_t i = at; i < crash->frame_count && i - at < FRAMES; i++) {
		const struct xc_place *place = xc_crash_context_place(crash, i);
		size_t level = 0;
		bool own = xc_user_code_level(place, &level);
		const char *name = xc_place_function(place, level);
		if (xc_names_find(entries, name))
			return i;
		if (own && name)
			break;
	}
	return at;
}

bool xc_rust_panic_classify(struct xc_crash_context *crash)
{
	static const char *const handlers[] = {"alloc::alloc::handle_alloc_error", "rust_oom", "std::alloc::rust_oom",
					       "__rustc::__rust_alloc_error_handler", NULL};
	static const char *const frames[] = {"core::panicking::panic_fmt",
					     "rust_begin_unwind",
					     "__rustc::rust_begin_unwind",
					     "std::panicking::begin_panic",
					     "std::panicking::rust_panic_with_hook",
					     "std::panicking::panic_with_hook",
					     "rust_panic",
					     "__rustc::rust_panic",
					     NULL};
	size_t handler = xc_crash_context_find_frame(crash, handlers),
	       panic = xc_crash_context_find_frame(crash, frames);
	if (handler == crash->frame_count && panic == crash->frame_count)
		return false;
	xc_crash_context_blame(crash, handler < crash->frame_count ? handler : entry_of(crash, panic));
	if (handler < crash->frame_count) {
		static const char *const taker[] = {"alloc::alloc::handle_alloc_error", NULL};
		classify_memory(crash, xc_crash_context_find_frame(crash, taker));
	} else {
		classify_panic(crash);
		xc_rust_location_report(crash);
		report_first(crash);
		xc_rust_refcell_report(crash);
		xc_rust_consequence_report(crash);
	}
	return true;
}
