/* store_clean: reads the store's own files again first, so that none is left behind when the index was lost. */
#include "dwarf/symstore/store_clean.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "dwarf/symstore/store_index.h"
#include "dwarf/symstore/store_keep.h"
#include "dwarf/symstore/store_state.h"

enum { FTW_FDS = 16, PART_AGE_S = 3600 };

/* When it was last used. */
static int64_t last_use(const struct xc_store_file *file)
{
	struct stat st;
	if ((file->has & XC_STORE_KEPT) && lstat(file->path, &st) == 0)
		return st.st_atim.tv_sec;
	return file->seen;
}

/* True when the entry is removed; a kept file is removed with it. */
static bool sweep(const char *dir, const struct xc_store_file *file, const struct xc_store_clean_options *o,
		  struct xc_store_cleaned *cleaned)
{
	if (!o->all && !(o->used_before && last_use(file) < o->used_before) && !xc_store_gone(file))
		return false;
	cleaned->dropped++;
	if ((file->has & XC_STORE_KEPT) && xc_store_unkeep(dir, file->path)) {
		cleaned->removed++;
		cleaned->bytes += file->size;
	}
	return true;
}

/* Dull files record the tree they belong to by its number only. */
static void sweep_dull(struct xc_store_state *state)
{
	const struct stat none = {.st_size = 0};
	size_t left = 0;
	for (size_t i = 0; i < state->dull_count; i++) {
		bool known = false;
		for (size_t k = 0; k < state->root_count && !known; k++)
			known = xc_store_dull_of(state->roots[k].path, &none).tree == state->dull[i].tree;
		if (known)
			state->dull[left++] = state->dull[i];
	}
	state->dull_count = left;
}

static void sweep_state(const char *dir, struct xc_store_state *state, const struct xc_store_clean_options *o,
			struct xc_store_cleaned *cleaned)
{
	size_t left = 0;
	for (size_t i = 0; i < state->entry_count; i++)
		if (!sweep(dir, &state->entries[i].file, o, cleaned))
			state->entries[left++] = state->entries[i];
	state->entry_count = left;
	left = 0;
	for (size_t i = 0; i < state->root_count; i++) {
		const struct xc_store_root *r = &state->roots[i];
		if (o->all || r->indexed < o->used_before || access(r->path, F_OK) < 0)
			cleaned->roots++;
		else
			state->roots[left++] = *r;
	}
	state->root_count = left;
	sweep_dull(state);
}

/* Removes what a killed writer left aside, once it is older than any running writer can be. Empty directories are
 * removed too. */
static int remove_part(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	if (kind == FTW_DP && ftw->level > 0)
		rmdir(path); /* stays when it is not empty */
	if (kind == FTW_F && xc_ends_with(path, ".part") && time(NULL) - st->st_ctim.tv_sec > PART_AGE_S)
		unlink(path);
	return 0;
}

static void tidy(const char *dir)
{
	xc_auto(xc_freep) char *kept = xc_asprintf("%s/kept", dir);
	nftw(kept, remove_part, FTW_FDS, FTW_PHYS | FTW_DEPTH);
	xc_store_remove_parts(dir);
}

static struct xc_error *clean(const char *dir, const struct xc_store_clean_options *options,
			      struct xc_store_cleaned *cleaned)
{
	struct xc_store_state state;
	struct xc_error *err = xc_store_state_read(dir, &state);
	if (err)
		return err;
	sweep_state(dir, &state, options, cleaned);
	tidy(dir);
	err = xc_store_state_write(dir, &state);
	xc_store_state_fini(&state);
	return err;
}

struct xc_error *xc_store_clean(const char *dir, const struct xc_store_clean_options *options,
				struct xc_store_cleaned *cleaned_out)
{
	const struct xc_store_index_options kept = {.dir = dir};
	struct xc_store_cleaned cleaned = {.dropped = 0};
	int lock;
	struct xc_error *err = xc_store_check(dir);
	*cleaned_out = cleaned;
	if (err && err->code == XC_ERR_NOT_FOUND) {
		xc_error_free(err);
		return NULL;
	}
	xc_auto(xc_freep) char *resolved = err ? NULL : realpath(dir, NULL);
	if (!err && !resolved)
		err = xc_error_errno(errno, "%s", dir);
	if (!err)
		err = xc_store_index_kept(&kept);
	if (err || (err = xc_store_lock(resolved, XC_STORE_WAIT_MS, &lock)))
		return err;
	err = clean(resolved, options, &cleaned);
	close(lock);
	*cleaned_out = cleaned;
	return err;
}
