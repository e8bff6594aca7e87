/* stack_smash: local arrays that a text was written past the end of, over the return address, before a stack protector looked. */
#ifndef XC_STACK_SMASH_H
#define XC_STACK_SMASH_H

#include "triage/memory/pointer_diagnosis.h"

/* The array and how far the text goes, as evidence and behind the cause. False when the return addresses of the innermost frames are no
 * text, or no array lies where it begins. */
bool xc_stack_smash_diagnose(struct xc_pointer_diagnosis *story);

#endif
