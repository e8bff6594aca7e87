/* shellword: a word of a command line as it is typed into a shell, for what a person is told to paste.
 *
 * Names of files are an attacker's: no word ends early, expands, or reaches the terminal as a control character. */
#ifndef XC_SHELLWORD_H
#define XC_SHELLWORD_H

#include "core/base/text.h"

/* As it is where a shell takes it so, in single quotes where those do. What cannot be shown as it is stands as \xNN within $'…', as in
 * every other text of ours; bash, zsh and ksh read it so. To a shell that does not (dash), it is another name and nothing else: no quote
 * stands in it that would end the word. */
void xc_shellword_add(struct xc_text *text, const char *word);

/* The same of a file's name, which to xcore shall be no option, list or process. */
void xc_shellword_add_file(struct xc_text *text, const char *file);

/* malloc'ed. Of a target that was given, pid:N stays a process. */
char *xc_shellword(const char *word);
char *xc_shellword_file(const char *file);
char *xc_shellword_target(const char *target);

#endif
