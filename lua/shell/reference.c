/* reference: a parser of the editor stubs, which are the only description of the API.
 *
 * It knows the subset of LuaLS annotations that the file uses: `---@class xcore.NAME` names the class that follows,
 * `---@field NAME TYPE  text` is a field, comment lines precede `function VARIABLE.NAME(…) end`, and `local VARIABLE
 * = {}` below a class is that class. */
#include "lua/shell/reference.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/embed.h"

/* The bytes of the file, embedded by the assembler. */
XC_EMBED(xc_reference_bytes, "lua/xcore.d.lua");

enum { MAX_ENTRIES = 512, MAX_VARIABLES = 32 };

struct variable {
	char name[24], class_name[24];
};

struct reader {
	struct xc_reference *entries;
	size_t count;
	struct variable variables[MAX_VARIABLES];
	size_t variable_count;
	char class_name[24];               /* of the class that was begun last */
	const char *comment, *comment_end; /* comment lines above the current line; NULL: none */
};

static void copy(char *to, size_t size, const char *from, size_t len)
{
	len = len < size ? len : size - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

static struct xc_reference *add(struct reader *r, enum xc_reference_kind kind, const char *class_name)
{
	if (r->count >= MAX_ENTRIES)
		return NULL;
	struct xc_reference *entry = &r->entries[r->count++];
	*entry = (struct xc_reference){.kind = kind};
	copy(entry->class_name, sizeof entry->class_name, class_name, strlen(class_name));
	return entry;
}

static const char *class_of(const struct reader *r, const char *variable, size_t len)
{
	for (size_t i = 0; i < r->variable_count; i++)
		if (strlen(r->variables[i].name) == len && memcmp(r->variables[i].name, variable, len) == 0)
			return r->variables[i].class_name;
	return NULL;
}

static size_t word(const char *at)
{
	return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

/* function VARIABLE.NAME(PARAMETERS) end */
static void read_function(struct reader *r, const char *at)
{
	size_t variable = word(at);
	const char *class_name = class_of(r, at, variable), *name = at + variable + 1;
	if (!class_name && at[variable] == '(') { /* a global: print */
		class_name = "";
		name = at;
	}
	if (!class_name)
		return;
	size_t len = word(name), parameters = strcspn(name + len, ")");
	struct xc_reference *entry =
		add(r, at[variable] == ':' ? XC_REFERENCE_METHOD : XC_REFERENCE_FUNCTION, class_name);
	if (!entry)
		return;
	copy(entry->name, sizeof entry->name, name, len);
	copy(entry->parameters, sizeof entry->parameters, name + len + 1, parameters - 1);
	entry->doc = r->comment;
	entry->doc_len = r->comment ? (size_t)(r->comment_end - r->comment) : 0;
}

static void read_field(struct reader *r, const char *at, const char *end)
{
	size_t len = word(at);
	struct xc_reference *entry = len > 0 ? add(r, XC_REFERENCE_FIELD, r->class_name) : NULL;
	if (!entry)
		return;
	copy(entry->name, sizeof entry->name, at, len);
	entry->doc = at + len;
	entry->doc_len = (size_t)(end - entry->doc);
}

/* local VARIABLE = {} */
static void read_variable(struct reader *r, const char *at)
{
	size_t len = word(at);
	if (r->variable_count >= MAX_VARIABLES)
		return;
	struct variable *variable = &r->variables[r->variable_count++];
	copy(variable->name, sizeof variable->name, at, len);
	memcpy(variable->class_name, r->class_name, sizeof variable->class_name);
}

static const char *after(const char *line, const char *prefix)
{
	size_t len = strlen(prefix);
	return strncmp(line, prefix, len) == 0 ? line + len : NULL;
}

static void read_line(struct reader *r, const char *line, const char *end)
{
	const char *at;
	if ((at = after(line, "---@class "))) {
		const char *dot = after(at, "xcore.");
		at = dot ? dot : at;
		copy(r->class_name, sizeof r->class_name, at, word(at));
		r->comment = NULL;
	} else if ((at = after(line, "---@field "))) {
		read_field(r, at, end);
		r->comment = NULL;
	} else if (after(line, "---")) {
		if (!r->comment)
			r->comment = line;
		r->comment_end = end;
	} else {
		if ((at = after(line, "local ")))
			read_variable(r, at);
		else if ((at = after(line, "function ")))
			read_function(r, at);
		r->comment = NULL;
	}
}

const struct xc_reference *xc_reference_all(size_t *count_out)
{
	static struct xc_reference entries[MAX_ENTRIES];
	static size_t count;
	if (count == 0) {
		struct reader r = {.entries = entries};
		const char *line = xc_reference_bytes, *stop = line + strlen(line);
		while (line < stop) {
			const char *end = memchr(line, '\n', (size_t)(stop - line));
			end = end ? end : stop;
			read_line(&r, line, end);
			line = end + 1;
		}
		count = r.count;
	}
	*count_out = count;
	return entries;
}

const struct xc_reference *xc_reference_find(const char *class_name, const char *name)
{
	size_t count;
	const struct xc_reference *all = xc_reference_all(&count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].name, name) == 0 && (!class_name || strcmp(all[i].class_name, class_name) == 0))
			return &all[i];
	return NULL;
}

/* "@param name? type  text" and "@return type name  text" become lines of their own; plain text stays. */
static void write_doc_line(struct xc_text *text, const char *line, size_t len)
{
	const char *at;
	if ((at = after(line, "@param "))) {
		xc_text_add(text, "    ");
		xc_text_addn(text, at, len - (size_t)(at - line));
	} else if ((at = after(line, "@return "))) {
		xc_text_add(text, "    → ");
		xc_text_addn(text, at, len - (size_t)(at - line));
	} else {
		xc_text_add(text, "  ");
		xc_text_addn(text, line, len);
	}
	xc_text_char(text, '\n');
}

void xc_reference_write(struct xc_text *text, const struct xc_reference *entry)
{
	const char *mark = entry->kind == XC_REFERENCE_METHOD ? ":" : ".";
	xc_text_printf(text, "%s%s%s", entry->class_name, entry->class_name[0] ? mark : "", entry->name);
	if (entry->kind == XC_REFERENCE_FIELD) {
		xc_text_addn(text, entry->doc, entry->doc_len);
		xc_text_char(text, '\n');
		return;
	}
	xc_text_printf(text, "(%s)\n", entry->parameters);
	const char *line = entry->doc, *stop = entry->doc + entry->doc_len;
	while (line && line < stop) {
		size_t len = strcspn(line, "\n");
		len = len < (size_t)(stop - line) ? len : (size_t)(stop - line);
		write_doc_line(text, line + 3, len - 3);
		line += len + 1;
	}
}
