/* cxx_accessor: libstdc++ 5 to 14 (bits/unique_ptr.h, bits/shared_ptr_base.h, bits/stl_vector.h,
 * bits/basic_string.h, string_view, span). */
#include "triage/code/cxx_accessor.h"

#include <string.h>

#include "core/base/text.h"

static bool is_pointer(const char *name)
{
	return xc_begins_with(name, "std::unique_ptr<") || xc_begins_with(name, "std::shared_ptr<") ||
	       xc_begins_with(name, "std::__shared_ptr<") || xc_begins_with(name, "std::__shared_ptr_access<");
}

/* Of a vector or string: a pointer in a class. */
static bool is_iterator(const char *name)
{
	return xc_begins_with(name, "__gnu_cxx::__normal_iterator<");
}

static bool is_string(const char *name)
{
	return xc_begins_with(name, "std::__cxx11::basic_string<") || xc_begins_with(name, "std::basic_string<") ||
	       xc_begins_with(name, "std::string::") || xc_begins_with(name, "std::__cxx11::string::") ||
	       strcmp(name, "std::string") == 0 || strcmp(name, "std::__cxx11::string") == 0;
}

static bool is_view(const char *name)
{
	return xc_begins_with(name, "std::basic_string_view<") || xc_begins_with(name, "std::span<");
}

/* Containers whose number of elements is one member. */
static bool is_counted(const char *name)
{
	static const char *const names[] = {
		"std::map<",           "std::set<",           "std::multimap<",           "std::multiset<",
		"std::unordered_map<", "std::unordered_set<", "std::unordered_multimap<", "std::unordered_multiset<",
		"std::__cxx11::list<", "std::list<"};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		if (xc_begins_with(name, names[i]))
			return true;
	return false;
}

static bool is_row(const char *name)
{
	return xc_begins_with(name, "std::vector<") || xc_begins_with(name, "std::deque<") ||
	       xc_begins_with(name, "std::array<") || is_string(name) || is_view(name);
}

/* After the last "::" outside of template arguments. */
static const char *method_of(const char *function)
{
	const char *method = function;
	int depth = 0;
	for (const char *c = function; *c && !xc_begins_with(c, "operator"); c++) {
		depth += (*c == '<') - (*c == '>');
		if (!depth && xc_begins_with(c, "::"))
			method = c + 2;
	}
	return method;
}

enum xc_cxx_accessor_way xc_cxx_accessor_of(const char *function)
{
	static const struct {
		const char *method;
		bool of_row;
		enum xc_cxx_accessor_way kind;
	} methods[] = {
		{"operator->", false, XC_CXX_ACCESSOR_POINTER},
		{"get", false, XC_CXX_ACCESSOR_POINTER},
		{"operator*", false, XC_CXX_ACCESSOR_REFERENCE},
		{"operator[]", true, XC_CXX_ACCESSOR_ELEMENT},
		{"at", true, XC_CXX_ACCESSOR_ELEMENT},
		{"front", true, XC_CXX_ACCESSOR_FIRST},
		{"back", true, XC_CXX_ACCESSOR_LAST},
	};
	if (!function || (!is_pointer(function) && !is_iterator(function) && !is_row(function)))
		return XC_CXX_ACCESSOR_NONE;
	for (size_t i = 0; i < XC_COUNT(methods); i++)
		if (strcmp(method_of(function), methods[i].method) == 0 && methods[i].of_row == is_row(function))
			return methods[i].kind;
	return XC_CXX_ACCESSOR_NONE;
}

const char *xc_cxx_accessor_short(const char *function, struct xc_arena *arena)
{
	struct xc_text text = {0};
	int depth = 0;
	if (!function || (!xc_begins_with(function, "std::") && !xc_begins_with(function, "__gnu_cxx::")))
		return function;
	for (const char *c = function; *c; c++) {
		if (!depth && xc_begins_with(c, "operator")) { /* operator->, operator< */
			xc_text_add(&text, c);
			break;
		}
		if (!depth && xc_begins_with(c, "__cxx11::")) {
			c += strlen("__cxx11::") - 1;
			continue;
		}
		if (!depth && xc_begins_with(c, "basic_string<")) {
			xc_text_add(&text, "string");
			c += strlen("basic_string") - 1;
			continue;
		}
		depth += *c == '<';
		if (!depth)
			xc_text_char(&text, *c);
		depth -= *c == '>';
	}
	const char *kept = xc_arena_strdup(arena, xc_text_string(&text));
	xc_text_fini(&text);
	return kept;
}

const char *xc_cxx_accessor_query(const char *function)
{
	static const char *const queries[] = {"size", "length", "capacity", "empty", "data", "c_str", NULL};
	const char *method = function && (is_row(function) || is_counted(function)) ? method_of(function) : NULL;
	for (size_t i = 0; method && queries[i]; i++)
		if (strcmp(method, queries[i]) == 0)
			return method;
	return NULL;
}

bool xc_cxx_accessor_reads(const char *function, unsigned word, uint64_t *offset)
{
	if (!xc_cxx_accessor_of(function) || xc_begins_with(function, "std::array<") ||
	    xc_begins_with(function, "std::deque<"))
		return false;
	*offset = xc_begins_with(function, "std::basic_string_view<") ? word : 0;
	return true;
}

const char *xc_cxx_accessor_member(const char *class_name, const char *member)
{
	if (!member)
		return NULL;
	if (is_pointer(class_name))
		return strcmp(member, "_M_head_impl") == 0 || strcmp(member, "_M_ptr") == 0 ? "" : NULL;
	if (is_iterator(class_name))
		return strcmp(member, "_M_current") == 0 ? "" : NULL;
	if (xc_begins_with(class_name, "std::vector<"))
		return strcmp(member, "_M_start") == 0 ? "data()" : strcmp(member, "_M_finish") == 0 ? "end()" : NULL;
	if (is_string(class_name))
		return strcmp(member, "_M_p") == 0               ? "data()"
		       : strcmp(member, "_M_string_length") == 0 ? "size()"
								 : NULL;
	if (is_counted(class_name))
		return strcmp(member, "_M_node_count") == 0 || strcmp(member, "_M_element_count") == 0 ||
				       strcmp(member, "_M_size") == 0
			       ? "size()"
			       : NULL;
	if (is_view(class_name))
		return strcmp(member, "_M_str") == 0 || strcmp(member, "_M_ptr") == 0 ? "data()"
		       : strcmp(member, "_M_len") == 0                                ? "size()"
										      : NULL;
	return NULL;
}

bool xc_cxx_accessor_class(const char *class_name)
{
	return class_name &&
	       (is_pointer(class_name) || is_iterator(class_name) || is_row(class_name) || is_counted(class_name));
}
