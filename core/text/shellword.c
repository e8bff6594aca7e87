/* shellword: quoting for shells. */
#include "core/text/shellword.h"

#include <string.h>

/* zsh expands =NAME to the path of a command. */
static bool is_plain(const char *word)
{
	return *word && *word != '=' &&
	       !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+@%=:,-")];
}

/* CI systems execute lines with "::" in front or "##" anywhere. */
static bool is_shown_as_it_is(const char *word)
{
	struct xc_text name = {0};
	xc_text_name(&name, word);
	const bool same = strcmp(xc_text_string(&name), word) == 0;
	xc_text_fini(&name);
	return same && strncmp(word, "::", 2) != 0 && !strstr(word, " ::");
}

/* Only the single quote is special there. */
void xc_shellword_add_inner(struct xc_text *text, const char *word)
{
	for (; *word; word++)
		if (*word == '\'')
			xc_text_add(text, "'\\''");
		else
			xc_text_char(text, *word);
}

static void add_quoted(struct xc_text *text, const char *word)
{
	xc_text_char(text, '\'');
	xc_shellword_add_inner(text, word);
	xc_text_char(text, '\'');
}

static void add_escaped(struct xc_text *text, const char *word)
{
	xc_text_add(text, "$'");
	for (; *word; word++) {
		if (*word < ' ' || *word > '~' || strchr("#'\"\\`$!:", *word))
			xc_text_printf(text, "\\x%02x", (unsigned char)*word);
		else
			xc_text_char(text, *word);
	}
	xc_text_char(text, '\'');
}

void xc_shellword_add(struct xc_text *text, const char *word)
{
	if (!is_shown_as_it_is(word))
		add_escaped(text, word);
	else if (is_plain(word))
		xc_text_add(text, word);
	else
		add_quoted(text, word);
}

void xc_shellword_add_file(struct xc_text *text, const char *file)
{
	const bool means_more = *file == '-' || *file == '@' || !strncmp(file, "pid:", 4);
	xc_auto(xc_freep) char *name = xc_asprintf("%s%s", means_more ? "./" : "", file);
	xc_shellword_add(text, name);
}

char *xc_shellword(const char *word)
{
	struct xc_text text = {0};
	xc_shellword_add(&text, word);
	return xc_text_take(&text);
}

char *xc_shellword_file(const char *file)
{
	struct xc_text text = {0};
	xc_shellword_add_file(&text, file);
	return xc_text_take(&text);
}

char *xc_shellword_target(const char *target)
{
	return *target == '-' ? xc_shellword_file(target) : xc_shellword(target);
}
