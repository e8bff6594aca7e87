/* image: an ELF file rebuilt from the memory of a module whose file is gone.
 *
 * Memory holds enough for unwinding (.eh_frame_hdr, .eh_frame) and for exported names (.dynsym, .dynstr). A section
 * with missing bytes is left out; nothing is filled in. */
#ifndef XC_IMAGE_H
#define XC_IMAGE_H

#include "core/process/process.h"

/* A malloc'ed ELF image of the module; NULL when its program headers or all of those sections are lost, and for
 * machines that are not 64-bit and little-endian. Addresses are file addresses (memory minus bias). */
void *xc_image_build(const struct xc_process *process, const struct xc_module *module, size_t *size_out);

#endif
