/* file_magic: what a file is, by how it begins. */
#ifndef XC_FILE_MAGIC_H
#define XC_FILE_MAGIC_H

#include <stdbool.h>

enum { XC_FILE_MAGIC = 18 }; /* how many; those that a short file lacks are zero */

bool xc_file_magic_core(const unsigned char *bytes); /* an ELF core, or a pack */
bool xc_file_magic_compressed(
	const unsigned char *bytes); /* zstd, as pzstd writes it, too (a frame to skip first), lz4, xz, gzip */
bool xc_file_magic_bzip2(const unsigned char *bytes);  /* which xcore does not read */
bool xc_file_magic_apport(const unsigned char *bytes); /* a report of apport */

#endif
