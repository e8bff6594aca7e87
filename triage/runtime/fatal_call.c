/* fatal_call: functions by which programs end themselves with a message: CHECK macros, LOG(FATAL), die(), panic().
 *
 * Such a function is known by the words of its name, or by its declaration as one that does not return. Its caller is
 * to be looked at. The message is, in this order: what a stream on the stack, or after a pointer there, has collected
 * (glog, absl and their imitations make one for each message), a string or an array of characters in the function's
 * frame, a text that was passed to it.
 *
 * std::basic_streambuf: libstdc++ 12 <streambuf> { vptr, 3 pointers of input, begin, current and end of output, … };
 * libc++ 14 { vptr, locale, 3 of input, 3 of output }. */
#include "triage/runtime/cause_abort.h"

#include <ctype.h>
#include <dwarf.h>
#include <signal.h>
#include <string.h>

#include "triage/code/body_cache.h"
#include "triage/dataflow/argument.h"
#include "triage/fault/cause_trap.h"
#include "triage/libc/format_filled.h"
#include "triage/runtime/exception.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum {
	LOGGERS = 12, /* frames between the caller and abort() */
	STACK_MOST = 16384,
	BLOCKS = 64,
	BLOCK_MOST = 512,
	TEXT_MOST = 1024,
	TEXT_LEAST = 3,
	CUT_MOST = 3, /* bytes of a character that is cut */
	MEMBERS = 64,
	ARGUMENTS = 4,
};

/* ---- names ---- */

/* "fatal", "die", "panic" alone; "check", "assert" and the like with "fail". */
static bool is_fatal_name(const char *function)
{
	static const char *const last[] = {"fatal", "die", "panic", "bailout", "xdie", NULL};
	static const char *const checks[] = {"check",     "assert",  "assertion", "verify",       "ensure",
					     "invariant", "require", "expect",    "precondition", NULL};
	static const char *const fails[] = {"fail", "failed", "failure", "failing", "violated", "violation", NULL};
	static const char *const classes[] = {"LogMessage::", NULL};
	char word[XC_NAMES_WORD];
	bool check = false, fail = false;
	if (!function)
		return false;
	if (xc_names_in(classes, function))
		return true;
	size_t end = strcspn(function, "(<");
	const char *name = function;
	for (const char *at = function; (at = strstr(at, "::")) && at < function + end; at += 2)
		name = at + 2;
	for (const char *at = name; at < function + end && xc_names_next_word(&at, word);) {
		if (xc_names_find(last, word))
			return true;
		check = check || xc_names_find(checks, word);
		fail = xc_names_find(fails, word); /* the last word: check_failed, not check_failed_logins */
	}
	return check && fail;
}

static bool is_noreturn(const struct xc_level *level)
{
	Dwarf_Die die = level->die;
	Dwarf_Attribute attr;
	bool value;
	return dwarf_attr_integrate(&die, DW_AT_noreturn, &attr) && dwarf_formflag(&attr, &value) == 0 && value;
}

/* Does the code around the frame's address jump back? Then it may be a loop of the program that never ends, which
 * called abort() for itself. */
static bool loops(const struct xc_crash_context *crash, size_t index)
{
	const struct xc_body *body = xc_body_cache_get(crash->bodies, xc_frame_lookup(&crash->frames[index]));
	for (size_t i = 0; body && i < body->edge_count; i++)
		if (body->edges[i].to <= body->edges[i].from)
			return true;
	return false;
}

/* A trap in a function that does not return may be a mistake in that function: there only the name counts. */
static bool is_fatal(const struct xc_crash_context *crash, size_t index, size_t level)
{
	const struct xc_place *place = xc_crash_context_place(crash, index);
	static const char *const starts[] = {"main", "_start", NULL};
	const char *name = xc_place_function(place, level);
	if (!name || xc_names_find(starts, name))
		return false;
	return is_fatal_name(name) || (crash->fault.signal == SIGABRT && level < place->level_count &&
				       !place->line_only && is_noreturn(&place->levels[level]) && !loops(crash, index));
}

/* ---- the message ---- */

static const char *keep_text(const struct xc_crash_context *crash, xc_addr at, uint64_t len)
{
	char text[TEXT_MOST + 1];
	size_t got = xc_space_peek(crash->process->space, at, text, len < TEXT_MOST ? len : TEXT_MOST);
	text[got] = '\0';
	size_t end = strlen(text), readable = xc_text_readable_length(text, end);
	if (readable < end && (end < TEXT_MOST || end - readable > CUT_MOST))
		return NULL;
	text[end = readable] = '\0';
	while (end && isspace((unsigned char)text[end - 1]))
		text[--end] = '\0';
	return end >= TEXT_LEAST ? xc_arena_strdup(&crash->report->arena, text) : NULL;
}

static bool peek(const struct xc_crash_context *crash, xc_addr at, uint64_t *out)
{
	return xc_space_peek_uint(crash->process->space, at, crash->process->arch->word, out);
}

/* The output of the stream buffer at an address; NULL when there is none. */
static const char *stream_text(const struct xc_crash_context *crash, xc_addr at)
{
	static const char *const files[] = {"filebuf", "stdio", NULL};
	uint64_t vptr, begin, current, end;
	unsigned word = crash->process->arch->word;
	const struct xc_mapping *m = peek(crash, at, &vptr) ? xc_process_mapping(crash->process, vptr) : NULL;
	const char *name = m && !m->executable && m->path ? xc_exception_class(crash, at) : NULL;
	if (!name || (!strstr(name, "buf") && !strstr(name, "Buf")) || xc_names_in(files, name))
		return NULL;
	for (unsigned first = 4; first <= 5; first++)
		if (peek(crash, at + first * word, &begin) && peek(crash, at + (first + 1) * word, &current) &&
		    peek(crash, at + (first + 2) * word, &end) && begin && begin < current && current <= end)
			return keep_text(crash, begin, current - begin);
	return NULL;
}

static const char *block_stream(const struct xc_crash_context *crash, uint64_t pointer)
{
	uint32_t block = crash->heap ? xc_blocks_find(&crash->heap->blocks, pointer) : XC_NO_BLOCK;
	const char *text = NULL;
	if (block == XC_NO_BLOCK || xc_block_addr(&crash->heap->blocks, block) != pointer ||
	    xc_block_is_free(xc_block_state(&crash->heap->blocks, block)))
		return NULL;
	uint64_t size = xc_block_size(&crash->heap->blocks, block);
	for (uint64_t at = 0; at < size && at < BLOCK_MOST && !text; at += crash->process->arch->word)
		text = stream_text(crash, pointer + at);
	return text;
}

/* A stream between the frame that called abort() and the end of the caller's frame; then behind pointers there. */
static const char *find_stream(const struct xc_crash_context *crash, size_t from, size_t to)
{
	const struct xc_arch *arch = crash->process->arch;
	uint64_t lo, hi, word;
	const char *text = NULL;
	unsigned blocks = 0;
	if (to + 1 >= crash->frame_count || !xc_regs_get(&crash->frames[from].regs, arch->sp, &lo) ||
	    !xc_regs_get(&crash->frames[to + 1].regs, arch->sp, &hi) || hi <= lo)
		return NULL;
	hi = hi - lo > STACK_MOST ? lo + STACK_MOST : hi;
	for (xc_addr at = lo; at < hi && !text; at += arch->word)
		text = stream_text(crash, at);
	for (xc_addr at = lo; at < hi && !text && blocks < BLOCKS; at += arch->word)
		if (peek(crash, at, &word) && xc_process_mapping(crash->process, word)) {
			text = block_stream(crash, word);
			blocks += crash->heap && xc_blocks_find(&crash->heap->blocks, word) != XC_NO_BLOCK;
		}
	return text;
}

static bool is_char(const struct xc_type *type)
{
	uint64_t size;
	type = type ? xc_type_strip(type) : NULL;
	return type && type->kind == XC_TYPE_CHAR && xc_type_size(type, &size) && size == 1;
}

/* The text of a std::string, of libstdc++: { pointer, length, … }. */
static const char *string_text(const struct xc_crash_context *crash, const struct xc_type *type, xc_addr at)
{
	uint64_t text, len;
	const char *name = type->name;
	if (!name || !strstr(name, "basic_string<char") || !peek(crash, at, &text) ||
	    !peek(crash, at + crash->process->arch->word, &len) || !len || len > (1 << 20))
		return NULL;
	return keep_text(crash, text, len);
}

/* How good a text of a variable is as the message: 0 is none. */
struct candidate {
	const char *text;
	int rank;
	const char *condition; /* the test that failed, as the macro passed it; NULL: none is known */
};

static void consider(struct candidate *best, const char *text, int rank)
{
	if (text && rank > best->rank) {
		best->text = text;
		best->rank = rank;
	}
}

/* The source text of a test is a constant, with an operator that compares. */
static bool is_condition(const struct xc_crash_context *crash, xc_addr at, const char *text)
{
	static const char *const operators[] = {"==", "!=", "<=", ">=", " < ", " > ", "&&", "||"};
	const struct xc_mapping *m = xc_process_mapping(crash->process, at);
	bool compares = *text == '!' && isalpha((unsigned char)text[1]);
	for (size_t i = 0; i < XC_COUNT(operators); i++)
		compares = compares || strstr(text, operators[i]);
	return m && !m->writable && compares && !strpbrk(text, "%\n");
}

/* File names and names of functions are passed as well: the place of the failure, which the stack shows. */
static int argument_rank(const char *name, const char *text)
{
	static const char *const words[] = {"msg", "mess", "text", "what",   "reason",
					    "why", "err",  "fmt",  "format", NULL};
	static const char *const tests[] = {"expr", "cond", "check", "assert", NULL};
	static const char *const places[] = {"file", "func", "function", "where", "path", NULL};
	return xc_names_in(places, name)   ? 1
	       : xc_names_in(words, name)  ? 5
	       : xc_names_in(tests, name)  ? 4
	       : strpbrk(text, " =<>!(%:") ? 3
					   : 2;
}

/* Strings and arrays of characters in the object of a message. */
static void consider_members(const struct xc_crash_context *crash, const struct xc_type *type, xc_addr at,
			     struct candidate *best)
{
	size_t count = 0;
	uint64_t size;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		const struct xc_type *member = xc_type_complete(xc_type_strip(members[i].type));
		if (members[i].dynamic || !members[i].name)
			continue;
		if (xc_type_is_record(member))
			consider(best, string_text(crash, member, at + members[i].offset), 6);
		else if (member->kind == XC_TYPE_ARRAY && is_char(member->target) && xc_type_size(member, &size))
			consider(best, keep_text(crash, at + members[i].offset, size), 6);
	}
}

static void consider_variable(const struct xc_crash_context *crash, const struct xc_named_value *v,
			      struct candidate *best)
{
	const struct xc_type *type = xc_type_complete(xc_type_strip(v->value.type));
	uint64_t pointer;
	if (!v->name)
		return;
	if (type->kind == XC_TYPE_ARRAY && is_char(type->target) && v->value.kind == XC_VALUE_MEMORY)
		consider(best, keep_text(crash, v->value.addr, xc_value_size(&v->value)), 6);
	else if (xc_type_is_record(type) && v->value.kind == XC_VALUE_MEMORY)
		consider(best, string_text(crash, type, v->value.addr), 7);
	if (!xc_type_is_pointer(type) || !type->target || !xc_value_load(&v->value, &pointer) || !pointer)
		return;
	const struct xc_type *target = xc_type_complete(xc_type_strip(type->target));
	if (is_char(target)) {
		const char *text = keep_text(crash, pointer, TEXT_MOST);
		consider(best, text, text ? argument_rank(v->name, text) : 0);
		if (text && !best->condition && is_condition(crash, pointer, text))
			best->condition = text;
	} else if (xc_type_is_record(target)) {
		consider(best, string_text(crash, target, pointer), 7);
		consider_members(crash, target, pointer, best);
	}
}

/* In the variables of levels [0, levels) of a frame. */
static void consider_frame(const struct xc_crash_context *crash, size_t index, size_t levels, struct candidate *best)
{
	const struct xc_frame_context context = xc_crash_context_frame(crash, index);
	for (size_t l = 0; !context.place->line_only && l < context.place->level_count && l < levels; l++)
		for (int locals = 1; locals >= 0; locals--) {
			struct xc_named_value *values;
			size_t count = xc_variable_values(&context, l, locals, &crash->report->arena, &values);
			for (size_t i = 0; i < count; i++)
				consider_variable(crash, &values[i], best);
		}
}

/* What the caller passed, where the function no longer has it: constants only, other words may be anything. With a
 * text known, the failed test alone. */
static void consider_arguments(const struct xc_crash_context *crash, size_t caller, struct candidate *best)
{
	const bool known = best->text != NULL;
	for (unsigned i = 0; i < ARGUMENTS; i++) {
		uint64_t at;
		const struct xc_mapping *m =
			xc_argument_find(crash, caller, i, &at) ? xc_process_mapping(crash->process, at) : NULL;
		const char *text = m && !m->writable && !m->executable ? keep_text(crash, at, TEXT_MOST) : NULL;
		if (text && !best->condition && is_condition(crash, at, text))
			best->condition = text;
		if (!known)
			consider(best, text, text ? argument_rank("", text) : 0);
	}
}

/* ---- */

/* The function through which the blamed one ended the program; its caller is blamed from now on, and its text is the
 * message. NULL: there is none. */
static const char *take_fatal(struct xc_crash_context *crash)
{
	size_t first = crash->blamed, index = first, level = 0, levels = 0;
	const struct xc_place *place = crash->blame.place;
	const char *by = NULL;
	if (!place || first >= crash->frame_count)
		return NULL;
	for (; index < crash->frame_count && index - first < LOGGERS; index++) {
		place = xc_crash_context_place(crash, index);
		levels = place->level_count ? place->level_count : 1;
		for (level = 0; level < levels; level++) {
			if (is_fatal(crash, index, level))
				by = xc_place_function(place, level);
			else if (!by || xc_user_code_is(place, level))
				break;
		}
		if (level < levels)
			break;
	}
	if (!by || index >= crash->frame_count || level >= levels || !xc_user_code_is(place, level))
		return NULL;
	crash->blame.place = place;
	crash->blame.level = level;
	crash->blame.frame = crash->frames[index];
	crash->blamed = index;
	struct candidate best = {.text = NULL};
	for (size_t i = first; i <= index; i++)
		consider_frame(crash, i, i < index ? SIZE_MAX : level, &best);
	if (!best.text || !best.condition)
		consider_arguments(crash, index, &best);
	const char *stream = best.rank < 7 ? find_stream(crash, first, index) : NULL;
	const char *said = stream ? stream : best.text, *filled = said ? xc_format_filled(crash, index, said) : NULL;
	said = filled ? filled : said;
	if (said && best.condition && !strstr(said, best.condition))
		said = xc_arena_printf(&crash->report->arena, "%s: %s", best.condition, said);
	if (!crash->verdict->message)
		crash->verdict->message = said;
	return by;
}

bool xc_fatal_call_classify(struct xc_crash_context *crash)
{
	const char *by = take_fatal(crash);
	if (!by)
		return false;
	xc_crash_context_classify(crash, "abort", NULL, "low", "certain",
				  xc_arena_printf(&crash->report->arena,
						  "%s ended the program through %s, which calls abort()",
						  xc_crash_context_culprit(crash), by));
	return true;
}

/* A check that the compiler has inserted is one of that function's own. */
bool xc_fatal_call_trap(struct xc_crash_context *crash)
{
	bool set = crash->fault.signal == SIGTRAP ? xc_cause_trap_breakpoint(crash) : xc_cause_trap_instruction(crash);
	const struct xc_verdict *v = crash->verdict;
	if (!set || !xc_crash_context_is(crash, "trap-instruction") || v->kind || !v->cause ||
	    xc_cause_trap_is_inserted(crash))
		return false;
	const char *cause = v->cause, *by = take_fatal(crash);
	if (by)
		crash->verdict->cause = xc_arena_printf(&crash->report->arena, "%s ended the program through %s: %s",
							xc_crash_context_culprit(crash), by, cause);
	return by;
}
