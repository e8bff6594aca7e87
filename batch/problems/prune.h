/* prune: deletes spare cores. */
#ifndef XC_PRUNE_H
#define XC_PRUNE_H

#include "batch/input/input.h"
#include "batch/problems/core_retention.h"

struct xc_prune {
	const struct xc_core_retention *keep;
	const struct xc_input *inputs; /* the files from which the records were made, by path */
	size_t input_count;
	/* Directories that the user named (from xc_inputs). Files outside of them are never touched. A file named by
	 * itself, in a list or by a pattern is outside: somebody may have planted a link that matches the pattern. */
	const char *const *directories;
	size_t directory_count;
	bool dry; /* --dry-run: only report what would be deleted */
	/* Called for each spare core, in the list's order. why_not is NULL if it was deleted or, in a dry run, would
	 * be. */
	void (*report)(void *user, const struct xc_core_spare *spare, const char *why_not);
	void *user;
};

struct xc_pruned {
	size_t deleted, refused;
	/* stored size of the deleted cores; a file with several names counts when its last name is removed */
	uint64_t bytes;
};

/* Deletes a spare core if it is a regular file, is the file that was examined with the same size and time, and is
 * reached below its directory without symbolic links; and if the core that replaces it still exists, is unchanged, and
 * is another file. Any other core is reported and left alone. A dry run finds the same, except for changes in
 * between. */
struct xc_pruned xc_prune(const struct xc_prune *prune);

#endif
