/* script: where the interpreted program stood when its interpreter died. */
#ifndef XC_SCRIPT_H
#define XC_SCRIPT_H

#include "triage/crash/crash_context.h"

/* Add the innermost function with a line that a plugin told of the crashed thread: "in lua: store, world.lua:211". Nothing when none did. */
void xc_script_report(struct xc_crash_context *crash);

#endif
