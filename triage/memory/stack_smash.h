/* stack_smash: local arrays that text overran, over the return address, before a stack protector checked. */
#ifndef XC_STACK_SMASH_H
#define XC_STACK_SMASH_H

#include "triage/memory/pointer_diagnosis.h"

/* Report the array and the extent of the text, and explain the cause: that a string was written over `what` ("the
 * pointer"), and past the end of the array. False when the return addresses of the
 * innermost frames are not text, or no array lies where the text begins. */
bool xc_stack_smash_diagnose(struct xc_pointer_diagnosis *diagnosis, const char *what);

#endif
