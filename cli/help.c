/* help: two columns, names and descriptions, wrapped to the width of the terminal. */
#include "cli/help.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/text.h"

enum { NAME_COLUMN = 24, DEFAULT_WIDTH = 100, LEAST_WIDTH = 60 };

const char *const xc_help_statuses[6] = {
	"success: a report was produced, even if the core is damaged",
	"a --fail-on condition was met, or a case of `plugin test` failed",
	"the command line is invalid",
	"--strict was given and something is missing",
	("the target or a file given on the command line cannot be opened, read or written, does not respond, or "
	 "does not match; or the target does not contain what was asked for"),
	"internal error",
};

static size_t width_of(FILE *out)
{
	struct winsize size;
	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return DEFAULT_WIDTH;
	return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col > DEFAULT_WIDTH ? DEFAULT_WIDTH : size.ws_col;
}

/* Print the words of `text` from column `at` on; continuation lines are indented to `indent`. An empty line separates
 * paragraphs. */
static void wrap(FILE *out, const char *text, size_t at, size_t indent)
{
	size_t width = width_of(out), column = at;
	bool first = true;
	while (*text) {
		size_t len = strcspn(text, " \n");
		if (!first && column + 1 + len > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first && column > indent) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)len, text);
		column += len;
		first = false;
		text += len;
		if (strncmp(text, "\n\n", 2) == 0) {
			fprintf(out, "\n\n%*s", (int)indent, "");
			column = indent;
		}
		text += strspn(text, " \n");
	}
	fputc('\n', out);
}

/* A name and its description, side by side, or below each other when the name is long. */
static void entry(FILE *out, const char *name, const char *about)
{
	fprintf(out, "  %-*s", NAME_COLUMN - 2, name);
	if (strlen(name) + 3 > NAME_COLUMN)
		fprintf(out, "\n%*s", NAME_COLUMN, "");
	wrap(out, about, NAME_COLUMN, NAME_COLUMN);
}

static void show_options(FILE *out, const struct xc_command *command, const struct xc_option *options)
{
	for (; options->name; options++) {
		const struct xc_option *option = xc_command_common(command, options);
		struct xc_text name = {0};
		if (option->letter)
			xc_text_printf(&name, "-%c, ", option->letter);
		xc_text_printf(&name, "--%s", option->name);
		if (option->value)
			xc_text_printf(&name, " %s", option->value);
		entry(out, xc_text_string(&name), option->about);
		xc_text_fini(&name);
	}
}

static void show_statuses(FILE *out, const char *const *statuses)
{
	fputs("\nexit status:\n", out);
	for (size_t i = 0; i < XC_COUNT(xc_help_statuses); i++) {
		char number[8];
		snprintf(number, sizeof number, "%zu", i);
		entry(out, number, statuses[i]);
	}
}

/* "[OPTIONS] TARGET [ADDR]": the operands as usage lines write them; malloc'ed. */
static char *synopsis_of(const struct xc_command *command)
{
	struct xc_text text = {0};
	for (const struct xc_operand *o = command->operands; o && o->name; o++)
		xc_text_printf(&text, o->optional ? " [%s]%s" : " %s%s", o->name, o->many ? "…" : "");
	return xc_text_take(&text);
}

void xc_help_overview(FILE *out, const struct xc_command *const *all)
{
	fputs("xcore: explains crashes and hangs, from a core file or from a running process (never stopped, never "
	      "written to)\n\nusage: xcore COMMAND [OPTIONS] TARGET [ARGUMENTS]\nTARGET is a core file (plain, "
	      "compressed with zstd, lz4, xz or gzip, or made by `xcore pack`) or pid:N.\n\ncommands:\n",
	      out);
	for (const struct xc_command *const *c = all; *c; c++)
		entry(out, (*c)->name, (*c)->about);
	fputs("\ncommon options:\n", out);
	show_options(out, NULL, xc_common_options);
	show_statuses(out, xc_help_statuses);
	fputs("\nStart with `xcore analyze core`. `xcore COMMAND --help` describes a command.\n", out);
}

static void show_examples(FILE *out, const struct xc_example *example)
{
	fputs("\nexamples:\n", out);
	for (; example->line; example++)
		fprintf(out, "  %s\n      %s\n", example->line, example->about);
}

void xc_help_command(FILE *out, const struct xc_command *command)
{
	xc_auto(xc_freep) char *synopsis = synopsis_of(command);
	fprintf(out, "xcore %s: %s\n\nusage: xcore %s [OPTIONS]%s\n", command->name, command->about, command->name,
		synopsis ? synopsis : "");
	for (const struct xc_operand *o = command->operands; o && o->name; o++)
		entry(out, o->name, o->about);
	if (command->text) {
		fputc('\n', out);
		wrap(out, command->text, 0, 0);
	}
	if (command->options) {
		fputs("\noptions:\n", out);
		show_options(out, NULL, command->options);
	}
	fputs("\ncommon options:\n", out);
	show_options(out, command, xc_common_options);
	if (command->statuses)
		show_statuses(out, command->statuses);
	if (command->examples)
		show_examples(out, command->examples);
}
