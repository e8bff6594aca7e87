/* splitsearch: finds a .dwo by the name that a skeleton gives, and the .dwp of a module.
 *
 * Places of a .dwo: a pack (and then nothing else); the symbol store, by its id; DW_AT_comp_dir/DW_AT_dwo_name below
 * each root (finder.h); each --debug-dir by that path, by name, and by the name's last part; the directory of the
 * file with the skeleton, by name and its last part. Of a .dwp: FILE.dwp beside the file with the skeletons and
 * beside the module's; each --debug-dir by the module's path and name; by build-id; and the symbol store, by the id
 * of a skeleton. */
#ifndef XC_SPLITSEARCH_H
#define XC_SPLITSEARCH_H

#include "dwarf/locate/debugsearch.h"
#include "dwarf/scan/skeleton.h"

/* Examine a candidate, which is taken; true ends the search. */
typedef bool xc_splitsearch_fn(void *context, struct xc_source *source);

/* path: of the file with the skeletons. True when a candidate was accepted. */
bool xc_splitsearch_dwo(const struct xc_debugsearch *search, const char *path, const struct xc_skeleton *skeleton,
			xc_splitsearch_fn *consider, void *context);
/* Candidates that contain the split unit with this id according to the symbol store: .dwo (XC_STORE_DWO) or .dwp
 * (XC_STORE_DWP) files. */
bool xc_splitsearch_stored(const struct xc_debugsearch *search, uint64_t id, uint32_t has, xc_splitsearch_fn *consider,
			   void *context);

/* The path of the .dwo on the target. Malloc'ed. */
char *xc_splitsearch_path(const struct xc_debugsearch *search, const struct xc_skeleton *skeleton);

bool xc_splitsearch_dwp(const struct xc_debugsearch *search, const char *path, xc_splitsearch_fn *consider,
			void *context);

#endif
