/* length_divisor: a divisor that the code computes as the difference of two pointers: the size of a container. */
#ifndef XC_LENGTH_DIVISOR_H
#define XC_LENGTH_DIVISOR_H

#include "triage/dataflow/symbolic_value.h"

/* Does the register hold, before the current instruction, the difference of two pointers that were read from memory
 * and are equal now, perhaps divided by the size of an element? *out is then the term "t.nodes.size()" where they are
 * the ends of a container of the C++ library, else "b.end - b.begin". */
bool xc_length_divisor_find(const struct xc_frame_code *frame_code, int reg, struct xc_symbolic_value *out);

#endif
