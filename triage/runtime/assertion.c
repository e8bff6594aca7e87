/* assertion: the text is in the abort message, or was passed to the function that reports it.
 *
 *	glibc 2.36 assert/assert.c             program: file:line: function: Assertion `TEXT' failed.
 *	GLib 2.74 glib/gtestutils.c            ERROR:file:line:function: assertion failed: (TEXT)
 *	libstdc++ 12 src/c++11/debug.cc        std::__glibcxx_assert_fail(file, line, function, TEXT)
 *	GLib                                   g_assertion_message_expr(domain, file, line, function, TEXT)
 *	musl 1.2 src/exit/assert.c             __assert_fail(TEXT, file, line, function)
 *
 * Only the paths of the text are evaluated: names followed by members and indexes. Their values are those in the
 * asserting frame, where nothing has run since. Calls are not made: for `list.size() > 0` the value of list is shown.
 * */
#include "triage/runtime/assertion.h"

#include <ctype.h>
#include <string.h>

#include "core/process/module.h"
#include "dwarf/cexpr/cexpr.h"
#include "triage/dataflow/argument.h"
#include "triage/loop/writers.h"
#include "triage/util/same_type.h"

enum { TEXT_MOST = 1024, VALUES = 8, VALUE_TEXT = 160, STRUCT_TEXT = 100, WRITTEN = 2, PATH_MOST = 200 };

static const struct {
	const char *name;
	unsigned argument; /* that is the text */
} reporters[] = {
	{"__assert_fail", 0},
	{"__assert_fail_base", 1},
	{"__assert_perror_fail", UINT32_MAX},
	{"g_assertion_message", UINT32_MAX},
	{"g_assertion_message_expr", 4},
	{"g_assertion_message_cmpnum", 4},
	{"g_assertion_message_cmpint", 4},
	{"g_assertion_message_cmpstr", 4},
	{"std::__glibcxx_assert_fail", 3},
	{"std::__replacement_assert", 3},
};

/* ---- the text ---- */

/* The text between two marks of the abort message; NULL when they are missing. */
static const char *between(struct xc_crash_context *crash, const char *begin, const char *end)
{
	const char *at = crash->verdict->message ? strstr(crash->verdict->message, begin) : NULL;
	if (!at)
		return NULL;
	at += strlen(begin);
	const char *stop = NULL;
	for (const char *next = at; (next = strstr(next, end)); next++)
		stop = next;
	return stop && stop > at ? xc_arena_strndup(&crash->report->arena, at, (size_t)(stop - at)) : NULL;
}

/* The argument is a constant of the program: text elsewhere would be somebody's data. */
static const char *passed_text(struct xc_crash_context *crash, size_t caller, unsigned number)
{
	char text[TEXT_MOST + 1];
	uint64_t addr;
	bool cut;
	if (number == UINT32_MAX || !xc_argument_find(crash, caller, number, &addr))
		return NULL;
	const struct xc_mapping *m = xc_process_mapping(crash->process, addr);
	if (!m || m->writable || xc_space_peek_string(crash->process->space, addr, text, TEXT_MOST, &cut) <= 0 || cut)
		return NULL;
	return xc_arena_strdup(&crash->report->arena, text);
}

/* Is the text in writable memory? Then it is not a constant, and may be anything. */
static bool passes_data(struct xc_crash_context *crash, size_t caller, unsigned number)
{
	uint64_t addr;
	if (number == UINT32_MAX || caller >= crash->frame_count || !xc_argument_find(crash, caller, number, &addr))
		return false;
	const struct xc_mapping *m = xc_process_mapping(crash->process, addr);
	return m && m->writable;
}

/* The frame of the outermost reporter; frame_count when none is on the stack. */
static size_t find_reporter(const struct xc_crash_context *crash, unsigned *argument_out)
{
	size_t found = crash->frame_count;
	for (size_t i = 0; i < XC_COUNT(reporters); i++) {
		const char *const names[] = {reporters[i].name, NULL};
		size_t at = xc_crash_context_find_frame(crash, names);
		if (at == crash->frame_count || (found != crash->frame_count && at < found))
			continue;
		found = at;
		*argument_out = reporters[i].argument;
	}
	return found;
}

/* ---- its paths ---- */

struct words {
	struct xc_crash_context *crash;
	struct xc_frame_scope scope;
	struct xc_text values, unknown, names;
	const char *told[VALUES];
	size_t count;
	const char *members[WRITTEN]; /* of told: numbers and pointers that are members */
	struct xc_value member_values[WRITTEN];
	size_t member_count;
	bool more; /* names without a value */
};

static bool told(const struct words *w, const char *path)
{
	for (size_t i = 0; i < w->count; i++)
		if (strcmp(w->told[i], path) == 0)
			return true;
	return false;
}

static bool is_scalar(const struct xc_value *value)
{
	enum xc_type_kind kind = xc_type_strip(value->type)->kind;
	return kind != XC_TYPE_STRUCT && kind != XC_TYPE_CLASS && kind != XC_TYPE_UNION && kind != XC_TYPE_ARRAY &&
	       kind != XC_TYPE_FUNCTION && kind != XC_TYPE_VOID;
}

/* Where the last member of a path begins: "->count" of "s->count"; NULL: it is none. */
static const char *member_of(const char *path)
{
	const char *arrow = strrchr(path, '>'), *dot = strrchr(path, '.');
	const char *at = arrow && arrow > path && (!dot || dot < arrow) ? arrow - 1 : dot;
	return at && at > path && *path != '*' && !strchr(at, ']') ? at : NULL;
}

static void add_to_list(struct xc_text *list, const char *path)
{
	xc_text_printf(list, "%s%s", list->len ? ", " : "", path);
}

/* "head = 12". Names of constants are shown as such, and long structs would hide the rest. */
static void report_path(struct words *w, const char *path)
{
	struct xc_arena *arena = &w->crash->report->arena;
	struct xc_value value;
	struct xc_text text = {0};
	struct xc_format_options options = xc_format_defaults();
	options.depth = 1;
	options.length = VALUE_TEXT;
	if (w->more || told(w, path))
		return;
	struct xc_error *error = xc_cexpr_value(&w->scope, path, arena, &value);
	if (error && error->code != XC_ERR_ABSENT && error->code != XC_ERR_FAULT) { /* a macro, a type, a function */
		xc_error_free(error);
		return;
	}
	bool whole = !error && xc_format_whole(&text, &value, &options);
	bool shown =
		whole && strcmp(xc_text_string(&text), path) != 0 && (is_scalar(&value) || text.len <= STRUCT_TEXT);
	xc_error_free(error);
	w->more = (shown || !whole) && w->count == VALUES;
	if ((shown || !whole) && !w->more) {
		w->told[w->count++] = xc_arena_strdup(arena, path);
		add_to_list(&w->names, path);
		add_to_list(whole ? &w->values : &w->unknown, path);
		if (whole)
			xc_text_printf(&w->values, " = %s", xc_text_string(&text));
		if (whole && is_scalar(&value) && value.kind == XC_VALUE_MEMORY && !value.bit_size &&
		    w->member_count < WRITTEN && member_of(path)) {
			w->members[w->member_count] = w->told[w->count - 1];
			w->member_values[w->member_count++] = value;
		}
	}
	xc_text_fini(&text);
}

/* The functions that write a member of which the assertion speaks: one of them, or one that should, is to blame. */
static void report_writers(struct words *w, const char *path, const struct xc_value *value)
{
	const char *name = member_of(path);
	struct xc_arena *arena = &w->crash->report->arena;
	struct xc_written written = {.name = path, .addr = value->addr};
	struct xc_writers writers;
	struct xc_value object;
	struct xc_text text = {0};
	char owner[PATH_MOST];
	uint64_t size, whole;
	int len = snprintf(owner, sizeof owner, "%s%.*s", *name == '-' ? "*" : "", (int)(name - path), path);
	if (len < 0 || (size_t)len >= sizeof owner || !xc_type_size(value->type, &size) || !size || size > 8)
		return;
	struct xc_error *error = xc_cexpr_value(&w->scope, owner, arena, &object);
	bool known = !error && object.kind == XC_VALUE_MEMORY && xc_type_size(object.type, &whole);
	xc_error_free(error);
	if (!known || value->addr - object.addr >= whole)
		return;
	written.size = (uint32_t)size;
	written.record = xc_type_complete(xc_type_strip(object.type));
	written.offset = value->addr - object.addr;
	if (xc_same_type_is_record(written.record) && xc_writers_find(w->crash, w->scope.place, &written, &writers)) {
		xc_writers_text(w->crash, &writers, &text);
		xc_verdict_evidence(w->crash->report, "`%s` %s", path, xc_text_string(&text));
	}
	xc_text_fini(&text);
}

static bool begins_name(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t name_length(const char *text)
{
	size_t len = 0;
	while (in_name(text[len]) || (text[len] == ':' && text[len + 1] == ':' && begins_name(text[len + 2])))
		len += text[len] == ':' ? 2 : 1;
	return len;
}

/* The length of "[…]" with nested brackets; 0 when it does not end. */
static size_t bracket_length(const char *text)
{
	unsigned depth = 0;
	for (size_t i = 0; text[i]; i++) {
		depth += text[i] == '[';
		if (text[i] == ']' && --depth == 0)
			return i + 1;
	}
	return 0;
}

/* A path at the start of text: its length, and the length of the object of its last member (0 when it has none). */
static size_t path_length(const char *text, size_t *owner_out)
{
	size_t len = name_length(text);
	*owner_out = 0;
	for (;;) {
		size_t arrow = text[len] == '-' && text[len + 1] == '>' ? 2 : text[len] == '.' ? 1 : 0;
		if (arrow && begins_name(text[len + arrow])) {
			*owner_out = len;
			len += arrow;
			while (in_name(text[len]))
				len++;
		} else if (text[len] == '[' && bracket_length(text + len)) {
			len += bracket_length(text + len);
		} else {
			return len;
		}
	}
}

/* An operator before a path is a dereference, not a product. */
static bool dereferenced(const char *text, size_t at)
{
	while (at && text[at - 1] == ' ')
		at--;
	if (!at || text[at - 1] != '*')
		return false;
	for (at--; at && text[at - 1] == ' ';)
		at--;
	return !at || (!in_name(text[at - 1]) && text[at - 1] != ')' && text[at - 1] != ']');
}

static size_t skip_literal(const char *text)
{
	size_t at = 1;
	while (text[at] && text[at] != text[0])
		at += text[at] == '\\' && text[at + 1] ? 2 : 1;
	return text[at] ? at + 1 : at;
}

/* The object of a method call: the target of its pointer. */
static void report_owner(struct words *w, const char *text, size_t at, size_t len)
{
	xc_auto(xc_freep) char *path = xc_asprintf(text[at + len] == '-' ? "*%.*s" : "%.*s", (int)len, text + at);
	report_path(w, path);
}

static void report_part(struct words *w, const char *text, size_t at, size_t len)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%.*s", (int)len, text + at), *target = NULL;
	report_path(w, path);
	if (dereferenced(text, at)) {
		target = xc_asprintf("*%s", path);
		report_path(w, target);
	}
}

static void report_paths(struct words *w, const char *text)
{
	for (size_t at = 0; text[at];) {
		size_t owner, len;
		if (text[at] == '"' || text[at] == '\'') {
			at += skip_literal(text + at);
		} else if (isdigit((unsigned char)text[at])) {
			while (in_name(text[at]))
				at++;
		} else if (!begins_name(text[at])) {
			at++;
		} else {
			len = path_length(text + at, &owner);
			size_t next = at + len + strspn(text + at + len, " ");
			if (text[next] != '(')
				report_part(w, text, at, len);
			else if (owner)
				report_owner(w, text, at, owner);
			/* the contents of brackets are evaluated as well: the index of a[i] */
			const char *bracket = memchr(text + at, '[', len);
			at = bracket ? (size_t)(bracket - text) + 1 : at + len;
		}
	}
}

/* The values of the names in the text, in the innermost function of the asserting frame. */
static void report_values(struct xc_crash_context *crash, size_t index, const char *text)
{
	struct xc_frame_context in = xc_crash_context_frame(crash, index);
	const struct xc_place *place = in.place;
	if (!place->level_count || place->line_only) {
		xc_verdict_evidence(crash->report,
				    "the values of its variables are not known: no debug information here");
		return;
	}
	struct words w = {.crash = crash,
			  .scope = {.process = crash->process,
				    .thread = crash->thread,
				    .unwinder = crash->unwinder,
				    .has_frame = true,
				    .frame = *in.frame,
				    .place = place}};
	report_paths(&w, text);
	if (w.values.len) {
		xc_verdict_evidence(crash->report, "%s", xc_text_string(&w.values));
		xc_auto(xc_freep) char *redacted = xc_asprintf("it names %s", xc_text_string(&w.names));
		xc_verdict_redact(crash->report, redacted);
	}
	for (size_t i = 0; i < w.member_count; i++)
		report_writers(&w, w.members[i], &w.member_values[i]);
	if (w.unknown.len)
		xc_verdict_evidence(crash->report, "not known, optimized out or not in the core: %s",
				    xc_text_string(&w.unknown));
	if (w.more)
		xc_verdict_evidence(crash->report, "it names more: only the first %d names are shown", VALUES);
	xc_text_fini(&w.unknown);
	xc_text_fini(&w.values);
	xc_text_fini(&w.names);
}

/* ---- */

bool xc_assertion_classify(struct xc_crash_context *crash)
{
	unsigned argument = UINT32_MAX;
	size_t reporter = find_reporter(crash, &argument);
	const char *text = between(crash, "Assertion `", "' failed");
	if (!text)
		text = between(crash, "assertion failed: (", ")");
	if (!text && reporter == crash->frame_count)
		return false;
	if (reporter + 1 < crash->frame_count)
		xc_crash_context_blame(crash, reporter + 1);
	if (!text && reporter + 1 < crash->frame_count)
		text = passed_text(crash, reporter + 1, argument);
	xc_crash_context_classify(crash, "assertion", NULL, "low", "certain",
				  "an assertion of the program did not hold");
	if (!text || passes_data(crash, reporter + 1, argument))
		return true;
	crash->verdict->expression = text;
	xc_auto(xc_freep) char *cause = xc_asprintf("the assertion `%s` did not hold", text);
	crash->verdict->cause = xc_arena_strdup(&crash->report->arena, cause);
	if (crash->blame.place)
		report_values(crash, reporter + 1 < crash->frame_count ? reporter + 1 : crash->blamed, text);
	return true;
}
