/* firstbytes: what a file is, by how it begins. */
#ifndef XC_FIRSTBYTES_H
#define XC_FIRSTBYTES_H

#include <stdbool.h>

enum { XC_FIRSTBYTES = 18 }; /* how many; those that a short file lacks are zero */

bool xc_firstbytes_core(const unsigned char *bytes); /* an ELF core, or a pack */
bool xc_firstbytes_compressed(
	const unsigned char *bytes); /* zstd, as pzstd writes it, too (a frame to skip first), lz4, xz, gzip */
bool xc_firstbytes_bzip2(const unsigned char *bytes);  /* which xcore does not read */
bool xc_firstbytes_apport(const unsigned char *bytes); /* a report of apport */

#endif
