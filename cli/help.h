/* help: the pages for people, made from the tables that the parser reads. */
#ifndef XC_HELP_H
#define XC_HELP_H

#include <stdio.h>

#include "cli/command.h"

void xc_help_overview(FILE *out);
void xc_help_command(FILE *out, const struct xc_command *command);

/* man.c: the manual page as mdoc(7) source. */
void xc_man_write(FILE *out);

/* completion.c: a script for the shell called `shell`; false when we have none for it. */
bool xc_completion_write(FILE *out, const char *shell);

/* What exit statuses mean, by number; used by the overview and the manual page. */
extern const char *const xc_help_statuses[6];

#endif
