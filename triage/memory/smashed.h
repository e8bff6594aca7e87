/* smashed: local arrays that a text was written past the end of, over the return address, before a stack protector looked. */
#ifndef XC_SMASHED_H
#define XC_SMASHED_H

#include "triage/memory/story.h"

/* The array and how far the text goes, as evidence and behind the cause. False when the return addresses of the innermost frames are no
 * text, or no array lies where it begins. */
bool xc_smashed_tell(struct xc_story *story);

#endif
