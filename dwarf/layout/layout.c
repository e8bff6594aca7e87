/* layout: sorts members by offset; a gap between the end of the earlier members and the next start is a hole.
 *
 * `end` is the highest bit that any earlier member reaches, not the end of the last one. So an empty base class,
 * members in the tail padding of a base (Itanium C++ ABI 2.4) and overlapping members of Rust enums make no holes. A
 * gap is split into whole bytes and remaining bits, as by gdb's ptype/o. */
#include "dwarf/layout/layout.h"

#include <stdlib.h>
#include <string.h>

struct walk {
	struct xc_layout *layout;
	struct xc_layout_options options;
	uint64_t last_line; /* number of the cache line of the last row */
};

/* A member, sorted by offset. */
struct place {
	const struct xc_member *member;
	const struct xc_variant *variant; /* whose member it is, or NULL */
	bool is_discriminant;
	uint64_t bit;
	size_t order;
};

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

/* Bits from the start of the struct; hostile offsets saturate. */
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

/* Variants are after all other members, together and in order. */
static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (!x->variant != !y->variant)
		return x->variant ? 1 : -1;
	if (x->bit != y->bit && !x->variant)
		return x->bit < y->bit ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

struct places {
	struct place *items;
	size_t count, capacity;
};

static void add_place(struct places *p, const struct xc_member *member, const struct xc_variant *variant)
{
	p->items = xc_grow(p->items, p->count, &p->capacity, sizeof *p->items);
	p->items[p->count] =
		(struct place){.member = member, .variant = variant, .bit = first_bit(member), .order = p->count};
	p->count++;
}

static void add_variants(struct places *p, const struct xc_type *record)
{
	const struct xc_variant_part *part = record->has_variants ? xc_variant_part_of(record) : NULL;
	if (part && part->has_discriminant) {
		add_place(p, &part->discriminant, NULL);
		p->items[p->count - 1].is_discriminant = true;
	}
	for (size_t i = 0; part && i < part->count; i++)
		for (size_t m = 0; m < part->variants[i].count; m++)
			add_place(p, &part->variants[i].members[m], &part->variants[i]);
}

static struct place *sorted_members(const struct xc_type *record, size_t *count_out)
{
	struct places p = {0};
	size_t count;
	const struct xc_member *members = xc_type_members(record, &count);
	for (size_t i = 0; i < count; i++)
		add_place(&p, &members[i], NULL);
	add_variants(&p, record);
	if (record->kind != XC_TYPE_UNION && p.count > 1)
		qsort(p.items, p.count, sizeof *p.items, by_place);
	*count_out = p.count;
	return p.items;
}

static struct xc_layout_gap gap_between(uint64_t end, uint64_t start)
{
	uint64_t bits = start > end ? start - end : 0;
	return (struct xc_layout_gap){.bytes = bits / 8, .bits = (unsigned)(bits % 8)};
}

/* Record the last cache line boundary between the previous row and this row's start. */
static void mark_line(struct walk *w, struct xc_layout_row *row)
{
	uint64_t line = w->options.cacheline ? row->offset / w->options.cacheline : 0;
	if (!row->placed || line <= w->last_line || line > UINT32_MAX)
		return;
	w->last_line = line;
	row->cacheline = (unsigned)line;
	row->line_began = row->offset - line * w->options.cacheline;
}

/* The struct that is a member's type, or the element of its array; NULL for other types. *named_out: it has a name in
 * the source. */
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

/* Anonymous structs are always expanded: their members are shown nowhere else. */
static const struct xc_type *record_to_open(const struct xc_member *member, unsigned depth, unsigned expand,
					    bool *named_out)
{
	const struct xc_type *record = member->dynamic ? NULL : record_of(member->type, named_out);
	if (!record || depth >= XC_LAYOUT_DEPTH || (*named_out && !expand))
		return NULL;
	return record;
}

/* A record that is being laid out. */
struct record {
	const struct xc_type *type;
	const struct xc_member *of;       /* its member, or NULL */
	const struct xc_variant *variant; /* the member's */
	uint64_t base;                    /* bytes from the start of the outermost type */
	uint64_t end;                     /* highest bit that a member reaches so far */
	unsigned depth, expand;
	bool dynamic; /* has virtual bases */
	bool unsized; /* the end of the last member is not known */
};

static void count_member(struct xc_layout *l, const struct xc_layout_row *row)
{
	l->member_count++;
	if (row->member->bit_size)
		l->member_bits += row->member->bit_size;
	else
		l->member_bytes += row->size;
	l->hole_count += row->hole.bytes > 0;
	l->bit_hole_count += row->hole.bits > 0;
	l->hole_bytes += row->hole.bytes;
	l->bit_hole_bits += row->hole.bits;
}

/* Declarations are completed, also in other units; so are elements of arrays. */
static bool size_of(const struct xc_type *type, uint64_t *size_out)
{
	const struct xc_type *plain = xc_type_strip(type);
	uint64_t element;
	if (xc_type_size(type, size_out))
		return true;
	if (plain->kind != XC_TYPE_ARRAY)
		return plain->is_declaration && xc_type_size(xc_type_complete(plain), size_out);
	return plain->count_known && xc_type_size(xc_type_complete(xc_type_strip(plain->target)), &element) &&
	       !__builtin_mul_overflow(element, plain->count, size_out);
}

bool xc_layout_is_flexible(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->kind == XC_TYPE_ARRAY && !type->count_known && !type->is_dynamic;
}

static void fill_row(struct walk *w, const struct record *r, const struct place *place, struct xc_layout_row *row)
{
	const struct xc_member *member = place->member;
	row->depth = r->depth;
	row->member = member;
	row->record = r->type;
	row->variant = place->variant;
	row->is_discriminant = place->is_discriminant;
	row->in_union = r->type->kind == XC_TYPE_UNION || place->variant;
	row->placed = !member->dynamic;
	row->offset = row->placed ? r->base + member->offset : 0;
	row->size_known = size_of(member->type, &row->size);
	row->size = row->size_known ? row->size : 0;
	if (row->placed && !row->in_union && !r->unsized)
		row->hole = gap_between(r->end, place->bit);
	mark_line(w, row);
	if (r->depth == 0 && !place->variant)
		count_member(w->layout, row);
}

static void add_record(struct walk *w, struct record *r);

/* Expand a member. In a variant, the offset of the discriminant is already used. */
static void open_member(struct walk *w, const struct record *r, const struct place *place, const struct xc_type *type,
			bool named)
{
	bool free = named && !place->variant; /* variants are always expanded */
	struct record inner = {
		.type = type,
		.of = place->member,
		.variant = place->variant,
		.base = r->base + place->member->offset,
		.end = place->variant && r->end >= place->bit ? r->end - place->bit : 0,
		.depth = r->depth + 1,
		.expand = free ? r->expand - 1 : r->expand,
	};
	add_record(w, &inner);
}

static void add_member(struct walk *w, struct record *r, const struct place *place, uint64_t *end)
{
	const struct xc_member *member = place->member;
	struct xc_layout_row *row = add_row(w);
	bool named;
	if (!row)
		return;
	fill_row(w, r, place, row);
	uint64_t behind = row->placed ? place->bit + bits_of(member, row->size) : 0;
	bool unsized = row->placed && !row->size_known && !xc_layout_is_flexible(member->type);
	const struct xc_type *inner =
		record_to_open(member, r->depth + 1, r->expand + (place->variant != NULL), &named);
	row->opens = inner != NULL;
	if (inner) /* may move the rows */
		open_member(w, r, place, inner, named);
	*end = behind > *end ? behind : *end;
	if (!place->variant)
		r->end = *end;
	r->unsized = unsized;
	r->dynamic |= member->dynamic;
	w->layout->unsized |= unsized && r->depth == 0;
}

static void add_end(struct walk *w, const struct record *r, uint64_t end)
{
	struct xc_layout_row *row = add_row(w);
	if (!row)
		return;
	row->kind = XC_LAYOUT_END;
	row->depth = r->depth;
	row->member = r->of;
	row->variant = r->variant;
	row->record = r->type;
	row->offset = r->base;
	row->size_known = xc_type_size(r->type, &row->size);
	row->size = row->size_known ? row->size : 0;
	row->placed = true;
	if (row->size_known && row->size <= UINT64_MAX / 16 && !r->dynamic && !r->unsized)
		row->hole = gap_between(end, row->size * 8);
}

static void add_record(struct walk *w, struct record *r)
{
	size_t count;
	xc_auto(xc_freep) struct place *places = sorted_members(r->type, &count);
	uint64_t end = r->end;
	for (size_t i = 0; i < count && !w->layout->cut; i++)
		add_member(w, r, &places[i], &end);
	add_end(w, r, end);
	if (r->depth == 0)
		w->layout->padding_known = !r->dynamic && !r->unsized && w->layout->size_known && !w->layout->cut;
}

bool xc_layout_read(struct xc_layout *layout, const struct xc_type *type, const struct xc_layout_options *options)
{
	*layout = (struct xc_layout){0};
	if (!xc_type_is_record(type))
		return false;
	layout->type = xc_type_complete(xc_type_strip(type));
	layout->size_known = xc_type_size(layout->type, &layout->size);
	struct walk w = {.layout = layout, .options = *options};
	struct record record = {.type = layout->type, .expand = options->expand};
	add_record(&w, &record);
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
