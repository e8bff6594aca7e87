/* print: values of expressions as a document: text like gdb's print, and JSON (value_json.h). */
#include "dwarf/report/print.h"

#include <jansson.h>
#include <string.h>

#include "core/report/scrub.h"
#include "core/text/jsonvalue.h"
#include "dwarf/cexpr/cexpr.h"
#include "dwarf/format/value_json.h"
#include "dwarf/format/wrap.h"

static const char LETTERS[] = "xduotcasfz";

struct xc_error *xc_print_letter(const char *text, char *letter_out, const char **rest_out)
{
	*letter_out = 0;
	*rest_out = text;
	if (text[0] != '/')
		return NULL;
	size_t len = strcspn(text + 1, " \t");
	if (len != 1 || !strchr(LETTERS, text[1]))
		return xc_error_hint(
			xc_error_new(XC_ERR_USAGE, "'%.*s' is no format", (int)(len < 20 ? len : 20) + 1, text),
			"/x /z hexadecimal, /d /u decimal, /o octal, /t binary, /c character, /a address, "
			"/f float, /s text");
	*letter_out = text[1];
	*rest_out = text + 2 + strspn(text + 2, " \t");
	return NULL;
}

static bool is_reference(const struct xc_value *value)
{
	enum xc_type_kind kind = xc_type_strip(value->type)->kind;
	return kind == XC_TYPE_REFERENCE || kind == XC_TYPE_RVALUE_REFERENCE;
}

/* gdb writes the type before a pointer or reference that is the whole value, except for `char *`. */
static bool wants_type(const struct xc_value *value, const struct xc_format_options *options)
{
	const struct xc_type *type = xc_type_strip(value->type);
	if (options->letter || value->kind == XC_VALUE_ABSENT || value->kind == XC_VALUE_POINTEE)
		return false;
	if (is_reference(value))
		return true;
	if (type->kind != XC_TYPE_POINTER)
		return false;
	const struct xc_type *target = type->target;
	while (target->kind >= XC_TYPE_CONST && target->kind <= XC_TYPE_ATOMIC && target->target)
		target = target->target;
	bool is_char = target->kind == XC_TYPE_CHAR && target->name && strcmp(target->name, "char") == 0;
	return !is_char || value->type->kind == XC_TYPE_TYPEDEF;
}

static void write_type(struct xc_text *text, const struct xc_value *value)
{
	xc_text_name(text, xc_type_name(value->type));
	if (value->kind == XC_VALUE_MEMORY)
		xc_text_printf(text, " at 0x%llx", (unsigned long long)value->addr);
	xc_text_add(text, ": ");
}

static void write_value(struct xc_text *text, const struct xc_value *value, const struct xc_format_options *options)
{
	xc_format_value(text, value, options);
	if (value->guessed)
		xc_text_add(text, " (at entry)");
}

void xc_print_line(struct xc_text *text, const struct xc_value *value, const struct xc_format_options *options)
{
	if (wants_type(value, options)) {
		xc_text_char(text, '(');
		xc_text_name(text, xc_type_name(value->type));
		xc_text_add(text, ") ");
	}
	write_value(text, value, options);
}

static void write_text(struct xc_text *text, const struct xc_value *value, const struct xc_print_options *options)
{
	if (options->with_type)
		write_type(text, value);
	if (options->redact)
		xc_text_add(text, XC_REDACTED);
	else if (options->with_type)
		write_value(text, value, &options->format);
	else
		xc_print_line(text, value, &options->format);
}

static json_t *document_of(const char *expression, const struct xc_value *value, const struct xc_print_options *options,
			   const char *text)
{
	struct xc_value target = *value;
	if (is_reference(value)) /* the object, not the reference */
		xc_error_free(xc_value_deref(value, &target));
	const struct xc_json_options json_options = {.depth = options->format.depth,
						     .elements = options->format.elements,
						     .raw = options->format.raw,
						     .redact = options->redact,
						     .describe = options->format.describe,
						     .describe_context = options->format.annotate_context};
	struct xc_json_result result;
	json_t *json = json_object();
	xc_value_json(&target, &json_options, &result);
	if (expression)
		xc_jsonvalue_set(json, "expr", xc_jsonvalue_text(expression));
	xc_jsonvalue_set(json, "type", xc_jsonvalue_text(xc_type_name(value->type)));
	xc_jsonvalue_set(json, "addr",
			 target.kind == XC_VALUE_MEMORY ? xc_jsonvalue_address(target.addr) : json_null());
	xc_jsonvalue_set(json, "value", result.value);
	if (options->format.letter)
		xc_jsonvalue_set(json, "text", xc_jsonvalue_text(text));
	if (result.hits)
		xc_jsonvalue_set(json, "heap", result.hits);
	if (result.unknown)
		xc_jsonvalue_set(json, "unknown", result.unknown);
	if (result.truncated)
		xc_jsonvalue_set(json, "truncated", json_true());
	if (value->guessed)
		xc_jsonvalue_set(json, "guessed", json_true());
	return json;
}

void xc_print_value(struct xc_text *text, const struct xc_value *value, const struct xc_print_options *options,
		    json_t **json_out)
{
	xc_auto(xc_text_fini) struct xc_text line = {0};
	write_text(&line, value, options);
	*json_out = document_of(NULL, value, options, xc_text_string(&line));
	xc_text_addn(text, xc_text_string(&line), line.len);
}

static json_t *failed_document(const char *expression, const struct xc_error *err)
{
	json_t *json = json_object();
	xc_jsonvalue_set(json, "expr", xc_jsonvalue_text(expression));
	xc_jsonvalue_set(json, "type", json_null());
	xc_jsonvalue_set(json, "addr", json_null());
	xc_jsonvalue_set(json, "value", json_null());
	xc_jsonvalue_set(json, "why", xc_jsonvalue_text(err->message));
	return json;
}

static struct xc_print_options options_of(const struct xc_print_options *all, size_t index)
{
	struct xc_print_options one = *all;
	if (all->letters)
		one.format.letter = all->letters[index] == 's' ? 0 : all->letters[index];
	return one;
}

/* Append the text; the JSON is the caller's. On error *json_out has the reason, and the text is unchanged. */
static struct xc_error *print_one(const struct xc_frame_scope *scope, const char *expression,
				  const struct xc_print_options *options, struct xc_text *text, json_t **json_out)
{
	struct xc_arena arena = {0};
	struct xc_value value;
	xc_auto(xc_text_fini) struct xc_text line = {0};
	struct xc_error *err = xc_cexpr_value(scope, expression, &arena, &value);
	if (err) {
		*json_out = failed_document(expression, err);
	} else {
		write_text(&line, &value, options);
		*json_out = document_of(expression, &value, options, xc_text_string(&line));
		if (options->width)
			xc_wrap(text, xc_text_string(&line), line.len, (unsigned)strlen(expression), options->width);
		else
			xc_text_addn(text, xc_text_string(&line), line.len);
	}
	xc_arena_fini(&arena);
	return err;
}

static void add_reason(struct xc_text *text, const char *why, const char *hint)
{
	xc_text_char(text, '<');
	xc_text_name(text, why);
	xc_text_add(text, hint ? "; " : "");
	xc_text_name(text, hint ? hint : "");
	xc_text_char(text, '>');
}

static struct xc_error *print_several(struct xc_section *s, const struct xc_frame_scope *scope,
				      const char *const *expressions, size_t count,
				      const struct xc_print_options *options)
{
	struct xc_text text = {0};
	struct xc_error *first = NULL;
	json_t *values = json_array();
	size_t good = 0;
	for (size_t i = 0; i < count; i++) {
		const struct xc_print_options one = options_of(options, i);
		json_t *json;
		xc_text_add(&text, expressions[i]);
		xc_text_add(&text, " = ");
		struct xc_error *err = print_one(scope, expressions[i], &one, &text, &json);
		json_array_append_new(values, json);
		bool near = err && err->code == XC_ERR_NOT_FOUND && err->hint; /* a suggestion */
		if (err)
			add_reason(&text, err->message, near ? err->hint : NULL);
		else
			good++;
		xc_text_add(&text, i + 1 < count ? "\n" : "");
		if (first || !err)
			xc_error_free(err);
		else
			first = err;
	}
	if (good == 0) {
		json_decref(values);
	} else {
		s->report->incomplete |= first != NULL;
		xc_section_document(s, "values", xc_text_string(&text), json_pack("{s:o}", "values", values));
		xc_error_free(first);
		first = NULL;
	}
	xc_text_fini(&text);
	return first;
}

struct xc_error *xc_print(struct xc_section *s, const struct xc_frame_scope *scope, const char *const *expressions,
			  size_t count, const struct xc_print_options *options)
{
	struct xc_text text = {0};
	json_t *json;
	xc_types_of(scope->process)->thorough = true; /* names are looked up anyway */
	if (count != 1)
		return print_several(s, scope, expressions, count, options);
	const struct xc_print_options one = options_of(options, 0);
	struct xc_error *err = print_one(scope, expressions[0], &one, &text, &json);
	if (err)
		json_decref(json);
	else
		xc_section_document(s, "value", xc_text_string(&text), json);
	xc_text_fini(&text);
	return err;
}
