/* options: getopt_long is not used: it accepts abbreviated names (a script would break when a longer option is
 * added), prints its own messages, and its tables hold neither help nor destinations. */
#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/text/suggest.h"

void xc_words_add(struct xc_words *words, const char *word)
{
	words->items = xc_grow(words->items, words->count, &words->capacity, sizeof *words->items);
	words->items[words->count++] = word;
}

void xc_words_fini(struct xc_words *words)
{
	free(words->items);
	*words = (struct xc_words){0};
}

const struct xc_option *xc_options_named(const struct xc_option *table, const char *name, size_t len)
{
	for (; table && table->name; table++)
		if (strncmp(table->name, name, len) == 0 && !table->name[len])
			return table;
	return NULL;
}

const struct xc_option *xc_options_lettered(const struct xc_option *table, char letter)
{
	for (; table && table->name; table++)
		if (table->letter && table->letter == letter)
			return table;
	return NULL;
}

bool xc_option_takes_value(const struct xc_option *option)
{
	return option->kind != XC_OPTION_ON && option->kind != XC_OPTION_OFF;
}

bool xc_options_number(const char *text, uint64_t max, uint64_t *number_out)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	size_t len = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
	if (!len || digits[len])
		return false;
	errno = 0;
	unsigned long long number = strtoull(digits, NULL, hex ? 16 : 10);
	if (errno || number > max)
		return false;
	*number_out = number;
	return true;
}

static void add_given(const struct xc_option *option, const char *value, struct xc_arena *arena, struct xc_words *words)
{
	xc_auto(xc_freep) char *word = xc_asprintf("--%s%s%s", option->name, value ? "=" : "", value ? value : "");
	xc_words_add(words, xc_arena_strdup(arena, word));
}

static void add_number(const struct xc_option *option, unsigned value, unsigned usual, struct xc_arena *arena,
		       struct xc_words *words)
{
	char number[16];
	snprintf(number, sizeof number, "%u", value);
	if (value != usual)
		add_given(option, number, arena, words);
}

void xc_options_given(const struct xc_option_set *set, const void *defaults, const char *name, struct xc_arena *arena,
		      struct xc_words *words)
{
	const struct xc_option *option = xc_options_named(set->table, name, strlen(name));
	const void *field = option ? (const char *)set->settings + option->offset : NULL;
	const void *usual = option && defaults ? (const char *)defaults + option->offset : NULL;
	if (!option)
		return;
	switch (option->kind) {
	case XC_OPTION_ON:
	case XC_OPTION_OFF:
		if (*(const enum xc_switch *)field == (option->kind == XC_OPTION_ON ? XC_ON : XC_OFF))
			add_given(option, NULL, arena, words);
		break;
	case XC_OPTION_TEXT:
	case XC_OPTION_CHOICE:
		if (*(const char *const *)field)
			add_given(option, *(const char *const *)field, arena, words);
		break;
	case XC_OPTION_NUMBER:
		add_number(option, *(const unsigned *)field, usual ? *(const unsigned *)usual : 0, arena, words);
		break;
	case XC_OPTION_LIST:
		for (size_t i = 0; i < ((const struct xc_words *)field)->count; i++)
			add_given(option, ((const struct xc_words *)field)->items[i], arena, words);
		break;
	}
}

static struct xc_error *check_choice(const struct xc_option *option, const char *value)
{
	struct xc_text list = {0};
	for (const char *const *word = option->words; *word; word++) {
		if (strcmp(*word, value) == 0) {
			xc_text_fini(&list);
			return NULL;
		}
		xc_text_printf(&list, "%s%s", list.len ? ", " : "", *word);
	}
	struct xc_error *err =
		xc_error_new(XC_ERR_USAGE, "--%s: '%s' is not one of %s", option->name, value, xc_text_string(&list));
	xc_text_fini(&list);
	return err;
}

static struct xc_error *store_number(const struct xc_option *option, unsigned *field, const char *value)
{
	uint64_t number;
	if (!xc_options_number(value, option->max, &number) || number < option->min)
		return xc_error_new(XC_ERR_USAGE, "--%s: '%s' is not a number from %u to %u", option->name, value,
				    option->min, option->max);
	*field = (unsigned)number;
	return NULL;
}

static struct xc_error *store(const struct xc_option *option, void *settings, const char *value)
{
	void *field = (char *)settings + option->offset;
	struct xc_error *err = NULL;
	switch (option->kind) {
	case XC_OPTION_ON:
		*(enum xc_switch *)field = XC_ON;
		break;
	case XC_OPTION_OFF:
		*(enum xc_switch *)field = XC_OFF;
		break;
	case XC_OPTION_CHOICE:
		if ((err = check_choice(option, value)))
			return err;
		*(const char **)field = value;
		break;
	case XC_OPTION_TEXT:
		*(const char **)field = value;
		break;
	case XC_OPTION_NUMBER:
		return store_number(option, field, value);
	case XC_OPTION_LIST:
		xc_words_add(field, value);
		break;
	}
	return NULL;
}

/* The state of the parser. */
struct reader {
	int argc, at;
	char *const *argv;
	const struct xc_option_set *sets;
	size_t set_count;
};

static struct xc_error *unknown(const struct reader *r, const char *name, size_t len)
{
	xc_auto(xc_freep) char *wrong = xc_asprintf("%.*s", (int)len, name);
	struct xc_suggestion near = xc_suggest(wrong);
	for (size_t i = 0; i < r->set_count; i++)
		for (const struct xc_option *o = r->sets[i].table; o && o->name; o++)
			xc_suggest_consider(&near, o->name);
	struct xc_error *err = xc_error_new(XC_ERR_USAGE, "unknown option --%s", wrong);
	return near.best ? xc_error_hint(err, "did you mean --%s?", near.best) : err;
}

static const struct xc_option *find(const struct reader *r, const char *name, size_t len, bool letter,
				    void **settings_out)
{
	for (size_t i = 0; i < r->set_count; i++) {
		const struct xc_option *table = r->sets[i].table;
		const struct xc_option *o =
			letter ? xc_options_lettered(table, *name) : xc_options_named(table, name, len);
		if (o) {
			*settings_out = r->sets[i].settings;
			return o;
		}
	}
	return NULL;
}

/* The value of an option that needs one: the rest of its word, or the next word. */
static struct xc_error *value_of(struct reader *r, const struct xc_option *option, const char *attached,
				 const char **value_out)
{
	if (!attached && r->at + 1 >= r->argc)
		return xc_error_new(XC_ERR_USAGE, "--%s needs a value: %s", option->name, option->value);
	*value_out = attached ? attached : r->argv[++r->at];
	if (!**value_out)
		return xc_error_new(XC_ERR_USAGE, "--%s: the value is empty", option->name);
	return NULL;
}

static struct xc_error *read_long(struct reader *r, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	void *settings;
	const struct xc_option *option = find(r, word, len, false, &settings);
	if (!option)
		return unknown(r, word, len);
	const char *value = NULL;
	if (!xc_option_takes_value(option)) {
		if (equals)
			return xc_error_new(XC_ERR_USAGE, "--%s takes no value", option->name);
	} else {
		struct xc_error *err = value_of(r, option, equals ? equals + 1 : NULL, &value);
		if (err)
			return err;
	}
	return store(option, settings, value);
}

/* -q -o FILE -oFILE -qo FILE */
static struct xc_error *read_letters(struct reader *r, const char *letters)
{
	for (; *letters; letters++) {
		void *settings;
		const struct xc_option *option = find(r, letters, 1, true, &settings);
		if (!option)
			return xc_error_hint(xc_error_new(XC_ERR_USAGE, "unknown option -%c", *letters),
					     "put arguments that start with a dash after --");
		const char *value = NULL;
		struct xc_error *err;
		bool takes = xc_option_takes_value(option);
		if ((takes && (err = value_of(r, option, letters[1] ? letters + 1 : NULL, &value))) ||
		    (err = store(option, settings, value)))
			return err;
		if (takes)
			break;
	}
	return NULL;
}

/* Is this word an option that is in no set? Of several letters the first decides. */
static bool is_foreign(const struct reader *r, const char *word)
{
	void *settings;
	bool letter = word[1] != '-';
	const char *name = word + (letter ? 1 : 2);
	return !find(r, name, letter ? 1 : strcspn(name, "="), letter, &settings);
}

/* A lone dash is an operand, and so is a word that starts with a negative number (-7 / 2). */
static bool is_operand(const char *word)
{
	return word[0] != '-' || !word[1] || (word[1] >= '0' && word[1] <= '9');
}

struct xc_error *xc_options_parse_until(int argc, char *const *argv, const struct xc_option_set *sets, size_t count,
					size_t after, struct xc_words *operands)
{
	struct reader r = {argc, 1, argv, sets, count};
	bool options_ended = false;
	for (; r.at < argc; r.at++) {
		const char *word = argv[r.at];
		struct xc_error *err = NULL;
		if (options_ended || is_operand(word))
			xc_words_add(operands, word);
		else if (strcmp(word, "--") == 0)
			options_ended = true;
		else if (operands->count >= after && is_foreign(&r, word))
			xc_words_add(operands, word);
		else
			err = word[1] == '-' ? read_long(&r, word + 2) : read_letters(&r, word + 1);
		if (err)
			return err;
	}
	return NULL;
}

struct xc_error *xc_options_parse(int argc, char *const *argv, const struct xc_option_set *sets, size_t count,
				  struct xc_words *operands)
{
	return xc_options_parse_until(argc, argv, sets, count, SIZE_MAX, operands);
}
