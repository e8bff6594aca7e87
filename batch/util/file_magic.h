/* file_magic: recognises file types by their first bytes. */
#ifndef XC_FILE_MAGIC_H
#define XC_FILE_MAGIC_H

#include <stdbool.h>

enum { XC_FILE_MAGIC = 18 }; /* number of bytes; zeros replace those that a short file lacks */

bool xc_file_magic_core(const unsigned char *bytes); /* an ELF core, or a pack */
bool xc_file_magic_compressed(
	const unsigned char *bytes); /* zstd (also as pzstd writes it, with a skippable frame first), lz4, xz, gzip */
bool xc_file_magic_bzip2(const unsigned char *bytes);  /* not supported by xcore */
bool xc_file_magic_apport(const unsigned char *bytes); /* an apport report */

#endif
