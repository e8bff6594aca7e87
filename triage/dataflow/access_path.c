#include "triage/dataflow/access_path.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "triage/code/cxx_accessor.h"

enum { STEPS = 32, CANDIDATES = 1 + XC_ACCESS_PATH_CHOICES, MEMBERS = 1000 /* of a union */ };

void xc_access_path_index(struct xc_access_path *path, int64_t times, const char *text)
{
	for (size_t i = 0; i < path->index_count; i++)
		if (path->indexes[i].times == times && (!text || !path->indexes[i].text)) {
			path->indexes[i].text = NULL;
			return;
		}
	if (path->index_count < XC_ACCESS_PATH_INDEXES)
		path->indexes[path->index_count++] = (struct xc_access_path_index){.times = times, .text = text};
}

/* Does it index elements of this size, or several at a time? */
static bool counts(const struct xc_access_path_index *index, uint64_t size)
{
	return !index->used && index->times && size && size <= INT32_MAX && index->times % (int64_t)size == 0;
}

static bool is_counted(const struct xc_access_path *path, uint64_t size)
{
	for (size_t i = 0; i < path->index_count; i++)
		if (counts(&path->indexes[i], size))
			return true;
	return false;
}

static unsigned long long magnitude(int64_t n)
{
	return n < 0 ? 0 - (unsigned long long)n : (unsigned long long)n;
}

/* "a - b", and not "v[i - 1]" */
static bool is_sum(const char *text)
{
	int depth = 0;
	for (; *text && (depth || *text != ' '); text++)
		depth += (*text == '(' || *text == '[') - (*text == ')' || *text == ']');
	return *text;
}

/* "i", " + k", " - 2 * (a - b)" */
static void add_index(struct xc_text *text, const char *name, int64_t number, bool first)
{
	bool enclosed = number != 1 && is_sum(name);
	xc_text_add(text, first ? (number < 0 ? "-" : "") : number < 0 ? " - " : " + ");
	if (magnitude(number) != 1)
		xc_text_printf(text, "%llu * ", magnitude(number));
	xc_text_printf(text, enclosed ? "(%s)" : "%s", name);
}

/* The sum of the indexes of elements of this size, "i + 2 * k", subtracted ones last; nothing when one has no name.
 * Marks all as used. */
static void add_indexes(struct xc_access_path *path, uint64_t size, struct xc_text *text)
{
	bool named = true;
	for (int negative = 0; negative < 2; negative++)
		for (size_t i = 0; i < path->index_count; i++) {
			struct xc_access_path_index *index = &path->indexes[i];
			if (!counts(index, size) || (index->times < 0) != (bool)negative)
				continue;
			named &= index->text != NULL;
			if (named)
				add_index(text, index->text, index->times / (int64_t)size, !text->len);
			index->used = true;
		}
	if (!named)
		text->len = 0;
}

/* "[3]", "[i]", "[i + 3]", "[]": some element */
static void write_element(struct xc_access_path *path, uint64_t size, int64_t number)
{
	struct xc_text *text = &path->text, sum = {0};
	bool counted = is_counted(path, size);
	if (counted && path->shift) /* may wrap */
		number = (int64_t)((uint64_t)number -
				   (uint64_t)path->shift * (uint64_t)(path->indexes[0].times / (int64_t)size));
	add_indexes(path, size, &sum);
	if (counted && !sum.len)
		xc_text_add(text, "[]");
	else if (!counted)
		xc_text_printf(text, "[%lld]", (long long)number);
	else if (!number)
		xc_text_printf(text, "[%s]", sum.bytes);
	else
		xc_text_printf(text, number < 0 ? "[%s - %llu]" : "[%s + %llu]", sum.bytes, magnitude(number));
	xc_text_fini(&sum);
}

static bool all_used(const struct xc_access_path *path)
{
	for (size_t i = 0; i < path->index_count; i++)
		if (!path->indexes[i].used)
			return false;
	return true;
}

/* Does a member of this type contain the whole access? */
static bool large_enough(const struct xc_access_path *path, const struct xc_type *type, uint64_t offset)
{
	uint64_t size;
	return !path->size || !xc_type_size(type, &size) || (offset < size && path->size <= size - offset);
}

/* The path to the outermost object of the C++ library; the access may be inside it. */
struct object {
	const char *class_name; /* NULL: there is none */
	size_t len;             /* of the text up to that object */
	const char *joiner;
};

/* "own" of "own._M_t._M_t._M_head_impl", "items.data()" of "items._M_impl._M_start" */
static void leave_object(struct xc_access_path *path, const struct object *object, const char *last)
{
	const char *member = object->class_name ? xc_cxx_accessor_member(object->class_name, last) : NULL;
	if (!member)
		return;
	path->text.len = object->len;
	path->text.bytes[object->len] = '\0';
	if (*member)
		xc_text_printf(&path->text, "%s%s", object->joiner, member);
}

static bool is_object(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return (type->kind == XC_TYPE_CLASS || type->kind == XC_TYPE_STRUCT) && xc_cxx_accessor_class(type->name);
}

/* ---- members of unions ---- */

struct candidates {
	struct xc_field_step items[CANDIDATES];
	size_t count;
};

/* Those that can contain the access, the likely one first. */
static void find_candidates(const struct xc_access_path *path, const struct xc_type *type, struct candidates *out)
{
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	uint64_t offset = (uint64_t)path->offset;
	out->count = xc_field_step(type, offset, &out->items[0]);
	for (size_t i = 0; i < count && i < MEMBERS && out->count && out->count < CANDIDATES; i++) {
		const struct xc_member *m = &members[i];
		uint64_t size;
		bool likely = m->name == out->items[0].name && m->type == out->items[0].type;
		if (m->bit_size || m->dynamic || likely || m->offset > offset || !xc_type_size(m->type, &size) ||
		    offset - m->offset >= size || (path->size && path->size > size - (offset - m->offset)))
			continue;
		out->items[out->count++] =
			(struct xc_field_step){.type = m->type, .offset = offset - m->offset, .name = m->name};
	}
}

static bool is_name_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is the whole word `end` there, after `before`? */
static bool names(const char *source, const char *before, const char *end)
{
	size_t first = strlen(before), second = strlen(end);
	for (const char *at = source; (at = strstr(at, before)); at++)
		if (strncmp(at + first, end, second) == 0 && !is_name_character(at[first + second]) &&
		    (at == source || !is_name_character(at[-1]) || !is_name_character(*before)))
			return true;
	return false;
}

/* The candidate that the source names: by the whole expression, else as the only one of them. SIZE_MAX: none. */
static size_t named_candidate(const struct xc_access_path *path, const struct candidates *c, const char *joiner)
{
	static const char this[] = "this->";
	struct xc_text whole = {0};
	size_t by_whole = SIZE_MAX, by_name = SIZE_MAX, hits = 0;
	if (!path->source)
		return SIZE_MAX;
	xc_access_path_plain(&whole, xc_text_string(&path->text));
	xc_text_add(&whole, joiner);
	const char *before = xc_text_string(&whole);
	before += strncmp(before, this, sizeof this - 1) ? 0 : sizeof this - 1;
	for (size_t i = 0; i < c->count; i++) {
		const char *name = c->items[i].name;
		if (!name)
			continue;
		if (by_whole == SIZE_MAX && names(path->source, before, name))
			by_whole = i;
		if (names(path->source, ".", name) || names(path->source, "->", name)) {
			by_name = i;
			hits++;
		}
	}
	xc_text_fini(&whole);
	return by_whole != SIZE_MAX ? by_whole : hits == 1 ? by_name : SIZE_MAX;
}

static bool step_into_union(struct xc_access_path *path, const struct xc_type *type, const char *joiner,
			    struct xc_field_step *out)
{
	struct candidates c;
	find_candidates(path, type, &c);
	if (!c.count)
		return false;
	size_t chosen = c.count > 1 ? named_candidate(path, &c, joiner) : 0;
	if (chosen == SIZE_MAX) {
		chosen = !path->undecided && path->choose < c.count ? path->choose : 0;
		if (!path->undecided)
			path->undecided = (unsigned)c.count;
	}
	*out = c.items[chosen];
	return true;
}

static bool step_into(struct xc_access_path *path, const char *joiner, struct xc_field_step *out)
{
	const struct xc_type *type = xc_type_complete(xc_type_strip(path->type));
	return type->kind == XC_TYPE_UNION ? step_into_union(path, type, joiner, out)
					   : xc_field_step(path->type, (uint64_t)path->offset, out);
}

/* The end of the brackets that begin at `text`. */
static const char *past_index(const char *text)
{
	int depth = 0;
	do
		depth += (*text == '[') - (*text == ']');
	while (*text++ && depth);
	return depth ? text - 1 : text;
}

void xc_access_path_plain(struct xc_text *out, const char *text)
{
	bool gap = false;
	while (*text) {
		if (strchr(" \t()", *text)) {
			gap = true;
			text++;
			continue;
		}
		if (gap && out->len && is_name_character(out->bytes[out->len - 1]) && is_name_character(*text))
			xc_text_char(out, ' ');
		gap = false;
		if (*text == '[') {
			xc_text_add(out, "[]");
			text = past_index(text);
		} else {
			xc_text_char(out, *text++);
		}
	}
}

static void descend(struct xc_access_path *path, const char *joiner)
{
	struct xc_field_step step;
	struct object object = {.class_name = NULL};
	const char *last = NULL;
	for (unsigned i = 0; i < STEPS && path->offset >= 0; i++) {
		uint64_t size;
		if (!object.class_name && is_object(path->type)) {
			if (path->whole)
				return;
			object = (struct object){xc_type_strip(path->type)->name, path->text.len, joiner};
		}
		if (!step_into(path, joiner, &step))
			break;
		bool counted = step.is_element && xc_type_size(step.type, &size) && is_counted(path, size);
		if (!counted && all_used(path) && !large_enough(path, step.type, step.offset))
			break;
		if (step.is_element) {
			write_element(path, counted ? size : 0, (int64_t)step.index);
			joiner = ".";
		} else if (step.name && !(object.class_name && strcmp(step.name, "_M_elems") == 0)) { /* std::array */
			xc_text_printf(&path->text, "%s%s", joiner, step.name);
			last = step.name;
			joiner = ".";
		}
		path->type = step.type;
		path->offset = (int64_t)step.offset;
	}
	leave_object(path, &object, last);
}

static bool is_record(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS || type->kind == XC_TYPE_UNION;
}

/* An access that starts within a number or pointer, or extends past it, does not match the type. */
static bool fits(const struct xc_access_path *path)
{
	uint64_t size;
	const struct xc_type *type = xc_type_strip(path->type);
	if (type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS || type->kind == XC_TYPE_UNION ||
	    type->kind == XC_TYPE_ARRAY || !path->size || !xc_type_size(type, &size))
		return true;
	return path->offset >= 0 && (uint64_t)path->offset < size && (path->offset == 0 || path->size < size);
}

/* An access of a word where the type has bytes: the source has a cast there. Larger accesses come from vectorized
 * loops. */
static void see_through_cast(struct xc_access_path *path)
{
	uint64_t size;
	if (path->size > 1 && path->size <= 8 && path->type && xc_type_size(path->type, &size) && size == 1 &&
	    !is_record(path->type))
		path->type = NULL;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
	int64_t crash = a / b;
	return a % b < 0 ? crash - 1 : crash;
}

/* "(*items)[i]", and not "(long)n" */
static bool is_enclosed(const char *text)
{
	int depth = 0;
	do
		depth += (*text == '(') - (*text == ')');
	while (*text++ && depth);
	return !depth && (!*text || strchr("[.-(", *text));
}

static bool is_simple(const char *text)
{
	return *text != '*' && *text != '&' && (*text != '(' || is_enclosed(text)) && !is_sum(text);
}

/* Nothing is known of the pointer's target. */
static bool write_blind(struct xc_access_path *path, const char *pointer)
{
	if (path->index_count)
		return false;
	if (path->offset)
		xc_text_printf(&path->text, "*(%s %c %llu)", pointer, path->offset < 0 ? '-' : '+',
			       magnitude(path->offset));
	else
		xc_text_printf(&path->text, "*%s", pointer);
	path->type = NULL;
	return true;
}

/* "items" of "items.data()", "(*items)" of "items->data()": the target is then written as an element. */
static bool write_row(struct xc_access_path *path, const char *pointer)
{
	static const char *const ends[] = {".data()", "->data()"};
	size_t len = strlen(pointer);
	for (size_t i = 0; i < XC_COUNT(ends); i++) {
		size_t end = strlen(ends[i]);
		if (len <= end || strcmp(pointer + len - end, ends[i]) != 0)
			continue;
		xc_text_printf(&path->text, i ? "(*%.*s)" : "%.*s", (int)(len - end), pointer);
		return true;
	}
	return false;
}

bool xc_access_path_pointer(struct xc_access_path *path, const char *pointer, const struct xc_type *type,
			    int64_t offset)
{
	uint64_t size = 0;
	const struct xc_type *stripped = type ? xc_type_strip(type) : NULL;
	bool points = stripped && stripped->kind == XC_TYPE_POINTER;
	bool refers = stripped && (stripped->kind == XC_TYPE_REFERENCE || stripped->kind == XC_TYPE_RVALUE_REFERENCE);
	path->offset = offset;
	path->type = points || refers ? stripped->target : NULL;
	if (!path->type || !xc_type_size(xc_type_complete(xc_type_strip(path->type)), &size) || !size ||
	    size > INT32_MAX)
		return write_blind(path, pointer);
	int64_t number = floor_divide(offset, (int64_t)size);
	bool row = write_row(path, pointer);
	bool record = is_record(path->type), element = is_counted(path, size) || number || row;
	bool bare = !element && !refers && !record;
	if (!row)
		xc_text_printf(&path->text, is_simple(pointer) && !bare ? "%s" : bare ? "*%s" : "(%s)", pointer);
	path->offset =
		(int64_t)((uint64_t)offset - (uint64_t)number * size); /* the product may overflow, the rest does not */
	if (element)
		write_element(path, size, number);
	size_t before = path->text.len;
	descend(path, element || refers ? "." : "->");
	if (!element && record && !refers && path->text.len == before) { /* all of it, or its padding */
		path->text.len = 0;
		xc_text_printf(&path->text, "*%s", pointer);
	}
	see_through_cast(path);
	return all_used(path) && (!path->type || fits(path));
}

bool xc_access_path_variable(struct xc_access_path *path, const char *name, const struct xc_type *type, uint64_t offset)
{
	xc_text_add(&path->text, name);
	path->type = type;
	path->offset = (int64_t)offset;
	if (type)
		descend(path, ".");
	return all_used(path) && (type ? fits(path) : !offset);
}
