/* framerules_text: reads line by line. Conditions are taken off the end of a line, so names before them may contain
 * blanks. */
#include "batch/signature/framerules_impl.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "batch/record/normalise.h"

enum { MAX_LINE = 4096 };

#define FIRST "# xcore frames "

static const char *const sections[] = {"SKIP-ABOVE", "RAISE", "SKIP", "STOP", "APP", "NOT-APP"};

struct reader {
	struct xc_arena *arena;
	struct xc_framerule_line line; /* the heading's section and conditions */
	bool headed, lists_sets;
	struct xc_framerule_sets *sets;
	void (*add)(void *user, const struct xc_framerule_line *line);
	void *user;
};

const char *xc_framerules_section(enum xc_frame_section section)
{
	return sections[section];
}

/* Examples of correct lines. */
static const char heading_form[] =
	"a heading is [SKIP], or with conditions for all of its rules [SKIP module=libapp.so*]; "
	"there are SKIP-ABOVE, RAISE, SKIP, STOP, APP, NOT-APP and MODULES",
		  rule_form[] = "a line [SKIP], then a line for each function: my_alloc*, or in some modules only: "
				"my_alloc* module=libapp.so*|libutil.so*",
		  set_form[] = "below [MODULES] a set of modules is named: @mine libapp.so*|libutil.so*; rules then "
			       "have module=@mine",
		  language_form[] = "language=c, c++, go or rust; language=c|c++ for several";

static struct xc_error *bad(const struct reader *r, const char *what, const char *word)
{
	return xc_error_new(XC_ERR_FORMAT, "%s:%u: %s: %s", r->line.file, r->line.number, what, word);
}

static struct xc_error *misformed(const struct reader *r, const char *what, const char *word, const char *form)
{
	return xc_error_hint(bad(r, what, word), "%s", form);
}

static const char *set_named(const struct reader *r, const char *name, size_t len)
{
	for (size_t i = r->sets->count; i-- > 0;)
		if (strlen(r->sets->sets[i].name) == len && memcmp(r->sets->sets[i].name, name, len) == 0)
			return r->sets->sets[i].modules;
	return NULL;
}

/* The alternatives, with each "@set" replaced by the set's own. */
static struct xc_error *modules_of(const struct reader *r, const char *text, const char **modules_out)
{
	struct xc_text all = {0};
	struct xc_error *err = NULL;
	for (const char *at = text; *at && !err;) {
		size_t len = strcspn(at, "|");
		const char *set = *at == '@' ? set_named(r, at, len) : NULL;
		if (*at == '@' && !set)
			err = misformed(r, "no such set of modules", at, set_form);
		if (all.len)
			xc_text_char(&all, '|');
		xc_text_addn(&all, set ? set : at, set ? strlen(set) : len);
		at += len + (at[len] == '|');
	}
	*modules_out = xc_arena_strdup(r->arena, xc_text_string(&all));
	xc_text_fini(&all);
	return err;
}

static struct xc_error *languages_of(const struct reader *r, const char *text, unsigned *languages_out)
{
	*languages_out = 0;
	for (const char *at = text; *at;) {
		size_t len = strcspn(at, "|");
		enum xc_language language;
		if (!xc_language_named(at, len, &language))
			return misformed(r, "no such language", at, language_form);
		*languages_out |= 1u << language;
		at += len + (at[len] == '|');
	}
	return *languages_out ? NULL : misformed(r, "no such language", text, language_form);
}

static char *last_word(char *text)
{
	char *word = text;
	for (char *at = text; *at; at++)
		if (*at == ' ' || *at == '\t')
			word = at + 1;
	return word;
}

/* Takes "module=…", "path=…", "path!=…" and "language=…" off the end of the text. */
static struct xc_error *conditions(const struct reader *r, char *text, struct xc_framerule_line *line)
{
	for (;;) {
		char *word = last_word(text);
		struct xc_error *err = NULL;
		if (strncmp(word, "module=", 7) == 0)
			err = modules_of(r, word + 7, &line->modules);
		else if (strncmp(word, "path=", 5) == 0)
			line->paths = xc_arena_strdup(r->arena, word + 5);
		else if (strncmp(word, "path!=", 6) == 0)
			line->other_paths = xc_arena_strdup(r->arena, word + 6);
		else if (strncmp(word, "language=", 9) == 0)
			err = languages_of(r, word + 9, &line->languages);
		else
			return NULL;
		*word = '\0';
		xc_text_trim(text);
		if (err || !*text)
			return err;
	}
}

static struct xc_error *heading(struct reader *r, char *text)
{
	struct xc_framerule_line line = {.file = r->line.file, .number = r->line.number};
	char *end = strrchr(text, ']');
	if (!end || end[1])
		return misformed(r, "a heading without its ']'", text, heading_form);
	*end = '\0';
	text = xc_text_trim(text + 1);
	struct xc_error *err = conditions(r, text, &line);
	if (err)
		return err;
	r->headed = true;
	r->lists_sets = strcmp(text, "MODULES") == 0;
	r->line = line;
	for (size_t i = 0; i < XC_COUNT(sections); i++)
		if (strcmp(text, sections[i]) == 0) {
			r->line.section = (enum xc_frame_section)i;
			return NULL;
		}
	return r->lists_sets ? NULL : misformed(r, "no such section", text, heading_form);
}

static struct xc_error *set_line(struct reader *r, char *text)
{
	size_t len = strcspn(text, " \t");
	char *modules = xc_text_trim(text + len);
	if (*text != '@' || !*modules || strpbrk(modules, " \t@"))
		return misformed(r, "not a set of modules", text, set_form);
	if (r->sets->count == XC_COUNT(r->sets->sets))
		return bad(r, "too many sets", text);
	size_t at = r->sets->count++;
	r->sets->sets[at].name = xc_arena_strndup(r->arena, text, len);
	r->sets->sets[at].modules = xc_arena_strdup(r->arena, modules);
	return NULL;
}

static size_t brackets_in(const char *name)
{
	size_t count = 0;
	for (; *name; name++)
		count += *name == '(';
	return count;
}

/* Names are normalised before they are compared, so such a rule would never match. Go receivers and "operator()" are
 * not parameters. */
static bool has_parameters(const struct reader *r, const char *name)
{
	size_t count = brackets_in(name);
	return count && brackets_in(xc_normalise_name(name, r->arena)) < count &&
	       brackets_in(xc_normalise_go_name(name, r->arena)) < count;
}

static struct xc_error *rule_line(struct reader *r, char *text)
{
	struct xc_framerule_line line = r->line;
	struct xc_error *err = conditions(r, text, &line);
	if (err)
		return err;
	if (!*text)
		return misformed(r, "conditions without a name", "use * for all names", "* module=libapp.so*");
	if (has_parameters(r, text))
		return bad(r, "names of functions are compared without parameters: leave them out", text);
	line.pattern = xc_arena_strdup(r->arena, text);
	r->add(r->user, &line);
	return NULL;
}

static struct xc_error *version(const struct reader *r, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	if (!digits || text[digits])
		return bad(r, "the version of the rules is not a number", text);
	if (strtoul(text, NULL, 10) > XC_FRAMES_VERSION)
		return bad(r, "a later version of the rules than this xcore supports", text);
	return NULL;
}

/* Removes a comment: everything from a '#' at the beginning of a word. */
static void cut_comment(char *text)
{
	for (char *at = text; *at; at++)
		if (*at == '#' && (at == text || at[-1] == ' ' || at[-1] == '\t')) {
			*at = '\0';
			break;
		}
	xc_text_trim(text);
}

static struct xc_error *read_line(struct reader *r, char *text)
{
	text = xc_text_trim(text);
	if (r->line.number == 1 && xc_begins_with(text, FIRST))
		return version(r, text + strlen(FIRST));
	cut_comment(text);
	if (!*text)
		return NULL;
	if (*text == '[')
		return heading(r, text);
	if (!r->headed)
		return misformed(r, "a rule before the first heading", text, rule_form);
	return r->lists_sets ? set_line(r, text) : rule_line(r, text);
}

/* Reads one line of the text, without its end. */
static struct xc_error *copy_line(struct reader *r, const char *at, size_t len)
{
	char line[MAX_LINE];
	if (len >= sizeof line || memchr(at, '\0', len))
		return bad(r, "not a line of text", "too long, or with a NUL");
	memcpy(line, at, len);
	line[len] = '\0';
	return read_line(r, line);
}

struct xc_error *xc_framerules_text(const char *text, size_t len, const char *name, struct xc_arena *arena,
				    struct xc_framerule_sets *sets,
				    void (*add)(void *user, const struct xc_framerule_line *line), void *user)
{
	struct reader r = {.arena = arena, .line.file = name, .sets = sets, .add = add, .user = user};
	struct xc_error *err = NULL;
	for (const char *at = text, *end = text + len; at < end && !err;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		r.line.number++;
		err = copy_line(&r, at, (size_t)((newline ? newline : end) - at));
		at = newline ? newline + 1 : end;
	}
	return err;
}
