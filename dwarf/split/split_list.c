/* split_list: all split units of a module: for the index, for packs, and for messages about missing files. */
#include <dwarf.h>

#include "dwarf/elf/budget.h"
#include "dwarf/split/split.h"
#include "dwarf/split/split_impl.h"

enum { UNITS_LOOKED_AT = 8 }; /* all units of a program are split, except those of assembly and foreign archives */

char *xc_split_why(struct xc_split *s)
{
	struct xc_skeleton skeleton;
	uint64_t size = 1, at = 0;
	for (size_t i = 0; i < UNITS_LOOKED_AT && size && !s->missing; i++, at += size)
		if (xc_skeleton_read(&s->sections, at, &skeleton, &size))
			xc_split_known_of(s, &skeleton);
	if (!s->missing)
		return NULL;
	return xc_asprintf(
		"split debug information (%s) %s%s%s: inlined functions, types and values of its unit are missing",
		s->missing, s->why.len ? "cannot be used (" : "was not found", xc_text_string(&s->why),
		s->why.len ? ")" : "");
}

/* ---- all of them ---- */

struct listing {
	struct xc_split *split;
	xc_split_fn *each;
	void *context;
	struct xc_pointer_map seen; /* signatures */
	uint64_t skeleton, id;
	bool listed, more;
};

static bool list_part(struct listing *l, const struct xc_split_piece *p, const struct xc_raw_unit *u,
		      uint64_t signature)
{
	struct xc_split_part part = {.skeleton = l->skeleton,
				     .signature = signature,
				     .types = p->types,
				     .info = p->info,
				     .abbrev = p->sections[XC_SPLIT_ABBREV],
				     .str = p->sections[XC_SPLIT_STR],
				     .line_str = p->sections[XC_SPLIT_LINE_STR],
				     .str_offsets = p->sections[XC_SPLIT_STR_OFFSETS]};
	part.info.end = part.info.at + u->size;
	l->more = l->each(l->context, &part);
	return l->more;
}

static bool list_piece(void *context, const struct xc_split_piece *piece, const struct xc_raw_unit *unit)
{
	struct listing *l = context;
	uint64_t id;
	if (unit->type == DW_UT_type || unit->type == DW_UT_split_type) {
		void **slot = xc_split_slot(&l->seen, &l->split->arena, unit->id);
		bool known = l->listed || *slot || unit->id == 0;
		*slot = l;
		return known || list_part(l, piece, unit, unit->id);
	}
	return !xc_split_piece_id(piece, unit, &id) || id != l->id || list_part(l, piece, unit, 0);
}

static void list_unit(struct listing *l, struct xc_split_known *f, const struct xc_skeleton *skeleton)
{
	struct xc_split_piece piece;
	struct xc_raw_unit unit;
	l->skeleton = skeleton->offset;
	l->id = skeleton->id;
	l->listed = f->listed;
	f->listed = true;
	if (!f->opened->package)
		xc_split_file_each(f->opened, list_piece, l);
	else if (xc_split_file_find(f->opened, false, skeleton->id, &piece) &&
		 xc_raw_unit_at(piece.info, piece.types, &unit))
		list_part(l, &piece, &unit, 0);
}

static void list_types(struct listing *l, const struct xc_split_file *f)
{
	struct xc_split_piece piece;
	struct xc_raw_unit unit;
	uint64_t id;
	uint32_t row;
	l->skeleton = UINT64_MAX;
	for (uint32_t i = 0; l->more && i < f->types.slot_count && xc_budget_spend(1); i++)
		if (xc_split_index_slot(&f->types, i, &id, &row) && id && xc_split_file_find(f, true, id, &piece) &&
		    xc_raw_unit_at(piece.info, piece.types, &unit))
			list_part(l, &piece, &unit, id);
}

void xc_split_each(struct xc_split *s, xc_split_fn *each, void *context, size_t *missing_out)
{
	struct listing l = {.split = s, .each = each, .context = context, .more = true};
	struct xc_skeleton skeleton;
	uint64_t size = 1;
	*missing_out = 0;
	for (struct xc_split_known *f = s->files; f; f = f->next)
		f->listed = false;
	for (uint64_t at = 0; size && l.more && xc_budget_spend(1); at += size) {
		if (!xc_skeleton_read(&s->sections, at, &skeleton, &size))
			continue;
		struct xc_split_known *file = xc_split_known_of(s, &skeleton);
		if (file)
			list_unit(&l, file, &skeleton);
		else
			++*missing_out;
	}
	if (l.more && s->package)
		list_types(&l, s->package->opened);
}

/* ---- one of them ---- */

struct wanted {
	uint64_t signature;
	struct xc_split_part *out;
	bool found;
};

static bool take_wanted(void *context, const struct xc_split_part *part)
{
	struct wanted *w = context;
	if (part->signature != w->signature)
		return true;
	*w->out = *part;
	w->found = true;
	return false;
}

bool xc_split_part_of(struct xc_split *s, uint64_t skeleton, uint64_t signature, struct xc_split_part *part_out)
{
	struct wanted w = {.signature = signature, .out = part_out};
	struct listing l = {.split = s, .each = take_wanted, .context = &w, .more = true, .skeleton = skeleton};
	struct xc_skeleton at;
	struct xc_split_piece piece;
	struct xc_raw_unit unit;
	uint64_t size;
	struct xc_split_known *file;
	if (skeleton != UINT64_MAX && xc_skeleton_read(&s->sections, skeleton, &at, &size) &&
	    (file = xc_split_known_of(s, &at))) {
		file->listed = false;
		list_unit(&l, file, &at);
	} else if (skeleton == UINT64_MAX && (file = xc_split_package(s)) &&
		   xc_split_file_find(file->opened, true, signature, &piece) &&
		   xc_raw_unit_at(piece.info, piece.types, &unit)) {
		list_part(&l, &piece, &unit, signature);
	}
	return w.found;
}

/* ---- files ---- */

void xc_split_files(struct xc_split *s, xc_split_found_fn *each, void *context)
{
	struct xc_skeleton skeleton;
	uint64_t size = 1;
	bool more = true;
	struct xc_split_known *package = xc_split_package(s);
	xc_auto(xc_freep) char *package_path = xc_asprintf("%s.dwp", s->search.module->path);
	if (package)
		more = each(context, &(struct xc_split_found){.source = package->opened->elf.source,
							      .path = package_path,
							      .package = true});
	for (uint64_t at = 0; size && more && xc_budget_spend(1); at += size) {
		struct xc_split_known *f =
			xc_skeleton_read(&s->sections, at, &skeleton, &size) ? xc_split_known_of(s, &skeleton) : NULL;
		if (!f || f == package)
			continue;
		xc_auto(xc_freep) char *path = xc_splitsearch_path(&s->search, &skeleton);
		more = each(context,
			    &(struct xc_split_found){.source = f->opened->elf.source, .path = path, .id = skeleton.id});
	}
}
