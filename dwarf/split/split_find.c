/* split_find: from the id of a skeleton to the file that has its unit. Every candidate is verified by the id; its
 * name proves nothing. */
#include "core/store/store.h"
#include "dwarf/split/split.h"
#include "dwarf/split/split_impl.h"

enum { MAX_FILES = 1 << 16, FIRST_UNITS = 64 };

void xc_split_keep_why(struct xc_split *s, const char *name, const char *why)
{
	if (!s->why.len)
		xc_text_printf(&s->why, "%s: %s", name, why);
}

/* Takes the source; NULL, with the reason kept, when it is not a file of split units. */
static struct xc_split_file *open_file(struct xc_split *s, struct xc_source *source)
{
	struct xc_split_file *opened = NULL;
	xc_auto(xc_freep) char *name = xc_strdup(source->path);
	uint64_t size = source->size;
	struct xc_error *err = xc_split_file_open(source, s->cache_dir, &opened);
	if (err)
		xc_split_keep_why(s, name, err->message);
	else
		s->budget += XC_SPLIT_COPIES * size;
	xc_error_free(err);
	return opened;
}

static struct xc_split_known *keep_file(struct xc_split *s, struct xc_split_file *opened)
{
	struct xc_split_known *f = xc_alloc(sizeof *f);
	f->opened = opened;
	f->next = s->files;
	s->files = f;
	s->file_count++;
	return f;
}

struct wanted {
	struct xc_split *split;
	uint64_t id;
	bool there;
	bool by_id; /* accept a package only when it has the id */
	struct xc_split_file *file;
};

static bool is_wanted(void *context, const struct xc_split_piece *piece, const struct xc_raw_unit *unit)
{
	struct wanted *w = context;
	uint64_t id;
	w->there = xc_split_piece_id(piece, unit, &id) && id == w->id;
	return !w->there;
}

static bool consider_dwo(void *context, struct xc_source *source)
{
	struct wanted *w = context;
	xc_auto(xc_freep) char *name = xc_strdup(source->path);
	struct xc_split_file *opened = open_file(w->split, source);
	if (!opened)
		return false;
	xc_split_file_each(opened, is_wanted, w);
	if (w->there) {
		w->file = opened;
		return true;
	}
	xc_split_keep_why(w->split, name, "is of another build: not used");
	xc_split_file_close(opened);
	return false;
}

static bool consider_dwp(void *context, struct xc_source *source)
{
	struct wanted *w = context;
	xc_auto(xc_freep) char *name = xc_strdup(source->path);
	struct xc_split_file *opened = open_file(w->split, source);
	struct xc_split_piece piece;
	bool good = opened && opened->package && opened->units.row_count;
	if (good && (!w->by_id || xc_split_file_find(opened, false, w->id, &piece))) {
		w->file = opened;
		return true;
	}
	if (opened)
		xc_split_keep_why(w->split, name,
				  good ? "is of another build: not used" : "its index of units is damaged");
	xc_split_file_close(opened);
	return false;
}

/* The store finds packages by the ids of their units: any unit of the module will do. */
static bool stored_package(struct xc_split *s, struct wanted *w)
{
	struct xc_skeleton skeleton;
	uint64_t at = 0, size = 1;
	for (unsigned i = 0; i < FIRST_UNITS && size; i++, at += size)
		if (xc_skeleton_read(&s->sections, at, &skeleton, &size)) {
			w->by_id = true;
			w->id = skeleton.id;
			return xc_splitsearch_stored(&s->search, skeleton.id, XC_STORE_DWP, consider_dwp, w);
		}
	return false;
}

struct xc_split_known *xc_split_package(struct xc_split *s)
{
	struct wanted w = {.split = s};
	if (!s->package_tried && (xc_splitsearch_dwp(&s->search, s->path, consider_dwp, &w) || stored_package(s, &w)))
		s->package = keep_file(s, w.file);
	s->package_tried = true;
	return s->package;
}

struct xc_split_known *xc_split_known_of(struct xc_split *s, const struct xc_skeleton *skeleton)
{
	void **slot = xc_split_slot(&s->by_id, &s->arena, skeleton->id);
	struct xc_split_known *known = *slot, *package = xc_split_package(s);
	struct wanted w = {.split = s, .id = skeleton->id};
	struct xc_split_piece piece;
	if (known)
		return known->opened ? known : NULL;
	if (package && xc_split_file_find(package->opened, false, skeleton->id, &piece)) {
		known = package;
	} else if (s->file_count < MAX_FILES) {
		xc_splitsearch_dwo(&s->search, s->path, skeleton, consider_dwo, &w);
		known = keep_file(s, w.file);
	} else {
		return NULL;
	}
	*xc_split_slot(&s->by_id, &s->arena, skeleton->id) = known;
	if (known->opened)
		return known;
	if (!s->missing)
		s->missing = xc_strdup(skeleton->name);
	return NULL;
}
