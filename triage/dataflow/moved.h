/* moved: pointers that a loop moves on: what they began with. */
#ifndef XC_MOVED_H
#define XC_MOVED_H

#include "triage/dataflow/scene.h"
#include "triage/code/slice.h"

/* The only definition of the slice that is not the value itself, with something added: the value that a loop begins with. slice->count when
 * there is none, or it is not clear. Costs some slices. */
size_t xc_moved_start(const struct xc_scene *scene, const struct xc_slice *slice);

#endif
