/* static_runtime: which frames of the program's own file belong to a C library, or to a sanitizer's runtime, that was
 * linked statically. */
#ifndef XC_STATIC_RUNTIME_H
#define XC_STATIC_RUNTIME_H

#include "batch/signature/signature.h"

/* Decides for each frame of the record whether it may. Frames have their names already. A static program is recognised
 * by the C library's start-up code in its stack; a frame with a source file outside of the library belongs to the
 * program. */
void xc_static_runtime_find(const struct xc_record *record, const struct xc_signature_frame *frames,
			    bool *linked_in_out);

#endif
