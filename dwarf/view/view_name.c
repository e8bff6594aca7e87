/* view_name: short names of C++ and Rust types, as in sources.
 *
 *	std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >   →   std::string
 *	std::__1::vector<int, std::__1::allocator<int> >                                  →   std::vector<int>
 *
 * Left out are inline namespaces for versions of the library, and default arguments (allocators, traits, comparisons
 * and hashes). */
#include <string.h>

#include "dwarf/view/view_impl.h"

static const char *const versions[] = {"__cxx11::", "__1::", "__ndk1::", "__8::", "__cxx1998::", "__debug::"};

static const char *const defaults[] = {"std::allocator<", "std::char_traits<", "std::less<",
				       "std::hash<",      "std::equal_to<",    "std::default_delete<"};

static const char *const of_rust[] = {"alloc::alloc::Global", "std::collections::hash::map::RandomState",
				      "std::hash::random::RandomState"};

static const char *const strings[][2] = {
	{"std::basic_string<char>", "std::string"},        {"std::basic_string<wchar_t>", "std::wstring"},
	{"std::basic_string<char16_t>", "std::u16string"}, {"std::basic_string<char32_t>", "std::u32string"},
	{"std::basic_string<char8_t>", "std::u8string"},   {"std::basic_string_view<char>", "std::string_view"},
};

enum { MAX_DEPTH = 32 };

struct names {
	struct xc_text *text;
	size_t argument[MAX_DEPTH]; /* where the current argument of each open < begins */
	size_t first[MAX_DEPTH];    /* where the name before it begins */
	unsigned depth;
};

static void cut(struct xc_text *text, size_t len)
{
	text->len = len;
	text->bytes[len] = '\0';
}

/* At the end of an argument of a template in std: drop it when it is the default. */
static void end_argument(struct names *n)
{
	size_t at = n->argument[n->depth - 1];
	const char *name = n->text->bytes + n->first[n->depth - 1], *argument = n->text->bytes + at;
	argument += strspn(argument, ", ");
	for (size_t i = 0; i < XC_COUNT(defaults) && xc_begins_with(name, "std::"); i++) {
		if (xc_begins_with(argument, defaults[i]))
			cut(n->text, at);
	}
	for (size_t i = 0; i < XC_COUNT(of_rust); i++) {
		if (strcmp(argument, of_rust[i]) == 0)
			cut(n->text, at);
	}
}

static void end_template(struct names *n)
{
	size_t at = n->first[--n->depth];
	xc_text_char(n->text, '>');
	for (size_t i = 0; i < XC_COUNT(strings); i++) {
		if (strcmp(n->text->bytes + at, strings[i][0]) == 0) {
			cut(n->text, at);
			xc_text_add(n->text, strings[i][1]);
			return;
		}
	}
}

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

static size_t name_start(const struct xc_text *text, size_t floor)
{
	size_t at = text->len;
	while (at > floor && in_name(text->bytes[at - 1]))
		at--;
	return at;
}

void xc_view_short_name(struct xc_text *text, const char *name)
{
	struct names n = {.text = text};
	size_t floor = text->len;
	for (const char *c = name; *c; c++) {
		bool skipped = false;
		for (size_t i = 0; i < XC_COUNT(versions) && c - name >= 2 && c[-1] == ':' && !skipped; i++) {
			if (xc_begins_with(c, versions[i])) {
				c += strlen(versions[i]) - 1;
				skipped = true;
			}
		}
		if (skipped)
			continue;
		if (*c == '<' && n.depth < MAX_DEPTH) {
			n.first[n.depth] = name_start(text, floor);
			xc_text_char(text, '<');
			n.argument[n.depth++] = text->len;
		} else if (*c == ',' && n.depth > 0) {
			end_argument(&n);
			n.argument[n.depth - 1] = text->len;
			xc_text_char(text, ',');
		} else if (*c == '>' && n.depth > 0 && c[-1] != '-') {
			end_argument(&n);
			while (text->len > floor && text->bytes[text->len - 1] == ' ')
				cut(text, text->len - 1);
			end_template(&n);
		} else {
			xc_text_char(text, *c);
		}
	}
}

void xc_view_type_name(struct xc_text *text, const struct xc_type *type)
{
	xc_view_short_name(text, xc_type_name(type));
}

/* Types of Rust's libraries are named by their last component, as after a `use` in sources. */
static void drop_paths(struct xc_text *text, const char *name)
{
	static const char *const crates[] = {"core::", "alloc::", "std::"};
	for (const char *c = name; *c;) {
		size_t len = 0, last = 0, known = 0;
		for (; in_name(c[len]); len++)
			last = len > 1 && c[len - 1] == ':' ? len : last;
		for (size_t i = 0; i < XC_COUNT(crates); i++)
			known += xc_begins_with(c, crates[i]);
		bool drop = known > 0 && c[last] >= 'A' && c[last] <= 'Z';
		xc_text_addn(text, c + (drop ? last : 0), len - (drop ? last : 0));
		c += len;
		if (*c)
			xc_text_char(text, *c++);
	}
}

bool xc_view_brief_name(struct xc_text *text, const struct xc_type *type)
{
	const char *name = xc_type_name(type);
	if (!strstr(name, "std::") && !strstr(name, "alloc::") && !strstr(name, "core::"))
		return false;
	xc_auto(xc_text_fini) struct xc_text brief = {0};
	xc_view_short_name(&brief, name);
	for (int i = 0; i < XC_TYPE_DEPTH && !type->is_rust && type->target; i++)
		type = type->target;
	if (type->is_rust) {
		struct xc_text longer = brief;
		brief = (struct xc_text){0};
		drop_paths(&brief, xc_text_string(&longer));
		xc_text_fini(&longer);
	}
	if (brief.len >= strlen(name))
		return false;
	xc_text_addn(text, xc_text_string(&brief), brief.len);
	return true;
}
