#include "cli/commands/commands.h"

#define ADDRESS_OF_COMMAND(name) &xc_command_##name,

const struct xc_command *const xc_commands[] = {XC_COMMANDS(ADDRESS_OF_COMMAND) NULL};
