/* static_runtime: which frames of the program's own file are of a C library, or a sanitizer's run-time, that was linked into it. */
#ifndef XC_STATIC_RUNTIME_H
#define XC_STATIC_RUNTIME_H

#include "batch/signature/signature.h"

/* Tell for each frame of the record whether it may be; frames have their names already. A static program is told by the start-up code
 * of the C library in its stack; a frame with a source file that is not the library's is the program's. */
void xc_static_runtime_find(const struct xc_record *record, const struct xc_signature_frame *frames,
			    bool *linked_in_out);

#endif
