/* help: help pages, made from the tables that the parser uses. */
#ifndef XC_HELP_H
#define XC_HELP_H

#include <stdio.h>

#include "cli/command.h"

/* All commands in brief, in the order of `all`, which ends with NULL (as below). */
void xc_help_overview(FILE *out, const struct xc_command *const *all);
void xc_help_command(FILE *out, const struct xc_command *command);

/* man.c: the manual page as mdoc(7) source. */
void xc_man_write(FILE *out, const struct xc_command *const *all);

/* completion.c: a completion script for the shell with this name. False: the shell is not supported. */
bool xc_completion_write(FILE *out, const struct xc_command *const *all, const char *shell);

/* Descriptions of the exit statuses, by number. */
extern const char *const xc_help_statuses[6];

#endif
