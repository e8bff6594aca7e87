/* values: the options about how values are shown, of commands that show them. */
#ifndef XC_CLI_VALUES_H
#define XC_CLI_VALUES_H

#include "dwarf/format/format.h"
#include "cli/options.h"

/* Part of the settings of a command. Numbers are 0 when not given. */
struct xc_value_settings {
	unsigned depth, elements, length;
	enum xc_switch raw;
};

#define XC_VALUE_NUMBER(member, name_, most, text)                                                                     \
	{                                                                                                              \
		.name = #name_, .kind = XC_OPTION_NUMBER, .offset = offsetof(struct settings, member.name_),           \
		.value = "N", .about = text, .min = 1, .max = most                                                     \
	}

/* --raw, --depth, --elements, --length; `member` is the struct xc_value_settings in the command's settings. */
#define XC_RAW_OPTION(member)                                                                                          \
	XC_ON_OPTION("raw", member.raw, "show containers of C++ and Rust by their members instead of their elements")
#define XC_DEPTH_OPTION(member, usual)                                                                                 \
	XC_VALUE_NUMBER(member, depth, 100, "expand nested structs at most N levels deep; default: " usual)
#define XC_ELEMENTS_OPTION(member)                                                                                     \
	XC_VALUE_NUMBER(member, elements, 1000000,                                                                     \
			"show at most N elements of an array or characters of a string; default: 200")
#define XC_LENGTH_OPTION(member, most, text) XC_VALUE_NUMBER(member, length, most, text)

/* Set the fields of `format` that the options give. */
void xc_value_settings_apply(const struct xc_value_settings *settings, struct xc_format_options *format);

#endif
