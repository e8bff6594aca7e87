/* layout: members sorted by place; whatever lies between the end of what stands before and the next start is a hole.
 *
 * `end` is the highest bit that any member so far reaches, not the end of the last one: an empty base class, members in the tail
 * padding of a base (Itanium C++ ABI 2.4) and overlapping members of Rust enums make no holes. The gap is split as gdb's
 * ptype/o splits it: whole bytes, and the bits that are left. */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

struct walk {
	struct xc_layout *layout;
	struct xc_layout_options options;
	uint64_t last_line; /* number of the cache line of the last row */
};

/* A member in the order of places. */
struct place {
	const struct xc_member *member;
	uint64_t bit;
	size_t order;
};

bool xc_layout_is_record(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS || type->kind == XC_TYPE_UNION;
}

static struct xc_layout_row *add_row(struct walk *w)
{
	struct xc_layout *l = w->layout;
	if (l->row_count >= XC_LAYOUT_ROWS) {
		l->cut = true;
		return NULL;
	}
	l->rows = xc_grow(l->rows, l->row_count, &l->row_capacity, sizeof *l->rows);
	l->rows[l->row_count] = (struct xc_layout_row){.kind = XC_LAYOUT_MEMBER};
	return &l->rows[l->row_count++];
}

/* Bits from the start of the struct; hostile offsets end at the largest. */
static uint64_t first_bit(const struct xc_member *member)
{
	if (member->dynamic || member->offset > UINT64_MAX / 16)
		return UINT64_MAX / 2;
	return member->offset * 8 + member->bit_offset;
}

static uint64_t bits_of(const struct xc_member *member, uint64_t size)
{
	if (member->bit_size)
		return member->bit_size;
	return size > UINT64_MAX / 16 ? UINT64_MAX / 2 : size * 8;
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->bit != y->bit)
		return x->bit < y->bit ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static struct place *sorted_members(const struct xc_type *record, size_t *count_out)
{
	const struct xc_member *members = xc_type_members(record, count_out);
	struct place *places = xc_alloc((*count_out + 1) * sizeof *places);
	for (size_t i = 0; i < *count_out; i++)
		places[i] = (struct place){&members[i], first_bit(&members[i]), i};
	if (record->kind != XC_TYPE_UNION)
		qsort(places, *count_out, sizeof *places, by_place);
	return places;
}

static struct xc_layout_gap gap_between(uint64_t end, uint64_t start)
{
	uint64_t bits = start > end ? start - end : 0;
	return (struct xc_layout_gap){.bytes = bits / 8, .bits = (unsigned)(bits % 8)};
}

/* Note the last cache line boundary that this row's start passed. */
static void mark_line(struct walk *w, struct xc_layout_row *row)
{
	uint64_t line = w->options.cacheline ? row->offset / w->options.cacheline : 0;
	if (!row->placed || line <= w->last_line || line > UINT32_MAX)
		return;
	w->last_line = line;
	row->cacheline = (unsigned)line;
	row->line_began = row->offset - line * w->options.cacheline;
}

/* The struct that a member is, or is an array of; NULL when it is none. *named_out: source has a name for it. */
static const struct xc_type *record_of(const struct xc_type *type, bool *named_out)
{
	*named_out = false;
	for (int i = 0; i < XC_TYPE_DEPTH && type; i++) {
		switch (type->kind) {
		case XC_TYPE_TYPEDEF:
			*named_out |= type->name != NULL;
			break;
		case XC_TYPE_ARRAY:
		case XC_TYPE_CONST:
		case XC_TYPE_VOLATILE:
		case XC_TYPE_RESTRICT:
		case XC_TYPE_ATOMIC:
			break;
		case XC_TYPE_STRUCT:
		case XC_TYPE_CLASS:
		case XC_TYPE_UNION:
			*named_out |= type->name != NULL;
			return xc_type_complete(type);
		default:
			return NULL;
		}
		type = type->target;
	}
	return NULL;
}

/* Anonymous structs are always looked into: there is no other place to see what they hold. */
static const struct xc_type *record_to_open(const struct xc_member *member, unsigned depth, unsigned expand,
					    bool *named_out)
{
	const struct xc_type *record = member->dynamic ? NULL : record_of(member->type, named_out);
	if (!record || depth >= XC_LAYOUT_DEPTH || (*named_out && !expand))
		return NULL;
	return record;
}

static void count_member(struct xc_layout *l, const struct xc_layout_row *row)
{
	l->member_count++;
	if (row->member->bit_size)
		l->member_bits += row->member->bit_size;
	else
		l->member_bytes += row->size;
}

static void count_hole(struct xc_layout *l, struct xc_layout_gap hole)
{
	l->hole_count += hole.bytes > 0;
	l->bit_hole_count += hole.bits > 0;
	l->hole_bytes += hole.bytes;
	l->bit_hole_bits += hole.bits;
}

static void add_record(struct walk *w, const struct xc_type *record, uint64_t base, unsigned depth, unsigned expand,
		       const struct xc_member *of);

/* One member, and what is inside it. Returns the bit behind it, from the start of its struct. */
static uint64_t add_member(struct walk *w, const struct xc_type *record, const struct place *place, uint64_t base,
			   uint64_t end, unsigned depth, unsigned expand)
{
	const struct xc_member *member = place->member;
	struct xc_layout_row *row = add_row(w);
	if (!row)
		return end;
	row->depth = depth;
	row->member = member;
	row->record = record;
	row->in_union = record->kind == XC_TYPE_UNION;
	row->placed = !member->dynamic;
	row->offset = row->placed ? base + member->offset : 0;
	row->size_known = xc_type_size(member->type, &row->size);
	row->size = row->size_known ? row->size : 0;
	if (row->placed && !row->in_union)
		row->hole = gap_between(end, place->bit);
	mark_line(w, row);
	if (depth == 0) {
		count_member(w->layout, row);
		count_hole(w->layout, row->hole);
	}
	uint64_t behind = row->placed ? place->bit + bits_of(member, row->size) : 0;
	bool named;
	const struct xc_type *inner = record_to_open(member, depth + 1, expand, &named);
	row->opens = inner != NULL;
	if (inner) /* moves the rows */
		add_record(w, inner, row->offset, depth + 1, named ? expand - 1 : expand, member);
	return behind > end ? behind : end;
}

static void add_end(struct walk *w, const struct xc_type *record, uint64_t base, unsigned depth, uint64_t end,
		    const struct xc_member *of)
{
	uint64_t size;
	struct xc_layout_row *row = add_row(w);
	if (!row)
		return;
	row->kind = XC_LAYOUT_END;
	row->depth = depth;
	row->member = of;
	row->record = record;
	row->offset = base;
	row->size_known = xc_type_size(record, &size);
	row->size = row->size_known ? size : 0;
	row->placed = true;
	if (row->size_known && size <= UINT64_MAX / 16)
		row->hole = gap_between(end, size * 8);
}

static void add_record(struct walk *w, const struct xc_type *record, uint64_t base, unsigned depth, unsigned expand,
		       const struct xc_member *of)
{
	size_t count;
	bool dynamic = false;
	uint64_t end = 0;
	xc_auto(xc_freep) struct place *places = sorted_members(record, &count);
	for (size_t i = 0; i < count && !w->layout->cut; i++) {
		dynamic |= places[i].member->dynamic;
		end = add_member(w, record, &places[i], base, end, depth, expand);
	}
	add_end(w, record, base, depth, end, of);
	struct xc_layout_row *last = &w->layout->rows[w->layout->row_count - 1];
	if (dynamic && last->kind == XC_LAYOUT_END)
		last->hole = (struct xc_layout_gap){0};
	if (depth == 0)
		w->layout->padding_known = !dynamic && w->layout->size_known && !w->layout->cut;
}

bool xc_layout_read(struct xc_layout *layout, const struct xc_type *type, const struct xc_layout_options *options)
{
	*layout = (struct xc_layout){0};
	if (!xc_layout_is_record(type))
		return false;
	layout->type = xc_type_complete(xc_type_strip(type));
	layout->size_known = xc_type_size(layout->type, &layout->size);
	struct walk w = {.layout = layout, .options = *options};
	add_record(&w, layout->type, 0, 0, options->expand, NULL);
	const struct xc_layout_row *last = &layout->rows[layout->row_count - 1];
	if (layout->padding_known && last->kind == XC_LAYOUT_END)
		layout->padding = last->hole;
	return true;
}

void xc_layout_fini(struct xc_layout *layout)
{
	free(layout->rows);
	*layout = (struct xc_layout){0};
}
