/* index: names to definitions for the debug information of one file; worked out once, kept as one mapped file.
 *
 * Built by a parallel scan of .debug_info (index_build.h), used through lookup.h. The kept file is named by build-id below
 * $XDG_CACHE_HOME/xcore/index and also keyed by the size of the debug file and a SHA-256 of its section headers and
 * .debug_abbrev, so that a forged id meets no foreign index. It is position-independent and used as it stands;
 * every page carries a checksum that is checked when the page is first touched. What is damaged, of another version or
 * another byte order is rebuilt.
 * Not thread-safe (building uses threads of its own). */
#ifndef XC_INDEX_H
#define XC_INDEX_H

#include "debugfile.h"

struct xc_index;

#endif
