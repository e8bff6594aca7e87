/* shell_help: help(thing) at the prompt. */
#ifndef XC_SHELL_HELP_H
#define XC_SHELL_HELP_H

#include "lua/vm/bind.h"

/* Adds the global `help`. */
void xc_shell_help_open(lua_State *L);

#endif
