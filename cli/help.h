/* help: the pages for people, made from the tables that the parser reads. */
#ifndef XC_HELP_H
#define XC_HELP_H

#include <stdio.h>

#include "cli/command.h"

/* All commands in brief, in the order of `all`, which ends with NULL (as below). */
void xc_help_overview(FILE *out, const struct xc_command *const *all);
void xc_help_command(FILE *out, const struct xc_command *command);

/* man.c: the manual page as mdoc(7) source. */
void xc_man_write(FILE *out, const struct xc_command *const *all);

/* completion.c: a script for the shell called `shell`; false when we have none for it. */
bool xc_completion_write(FILE *out, const struct xc_command *const *all, const char *shell);

/* What exit statuses mean, by number; used by the overview and the manual page. */
extern const char *const xc_help_statuses[6];

#endif
