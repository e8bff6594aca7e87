/* induction: induction variables: the initial value of a pointer that a loop advances. */
#ifndef XC_INDUCTION_H
#define XC_INDUCTION_H

#include "triage/dataflow/frame_code.h"
#include "triage/code/slice.h"

/* The only definition of the slice that is not the value itself plus something: the initial value of the loop.
 * slice->count when there is none, or it is ambiguous. Costs some slices. */
size_t xc_induction_start(const struct xc_frame_code *frame_code, const struct xc_slice *slice);

#endif
