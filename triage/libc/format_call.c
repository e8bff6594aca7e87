/* format_call: see format_call.h.
 *
 * The call is the program's, or that of the caller whose text a function of variable arguments passed on as a va_list.
 * The argument that a conversion took is a register of the call, or a word of the stack above it (System V, x86-64). It
 * was not passed when nothing in the calling function has set the register since the last call, and the function got
 * nothing in it either. */
#include "triage/libc/format_call.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "heap/query/rootword.h"
#include "heap/query/whatis.h"
#include "triage/code/body_cache.h"
#include "triage/dataflow/argument.h"
#include "triage/dataflow/libcall.h"
#include "triage/dataflow/local.h"
#include "triage/dataflow/origin.h"
#include "triage/libc/format_text.h"
#include "triage/libc/passed_argument.h"
#include "triage/util/names.h"

enum { REGISTERS = 6, CONVERSIONS = 64, TEXT_MOST = 1024, SHOWN = 120, OUTWARD = 4, SMALL = 64 << 10 };

static const int registers[REGISTERS] = {5, 4, 1, 2, 8, 9}; /* rdi rsi rdx rcx r8 r9 */

struct call {
	struct xc_crash_context *crash;
	size_t frame; /* of the caller that passed the arguments */
	const char *name;
	size_t text_frame; /* the caller that passed the text: `frame`, or one that it called */
	unsigned format;   /* the argument there */
	size_t first;      /* the argument of `frame`'s call that the first conversion takes */
	bool list;         /* it is in a va_list, whose words are not known */
	xc_addr at;        /* of the text */
	char text[TEXT_MOST];
	struct xc_conversion *bad; /* the conversion that took the bad argument */
	bool value_known;
	uint64_t value; /* of that argument */
	size_t unknown; /* else: conversions whose argument is not known; `bad` is the first */
	bool counts;    /* the format has a %n */
};

/* ---- the call ---- */

/* "printf", of "__printf_chk" and "_IO_printf"; *shift_out: arguments that a checked variant has more before the
 * format. */
static bool is_printf_like(const char *name, struct call *out)
{
	static const struct {
		const char *name;
		unsigned format, checks;
		bool list;
	} known[] = {
		{"printf", 0, 1, false},  {"fprintf", 1, 1, false},  {"dprintf", 1, 1, false},
		{"sprintf", 1, 2, false}, {"snprintf", 2, 2, false}, {"asprintf", 1, 1, false},
		{"syslog", 1, 1, false},  {"vprintf", 0, 1, true},   {"vfprintf", 1, 1, true},
		{"vdprintf", 1, 1, true}, {"vsprintf", 1, 2, true},  {"vsnprintf", 2, 2, true},
		{"vsyslog", 1, 1, true},  {"vasprintf", 1, 1, true}, {"vfprintf_internal", 1, 0, true},
		{"err", 1, 0, false},     {"errx", 1, 0, false},     {"warn", 0, 0, false},
		{"warnx", 0, 0, false},   {"error", 2, 0, false},
	};
	if (!name)
		return false;
	name = xc_libcall_plain(name);
	size_t len = strcspn(name, "@.");
	bool checked = len > 4 && strncmp(name + len - 4, "_chk", 4) == 0;
	len -= checked ? 4 : 0;
	for (size_t i = 0; i < XC_COUNT(known); i++)
		if (strlen(known[i].name) == len && strncmp(name, known[i].name, len) == 0) {
			out->name = known[i].name;
			out->format = known[i].format + (checked ? known[i].checks : 0);
			out->first = out->format + 1;
			out->list = known[i].list;
			return true;
		}
	return false;
}

/* The registers for whole numbers that the named parameters of the frame's function take; REGISTERS: not known, or
 * all. */
static size_t parameter_registers(const struct call *call)
{
	const struct xc_frame_context in = xc_crash_context_frame(call->crash, call->frame);
	struct xc_named_value *values;
	size_t words = 0;
	uint64_t size;
	if (!in.place->level_count || in.place->line_only)
		return REGISTERS;
	size_t count = xc_variable_values(&in, in.place->level_count - 1, false, &call->crash->report->arena, &values);
	for (size_t i = 0; i < count; i++) {
		const struct xc_type *type = values[i].value.type ? xc_type_strip(values[i].value.type) : NULL;
		if (!type || !xc_type_size(type, &size) || size > 8 || type->kind == XC_TYPE_STRUCT ||
		    type->kind == XC_TYPE_UNION)
			return REGISTERS;
		words += type->kind != XC_TYPE_FLOAT;
	}
	return words < REGISTERS ? words : REGISTERS;
}

/* The argument of the frame's own function that it passed on as the format; REGISTERS: it is none. */
static unsigned own_argument(const struct call *call)
{
	struct xc_frame_code code;
	unsigned budget = XC_SYMBOLIC_BUDGET, n = 0;
	if (!xc_frame_code_init(call->crash, call->frame, &budget, &code))
		return REGISTERS;
	struct xc_linear_expr form = xc_symbolic_value_register(&code, code.at, registers[call->format]);
	bool alone = form.known && form.count == 1 && !form.constant && form.parts[0].times == 1;
	int reg = alone ? xc_origin_argument(&code, &form.parts[0].term, false) : -1;
	while (n < REGISTERS && registers[n] != reg)
		n++;
	return n;
}

/* The caller of the function that made a va_list of its own arguments; the text is one of them, or is that
 * function's. */
static void go_outward(struct call *call)
{
	for (unsigned i = 0; call->list && i < OUTWARD && call->frame + 1 < call->crash->frame_count; i++) {
		bool variadic = xc_passed_argument_variadic(call->crash, call->frame);
		unsigned number = own_argument(call);
		size_t named = variadic ? parameter_registers(call) : REGISTERS;
		if ((number == REGISTERS && named == REGISTERS) || !xc_passed_argument_called(call->crash, call->frame))
			return;
		call->list = !variadic;
		call->frame++;
		call->first = named < REGISTERS ? named : number + 1;
		if (number == REGISTERS)
			return;
		call->text_frame = call->frame;
		call->format = number;
	}
}

static bool read_text(struct call *call, size_t frame, unsigned argument)
{
	bool cut;
	return xc_argument_find(call->crash, frame, argument, &call->at) &&
	       xc_space_peek_string(call->crash->process->space, call->at, call->text, TEXT_MOST - 1, &cut) >= 0;
}

/* The function that the frame called. */
static const char *called(const struct xc_crash_context *crash, size_t frame)
{
	const char *name = xc_argument_callee(crash, frame);
	const struct xc_place *place = xc_crash_context_place(crash, frame - 1);
	return name ? name : xc_place_outer_function(place);
}

/* The call of the program's function; its text as the C library's functions passed it on, where the program's code no
 * longer has it. */
static bool find_call(struct call *call)
{
	struct xc_crash_context *crash = call->crash;
	struct call inner = {.crash = crash};
	call->frame = call->text_frame = crash->blamed;
	if (!is_printf_like(called(crash, call->frame), call))
		return false;
	bool found = read_text(call, call->frame, call->format);
	for (size_t i = call->frame - 1; i > 0 && !found; i--)
		found = is_printf_like(called(crash, i), &inner) && read_text(call, i, inner.format);
	if (found)
		go_outward(call);
	return found;
}

/* ---- the argument ---- */

static bool argument_value(const struct call *call, const struct xc_conversion *c, uint64_t *value_out)
{
	return !call->list && xc_passed_argument_value(call->crash, call->frame, call->first, c, value_out);
}

/* A function of the C library that measures a text runs, or the one that writes for %n. */
static bool is_inside_conversion(const struct call *call)
{
	static const char *const reads[] = {"strlen", "strnlen", "wcslen", "wcsnlen", "wcsrtombs", "wcsnrtombs", NULL};
	const struct xc_crash_context *crash = call->crash;
	const char *name = crash->frame_count ? xc_place_function(xc_crash_context_place(crash, 0), 0) : NULL;
	name = name ? xc_libcall_name(name, &crash->report->arena) : NULL;
	return name && (crash->fault.access == XC_ACCESS_WRITE ? strstr(name, "printf") != NULL
							       : xc_names_find(reads, name) != NULL);
}

/* Is it the address that faulted, or in the vector that did? NULL is none of a text: "(null)" is printed for it. */
static bool is_bad(const struct call *call, uint64_t value)
{
	xc_addr addr = call->crash->fault.addr;
	return (value || call->crash->fault.access == XC_ACCESS_WRITE) &&
	       !xc_process_mapping(call->crash->process, value) &&
	       (value == addr || value - value % 32 == addr || value - value % 64 == addr);
}

/* The conversion whose argument is the bad address; else the first whose argument is not known, when it is known that
 * one of them died. */
static bool find_conversion(struct call *call, struct xc_conversion *all, size_t count)
{
	char letter = call->crash->fault.access == XC_ACCESS_WRITE ? 'n' : 's';
	for (size_t i = 0; i < count; i++) {
		if (all[i].letter != letter)
			continue;
		call->value_known = argument_value(call, &all[i], &call->value);
		if (call->value_known && is_bad(call, call->value)) {
			call->bad = &all[i];
			return true;
		}
		call->bad = !call->value_known && !call->unknown++ ? &all[i] : call->bad;
	}
	call->value_known = false;
	return call->unknown && is_inside_conversion(call);
}

/* ---- was it passed? ---- */

/* An argument that no call passes has no argument behind it. */
static bool is_not_passed(const struct call *call, const struct xc_frame_code *code)
{
	size_t number = call->first + call->bad->argument;
	for (size_t i = call->first; i <= number && i < REGISTERS; i++)
		if (xc_passed_argument_unset(code, i, i == number))
			return true;
	return false;
}

/* The expression of what was passed; false: it is not known. */
static bool find_passed(const struct call *call, const struct xc_frame_code *code, struct xc_linear_expr *form)
{
	size_t number = call->first + call->bad->argument;
	if (number >= REGISTERS || call->list || call->unknown > 1)
		return false;
	*form = xc_symbolic_value_register(code, code->at, registers[number]);
	return form->known;
}

/* The variable, or place, that was passed as it is. NULL: it is another expression. */
static const struct xc_symbolic_value *variable_of(const struct xc_linear_expr *form)
{
	const struct xc_linear_expr_part *part = form->count == 1 ? &form->parts[0] : NULL;
	return part && !form->constant && part->times == 1 && part->term.text && part->term.type ? &part->term : NULL;
}

/* What was passed, where that is a number: a variable, or a constant that is no address. NULL: it is none. */
static const char *number_passed(const struct call *call, const struct xc_frame_code *code)
{
	struct xc_linear_expr form;
	if (!find_passed(call, code, &form))
		return NULL;
	const struct xc_symbolic_value *value = variable_of(&form);
	if (!form.count && form.constant && !form.absolute && form.constant < SMALL && form.constant > -SMALL)
		return xc_arena_printf(&call->crash->report->arena, "%" PRId64, form.constant);
	return value && xc_type_strip(value->type)->kind == XC_TYPE_INT ? value->text : NULL;
}

/* ---- in words ---- */

static void report_text(const struct call *call, const char *held)
{
	struct xc_text shown = {0}, place = {0}, text = {0};
	struct xc_crash_context *crash = call->crash;
	struct xc_what what = xc_what(crash->process, crash->heap, call->at);
	size_t len = strlen(call->text);
	if (crash->heap)
		xc_rootword_place(crash->heap, call->at, true, &place);
	else
		xc_what_text(crash->process, NULL, &what, &place);
	xc_text_printf(&text, "the format of %s(), at 0x%" PRIx64 "%s%s%s, in %s", call->name, call->at,
		       held ? " (`" : "", held ? held : "", held ? "`)" : "", xc_text_string(&place));
	xc_text_escaped(&shown, call->text, len < SHOWN ? len : SHOWN);
	xc_verdict_evidence(crash->report, "%s, is \"%s\"%s", xc_text_string(&text), xc_text_string(&shown),
			    len > SHOWN ? " …" : "");
	xc_verdict_redact(crash->report, xc_text_string(&text));
	xc_text_fini(&shown);
	xc_text_fini(&place);
	xc_text_fini(&text);
}

/* "`%s` took 0x6 as its argument" */
static void add_conversion(const struct call *call, struct xc_text *text)
{
	if (call->value_known)
		xc_text_printf(text, "`%%%c` took 0x%" PRIx64 " as its argument", call->bad->letter, call->value);
	else
		xc_text_printf(text, "%s`%%%c` took a bad address as its argument, and faulted at 0x%" PRIx64,
			       call->unknown > 1 ? "one " : "", call->bad->letter, call->crash->fault.addr);
}

/* Where the text comes from, as of any value that was passed. */
static void set_origin(const struct call *call, const struct xc_frame_code *code)
{
	struct xc_text text = {0};
	bool sure;
	struct xc_linear_expr form = xc_symbolic_value_register(code, code->at, registers[call->format]);
	const struct xc_linear_expr_part *part = form.known ? xc_symbolic_value_pointer(&form) : NULL;
	if (part && xc_origin_describe(code, &part->term, form.constant ? NULL : &call->at, &text, &sure))
		call->crash->verdict->origin = xc_arena_printf(&call->crash->report->arena, "%s%s",
							       sure ? "" : "likely ", xc_text_string(&text));
	xc_text_fini(&text);
}

/* What the source calls the format. */
static const char *held_by(const struct call *call, const struct xc_frame_code *code)
{
	struct xc_arena *arena = &call->crash->report->arena;
	struct xc_text name = {0};
	const char *held = NULL;
	struct xc_linear_expr form = xc_symbolic_value_register(code, code->at, registers[call->format]);
	if (xc_local_at(call->crash, call->text_frame, call->at, &name))
		held = xc_arena_strdup(arena, xc_text_string(&name));
	else if (form.known && form.count == 1 && !form.constant && form.parts[0].term.text)
		held = xc_arena_strdup(arena, form.parts[0].term.text);
	xc_text_fini(&name);
	return held;
}

static void classify(const struct call *call, const char *kind, bool high, const char *why)
{
	struct xc_crash_context *crash = call->crash;
	struct xc_text cause = {0};
	bool write = crash->fault.access == XC_ACCESS_WRITE;
	xc_text_printf(&cause, "%s: ", why);
	add_conversion(call, &cause);
	if (crash->verdict->origin && high)
		xc_text_printf(&cause, "; the format was %s", crash->verdict->origin);
	xc_crash_context_classify(crash, "format-string", kind,
				  high && call->counts ? "high"
				  : high || write      ? "medium"
						       : "low",
				  "likely", xc_text_string(&cause));
	xc_text_fini(&cause);
	crash->number = true; /* no offset from NULL */
}

/* The format is data. Where a pointer was passed for the conversion, that is bad, and the program made the format. */
static bool classify_data(const struct call *call, const struct xc_frame_code *code)
{
	if (!call->list && !is_not_passed(call, code) && !number_passed(call, code))
		return false;
	struct xc_frame_code of_text;
	unsigned budget = XC_SYMBOLIC_BUDGET;
	if (!xc_frame_code_init(call->crash, call->text_frame, &budget, &of_text))
		return false;
	const char *held = held_by(call, &of_text);
	xc_crash_context_blame(call->crash, call->frame);
	set_origin(call, &of_text);
	call->crash->verdict->expression = held;
	classify(call, "data", true, "the format is data, in memory that the program writes");
	report_text(call, held);
	return true;
}

static bool classify_arguments(const struct call *call, const struct xc_frame_code *code)
{
	const char *number = number_passed(call, code);
	if (!number && (call->list || !is_not_passed(call, code)))
		return false;
	xc_crash_context_blame(call->crash, call->frame);
	call->crash->verdict->expression = number;
	classify(call, "arguments", false,
		 !number ? "the format asks for more arguments than were passed"
			 : xc_arena_printf(&call->crash->report->arena,
					   "the format asks for a pointer where `%s`, a number, was passed", number));
	report_text(call, NULL);
	return true;
}

/* A pointer was passed, and is bad. */
static void tell_passed(const struct call *call, const struct xc_frame_code *code)
{
	struct xc_linear_expr form;
	const struct xc_symbolic_value *value = find_passed(call, code, &form) ? variable_of(&form) : NULL;
	if (!value || !call->value_known)
		return;
	call->crash->verdict->expression = xc_arena_strdup(&call->crash->report->arena, value->text);
	xc_verdict_evidence(call->crash->report, "%s() used it for `%%%c`: `%s`, 0x%" PRIx64, call->name,
			    call->bad->letter, value->text, call->value);
}

bool xc_format_call_classify(struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	struct xc_conversion all[CONVERSIONS];
	struct call call = {.crash = crash};
	struct xc_frame_code code;
	unsigned budget = XC_SYMBOLIC_BUDGET;
	if (!crash->blame.through || !crash->blamed || !f->addr_known || f->access == XC_ACCESS_EXECUTE ||
	    !find_call(&call))
		return false;
	size_t count = xc_format_text_parse(call.text, all, CONVERSIONS);
	for (size_t i = 0; i < count; i++)
		call.counts |= all[i].letter == 'n';
	if (!find_conversion(&call, all, count) || !xc_frame_code_init(crash, call.frame, &budget, &code))
		return false;
	const struct xc_mapping *m = xc_process_mapping(crash->process, call.at);
	if (m && m->writable ? classify_data(&call, &code) : classify_arguments(&call, &code))
		return true;
	tell_passed(&call, &code);
	return false;
}
