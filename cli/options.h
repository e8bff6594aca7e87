/* options: tables of options, and the parser that reads the command line by them.
 *
 * A table is a const array that ends with an entry without a name. The parser takes from it where a value is stored
 * (an offset into a settings struct); help, the man page and the shell completions take their texts from it, so they
 * cannot disagree. Options may appear anywhere among the operands; `--` ends them. */
#ifndef XC_OPTIONS_H
#define XC_OPTIONS_H

#include "core/base/arena.h"
#include "core/base/error.h"

/* A switch records whether it was given, so that a default may depend on the command. */
enum xc_switch { XC_UNSET, XC_ON, XC_OFF };

static inline bool xc_switch_or(enum xc_switch given, bool otherwise)
{
	return given == XC_UNSET ? otherwise : given == XC_ON;
}

/* Values of an option that may be repeated; borrowed from argv. */
struct xc_words {
	const char **items;
	size_t count, capacity;
};

enum xc_option_kind {
	XC_OPTION_ON,     /* enum xc_switch = XC_ON */
	XC_OPTION_OFF,    /* enum xc_switch = XC_OFF; may share its field with an XC_OPTION_ON */
	XC_OPTION_TEXT,   /* const char *; the last one given counts */
	XC_OPTION_CHOICE, /* const char *, one of `words` */
	XC_OPTION_NUMBER, /* unsigned, between min and max */
	XC_OPTION_LIST,   /* struct xc_words */
};

/* What the shell completes for a value or an operand. */
enum xc_complete { XC_COMPLETE_NONE, XC_COMPLETE_FILE, XC_COMPLETE_DIR, XC_COMPLETE_TARGET, XC_COMPLETE_COMMAND };

struct xc_option {
	const char *name; /* without the dashes */
	char letter;      /* its short form, or 0 */
	enum xc_option_kind kind;
	size_t offset;            /* of its field in the settings */
	const char *value;        /* the name of its value: "FILE"; NULL for switches */
	const char *about;        /* one sentence, lower case, no final stop */
	const char *const *words; /* CHOICE: the values allowed; else values to complete, or NULL; ends with NULL */
	unsigned min, max;        /* NUMBER */
	enum xc_complete complete;
};

/* Rows of a table of options; member is a field of the command's struct settings. */
#define XC_SWITCH_OPTION(name_, kind_, member, text)                                                                   \
	{                                                                                                              \
		.name = name_, .kind = kind_, .offset = offsetof(struct settings, member), .about = text               \
	}
#define XC_ON_OPTION(name_, member, text)  XC_SWITCH_OPTION(name_, XC_OPTION_ON, member, text)
#define XC_OFF_OPTION(name_, member, text) XC_SWITCH_OPTION(name_, XC_OPTION_OFF, member, text)

/* A number N; the name of the option is that of the field. */
#define XC_NUMBER_OPTION(name_, least, most, text)                                                                     \
	{                                                                                                              \
		.name = #name_, .kind = XC_OPTION_NUMBER, .offset = offsetof(struct settings, name_), .value = "N",    \
		.about = text, .min = least, .max = most                                                               \
	}

/* A table and the struct that its offsets point into. */
struct xc_option_set {
	const struct xc_option *table;
	void *settings;
};

/* Read argv[1…] into `count` sets; an option is looked up in each set in turn. All other words go to `operands`, in
 * order. Errors: XC_ERR_USAGE, with a hint that names the nearest option. */
XC_MUST_CHECK struct xc_error *xc_options_parse(int argc, char *const *argv, const struct xc_option_set *sets,
						size_t count, struct xc_words *operands);

/* The same, but after `after` operands an option that is in no set is an operand: it belongs to the script that is
 * run. */
XC_MUST_CHECK struct xc_error *xc_options_parse_until(int argc, char *const *argv, const struct xc_option_set *sets,
						      size_t count, size_t after, struct xc_words *operands);

/* The option with this name (len bytes), or NULL. */
const struct xc_option *xc_options_named(const struct xc_option *table, const char *name, size_t len);
const struct xc_option *xc_options_lettered(const struct xc_option *table, char letter);
bool xc_option_takes_value(const struct xc_option *option);

/* Append the option with this name to `words` as it was given on the command line ("--timeout=30"; one word for each
 * value of a list). The strings are the arena's. Appends nothing when the set has no such option, or when the option
 * has its default value: zero bytes, for a number the value in `defaults` (settings before parsing; NULL: all zero). */
void xc_options_given(const struct xc_option_set *set, const void *defaults, const char *name, struct xc_arena *arena,
		      struct xc_words *words);

void xc_words_add(struct xc_words *words, const char *word);
void xc_words_fini(struct xc_words *words);

/* Read all of `text` as an unsigned number, decimal or 0x hexadecimal. False: it is not a number, or larger than
 * max. */
bool xc_options_number(const char *text, uint64_t max, uint64_t *number_out);

#endif
