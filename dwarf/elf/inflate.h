/* inflate: decompresses debug sections (zlib, zstd, and the old .zdebug form). */
#ifndef XC_INFLATE_H
#define XC_INFLATE_H

#include <libelf.h>

#include "core/io/source.h"

/* Does the file have compressed debug sections? */
bool xc_inflate_needed(Elf *elf);

/* An ELF image with the file's header and its debug sections only, all decompressed; owned by the caller. Errors:
 * XC_ERR_FORMAT (damaged), XC_ERR_LIMIT (more than 8 GiB, or more than this machine has), XC_ERR_UNSUPPORTED (another
 * compression; not 64-bit in this machine's byte order). */
XC_MUST_CHECK struct xc_error *xc_inflate_sections(Elf *elf, struct xc_source **image_out);

/* The size of that image, and the same written to a file without being held in memory. Errors: also XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_inflate_size(Elf *elf, uint64_t *size_out);
XC_MUST_CHECK struct xc_error *xc_inflate_to(Elf *elf, int fd);

#endif
