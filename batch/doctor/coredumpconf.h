/* coredumpconf: how systemd-coredump is told to keep cores: coredump.conf(5) and its drop-ins, as they win over each other. */
#ifndef XC_COREDUMPCONF_H
#define XC_COREDUMPCONF_H

#include "core/base/arena.h"

/* As written; NULL where nothing says it, and systemd's own values hold: external, 32G, 32G. */
struct xc_coredumpconf {
	const char *storage; /* "none", "external", "journal" */
	const char *process_size_max, *external_size_max;
};

/* Read below an open root directory, into the arena. */
struct xc_coredumpconf xc_coredumpconf_read(int root, struct xc_arena *arena);

#endif
