/* template: arguments read from the children of a class or function.
 *
 *  DW_TAG_template_type_parameter, DW_TAG_template_value_parameter (DWARF 5, 2.23), DW_TAG_GNU_template_template_param
 *  and packs of these, DW_TAG_GNU_template_parameter_pack (GNU extensions)
 * They stand before all other children of a class, so that one look tells a class without. */
#include "dwarf/types/template.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/module/die.h"
#include "dwarf/module/exprcode.h"

enum { MAX_NAME = 4096, MAX_ARGUMENTS = 1024 };

/* Constants have the sign of their form; bits that exceed the type are cut off. */
static uint64_t fit(uint64_t value, const struct xc_type *type)
{
	type = xc_type_strip(type);
	if (!type->size_known || type->size == 0 || type->size >= 8)
		return value;
	return xc_extend(value, (unsigned)type->size * 8, type->is_signed);
}

/* The address that an expression starts with; clang ends it with DW_OP_stack_value: the address is the argument. */
static bool starts_with_address(Dwarf_Attribute *attr, uint64_t *addr_out)
{
	Dwarf_Op op;
	if (!xc_exprcode_first(attr, &op))
		return false;
	*addr_out = op.number;
	return op.atom == DW_OP_addr || ((op.atom == DW_OP_addrx || op.atom == DW_OP_GNU_addr_index) &&
					 xc_exprcode_indexed(attr, &op, addr_out));
}

static void read_value(Dwarf_Die *die, struct xc_template *one)
{
	Dwarf_Attribute attr;
	one->is_value = true;
	if (xc_die_number(die, DW_AT_const_value, &one->value)) {
		one->value = fit(one->value, one->type);
		one->has_value = true;
	} else if (xc_die_attr(die, DW_AT_location, &attr) && starts_with_address(&attr, &one->value)) {
		one->has_value = one->is_address = true;
	}
}

bool xc_template_is_argument(int tag)
{
	return tag == DW_TAG_template_type_parameter || tag == DW_TAG_template_value_parameter ||
	       tag == DW_TAG_GNU_template_template_param;
}

struct xc_template xc_template_read(struct xc_types *types, Dwarf_Die *die, const char *name, bool is_pack)
{
	struct xc_template one = {
		.name = name, .is_pack = is_pack, .is_default = xc_die_flag(die, DW_AT_default_value)};
	Dwarf_Attribute attr;
	switch (dwarf_tag(die)) {
	case DW_TAG_template_type_parameter:
		one.type = xc_type_of(types, die);
		break;
	case DW_TAG_template_value_parameter:
		one.type = xc_type_of(types, die);
		read_value(die, &one);
		break;
	default:
		if (dwarf_attr(die, DW_AT_GNU_template_name, &attr))
			one.template_name = dwarf_formstring(&attr);
	}
	return one;
}

static void add_enumerator(struct xc_text *text, const struct xc_type *type, uint64_t value)
{
	size_t count;
	const struct xc_enumerator *items = xc_type_search_enumerators(type, &count);
	for (size_t i = 0; i < count; i++) {
		if (items[i].value == value) {
			xc_text_add(text, items[i].name);
			return;
		}
	}
	xc_text_printf(text, "(%s)%" PRId64, xc_type_name(type), (int64_t)value);
}

/* (unsigned char)'\xc8', L'x': clang's StmtPrinter and TemplateBase.cpp (14). */
static void add_character(struct xc_text *text, const struct xc_type *type, uint64_t value)
{
	static const char escapes[] = "abtnvfr"; /* \a is 7, … \r is 13 */
	const char *prefix = type->size == 2 ? "u" : "U";
	value &= type->size == 1 ? 0xff : UINT32_MAX;
	if (type->size == 1 && type->name && strcmp(type->name, "char") != 0)
		xc_text_printf(text, "(%s)", type->name);
	else if (type->size > 1)
		xc_text_add(text, type->name && strcmp(type->name, "wchar_t") == 0 ? "L" : prefix);
	if (value >= 0x20 && value < 0x7f)
		xc_text_printf(text, value == '\'' || value == '\\' ? "'\\%c'" : "'%c'", (char)value);
	else if (value >= 7 && value <= 13)
		xc_text_printf(text, "'\\%c'", escapes[value - 7]);
	else
		xc_text_printf(text, value < 0x100 ? "'\\x%02x'" : "'\\u%04x'", (unsigned)value);
}

/* 5, 5U, -5L, (short)5: clang always shows the type in this way, and so do others where the parameter is `auto`. */
static void add_integer(struct xc_text *text, const struct xc_type *type, uint64_t value)
{
	static const char *const suffixes[][2] = {{"int", ""},         {"unsigned int", "U"},
						  {"long", "L"},       {"unsigned long", "UL"},
						  {"long long", "LL"}, {"unsigned long long", "ULL"}};
	const char *suffix = NULL;
	for (size_t i = 0; i < XC_COUNT(suffixes); i++) {
		if (type->name && strcmp(type->name, suffixes[i][0]) == 0)
			suffix = suffixes[i][1];
	}
	if (!suffix)
		xc_text_printf(text, "(%s)", xc_type_name(type));
	xc_text_printf(text, type->is_signed ? "%" PRId64 : "%" PRIu64, value);
	xc_text_add(text, suffix ? suffix : "");
}

static void add_value(struct xc_text *text, const struct xc_template *argument)
{
	const struct xc_type *type = xc_type_strip(argument->type);
	bool wide = type->kind == XC_TYPE_INT && type->name && strcmp(type->name, "wchar_t") == 0;
	if (!argument->has_value)
		xc_text_char(text, '?');
	else if (type->kind == XC_TYPE_BOOL)
		xc_text_add(text, argument->value ? "true" : "false");
	else if (type->kind == XC_TYPE_ENUM)
		add_enumerator(text, type, argument->value);
	else if (type->kind == XC_TYPE_CHAR || wide)
		add_character(text, type, argument->value);
	else if (type->kind == XC_TYPE_INT)
		add_integer(text, type, argument->value);
	else if (argument->value != 0)
		xc_text_printf(text, "0x%" PRIx64, argument->value);
	else
		xc_text_add(text, "nullptr");
}

/* Write one argument, or the elements of a pack; *count is the number written so far. */
static void add_argument(struct xc_types *types, struct xc_text *text, Dwarf_Die *die, size_t *count)
{
	if (dwarf_tag(die) == DW_TAG_GNU_template_parameter_pack) {
		Dwarf_Die child;
		for (bool more = xc_die_child(die, &child); more && *count < MAX_ARGUMENTS; more = xc_die_next(&child))
			if (xc_template_is_argument(dwarf_tag(&child)))
				add_argument(types, text, &child, count);
		return;
	}
	struct xc_template argument = xc_template_read(types, die, NULL, false);
	xc_text_add(text, (*count)++ ? ", " : "");
	if (argument.template_name)
		xc_text_add(text, argument.template_name);
	else if (argument.is_value)
		add_value(text, &argument);
	else
		xc_text_add(text, argument.type ? xc_type_name(argument.type) : "?");
}

static bool takes_arguments(Dwarf_Die *die, const char *name, Dwarf_Die *first_out)
{
	int tag = dwarf_tag(die);
	if ((tag != DW_TAG_class_type && tag != DW_TAG_structure_type && tag != DW_TAG_union_type) || strchr(name, '<'))
		return false;
	if (!xc_die_child(die, first_out))
		return false;
	tag = dwarf_tag(first_out);
	return xc_template_is_argument(tag) || tag == DW_TAG_GNU_template_parameter_pack;
}

const char *xc_template_name(struct xc_types *types, Dwarf_Die *die)
{
	const char *name = xc_die_name(die);
	Dwarf_Die child;
	if (!name || !takes_arguments(die, name, &child))
		return name;
	xc_auto(xc_text_fini) struct xc_text text = {0};
	size_t count = 0;
	int tag = dwarf_tag(&child);
	xc_text_printf(&text, "%s<", name);
	for (bool more = true; more && count < MAX_ARGUMENTS && text.len < MAX_NAME; more = xc_die_next(&child)) {
		tag = dwarf_tag(&child);
		if (!xc_template_is_argument(tag) && tag != DW_TAG_GNU_template_parameter_pack)
			break;
		add_argument(types, &text, &child, &count);
	}
	if (text.len >= MAX_NAME) {
		text.len = MAX_NAME;
		xc_text_add(&text, "...");
	}
	xc_text_add(&text, text.bytes[text.len - 1] == '>' ? " >" : ">");
	return xc_arena_strdup(types->arena, text.bytes);
}
