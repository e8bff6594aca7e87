/* script: where the interpreted program stood when its interpreter died. */
#ifndef XC_SCRIPT_H
#define XC_SCRIPT_H

#include "triage/crash/inquiry.h"

/* Add the innermost function with a line that a plugin told of the crashed thread: "in lua: store, world.lua:211". Nothing when none did. */
void xc_script_tell(struct xc_inquiry *q);

#endif
