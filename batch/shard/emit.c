/* emit: the file is made in memory first, so that no incomplete one is written. Only the template is searched for
 * @names@, never the inserted text. */
#include "batch/shard/emit.h"

#include <errno.h>
#include <string.h>

#include "core/base/embed.h"
#include "core/base/text.h"
#include "batch/shard/part.h"
#include "batch/run/records.h"

XC_EMBED(xc_emit_slurm, "batch/shard/emit/slurm");
XC_EMBED(xc_emit_parallel, "batch/shard/emit/parallel");
XC_EMBED(xc_emit_k8s, "batch/shard/emit/k8s");
XC_EMBED(xc_emit_make, "batch/shard/emit/make");

const char *const xc_emit_systems[] = {"slurm", "parallel", "k8s", "make", NULL};

/* Memory besides the workers: the process that starts them and writes the records. */
enum { OWN_MEMORY = 512 };

struct emission {
	const struct xc_emit *emit;
	const struct language *language;
	struct xc_text text;
	struct xc_error *err; /* about the first word that cannot be written */
};

struct language {
	const char *system, *template;
	const char *between;                                /* separator of the words in a list */
	void (*word)(struct emission *e, const char *word); /* writes a quoted word */
	unsigned jobs;                                      /* the default */
	const char *dollar;                                 /* a literal '$' */
};

/* ---- words ---- */

static void refuse(struct emission *e, const char *word, const char *why)
{
	struct xc_text name = {0};
	xc_text_name(&name, word);
	if (!e->err)
		e->err = xc_error_new(XC_ERR_USAGE, "--emit %s: '%s' %s", e->language->system, xc_text_string(&name),
				      why);
	xc_text_fini(&name);
}

static bool is_plain(const char *word)
{
	return *word && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./=:,+@%")];
}

/* The number of bytes in a word that must be written by number, so that the file is text and has no terminal control
 * sequences. A newline is text. */
static size_t numbered_length(const char *word, const char *end)
{
	size_t len = 0;
	while (word + len < end && word[len] != '\n' && !xc_text_plain_length(word + len, (size_t)(end - word) - len))
		len++;
	return len;
}

/* For sh, which lacks $'…'. The inserted text does not end with a newline, which a substitution would drop. */
static void add_numbered(struct emission *e, const char *bytes, size_t len)
{
	xc_text_printf(&e->text, "'\"%s(printf '", e->language->dollar);
	for (size_t i = 0; i < len; i++)
		xc_text_printf(&e->text, "\\%03o", (unsigned char)bytes[i]);
	xc_text_add(&e->text, "')\"'");
}

/* Inside single quotes only a single quote is special. */
static void shell_word(struct emission *e, const char *word)
{
	const char *end = word + strlen(word);
	if (is_plain(word)) {
		xc_text_add(&e->text, word);
		return;
	}
	xc_text_char(&e->text, '\'');
	while (word < end) {
		const size_t plain = xc_text_plain_length(word, (size_t)(end - word));
		const size_t numbered = numbered_length(word, end);
		if (numbered)
			add_numbered(e, word, numbered);
		else if (*word == '\'')
			xc_text_add(&e->text, "'\\''");
		else if (*word == '$')
			xc_text_add(&e->text, e->language->dollar);
		else
			xc_text_addn(&e->text, word, plain ? plain : 1);
		word += numbered ? numbered : plain ? plain : 1;
	}
	xc_text_char(&e->text, '\'');
}

/* A recipe line is for the shell, but make expands its own variables first, even inside quotes. */
static void recipe_word(struct emission *e, const char *word)
{
	if (strchr(word, '\n'))
		refuse(e, word, "has a line break, which a recipe cannot hold");
	shell_word(e, word);
}

/* A double-quoted YAML scalar. In args, Kubernetes also replaces $(NAME), and $$ by $. */
static void yaml_word(struct emission *e, const char *word)
{
	const char *at = word, *end = word + strlen(word);
	xc_text_char(&e->text, '"');
	while (at < end) {
		const size_t plain = xc_text_plain_length(at, (size_t)(end - at));
		const unsigned char c = (unsigned char)*at;
		if (c == '$')
			xc_text_add(&e->text, "$$");
		else if (c == '"' || c == '\\')
			xc_text_printf(&e->text, "\\%c", c);
		else if (plain)
			xc_text_addn(&e->text, at, plain);
		else if (c < 0x80)
			xc_text_printf(&e->text, "\\x%02X", c);
		else
			refuse(e, word, "has characters that are not text");
		at += plain ? plain : 1;
	}
	xc_text_char(&e->text, '"');
}

static const struct language languages[] = {
	{"slurm", xc_emit_slurm, " ", shell_word, 4, "$"},
	{"parallel", xc_emit_parallel, " ", shell_word, 1, "$"},
	{"k8s", xc_emit_k8s, ", ", yaml_word, 4, NULL},
	{"make", xc_emit_make, " ", recipe_word, 1, "$$"},
};

/* ---- placeholders ---- */

static void add_words(struct emission *e, const struct xc_wordlist *words)
{
	for (size_t i = 0; i < words->count; i++) {
		e->language->word(e, words->items[i]);
		xc_text_add(&e->text, e->language->between);
	}
}

/* Ends the options, whatever the operands look like. */
static void add_dashes(struct emission *e)
{
	e->language->word(e, "--");
}

static unsigned jobs_of(const struct emission *e)
{
	return e->emit->jobs ? e->emit->jobs : e->language->jobs;
}

static void add_shards(struct emission *e)
{
	xc_text_printf(&e->text, "%u", e->emit->shards);
}

static void add_jobs(struct emission *e)
{
	xc_text_printf(&e->text, "%u", jobs_of(e));
}

static void add_memory(struct emission *e)
{
	xc_text_printf(&e->text, "%llu", (unsigned long long)jobs_of(e) * e->emit->memory + OWN_MEMORY);
}

/* With two to four shards per node, a node runs about one at a time. */
static void add_parallelism(struct emission *e)
{
	xc_text_printf(&e->text, "%u", e->emit->shards / 3 + 1);
}

static void add_cores(struct emission *e)
{
	add_words(e, &e->emit->examine);
	add_dashes(e);
	for (size_t i = 0; i < e->emit->operands.count; i++) {
		xc_text_add(&e->text, e->language->between);
		e->language->word(e, e->emit->operands.items[i]);
	}
}

static void add_merge(struct emission *e)
{
	add_words(e, &e->emit->merge);
	add_dashes(e);
}

static void add_suffix(struct emission *e)
{
	xc_text_add(&e->text, e->emit->suffix);
}

/* As in the names of parts. */
static void add_of(struct emission *e)
{
	xc_text_printf(&e->text, "%05u", e->emit->shards);
}

static void add_parts(struct emission *e)
{
	for (unsigned i = 0; i < e->emit->shards; i++) {
		xc_auto(xc_freep) char *name = xc_part_name(i, e->emit->shards);
		xc_text_printf(&e->text, " \\\n\t$(OUT)/%s", name);
	}
}

/* Other cores have another plan, which a reused directory may still hold. Lists are read on the day the job runs. */
static void add_plan(struct emission *e)
{
	struct xc_text operands = {0};
	for (size_t i = 0; i < e->emit->operands.count; i++)
		xc_text_addn(&operands, e->emit->operands.items[i], strlen(e->emit->operands.items[i]) + 1);
	xc_auto(xc_freep) char *hash = xc_records_hash(operands.bytes, operands.len);
	xc_text_printf(&e->text, "plan-%.8s", hash);
	xc_text_fini(&operands);
}

static void add_lists(struct emission *e)
{
	for (size_t i = 0; i < e->emit->operands.count; i++)
		if (*e->emit->operands.items[i] == '@') {
			e->language->word(e, e->emit->operands.items[i] + 1);
			xc_text_add(&e->text, e->language->between);
		}
}

static const struct place {
	const char *name;
	void (*add)(struct emission *e);
} places[] = {
	{"@shards@", add_shards}, {"@jobs@", add_jobs},   {"@memory@", add_memory},
	{"@cores@", add_cores},   {"@merge@", add_merge}, {"@parallelism@", add_parallelism},
	{"@of@", add_of},         {"@parts@", add_parts}, {"@suffix@", add_suffix},
	{"@plan@", add_plan},     {"@lists@", add_lists},
};

static const struct place *place_at(const char *text)
{
	for (size_t i = 0; i < XC_COUNT(places); i++)
		if (!strncmp(text, places[i].name, strlen(places[i].name)))
			return &places[i];
	return NULL;
}

static void fill(struct emission *e)
{
	for (const char *at = e->language->template; *at;) {
		const struct place *place = *at == '@' ? place_at(at) : NULL;
		if (place)
			place->add(e);
		else
			xc_text_char(&e->text, *at);
		at += place ? strlen(place->name) : 1;
	}
}

struct xc_error *xc_emit_write(const char *system, const struct xc_emit *emit, FILE *out)
{
	struct emission e = {.emit = emit, .language = languages};
	while (strcmp(e.language->system, system) != 0)
		e.language++;
	for (size_t i = 0; i < emit->operands.count; i++)
		if (!strcmp(emit->operands.items[i], "-") || !strcmp(emit->operands.items[i], "@-"))
			refuse(&e, emit->operands.items[i],
			       "is standard input, which only one process has: name a file with @");
	fill(&e);
	if (!e.err && fwrite(e.text.bytes, 1, e.text.len, out) != e.text.len)
		e.err = xc_error_errno(errno, "writing a job file");
	xc_text_fini(&e.text);
	return e.err;
}
