/* store_index: walks the tree, then merges the result into the store under the lock.
 *
 * The walk starts from the store's state when it began. Merging reads the store again, since another process may have
 * written it in the meantime. An entry below the tree that the walk did not meet is dropped only when its file is
 * gone or changed: another process may have just added it. */
#include "dwarf/symstore/store_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dwarf/symstore/store_keep.h"
#include "dwarf/symstore/store_scan.h"
#include "dwarf/symstore/store_state.h"
#include "dwarf/symstore/store_walk.h"

enum { TICK_MS = 100, SAVE_EVERY_S = 5, PROGRESS_TEXT = 96 };

struct indexing {
	const struct xc_store_index_options *options;
	char *dir; /* of the store, with links resolved */
	const char *root;
	struct xc_store_totals *totals;
	int64_t now;
	bool is_file, is_kept; /* is_file: the root is a single file; is_kept: it is the store's own directory */
};

static bool stopped(const struct indexing *x)
{
	return x->options->stop && *x->options->stop;
}

/* ---- merging ---- */

/* Merge both by path; an entry that the walk met replaces the old one. */
static void merge_entries(struct xc_store_state *state, struct xc_store_harvest *h, const struct indexing *x,
			  bool whole)
{
	struct xc_store_entry *merged = xc_alloc((state->entry_count + h->entry_count + 1) * sizeof *merged);
	size_t i = 0, k = 0, count = 0;
	while (i < state->entry_count || k < h->entry_count) {
		int order = i == state->entry_count ? 1
			    : k == h->entry_count   ? -1
						    : xc_store_entry_order(&state->entries[i], &h->entries[k]);
		if (order >= 0) {
			merged[count++] = h->entries[k++];
			i += order == 0;
			x->totals->added += order > 0;
			continue;
		}
		const struct xc_store_entry *old = &state->entries[i++];
		if (whole && xc_store_below(old->file.path, x->root) && xc_store_gone(&old->file))
			x->totals->dropped++;
		else
			merged[count++] = *old;
	}
	free(state->entries);
	state->entries = merged;
	state->entry_count = state->entry_capacity = count;
}

static void merge_dull(struct xc_store_state *state, const struct xc_store_harvest *h, const struct indexing *x,
		       bool whole)
{
	const struct stat none = {.st_size = 0};
	uint64_t tree = xc_store_dull_of(x->root, &none).tree;
	struct xc_store_dull *all = xc_alloc((state->dull_count + h->dull_count + 1) * sizeof *all);
	size_t count = 0, kept = 0;
	for (size_t i = 0; i < state->dull_count; i++)
		if (!whole || state->dull[i].tree != tree)
			all[count++] = state->dull[i];
	for (size_t i = 0; i < h->dull_count; i++)
		all[count++] = h->dull[i];
	if (count)
		qsort(all, count, sizeof *all, xc_store_dull_order);
	for (size_t i = 0; i < count; i++)
		if (!kept || xc_store_dull_order(&all[kept - 1], &all[i]) != 0)
			all[kept++] = all[i];
	free(state->dull);
	state->dull = all;
	state->dull_count = state->dull_capacity = kept;
}

static void merge_root(struct xc_store_state *state, const struct xc_store_harvest *h, const struct indexing *x,
		       bool whole)
{
	struct xc_store_root *root = xc_store_state_root(state, x->root);
	if (!root) {
		state->roots = xc_grow(state->roots, state->root_count, &state->root_capacity, sizeof *state->roots);
		root = &state->roots[state->root_count++];
		*root = (struct xc_store_root){.path = xc_arena_strdup(&state->arena, x->root)};
	}
	if (whole) {
		root->indexed = x->now;
		root->files = h->files;
	}
}

/* Save what was found so far. `whole`: the walk is complete; only then are new and dropped entries counted. */
static struct xc_error *save(struct indexing *x, struct xc_store_walk *walk, bool whole)
{
	struct xc_store_state state;
	int lock;
	struct xc_error *err = xc_store_lock(x->dir, XC_STORE_WAIT_MS, &lock);
	if (err)
		return err;
	if (!(err = xc_store_state_read(x->dir, &state))) {
		struct xc_store_harvest h = xc_store_walk_take(walk);
		if (h.entry_count)
			qsort(h.entries, h.entry_count, sizeof *h.entries, xc_store_entry_order);
		x->totals->damaged |= state.damaged;
		merge_entries(&state, &h, x, whole);
		merge_dull(&state, &h, x, whole);
		if (!x->is_file && !x->is_kept)
			merge_root(&state, &h, x, whole);
		err = xc_store_state_write(x->dir, &state);
		xc_store_harvest_fini(&h);
		xc_store_state_fini(&state);
	}
	close(lock);
	return err;
}

/* ---- walking ---- */

static void show(const struct indexing *x, uint64_t files, char text[PROGRESS_TEXT])
{
	struct xc_progress *p = x->options->progress;
	if (!p)
		return;
	snprintf(text, PROGRESS_TEXT, "indexing: %llu files", (unsigned long long)files);
	p->what = text;
	xc_progress_step(p, 0, 0);
}

/* Wait for the end of the walk, and save every few seconds. */
static struct xc_error *attend(struct indexing *x, struct xc_store_walk *walk)
{
	char text[PROGRESS_TEXT];
	struct xc_error *err = NULL;
	time_t saved = time(NULL);
	while (!err && !xc_store_walk_wait(walk, TICK_MS)) {
		show(x, xc_store_walk_files(walk), text);
		if (stopped(x)) {
			x->totals->interrupted = true;
			xc_store_walk_stop(walk);
		} else if (time(NULL) - saved >= SAVE_EVERY_S) {
			err = save(x, walk, false);
			saved = time(NULL);
		}
	}
	if (x->options->progress)
		x->options->progress->what = "indexing";
	return err;
}

static void keep_all(struct indexing *x, const struct xc_store_harvest *h)
{
	const struct xc_store_index_options *o = x->options;
	for (size_t i = 0; i < h->entry_count && !stopped(x); i++) {
		enum xc_store_kept kept;
		struct xc_error *err = xc_store_keep(x->dir, &h->entries[i], o->link, o->copy, &kept);
		xc_progress_step(o->progress, i, h->entry_count);
		x->totals->linked += !err && kept == XC_STORE_LINKED;
		x->totals->copied += !err && kept == XC_STORE_COPIED;
		if (err && !x->totals->not_kept++)
			x->totals->first_not_kept = xc_strdup(err->message);
		xc_error_free(err);
	}
}

static void set_totals(struct indexing *x, struct xc_store_harvest *h)
{
	struct xc_store_totals *t = x->totals;
	t->files = h->files;
	t->read = h->read;
	t->found = h->entry_count;
	t->packages = h->packages;
	t->unreadable = h->unreadable;
	t->first_unreadable = xc_take(h->first_unreadable);
}

static size_t skipped(const struct indexing *x, struct stat skip[2])
{
	size_t count = 0;
	count += !x->is_kept && stat(x->dir, &skip[count]) == 0;
	count += x->options->cache_dir && stat(x->options->cache_dir, &skip[count]) == 0;
	return count;
}

static struct xc_error *index_tree(struct indexing *x)
{
	struct xc_store_state old;
	struct stat skip[2];
	struct xc_error *err = xc_store_state_read(x->dir, &old);
	if (err)
		return err;
	x->totals->damaged |= old.damaged;
	struct xc_store_walk *walk = xc_store_walk_start(&(struct xc_store_walk_options){
		.root = x->root,
		.old = &old,
		.jobs = x->options->jobs,
		.mark = x->is_kept ? XC_STORE_KEPT : 0,
		.skip = skip,
		.skip_count = skipped(x, skip),
		.now = x->now,
	});
	err = attend(x, walk);
	if (err)
		xc_store_walk_stop(walk);
	struct xc_store_harvest h = {.files = 0};
	if (!err) {
		err = save(x, walk, !x->totals->interrupted);
		h = xc_store_walk_take(walk);
	}
	if (!err && !x->is_kept && (x->options->link || x->options->copy))
		keep_all(x, &h);
	set_totals(x, &h);
	xc_store_harvest_fini(&h);
	xc_store_walk_end(walk);
	xc_store_state_fini(&old);
	return err;
}

struct xc_error *xc_store_index_kept(const struct xc_store_index_options *options)
{
	struct xc_store_totals totals = {.files = 0};
	struct indexing x = {.options = options, .totals = &totals, .now = (int64_t)time(NULL), .is_kept = true};
	x.dir = realpath(options->dir, NULL);
	xc_auto(xc_freep) char *root = xc_asprintf("%s/kept", x.dir ? x.dir : options->dir);
	struct xc_error *err = NULL;
	x.root = root;
	if (x.dir && access(root, F_OK) == 0)
		err = index_tree(&x);
	free(x.dir);
	xc_store_totals_fini(&totals);
	return err;
}

/* ---- one root ---- */

static struct xc_error *check_file(const char *path)
{
	struct xc_arena arena = {NULL};
	struct xc_store_scan scan;
	struct stat st;
	bool looked = xc_store_scan_at(AT_FDCWD, path, &arena, &st, &scan);
	int error = errno;
	xc_arena_fini(&arena);
	if (!looked)
		return error ? xc_error_errno(error, "%s", path)
			     : xc_error_new(XC_ERR_UNSUPPORTED, "%s: neither a directory nor a regular file", path);
	if (scan.kind == XC_STORE_PACKAGE)
		return xc_error_hint(
			xc_error_new(XC_ERR_UNSUPPORTED, "%s: is a package; packages are not searched", path),
			"unpack it and index the result: dpkg-deb -x FILE DIR, or rpm2cpio FILE | cpio -idm");
	if (scan.kind == XC_STORE_DULL)
		return xc_error_new(XC_ERR_FORMAT, "%s: not an ELF file with a build-id or split units", path);
	return NULL;
}

static struct xc_error *open_store(const char *dir, char **resolved_out)
{
	int lock;
	struct xc_error *err = xc_store_lock(dir, XC_STORE_WAIT_MS, &lock); /* creates the store */
	if (err)
		return err;
	close(lock);
	*resolved_out = realpath(dir, NULL);
	return *resolved_out ? NULL : xc_error_errno(errno, "%s", dir);
}

struct xc_error *xc_store_index(const struct xc_store_index_options *options, const char *root,
				struct xc_store_totals *totals_out)
{
	struct stat st;
	struct xc_store_totals totals = {.files = 0};
	struct indexing x = {.options = options, .totals = &totals, .now = (int64_t)time(NULL)};
	char *resolved = realpath(root, NULL);
	struct xc_error *err = resolved ? NULL : xc_error_errno(errno, "%s", root);
	if (!err && stat(resolved, &st) < 0)
		err = xc_error_errno(errno, "%s", root);
	x.root = resolved;
	x.is_file = !err && !S_ISDIR(st.st_mode);
	if (!err && x.is_file)
		err = check_file(resolved);
	if (!err && !(err = open_store(options->dir, &x.dir)) && !(err = index_tree(&x)))
		err = xc_store_index_kept(options);
	free(x.dir);
	free(resolved);
	if (err)
		xc_store_totals_fini(&totals);
	else
		*totals_out = totals;
	return err;
}

void xc_store_totals_fini(struct xc_store_totals *totals)
{
	free(xc_take(totals->first_unreadable));
	free(xc_take(totals->first_not_kept));
}
