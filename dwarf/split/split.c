/* split: skeletons, the files that they name, and the images made of them.
 *
 *  skeleton (offset) ──→ id ──→ file: the module's .dwp when it has the id, else a .dwo whose unit has it
 *                        │
 *                        └─→ image: the units and type units of the .dwo; of a .dwp the unit alone, with the type units
 *                            that it needs
 *
 * Each answer is kept, also that a unit was not found. */
#include "dwarf/split/split.h"

#include <dwarf.h>
#include <stdlib.h>

#include "dwarf/elf/budget.h"
#include "dwarf/elf/section.h"
#include "dwarf/split/split_impl.h"

enum { FREE_COPIES = 64 << 20 }; /* bytes */

/* The result for a skeleton, or for a type unit of the .dwp. */
struct found {
	const struct xc_split_image *image; /* NULL: not found */
	const struct xc_split_member *member;
};

void **xc_split_slot(struct xc_pointer_map *memo, struct xc_arena *arena, uint64_t key)
{
	return xc_pointer_map_at(memo, arena, (const void *)(uintptr_t)(key + 1 ? key + 1 : 1), NULL);
}

struct xc_split *xc_split_new(const struct xc_debugsearch *search, Elf *elf, const char *path, const char *cache_dir)
{
	if (!xc_elffile_section(elf, ".debug_addr")) /* skeletons require it */
		return NULL;
	struct xc_split *s = xc_alloc(sizeof *s);
	s->search = *search;
	s->search.why = &s->why;
	s->path = path;
	s->cache_dir = cache_dir;
	s->budget = FREE_COPIES;
	xc_skeleton_sections(elf, &s->sections);
	return s;
}

void xc_split_free(struct xc_split *s)
{
	if (!s)
		return;
	for (struct xc_split_made *i; (i = s->images); free(i)) {
		s->images = i->next;
		xc_split_image_free(i->image);
	}
	for (struct xc_split_known *f; (f = s->files); free(f)) {
		s->files = f->next;
		xc_split_file_close(f->opened);
	}
	free(s->missing);
	xc_text_fini(&s->why);
	xc_arena_fini(&s->arena);
	free(s);
}

/* ---- members of an image ---- */

struct members {
	struct xc_split *split;
	const struct xc_split_file *file;
	struct xc_split_member *items;
	size_t count, capacity;
	struct xc_pointer_map seen; /* signatures */
	struct xc_arena arena;
};

static struct xc_split_member *add_member(struct members *m, const struct xc_split_piece *piece,
					  const struct xc_raw_unit *unit, uint64_t id)
{
	m->items = xc_grow(m->items, m->count, &m->capacity, sizeof *m->items);
	m->items[m->count] = (struct xc_split_member){.piece = *piece, .unit = *unit, .id = id};
	return &m->items[m->count++];
}

static void read_skeletons(struct xc_split *s)
{
	struct xc_skeleton skeleton;
	uint64_t size = 1;
	s->skeletons_read = true;
	for (uint64_t at = 0; size && xc_budget_spend(1); at += size)
		if (xc_skeleton_read(&s->sections, at, &skeleton, &size)) {
			struct xc_skeleton *kept = xc_arena_alloc(&s->arena, sizeof *kept);
			*kept = skeleton;
			*xc_split_slot(&s->skeleton_of_id, &s->arena, skeleton.id) = kept;
		}
}

static void add_skeleton(struct members *m, struct xc_split_member *member, const struct xc_skeleton *wanted)
{
	if (wanted && member->id == wanted->id) {
		member->has_skeleton = true;
		member->skeleton = *wanted;
		return;
	}
	if (!m->split->skeletons_read)
		read_skeletons(m->split);
	const struct xc_skeleton *other = *xc_split_slot(&m->split->skeleton_of_id, &m->split->arena, member->id);
	member->has_skeleton = other != NULL;
	if (other)
		member->skeleton = *other;
}

struct collecting {
	struct members *members;
	const struct xc_skeleton *wanted;
};

static bool collect_piece(void *context, const struct xc_split_piece *piece, const struct xc_raw_unit *unit)
{
	struct collecting *c = context;
	uint64_t id = unit->id;
	bool type = unit->type == DW_UT_type || unit->type == DW_UT_split_type;
	if (!type && !xc_split_piece_id(piece, unit, &id))
		return true; /* skip a unit that is not split */
	struct xc_split_member *member = add_member(c->members, piece, unit, id);
	if (!type)
		add_skeleton(c->members, member, c->wanted);
	return true;
}

static bool collect_signature(void *context, uint64_t signature)
{
	struct members *m = context;
	struct xc_split_piece piece;
	struct xc_raw_unit unit;
	void **slot = xc_split_slot(&m->seen, &m->arena, signature);
	if (*slot)
		return true;
	*slot = m;
	if (xc_split_file_find(m->file, true, signature, &piece) && xc_raw_unit_at(piece.info, piece.types, &unit) &&
	    (unit.type == DW_UT_type || unit.type == DW_UT_split_type))
		add_member(m, &piece, &unit, signature);
	return xc_budget_spend(1);
}

/* Add the type units that members of a .dwp refer to, and those that these refer to. */
static void collect_types(struct members *m)
{
	for (size_t i = 0; i < m->count; i++) {
		struct xc_split_member member = m->items[i]; /* the array moves */
		xc_split_signatures(&member.piece, &member.unit, collect_signature, m);
	}
}

/* Make the image of the collected members, which are taken. NULL, with the reason kept, when it cannot be made. */
static struct xc_split_image *make_image(struct members *m, const char *name)
{
	struct xc_split *s = m->split;
	struct xc_split_image *image = NULL;
	for (size_t i = 0; i < m->count; i++)
		xc_budget_add(m->items[i].unit.size);
	struct xc_error *err = xc_split_image_new(m->items, m->count, &s->sections, &s->budget, &image);
	xc_arena_fini(&m->arena);
	if (err) {
		xc_split_keep_why(s, name, err->message);
		xc_error_free(err);
		return NULL;
	}
	struct xc_split_made *kept = xc_alloc(sizeof *kept);
	kept->image = image;
	kept->next = s->images;
	s->images = kept;
	return image;
}

static struct xc_split_image *image_of_dwo(struct xc_split *s, struct xc_split_known *f,
					   const struct xc_skeleton *skeleton)
{
	struct members m = {.split = s, .file = f->opened};
	struct collecting c = {.members = &m, .wanted = skeleton};
	if (!f->image_tried) {
		f->image_tried = true;
		xc_split_file_each(f->opened, collect_piece, &c);
		f->image = make_image(&m, skeleton->name);
	}
	return f->image;
}

/* A unit of the .dwp, or a type unit when there is no skeleton. */
static struct xc_split_image *image_of_dwp(struct xc_split *s, struct xc_split_known *f,
					   const struct xc_skeleton *skeleton, uint64_t id)
{
	struct members m = {.split = s, .file = f->opened};
	struct collecting c = {.members = &m, .wanted = skeleton};
	struct xc_split_piece piece;
	struct xc_raw_unit unit;
	if (!xc_split_file_find(f->opened, !skeleton, id, &piece) || !xc_raw_unit_at(piece.info, piece.types, &unit))
		return NULL;
	piece.info.end = piece.info.at + unit.size;
	if (!skeleton)
		*xc_split_slot(&m.seen, &m.arena, id) = &m;
	collect_piece(&c, &piece, &unit);
	collect_types(&m);
	return make_image(&m, skeleton ? skeleton->name : "a type unit");
}

/* ---- units ---- */

static const struct xc_split_member *member_of(const struct xc_split_image *image, bool type, uint64_t id)
{
	for (size_t i = 0; image && i < image->member_count; i++) {
		const struct xc_raw_unit *u = &image->members[i].unit;
		if (image->members[i].id == id && type == (u->type == DW_UT_type || u->type == DW_UT_split_type))
			return &image->members[i];
	}
	return NULL;
}

static const struct found *find_unit(struct xc_split *s, uint64_t skeleton)
{
	struct found *f = *xc_split_slot(&s->by_skeleton, &s->arena, skeleton);
	struct xc_skeleton read;
	if (f)
		return f;
	f = xc_arena_alloc(&s->arena, sizeof *f);
	*xc_split_slot(&s->by_skeleton, &s->arena, skeleton) = f;
	struct xc_split_known *file =
		xc_skeleton_read(&s->sections, skeleton, &read, NULL) ? xc_split_known_of(s, &read) : NULL;
	if (!file)
		return f;
	f->image = file->opened->package ? image_of_dwp(s, file, &read, read.id) : image_of_dwo(s, file, &read);
	f->member = member_of(f->image, false, read.id);
	if (!f->member && !s->missing)
		s->missing = xc_strdup(read.name);
	return f;
}

static bool die_at(const struct found *f, uint64_t offset, Dwarf_Die *die_out)
{
	const struct xc_split_member *m = f->member;
	if (!m || offset >= m->unit.size)
		return false;
	uint64_t at = m->at + (offset == m->unit.first ? m->first : offset);
	return m->piece.types ? dwarf_offdie_types(f->image->dwarf, at, die_out) != NULL
			      : dwarf_offdie(f->image->dwarf, at, die_out) != NULL;
}

bool xc_split_unit(struct xc_split *s, uint64_t skeleton, Dwarf_Die *unit_out)
{
	const struct found *f = find_unit(s, skeleton);
	return f->member && die_at(f, f->member->unit.first, unit_out);
}

/* Compares addresses: offsets in .debug_types would be confused with those in .debug_info. */
static bool is_of(const struct xc_split_image *image, const uint8_t *at, uint64_t *skeleton_out)
{
	struct xc_cursor info = xc_section_cursor(image->elf, ".debug_info");
	for (size_t i = 0; i < image->member_count; i++) {
		const struct xc_split_member *m = &image->members[i];
		if (m->has_skeleton && !m->piece.types && at >= info.at + m->at &&
		    at < info.at + m->at + m->unit.size) {
			*skeleton_out = m->skeleton.offset;
			return true;
		}
	}
	return false;
}

bool xc_split_skeleton(const struct xc_split *s, const Dwarf_Die *unit, uint64_t *skeleton_out)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	for (const struct xc_split_made *i = s->images; i; i = i->next)
		if (i->image->dwarf == dwarf)
			return is_of(i->image, unit->addr, skeleton_out);
	return false;
}

bool xc_split_owns(const struct xc_split *s, const Dwarf *dwarf)
{
	for (const struct xc_split_made *i = s->images; i; i = i->next)
		if (i->image->dwarf == dwarf)
			return true;
	return false;
}

static const struct found *find_type(struct xc_split *s, uint64_t skeleton, uint64_t signature)
{
	if (skeleton != UINT64_MAX) {
		struct found *f = xc_arena_alloc(&s->arena, sizeof *f);
		f->image = find_unit(s, skeleton)->image;
		f->member = member_of(f->image, true, signature);
		return f;
	}
	struct found *f = *xc_split_slot(&s->by_signature, &s->arena, signature);
	if (f)
		return f;
	f = xc_arena_alloc(&s->arena, sizeof *f);
	struct xc_split_known *package = xc_split_package(s);
	f->image = package ? image_of_dwp(s, package, NULL, signature) : NULL;
	f->member = member_of(f->image, true, signature);
	*xc_split_slot(&s->by_signature, &s->arena, signature) = f;
	return f;
}

bool xc_split_die(struct xc_split *s, uint64_t skeleton, uint64_t signature, uint64_t offset, Dwarf_Die *die_out)
{
	return die_at(signature ? find_type(s, skeleton, signature) : find_unit(s, skeleton), offset, die_out);
}
