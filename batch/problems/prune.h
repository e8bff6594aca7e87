/* prune: delete the cores that are to spare. */
#ifndef XC_PRUNE_H
#define XC_PRUNE_H

#include "batch/input/input.h"
#include "batch/problems/core_retention.h"

struct xc_prune {
	const struct xc_core_retention *keep;
	const struct xc_input *inputs; /* what the records were made of, by path */
	size_t input_count;
	/* That the user gave by name, of xc_inputs: nothing outside of them is touched. What was given by itself, in a list or by wildcards is
	 * outside: a link that somebody planted may fit a pattern. */
	const char *const *directories;
	size_t directory_count;
	bool dry; /* --dry-run: only say what would be done */
	/* Told each spare core in the list's order: deleted (or, dry, that it would be) when why_not is NULL. */
	void (*tell)(void *user, const struct xc_core_spare *spare, const char *why_not);
	void *user;
};

struct xc_pruned {
	size_t deleted, refused;
	uint64_t bytes; /* sizes of the deleted ones, of a file with several names when its last one goes */
};

/* A file is deleted when it is a regular one, the one that was read, of the size and time that it had then, reached below its directory
 * without symbolic links; and when what is kept instead of it is still there, unchanged, and another file. What cannot be is told and left
 * alone; a dry run finds the same, but for what happens between the two. */
struct xc_pruned xc_prune(const struct xc_prune *prune);

#endif
