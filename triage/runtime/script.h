/* script: the position of an interpreted program whose interpreter died. */
#ifndef XC_SCRIPT_H
#define XC_SCRIPT_H

#include "triage/crash/crash_context.h"

/* Report the innermost function with a line that a plugin found for the crashed thread: "in lua: store,
 * world.lua:211". Nothing when there is none. */
void xc_script_report(struct xc_crash_context *crash);

#endif
