/* man: the manual page in mdoc(7), which both mandoc and groff read. Every text of the tables passes through flow() or
 * word(), so a dash can be copied as a dash and a leading dot is not a request. */
#include "cli/help.h"

#include <string.h>

/* The day of the last review, not of the build: builds must be reproducible. */
#define PAGE_DATE "November 20, 2026"

enum { LINE = 78 }; /* the source is read by people too, and mandoc's lint warns above 80 */

/* The escape of a character that is special to mdoc; NULL: it is not special. */
static const char *escaped(char c)
{
	return c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '"' ? "\\(dq" : NULL;
}

/* One word of len bytes. */
static void word(FILE *out, const char *text, size_t len)
{
	for (const char *c = text; c < text + len; c++)
		if (escaped(*c))
			fputs(escaped(*c), out);
		else
			fputc(*c, out);
}

static size_t width(const char *text, size_t len)
{
	size_t columns = 0;
	for (const char *c = text; c < text + len; c++)
		columns += escaped(*c) ? strlen(escaped(*c)) : 1;
	return columns;
}

/* True when a sentence ends with the word before `next`: mdoc wants a new line there, to space it rightly. */
static bool sentence_ends(char last, const char *next)
{
	return strchr(".?!", last) && *next >= 'A' && *next <= 'Z';
}

/* Running text, broken into source lines. */
static void flow(FILE *out, const char *text)
{
	size_t column = 0;
	char last = ' ';
	for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
		size_t len = strcspn(text, " \n"), columns = width(text, len);
		bool fresh = column == 0 || column + 1 + columns > LINE || sentence_ends(last, text);
		if (fresh && column)
			fputc('\n', out);
		else if (!fresh)
			fputc(' ', out);
		column = fresh ? columns : column + 1 + columns;
		if (fresh && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		word(out, text, len);
		last = text[len - 1];
		text += len;
	}
	fputc('\n', out);
}

/* An argument of a macro: quoted, since it may hold blanks and words that are macro names. */
static void argument(FILE *out, const char *text)
{
	fputs(" \"", out);
	for (; *text; text++)
		if (*text == '"')
			fputs("\"\"", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
	fputc('"', out);
}

/* Texts of the tables start in lower case and have no final stop. A first word with dots or dashes inside, or before
 * a colon or a bracket, is a name and keeps its case. */
static void sentence(FILE *out, const char *text)
{
	size_t len = strcspn(text, " ,;:");
	bool name = strcspn(text, "-.") < len || strncmp(text, "xcore", 5) == 0 || text[len] == ':' ||
		    strncmp(text + len, " (", 2) == 0;
	bool stopped = text[strlen(text) - 1] == '.';
	xc_auto(xc_freep) char *whole = xc_asprintf("%s%s", text, stopped ? "" : ".");
	if (!name && *whole >= 'a' && *whole <= 'z')
		*whole = (char)(*whole - 'a' + 'A');
	flow(out, whole);
}

static void paragraphs(FILE *out, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t len = end ? (size_t)(end - text) : strlen(text);
		xc_auto(xc_freep) char *one = xc_asprintf("%.*s", (int)len, text);
		fputs(".Pp\n", out);
		flow(out, one);
		text += len;
		text += strspn(text, "\n");
	}
}

static void options(FILE *out, const struct xc_option *option)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (; option->name; option++) {
		fputs(".It", out);
		if (option->letter)
			fprintf(out, " Fl %c ,", option->letter);
		fputs(" Fl \\-", out);
		word(out, option->name, strlen(option->name));
		if (option->value) {
			fputs(" Ar", out);
			argument(out, option->value);
		}
		fputc('\n', out);
		sentence(out, option->about);
	}
	fputs(".El\n", out);
}

static void examples(FILE *out, const struct xc_example *example)
{
	for (; example->line; example++) {
		fputs(".Pp\n", out);
		xc_auto(xc_freep) char *about = xc_asprintf("%s:", example->about);
		flow(out, about);
		fputs(".Dl ", out);
		word(out, example->line, strlen(example->line));
		fputc('\n', out);
	}
}

static void statuses(FILE *out, const char *const *texts)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; i < XC_COUNT(xc_help_statuses); i++) {
		fprintf(out, ".It %zu\n", i);
		sentence(out, texts[i]);
	}
	fputs(".El\n", out);
}

static void command(FILE *out, const struct xc_command *c)
{
	fprintf(out, ".Ss %s\n.Nm xcore\n.Cm", c->name);
	argument(out, c->name);
	fputs("\n.Op Ar OPTIONS\n", out);
	for (const struct xc_operand *o = c->operands; o && o->name; o++)
		fprintf(out, o->optional ? ".Op Ar %s%s\n" : ".Ar %s%s\n", o->name, o->many ? " ..." : "");
	fputs(".Pp\n", out);
	sentence(out, c->about);
	if (c->text)
		paragraphs(out, c->text);
	if (c->operands && c->operands->name) {
		fputs(".Bl -tag -width Ds\n", out);
		for (const struct xc_operand *o = c->operands; o->name; o++) {
			fprintf(out, ".It Ar %s\n", o->name);
			sentence(out, o->about);
		}
		fputs(".El\n", out);
	}
	if (c->options)
		options(out, c->options);
	if (c->own_common) {
		fputs(".Pp\nThese common options have a meaning of their own here:\n", out);
		options(out, c->own_common);
	}
	if (c->statuses) {
		fputs(".Pp\nExit status:\n", out);
		statuses(out, c->statuses);
	}
	if (c->examples)
		examples(out, c->examples);
}

static void front(FILE *out)
{
	fputs(".\\\" made by `xcore help --man` from the tables of the command line; do not edit\n"
	      ".Dd " PAGE_DATE "\n.Dt XCORE 1\n.Os\n.Sh NAME\n.Nm xcore\n"
	      ".Nd explain crashes and hangs, from a core file or a running process\n"
	      ".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar OPTIONS\n.Ar TARGET\n.Op Ar ARGUMENTS\n"
	      ".Sh DESCRIPTION\n.Nm\n"
	      "opens a core file or a running process, rebuilds its threads, stacks and\n"
	      "values from the debug information that it finds, and reports them as text,\n"
	      "JSON or HTML.\n"
	      "A running process is read only: it is never stopped, traced, signalled or\n"
	      "written to.\n.Pp\n.Ar TARGET\n"
	      "is a core file: plain, compressed by\n.Xr zstd 1 ,\n.Xr lz4 1 ,\n.Xr xz 1\nor\n.Xr gzip 1\n(seen from "
	      "its content, not its name), or made by\n"
	      ".Cm pack ;\nor\n.Ar pid:N ,\na running process.\n"
	      "Digits alone mean a process when no file has that name.\n"
	      "Options may stand anywhere;\n.Fl \\-\nends them.\n.Sh COMMANDS\n",
	      out);
}

void xc_man_write(FILE *out, const struct xc_command *const *all)
{
	front(out);
	for (const struct xc_command *const *c = all; *c; c++)
		command(out, *c);
	fputs(".Sh OPTIONS\nEvery command accepts these options.\n", out);
	options(out, xc_common_options);
	fputs(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n"
	      ".It Ev CI\nWhen this is\n.Dq true ,\nreports are redacted unless\n.Fl \\-no\\-redact\nis given.\n"
	      ".It Ev DEBUGINFOD_URLS\nThe debuginfod servers; used only with\n.Fl \\-debuginfod .\n"
	      ".It Ev NO_COLOR\nWhen set and not empty, colours are off unless\n.Fl \\-color\nturns them on.\n"
	      ".It Ev XCORE_SYMBOLS\nThe directory of the symbol store, as\n.Fl \\-store\nselects it; empty for none.\n"
	      ".It Ev XDG_CACHE_HOME\nThe parent of the cache directory;\n.Pa ~/.cache\nby default.\n"
	      ".It Ev XDG_DATA_HOME\nThe parent of the symbol store and of the user's plugins;\n.Pa ~/.local/share\nby "
	      "default.\n.El\n"
	      ".Sh EXIT STATUS\n",
	      out);
	statuses(out, xc_help_statuses);
	fputs(".Sh SEE ALSO\n.Xr gdb 1 ,\n.Xr zstd 1 ,\n.Xr core 5 ,\n.Xr elf 5\n", out);
}
