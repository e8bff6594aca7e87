/* commands: the list of all commands. A new command is a file cmd_NAME.c that defines xc_command_NAME, and its name
 * here. */
#ifndef XC_COMMANDS_H
#define XC_COMMANDS_H

#include "cli/command.h"

/* In the order of help: verdict and facts; values and code; heap; scripts; files; many cores and xcore itself. */
/* clang-format off */
#define XC_COMMANDS(X) \
	X(analyze) X(bt) X(threads) X(regs) X(maps) X(modules) X(info) \
	X(print) X(ptype) X(disas) X(sym) X(mem) \
	X(heap) X(diff) X(flame) X(profile) X(top) \
	X(run) X(shell) X(plugin) \
	X(pack) X(unpack) X(symbols) \
	X(triage) X(doctor) X(help)
/* clang-format on */

#define XC_DECLARE_COMMAND(name) extern const struct xc_command xc_command_##name;
XC_COMMANDS(XC_DECLARE_COMMAND)
#undef XC_DECLARE_COMMAND

/* Ends with NULL. */
extern const struct xc_command *const xc_commands[];

#endif
