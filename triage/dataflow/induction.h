/* induction: pointers that a loop moves on: what they began with. */
#ifndef XC_INDUCTION_H
#define XC_INDUCTION_H

#include "triage/dataflow/frame_code.h"
#include "triage/code/slice.h"

/* The only definition of the slice that is not the value itself, with something added: the value that a loop begins with. slice->count when
 * there is none, or it is not clear. Costs some slices. */
size_t xc_induction_start(const struct xc_frame_code *frame_code, const struct xc_slice *slice);

#endif
