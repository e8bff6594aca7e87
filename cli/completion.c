/* completion: one script per shell, made of cases over the tables. The scripts do not run xcore, so they also work
 * where it is not installed. */
#include "cli/help.h"

#include <string.h>

/* Inside single quotes of sh, bash and zsh. */
static void quoted(FILE *out, const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
}

/* The words of a NULL-ended list with blanks between. */
static void words(FILE *out, const char *const *word)
{
	for (const char *blank = ""; word && *word; word++, blank = " ")
		fprintf(out, "%s%s", blank, *word);
}

static void option_words(FILE *out, const struct xc_option *option)
{
	for (; option && option->name; option++)
		if (option->letter)
			fprintf(out, " -%c --%s", option->letter, option->name);
		else
			fprintf(out, " --%s", option->name);
}

static void command_words(FILE *out, const struct xc_command *const *all)
{
	for (const struct xc_command *const *c = all; *c; c++)
		fprintf(out, "%s%s", c == all ? "" : " ", (*c)->name);
}

static bool has_words(const struct xc_operand *operand)
{
	return operand && (operand->words || operand->complete == XC_COMPLETE_COMMAND);
}

static void operand_words(FILE *out, const struct xc_command *const *all, const struct xc_operand *operand)
{
	if (operand->words)
		words(out, operand->words);
	else
		command_words(out, all);
}

/* ---- bash ---- */

/* One case: the values of an option. */
static void bash_value(FILE *out, const struct xc_option *o)
{
	if (!xc_option_takes_value(o))
		return;
	fprintf(out, "\t\t--%s", o->name);
	if (o->letter)
		fprintf(out, "|-%c", o->letter);
	fputs(") ", out);
	if (o->words) {
		fputs("_xcore_words \"$cur\" ", out);
		words(out, o->words);
		fputs("; return ;;\n", out);
	} else {
		if (o->complete == XC_COMPLETE_FILE || o->complete == XC_COMPLETE_DIR)
			fprintf(out, "_xcore_paths %s \"$cur\"; ", o->complete == XC_COMPLETE_FILE ? "-f" : "-d");
		fputs("return ;;\n", out);
	}
}

static void bash_command(FILE *out, const struct xc_command *const *all, const struct xc_command *c)
{
	fprintf(out, "\t%s)\n\t\toptions=\"$options", c->name);
	option_words(out, c->options);
	fputs("\"\n", out);
	if (c->options) {
		fputs("\t\tcase $prev in\n", out);
		for (const struct xc_option *o = c->options; o->name; o++)
			bash_value(out, o);
		fputs("\t\tesac\n", out);
	}
	if (has_words(c->operands)) {
		fputs("\t\tfirst='", out);
		operand_words(out, all, c->operands);
		fputs("'\n", out);
	}
	fputs("\t\t;;\n", out);
}

static void bash(FILE *out, const struct xc_command *const *all)
{
	fputs("# bash completion of xcore; made by `xcore help --completion bash`\n"
	      "_xcore_words() { local cur=$1; shift; mapfile -t COMPREPLY < <(compgen -W \"$*\" -- \"$cur\"); }\n"
	      "_xcore_paths() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$2\"); "
	      "}\n"
	      "_xcore() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' first='' i at=0\n"
	      "\t[[ $cur == '=' ]] && cur=''\n"
	      "\t[[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\t[[ ${COMP_WORDS[i]} != -* ]] && { command=${COMP_WORDS[i]}; at=$i; break; }\n"
	      "\tdone\n\tlocal options='",
	      out);
	option_words(out, xc_common_options);
	fputs("'\n\tcase $prev in\n", out);
	for (const struct xc_option *o = xc_common_options; o->name; o++)
		bash_value(out, o);
	fputs("\tesac\n\tcase $command in\n\t'')\n\t\tfirst='", out);
	command_words(out, all);
	fputs("'\n\t\t;;\n", out);
	for (const struct xc_command *const *c = all; *c; c++)
		bash_command(out, all, *c);
	fputs("\tesac\n"
	      "\tif [[ $cur == -* ]]; then _xcore_words \"$cur\" \"$options\"\n"
	      "\telif [[ -n $first && $((at + 1)) -eq $COMP_CWORD ]]; then _xcore_words \"$cur\" \"$first\"\n"
	      "\telse _xcore_paths -f \"$cur\"\n\tfi\n}\ncomplete -F _xcore xcore\n",
	      out);
}

/* ---- zsh ---- */

/* The description in an _arguments or _describe specification: colons and brackets would end it. */
static void zsh_about(FILE *out, const char *text)
{
	for (; *text; text++) {
		char one[2] = {*text, '\0'};
		if (strchr(":[]", *text))
			fputc('\\', out);
		quoted(out, one);
	}
}

static void zsh_action(FILE *out, const struct xc_command *const *all, enum xc_complete complete,
		       const char *const *list)
{
	if (list) {
		fputc('(', out);
		words(out, list);
		fputc(')', out);
	} else if (complete == XC_COMPLETE_COMMAND) {
		fputc('(', out);
		command_words(out, all);
		fputc(')', out);
	} else if (complete == XC_COMPLETE_DIR)
		fputs("_files -/", out);
	else if (complete == XC_COMPLETE_FILE || complete == XC_COMPLETE_TARGET)
		fputs("_files", out);
	else
		fputc(' ', out);
}

/* '*--debug-dir[about]:DIR:_files -/': a leading star allows repetition. */
static void zsh_spec(FILE *out, const struct xc_command *const *all, const struct xc_option *o, const char *dashed)
{
	fprintf(out, "\t\t'%s%s[", o->kind == XC_OPTION_LIST ? "*" : "", dashed);
	zsh_about(out, o->about);
	fputc(']', out);
	if (xc_option_takes_value(o)) {
		fputc(':', out);
		zsh_about(out, o->value);
		fputc(':', out);
		zsh_action(out, all, o->complete, o->words);
	}
	fputs("'\n", out);
}

static void zsh_options(FILE *out, const struct xc_command *const *all, const struct xc_option *o)
{
	for (; o && o->name; o++) {
		xc_auto(xc_freep) char *dashed = xc_asprintf("--%s", o->name);
		zsh_spec(out, all, o, dashed);
		if (o->letter)
			zsh_spec(out, all, o, (char[3]){'-', o->letter, '\0'});
	}
}

static void zsh_command(FILE *out, const struct xc_command *const *all, const struct xc_command *c)
{
	fprintf(out, "\t%s)\n\t\town=(\n", c->name);
	zsh_options(out, all, c->options);
	unsigned position = 1;
	for (const struct xc_operand *o = c->operands; o && o->name; o++) {
		if (o->many)
			fprintf(out, "\t\t'*:%s:", o->name);
		else
			fprintf(out, "\t\t'%u:%s:", position++, o->name);
		zsh_action(out, all, o->complete, o->words);
		fputs("'\n", out);
	}
	fputs("\t\t) ;;\n", out);
}

static void zsh(FILE *out, const struct xc_command *const *all)
{
	fputs("#compdef xcore\n# zsh completion of xcore; made by `xcore help --completion zsh`\n"
	      "_xcore() {\n\tlocal context state line curcontext=$curcontext\n\tlocal -a common commands "
	      "own\n\tcommon=(\n",
	      out);
	zsh_options(out, all, xc_common_options);
	fputs("\t)\n\tcommands=(\n", out);
	for (const struct xc_command *const *c = all; *c; c++) {
		fprintf(out, "\t\t'%s:", (*c)->name);
		quoted(out, (*c)->about);
		fputs("'\n", out);
	}
	fputs("\t)\n\t_arguments -C $common '1:command:->command' '*::argument:->rest'\n"
	      "\t[[ $state == command ]] && { _describe command commands; return; }\n"
	      "\t[[ $state == rest ]] || return\n\tcase $words[1] in\n",
	      out);
	for (const struct xc_command *const *c = all; *c; c++)
		zsh_command(out, all, *c);
	fputs("\tesac\n\t_arguments $common $own\n}\n"
	      "if [[ $funcstack[1] == _xcore ]]; then _xcore \"$@\"; else compdef _xcore xcore; fi\n",
	      out);
}

/* ---- fish ---- */

/* Inside single quotes of fish, where backslashes escape. */
static void fish_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

static void fish_options(FILE *out, const char *condition, const struct xc_option *o)
{
	for (; o && o->name; o++) {
		fprintf(out, "complete -c xcore%s -l %s", condition, o->name);
		if (o->letter)
			fprintf(out, " -s %c", o->letter);
		if (o->words) {
			fputs(" -x -a '", out);
			words(out, o->words);
			fputc('\'', out);
		} else if (o->complete == XC_COMPLETE_DIR) {
			fputs(" -x -a '(__fish_complete_directories)'", out);
		} else if (xc_option_takes_value(o)) {
			fputs(o->complete == XC_COMPLETE_FILE ? " -r -F" : " -x", out);
		}
		fputs(" -d ", out);
		fish_quoted(out, o->about);
		fputc('\n', out);
	}
}

static void fish(FILE *out, const struct xc_command *const *all)
{
	fputs("# fish completion of xcore; made by `xcore help --completion fish`\n", out);
	fish_options(out, "", xc_common_options);
	for (const struct xc_command *const *c = all; *c; c++) {
		fprintf(out, "complete -c xcore -n __fish_use_subcommand -f -a %s -d ", (*c)->name);
		fish_quoted(out, (*c)->about);
		fputc('\n', out);
		xc_auto(xc_freep) char *condition = xc_asprintf(" -n '__fish_seen_subcommand_from %s'", (*c)->name);
		fish_options(out, condition, (*c)->options);
		if (has_words((*c)->operands)) {
			fprintf(out, "complete -c xcore%s -a '", condition);
			operand_words(out, all, (*c)->operands);
			fputs("'\n", out);
		}
	}
}

bool xc_completion_write(FILE *out, const struct xc_command *const *all, const char *shell)
{
	if (strcmp(shell, "bash") == 0)
		bash(out, all);
	else if (strcmp(shell, "zsh") == 0)
		zsh(out, all);
	else if (strcmp(shell, "fish") == 0)
		fish(out, all);
	else
		return false;
	return true;
}
