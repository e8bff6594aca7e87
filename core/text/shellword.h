/* shellword: quotes a word for a shell, for commands that xcore suggests to the user.
 *
 * An attacker may choose file names: no word ends early, expands, or reaches the terminal as a control character. */
#ifndef XC_SHELLWORD_H
#define XC_SHELLWORD_H

#include "core/base/text.h"

/* Add the word verbatim where a shell allows that, else in single quotes. A word that cannot be shown verbatim is
 * written as $'…' with \xNN, as in all other output; bash, zsh and ksh read that. A shell without it (dash) sees a
 * different name, and nothing worse: no quote inside ends the word. */
void xc_shellword_add(struct xc_text *text, const char *word);

/* Add the word as it stands between single quotes. */
void xc_shellword_add_inner(struct xc_text *text, const char *word);

/* The word for a file name, which xcore must not take for an option, a list or a process. */
void xc_shellword_add_file(struct xc_text *text, const char *file);

/* The same, malloc'ed. In a target, pid:N stays a process. */
char *xc_shellword(const char *word);
char *xc_shellword_file(const char *file);
char *xc_shellword_target(const char *target);

#endif
