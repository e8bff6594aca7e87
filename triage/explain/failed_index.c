/* failed_index: the check passes the index to the function that panics or throws. Its register is followed back through
 * the frames of the library, which only pass it on, to the call in the program; there it has an expression.
 *
 *	main.replay() → runtime.goPanicIndex(index, length)
 *	replay() → <Vec<T> as Index<I>>::index(self, index) → …
 *		→ core::panicking::panic_bounds_check(index, length)
 *	replay() → std::vector::at(this, n) → _M_range_check(this, n)
 *		→ std::__throw_out_of_range_fmt(format, n, size) */
#include "triage/explain/failed_index.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "dwarf/format/format.h"
#include "dwarf/stack/variable.h"
#include "dwarf/view/view.h"
#include "triage/dataflow/argument.h"
#include "triage/dataflow/origin.h"
#include "triage/dataflow/symbolic_value.h"
#include "triage/util/user_code.h"

/* DWARF's numbers of registers (System V ABI, x86-64). */
enum { RAX = 0, RDX = 1, RCX = 2, RBX = 3, RSI = 4, RDI = 5 };
enum { FRAMES = 40, PASSED = 8, FORMAT_MOST = 120, KEY_MOST = 120, KEYS = 8 };

/* Which of its arguments a check refused: always the same, or as the format says, or the numbers. */
enum which { THIS, BY_FORMAT, BY_VALUES, BY_TEXT };

/* Go's checks call a stub that moves its own registers to those of the function (runtime/asm_amd64.s, Go 1.17 to 1.22);
 * the stub leaves no frame. */
static const struct check {
	const char *begins;
	int reg;
	const char *what;
	enum which which;
} checks[] = {
	{"runtime.goPanicIndex", RAX, "index", THIS},
	{"runtime.goPanicSliceAlen", RCX, "upper bound", THIS},
	{"runtime.goPanicSliceAcap", RCX, "upper bound", THIS},
	{"runtime.goPanicSliceB", RAX, "lower bound", THIS},
	{"runtime.goPanicSlice3Alen", RDX, "bound of the capacity", THIS},
	{"runtime.goPanicSlice3Acap", RDX, "bound of the capacity", THIS},
	{"runtime.goPanicSlice3B", RCX, "upper bound", THIS},
	{"runtime.goPanicSlice3C", RAX, "lower bound", THIS},
	{"core::panicking::panic_bounds_check", RDI, "index", THIS},
	{"core::slice::index::slice_start_index_len_fail", RDI, "start of the slice", THIS},
	{"core::slice::index::slice_end_index_len_fail", RDI, "end of the slice", THIS},
	{"core::slice::index::slice_index_order_fail", RDI, "start of the slice", THIS},
	{"core::slice::index::slice_index_fail", RDI, "start of the slice", BY_VALUES},
	{"core::str::slice_error_fail", RDX, "start of the slice", BY_TEXT},
	{"std::__throw_out_of_range_fmt", RSI, "index", BY_FORMAT},
};

/* Vec::remove(), insert() and the like each have their own: "alloc::vec::Vec<T,A>::remove::assert_failed". */
static const struct check check_of_vec = {"alloc::vec::Vec<", RDI, "index", THIS};

static bool begins(const char *name, const char *with)
{
	return name && xc_begins_with(name, with);
}

static bool is_check(const char *name, struct check *out)
{
	for (size_t i = 0; i < XC_COUNT(checks); i++)
		if (begins(name, checks[i].begins)) {
			*out = checks[i];
			return true;
		}
	*out = check_of_vec;
	const char *part = name ? strstr(name, "::assert_failed") : NULL;
	return part && strstr(name, "vec::Vec<") && strlen(part) == strlen("::assert_failed");
}

/* The check whose function the frame runs. One that was split has no name in the library: its caller's call has it. */
static bool check_of(const struct xc_crash_context *crash, size_t frame, struct check *out)
{
	const struct xc_place *place = xc_crash_context_place(crash, frame);
	const char *name = xc_place_outer_function(place);
	return is_check(name ? name : xc_argument_callee(crash, frame + 1), out) || is_check(place->symbol, out);
}

/* Older versions of Rust pass it on: slice_end_index_len_fail() → const_eval_select() → …
 * → slice_end_index_len_fail_rt(). */
static size_t outermost(const struct xc_crash_context *crash, size_t frame, struct check *check)
{
	struct check other;
	size_t found = frame;
	for (size_t i = frame + 1; i < frame + PASSED && i + 1 < crash->frame_count; i++)
		if (check_of(crash, i, &other) && strcmp(other.begins, check->begins) == 0)
			found = i;
	return found;
}

/* "%s: __pos (which is %zu) > this->size() (which is %zu)": a name comes first. */
static bool settle_format(const struct xc_crash_context *crash, size_t caller, struct check *check)
{
	char format[FORMAT_MOST + 1];
	uint64_t addr;
	if (!xc_argument_find(crash, caller, 0, &addr) ||
	    xc_space_peek_string(crash->process->space, addr, format, FORMAT_MOST, NULL) <= 0)
		return false;
	const char *first = strchr(format, '%');
	if (first && first[1] == 's')
		check->reg = RDX;
	return first;
}

/* (start, end, length): the first of them that is too large, as the message or the numbers say. */
static bool settle_values(const struct xc_crash_context *crash, size_t caller, struct check *check)
{
	const char *message = crash->verdict->message;
	uint64_t start, end, length;
	if (begins(message, "range start index ") || begins(message, "slice index starts at "))
		return true;
	if (begins(message, "range end index ")) {
		check->reg = RSI;
		check->what = "end of the slice";
		return true;
	}
	if (!xc_argument_find(crash, caller, 0, &start) || !xc_argument_find(crash, caller, 1, &end) ||
	    !xc_argument_find(crash, caller, 2, &length))
		return false;
	if (start <= length && (end > length || start <= end)) {
		check->reg = RSI;
		check->what = "end of the slice";
	}
	return true;
}

static bool is_within_character(const struct xc_crash_context *crash, xc_addr at)
{
	uint64_t byte;
	return xc_space_peek_uint(crash->process->space, at, 1, &byte) && (byte & 0xc0) == 0x80;
}

/* (text, its length, start, end): the first that is too large, or within a character. */
static bool settle_text(const struct xc_crash_context *crash, size_t caller, struct check *check)
{
	uint64_t text, length, start, end;
	if (!xc_argument_find(crash, caller, 0, &text) || !xc_argument_find(crash, caller, 1, &length) ||
	    !xc_argument_find(crash, caller, 2, &start) || !xc_argument_find(crash, caller, 3, &end))
		return false;
	if (start > length || (end <= length && start > end) ||
	    (start < length && is_within_character(crash, text + start)))
		return true;
	check->reg = RCX;
	check->what = "end of the slice";
	return end > length || is_within_character(crash, text + end);
}

static bool settle(const struct xc_crash_context *crash, size_t caller, struct check *check)
{
	switch (check->which) {
	case BY_FORMAT:
		return settle_format(crash, caller, check);
	case BY_VALUES:
		return settle_values(crash, caller, check);
	case BY_TEXT:
		return settle_text(crash, caller, check);
	default:
		return true;
	}
}

/* ---- to the program ---- */

/* Is there a function of the program, or one inlined there? Of Go it is the blamed one, without a function of the
 * standard library inlined there, whose variables have no meaning in the program. */
static bool is_programs(const struct xc_frame_code *code)
{
	const struct xc_crash_context *crash = code->crash;
	const struct xc_place *place = xc_crash_context_place(crash, code->frame);
	if (code->body->is_go)
		return crash->blame.place && code->frame == crash->blamed && !crash->blame.level;
	for (size_t level = 0; level < place->level_count; level++)
		if (xc_user_code_is(place, level))
			return true;
	return false;
}

/* From the frame that called the check to the one of the program; *reg_inout: the register at its call. */
static bool find_program(struct xc_frame_code *code, int *reg_inout)
{
	for (unsigned i = 0; i < PASSED; i++) {
		struct xc_frame_code caller;
		struct xc_linear_expr form;
		if (is_programs(code))
			return true;
		*reg_inout = xc_symbolic_value_entry(code, code->at, *reg_inout);
		if (*reg_inout < 0 || !xc_symbolic_value_caller(code, *reg_inout, &caller, &form))
			return false;
		*code = caller;
	}
	return false;
}

/* ---- words ---- */

static bool is_rust(const struct xc_frame_code *code)
{
	const struct xc_place *place = xc_crash_context_place(code->crash, code->frame);
	return xc_place_language(place, place->level_count ? place->level_count - 1 : 0) == DW_LANG_Rust;
}

/* Make "len(v)" of the name that begins at `from`. */
static void wrap_length(struct xc_text *out, size_t from)
{
	xc_auto(xc_freep) char *name = xc_strdup(xc_text_string(out) + from);
	out->len = from;
	xc_text_printf(out, "len(%s)", name);
}

/* A text with names, each between backticks, or one name. Go and Rust have one operator for members, and functions for
 * the length that is a member. */
static void add_name(const struct xc_frame_code *code, const char *text, struct xc_text *out)
{
	static const char length[] = ".len";
	const bool rust = is_rust(code), plain = !rust && !code->body->is_go;
	size_t from = out->len;
	for (const char *at = text; *at; at++) {
		const char *behind = !plain && strncmp(at, length, strlen(length)) == 0 ? at + strlen(length) : "?";
		if (!*behind || *behind == '`') {
			if (rust)
				xc_text_add(out, ".len()");
			else
				wrap_length(out, from);
			at = behind - 1;
			continue;
		}
		const bool arrow = !plain && at[0] == '-' && at[1] == '>';
		xc_text_char(out, arrow ? '.' : *at);
		at += arrow;
		from = *at == '`' ? out->len : from;
	}
}

/* "`o.slot + 1`" */
static void add_sum(const struct xc_frame_code *code, const struct xc_linear_expr *form, struct xc_text *text)
{
	const long long constant = (long long)form->constant;
	xc_text_add(text, "`");
	add_name(code, form->parts[0].term.text, text);
	if (constant)
		xc_text_printf(text, " %c %lld", constant < 0 ? '-' : '+', constant < 0 ? -constant : constant);
	xc_text_add(text, "`");
}

/* Where the word was read that a term is; false: it is none, or not known any more. */
static bool place_of(const struct xc_frame_code *code, const struct xc_symbolic_value *term, xc_addr *out)
{
	if (term->kind != XC_SYMBOLIC_LOADED || term->slot || term->at >= code->body->count)
		return false;
	const struct xc_insn *insn = &code->body->insns[term->at];
	const struct xc_linear_expr form = xc_symbolic_value_address(code, term->at, &insn->memory);
	return insn->has_memory && xc_origin_value(code, &form, out);
}

/* No expression of the library, and none of an address without a type. */
static bool is_plain(const char *text)
{
	return *text && !strstr(text, "*(") && !strchr(text, '<');
}

/* Without what a variable has that no code seems to set: something may have set it by its address, as a part of an
 * object that a function returned. */
static const char *cut(struct xc_text *origin)
{
	char *never = strstr(xc_text_string(origin), "never set"), *comma = NULL;
	for (char *at = origin->bytes; never && at < never; at++)
		comma = *at == ',' ? at : comma;
	if (never) {
		origin->len = comma ? (size_t)(comma - origin->bytes) : 0;
		origin->bytes[origin->len] = '\0';
	}
	return xc_text_string(origin);
}

static void add_origin(const struct xc_frame_code *code, const struct xc_linear_expr *form, struct xc_text *text)
{
	const struct xc_symbolic_value *term = &form->parts[0].term;
	struct xc_text origin = {0};
	xc_addr at;
	bool sure = false;
	if (term->kind == XC_SYMBOLIC_RESULT) /* the text says it */
		return;
	bool told = xc_origin_describe(code, term, term->value_known ? &term->value : NULL, &origin, &sure);
	if (term->kind == XC_SYMBOLIC_LOADED && !term->slot) {
		if (place_of(code, term, &at))
			xc_text_printf(text, ", read at 0x%" PRIx64, at);
	} else if (told && *cut(&origin) && !strstr(origin.bytes, "*(")) {
		xc_text_printf(text, ", %s", sure ? "" : "likely ");
		add_name(code, xc_text_string(&origin), text);
	}
	xc_text_fini(&origin);
}

/* What a call returned, or what a loop of Rust has in a variable that the source does not name: only the origin
 * tells. */
static bool is_unnamed(const struct xc_frame_code *code, const struct xc_linear_expr *form)
{
	const struct xc_symbolic_value *term = &form->parts[0].term;
	const bool rust = is_rust(code),
		   named = !rust && !code->body->is_go && strchr(term->text, '.'); /* `v.size()` */
	return !form->constant && ((term->kind == XC_SYMBOLIC_RESULT && !named) ||
				   (rust && strncmp(term->text, "iter.", strlen("iter.")) == 0));
}

static bool add_unnamed(const struct xc_frame_code *code, const struct xc_linear_expr *form, struct xc_text *text)
{
	const struct xc_symbolic_value *term = &form->parts[0].term;
	struct xc_text origin = {0};
	bool sure = false, told = xc_origin_describe(code, term, NULL, &origin, &sure) && origin.len;
	if (told) {
		xc_text_printf(text, "%swhat was ", form->sure && sure ? "" : "likely ");
		add_name(code, xc_text_string(&origin), text);
	}
	xc_text_fini(&origin);
	return told;
}

static void report(struct xc_crash_context *crash, const struct check *check, const struct xc_frame_code *code, int reg)
{
	const struct xc_linear_expr form = xc_symbolic_value_register(code, code->at, reg);
	const struct xc_symbolic_value *term = form.known && form.count == 1 ? &form.parts[0].term : NULL;
	struct xc_text text = {0};
	bool told = true;
	if (!term || !term->text || form.parts[0].times != 1)
		return;
	xc_text_printf(&text, "the %s is ", check->what);
	if (is_unnamed(code, &form)) {
		told = add_unnamed(code, &form, &text);
	} else if (!is_plain(term->text)) {
		told = false;
	} else {
		xc_text_add(&text, form.sure ? "" : "likely ");
		add_sum(code, &form, &text);
		add_origin(code, &form, &text);
	}
	if (told)
		xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

/* ---- keys ---- */

/* Is the key a view of text that is gone: in freed memory, longer than the block that it begins in, or of a shorter
 * text by now, whose end is within it? */
static bool is_gone(const struct xc_crash_context *crash, const struct xc_value *key)
{
	struct xc_view view;
	const struct xc_blocks *blocks = crash->heap ? &crash->heap->blocks : NULL;
	if (!blocks || xc_view_open(key, &view) != XC_VIEW_FOUND || view.kind != XC_VIEW_TEXT || !view.count ||
	    view.elements.kind != XC_VALUE_MEMORY || !strstr(view.shape->title, "string_view"))
		return false; /* a string owns its text, and may hold NULs */
	uint32_t block = xc_blocks_find(blocks, view.elements.addr);
	if (block == XC_NO_BLOCK)
		return false;
	char bytes[KEY_MOST];
	size_t got = xc_space_peek(crash->process->space, view.elements.addr, bytes,
				   view.count < sizeof bytes ? view.count : sizeof bytes);
	if (memchr(bytes, '\0', got))
		return true;
	uint64_t within = view.elements.addr - xc_block_addr(blocks, block);
	return xc_block_is_free(xc_block_state(blocks, block)) || view.count > xc_block_size(blocks, block) - within;
}

/* The few keys that it has: one of them may be another spelling. */
static void report_other_keys(const struct xc_crash_context *crash, const struct xc_frame_context *context,
			      size_t level)
{
	struct xc_format_options options = xc_format_defaults();
	struct xc_value map, target;
	struct xc_text text = {0};
	struct xc_view view;
	unsigned told = 0, gone = 0;
	options.depth = 1;
	options.length = KEY_MOST;
	if (!xc_variable_find(context, level, "this", &crash->report->arena, &map))
		return;
	struct xc_error *error = xc_value_deref(&map, &target);
	bool opened = !error && xc_view_open(&target, &view) == XC_VIEW_FOUND && view.kind == XC_VIEW_MAP &&
		      view.count <= KEYS;
	xc_error_free(error);
	for (struct xc_view_child child; opened && told < KEYS && xc_view_next(&view, &child);) {
		xc_text_add(&text, told++ ? ", " : "");
		opened = xc_format_whole(&text, &child.key, &options);
		gone += is_gone(crash, &child.key);
	}
	if (opened && told && !view.why[0]) {
		xc_verdict_evidence(crash->report, "the keys that it has: %s", xc_text_string(&text));
		xc_verdict_redact(crash->report, "it has other keys");
		if (gone)
			xc_verdict_evidence(
				crash->report,
				"likely %u of these keys refer%s to text that is gone: to freed memory, to more "
				"than the block has that they begin in, or beyond the end of another text",
				gone, gone == 1 ? "s" : "");
	}
	xc_text_fini(&text);
}

/* The key that std::map::at() or std::unordered_map::at() has not found: its argument. */
static bool report_key(const struct xc_crash_context *crash, size_t frame)
{
	const struct xc_frame_context context = xc_crash_context_frame(crash, frame);
	struct xc_format_options options = xc_format_defaults();
	struct xc_value key, target;
	options.depth = 1;
	options.length = KEY_MOST;
	for (size_t l = 0; !context.place->line_only && l < context.place->level_count; l++) {
		const char *name = xc_place_function(context.place, l), *at = name ? strstr(name, "::at") : NULL;
		struct xc_text text = {0};
		if (!at || at[strlen("::at")] || !begins(name, "std::") || !strstr(name, "map<"))
			continue;
		bool known = xc_variable_find(&context, l, "__k", &crash->report->arena, &key);
		struct xc_error *error = known ? xc_value_deref(&key, &target) : NULL;
		if (known && !error && xc_format_whole(&text, &target, &options)) {
			xc_verdict_evidence(crash->report, "the key that it does not have: %s", xc_text_string(&text));
			xc_verdict_redact(crash->report, "it does not have the key");
		}
		xc_error_free(error);
		xc_text_fini(&text);
		report_other_keys(crash, &context, l);
		return true;
	}
	return false;
}

static void report_keys(const struct xc_crash_context *crash)
{
	const char *kind = crash->verdict->kind;
	if (!kind || strcmp(kind, "std::out_of_range") != 0)
		return;
	for (size_t i = 0; i < crash->frame_count && i < FRAMES; i++)
		if (report_key(crash, i))
			return;
}

void xc_failed_index_report(struct xc_crash_context *crash)
{
	struct check check;
	if (!xc_arch_is_x86_64(crash->process->arch) ||
	    !(xc_crash_context_is(crash, "panic") || xc_crash_context_is(crash, "uncaught-exception")))
		return;
	for (size_t i = 0; i + 1 < crash->frame_count && i < FRAMES; i++) {
		unsigned budget = XC_SYMBOLIC_BUDGET;
		struct xc_frame_code code;
		if (!check_of(crash, i, &check))
			continue;
		i = outermost(crash, i, &check);
		if (settle(crash, i + 1, &check) && xc_frame_code_init(crash, i + 1, &budget, &code) &&
		    find_program(&code, &check.reg))
			report(crash, &check, &code, check.reg);
		return;
	}
	report_keys(crash);
}
