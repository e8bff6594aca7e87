/* coredumpconf: the settings by which systemd-coredump stores cores: coredump.conf(5) and its drop-ins, in their order
 * of precedence. */
#ifndef XC_COREDUMPCONF_H
#define XC_COREDUMPCONF_H

#include "core/base/arena.h"

/* As written; NULL if not set. The defaults of systemd are external, 32G, 32G. */
struct xc_coredumpconf {
	const char *storage; /* "none", "external", "journal" */
	const char *process_size_max, *external_size_max;
};

/* Reads the settings below an open root directory, into the arena. */
struct xc_coredumpconf xc_coredumpconf_read(int root, struct xc_arena *arena);

#endif
