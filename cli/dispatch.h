/* dispatch: the steps that every command takes, from its command line to its exit status. */
#ifndef XC_DISPATCH_H
#define XC_DISPATCH_H

#include "cli/command.h"

/* Run the command that argv names, one of `all`, which ends with NULL and is in the order of help. Returns the exit
 * status. */
int xc_dispatch(int argc, char **argv, const struct xc_command *const *all);

#endif
