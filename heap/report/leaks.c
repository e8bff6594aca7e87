/* Blocks are grouped by type, or by size if they have none. On the way from the head of a structure
 * (leak_structures.h), a block of its parent's group belongs to its parent's row; any other block begins a row, "held
 * by" the parent's group. So a list of a thousand nodes with a string each is two rows, and so are a hundred such
 * lists. */
#include "heap/report/leaks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/types/field.h"
#include "heap/graph/claim.h"
#include "heap/graph/leak_structures.h"
#include "heap/query/typing_report.h"
#include "heap/report/leaks_notes.h"

enum {
	LINKS = 3,        /* kinds of links in a row that are reported */
	LINKS_READ = 256, /* links of a row that are examined for that */
};

struct row {
	uint64_t kind, holder; /* holder 0: heads */
	uint64_t bytes, blocks, entries;
	uint64_t size;         /* of each block, if equal */
	uint32_t first;        /* place of the lowest entry */
	uint32_t first_holder; /* place of its holder */
	uint32_t longest;      /* steps from an entry, counted in blocks */
	bool forks, parts;     /* a block has several successors; an entry has two */
	bool ring;
	uint64_t links[LINKS]; /* offsets */
	unsigned link_count, links_read;
};

struct leaks {
	struct xc_heap *heap;
	struct xc_leak_structures leaked;
	struct row *rows;
	size_t row_count, row_capacity;
	struct xc_hashtable row_numbers; /* (kind, holder) → index + 1 */
	uint32_t *row_of, *depth;        /* by place */
	uint64_t *led;                   /* a bit for each place: has a successor already */
};

/* ---- rows ---- */

static const struct xc_typed *typed_of(const struct leaks *l, uint32_t place)
{
	return l->heap->typing ? xc_typing_get(l->heap->typing, l->leaked.blocks[place]) : NULL;
}

static uint64_t size_of(const struct leaks *l, uint32_t place)
{
	return xc_block_size(&l->heap->blocks, l->leaked.blocks[place]);
}

/* Types are identified by their address, which is even. */
static uint64_t kind_of(const struct leaks *l, uint32_t place)
{
	const struct xc_typed *typed = typed_of(l, place);
	return typed ? (uint64_t)(uintptr_t)typed->type : size_of(l, place) << 1 | 1;
}

static uint32_t row_for(struct leaks *l, uint64_t kind, uint64_t holder)
{
	uint64_t *number = &xc_hashtable_at(&l->row_numbers, NULL, kind, holder)->number;
	if (!*number) {
		l->rows = xc_grow(l->rows, l->row_count, &l->row_capacity, sizeof *l->rows);
		l->rows[l->row_count++] = (struct row){.kind = kind, .holder = holder, .first = XC_NO_BLOCK};
		*number = l->row_count;
	}
	return (uint32_t)*number - 1;
}

/* ---- links ---- */

/* The offset in a block of the first word that points to another block; UINT64_MAX if unknown. */
static uint64_t link_offset(struct leaks *l, uint32_t from, uint32_t to)
{
	enum { MOST = 4096 };
	const struct xc_blocks *blocks = &l->heap->blocks;
	unsigned word = l->heap->process->arch->word;
	xc_addr source = xc_block_addr(blocks, l->leaked.blocks[from]);
	uint64_t size = size_of(l, from) < MOST ? size_of(l, from) : MOST, value;
	for (uint64_t at = 0; size - at >= word; at += word)
		if (xc_space_peek_uint(l->heap->process->space, source + at, word, &value) &&
		    xc_blocks_find(blocks, value) == l->leaked.blocks[to])
			return at;
	return UINT64_MAX;
}

static void note_link(struct leaks *l, struct row *row, uint32_t from, uint32_t to)
{
	if (row->links_read >= LINKS_READ || row->link_count == LINKS)
		return;
	row->links_read++;
	uint64_t offset = link_offset(l, from, to);
	for (unsigned i = 0; i < row->link_count; i++)
		if (row->links[i] == offset)
			return;
	if (offset != UINT64_MAX)
		row->links[row->link_count++] = offset;
}

static bool is_entry(const struct leaks *l, uint32_t place)
{
	return l->depth[place] == 1;
}

/* A block of its parent's group. */
static void follow(struct leaks *l, uint32_t parent, uint32_t place)
{
	struct row *row = &l->rows[l->row_of[parent]];
	bool again = xc_graph_bit(l->led, parent);
	row->parts |= again && is_entry(l, parent);
	row->forks |= again && !is_entry(l, parent);
	xc_graph_set_bit(l->led, parent);
	l->row_of[place] = l->row_of[parent];
	l->depth[place] = l->depth[parent] + 1;
	note_link(l, row, parent, place);
}

static void enter(struct leaks *l, uint32_t parent, uint32_t place)
{
	uint64_t holder = parent == place ? 0 : kind_of(l, parent);
	l->row_of[place] = row_for(l, kind_of(l, place), holder);
	l->depth[place] = 1;
	struct row *row = &l->rows[l->row_of[place]];
	row->entries++;
	if (place < row->first) { /* places are in address order */
		row->first = place;
		row->first_holder = parent;
	}
	if (holder)
		note_link(l, row, parent, place);
}

/* Does it point back to the head of its structure, from further away than the next block? */
static bool closes_ring(const struct leaks *l, uint32_t place)
{
	const struct xc_graph *graph = l->leaked.graph;
	uint32_t block = l->leaked.blocks[place], head = l->leaked.blocks[l->leaked.head[place]];
	if (l->row_of[place] != l->row_of[l->leaked.head[place]] || l->depth[place] < 2)
		return false;
	for (uint32_t e = graph->start[block]; e < graph->start[block + 1]; e++)
		if ((graph->to[e] & ~XC_EDGE_INTERIOR) == head)
			return l->depth[place] > 2 || !xc_graph_bit(l->led, place);
	return false;
}

static void add_block(struct leaks *l, uint32_t place)
{
	struct row *row = &l->rows[l->row_of[place]];
	uint64_t size = size_of(l, place);
	row->size = row->blocks == 0 || row->size == size ? size : 0;
	row->bytes += size;
	row->blocks++;
	row->longest = l->depth[place] > row->longest ? l->depth[place] : row->longest;
	row->ring |= closes_ring(l, place);
}

static int row_order(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (!x->holder != !y->holder)
		return x->holder ? 1 : -1; /* holders before what they hold */
	return x->first < y->first ? -1 : x->first > y->first;
}

static void make_rows(struct leaks *l)
{
	size_t count = l->leaked.count;
	l->row_of = xc_alloc((count + 1) * sizeof *l->row_of);
	l->depth = xc_alloc((count + 1) * sizeof *l->depth);
	l->led = xc_graph_bits(count);
	for (size_t i = 0; i < count; i++) {
		uint32_t place = l->leaked.order[i], parent = l->leaked.parent[place];
		if (parent != place && kind_of(l, parent) == kind_of(l, place))
			follow(l, parent, place);
		else
			enter(l, parent, place);
	}
	for (size_t i = 0; i < count; i++)
		add_block(l, l->leaked.order[i]);
	if (l->row_count)
		qsort(l->rows, l->row_count, sizeof *l->rows, row_order);
}

/* ---- texts ---- */

/* ".next" if the type is known, else "+0x8". */
static void add_field(const struct leaks *l, struct xc_text *text, uint32_t place, uint64_t offset)
{
	const struct xc_typed *typed = typed_of(l, place);
	size_t before = text->len;
	uint64_t size;
	if (typed && offset >= typed->offset) {
		uint64_t at = offset - typed->offset;
		if (xc_type_size(typed->type, &size) && size && typed->shape == XC_TYPED_ARRAY)
			at %= size;
		xc_field_path(text, typed->type, at, NULL);
	}
	if (text->len == before)
		xc_text_printf(text, "+0x%" PRIx64, offset);
}

static void add_fields(const struct leaks *l, struct xc_text *text, const struct row *row)
{
	for (unsigned i = 0; i < row->link_count; i++) {
		xc_text_add(text, i ? ", " : " by ");
		add_field(l, text, row->first, row->links[i]);
	}
}

static void add_holder(const struct leaks *l, struct xc_text *text, const struct row *row)
{
	const struct xc_typed *typed = typed_of(l, row->first_holder);
	if (typed)
		xc_text_printf(text, "held by %s",
			       xc_typing_name(l->heap->typing, l->leaked.blocks[row->first_holder]));
	else
		xc_text_printf(text, "held by blocks of %" PRIu64 " bytes", size_of(l, row->first_holder));
	struct xc_text field = {0};
	if (row->link_count)
		add_field(l, &field, row->first_holder, row->links[0]);
	if (field.len)
		xc_text_printf(text, "%s%s", *field.bytes == '+' ? " at " : "", field.bytes);
	xc_text_fini(&field);
}

static bool points_to_itself(const struct leaks *l, uint32_t place)
{
	return link_offset((struct leaks *)l, place, place) != UINT64_MAX;
}

static void add_shape(const struct leaks *l, struct xc_text *text, const struct row *row)
{
	const char *shape = row->forks ? "linked" : row->ring ? "ring" : row->parts ? "list both ways" : "list";
	bool alike = row->blocks == row->entries * row->longest;
	if (row->longest == 1) {
		if (row->entries == 1 && points_to_itself(l, row->first))
			xc_text_add(text, "points to itself");
		return;
	}
	xc_text_add(text, shape);
	if (row->holder == 0)
		add_fields(l, text, row);
	if (row->forks)
		xc_text_printf(text, ", %" PRIu64 " blocks", row->blocks);
	else if (row->entries == 1)
		xc_text_printf(text, ", %" PRIu64 " long", row->blocks);
	else
		xc_text_printf(text, ", %s%" PRIu32 " long", alike ? "" : "up to ", row->longest);
	if (row->entries > 1)
		xc_text_printf(text, ", %" PRIu64 " of these", row->entries);
}

/* The word that leads to the first block of a row, if it may be stale. */
static void add_stale(const struct leaks *l, struct xc_text *text, const struct row *row)
{
	uint32_t block = l->leaked.blocks[row->first];
	struct xc_text why = {0};
	if (xc_graph_only_stale(l->leaked.graph, block) && xc_graph_stale_text(l->leaked.graph, block, &why))
		xc_text_printf(text, "%s%s", text->len ? "; " : "", xc_text_string(&why));
	xc_text_fini(&why);
}

/* What a plugin says of the first block of a row. */
static void add_claim(const struct leaks *l, struct xc_text *text, const struct row *row)
{
	const struct xc_heap_claim *claim = xc_claim_of(l->heap, l->leaked.blocks[row->first]);
	if (claim) {
		xc_text_add(text, text->len ? "; " : "");
		xc_text_name(text, claim->what);
	}
}

static char *what_of(const struct leaks *l, const struct row *row)
{
	struct xc_text text = {0}, shape = {0};
	if (row->holder)
		add_holder(l, &text, row);
	add_shape(l, &shape, row);
	if (shape.len) {
		xc_text_add(&text, text.len ? "; " : "");
		xc_text_add(&text, shape.bytes);
	}
	xc_text_fini(&shape);
	add_stale(l, &text, row);
	add_claim(l, &text, row);
	return xc_text_take(&text);
}

/* The beginning of a text. It is the program's data, so secret. */
static struct xc_cell sample_of(const struct leaks *l, uint32_t place, struct xc_text *text)
{
	enum { MOST = 40 };
	const struct xc_typed *typed = typed_of(l, place);
	char bytes[MOST + 1];
	bool cut;
	if (!typed || typed->shape != XC_TYPED_TEXT || typed->offset >= size_of(l, place))
		return xc_cell_null(NULL);
	xc_addr addr = xc_block_addr(&l->heap->blocks, l->leaked.blocks[place]) + typed->offset;
	uint64_t size = size_of(l, place) - typed->offset;
	long len = xc_space_peek_string(l->heap->process->space, addr, bytes, size < MOST ? (size_t)size : MOST, &cut);
	if (len <= 0)
		return xc_cell_null(NULL);
	xc_text_char(text, '"');
	xc_text_escaped(text, bytes, (size_t)len);
	xc_text_add(text, cut ? "…" : "\"");
	struct xc_cell cell = xc_cell_text(text->bytes);
	cell.secret = true;
	return cell;
}

/* ---- the section ---- */

static void add_row(const struct leaks *l, struct xc_section *s, struct xc_table *table, const struct row *row)
{
	const struct xc_typed *typed = typed_of(l, row->first);
	uint32_t block = l->leaked.blocks[row->first];
	xc_auto(xc_freep) char *what = what_of(l, row);
	struct xc_text sample = {0};
	const struct xc_cell cells[] = {
		xc_cell_bytes(row->bytes),
		xc_cell_count(row->blocks),
		row->size ? xc_cell_bytes(row->size) : xc_cell_null(NULL),
		typed ? xc_cell_text(xc_typing_name(l->heap->typing, block)) : xc_cell_null(NULL),
		xc_cell_count(row->entries),
		xc_cell_address(xc_block_addr(&l->heap->blocks, block)),
		what && *what ? xc_cell_text(what) : xc_cell_null(NULL),
		typed ? xc_cell_text(xc_confidence_word(typed->confidence)) : xc_cell_null(NULL),
		sample_of(l, row->first, &sample),
	};
	xc_table_row(s, table, cells);
	xc_text_fini(&sample);
}

static void add_table(const struct leaks *l, struct xc_section *s, const char *name, size_t limit)
{
	static const struct xc_column columns[] = {
		{"bytes", "BYTES", XC_FIELD_BYTES, false},   {"blocks", "BLOCKS", XC_FIELD_COUNT, false},
		{"size", "EACH", XC_FIELD_BYTES, false},     {"type", "TYPE", XC_FIELD_TEXT, false},
		{"heads", "OF THESE", XC_FIELD_COUNT, true}, {"head", "HEAD", XC_FIELD_ADDRESS, false},
		{"what", "WHAT", XC_FIELD_TEXT, false},      {"confidence", "CONFIDENCE", XC_FIELD_TEXT, false},
		{"sample", "SAMPLE", XC_FIELD_TEXT, true},
	};
	size_t rows = limit && limit < l->row_count ? limit : l->row_count;
	if (rows == 0)
		return;
	struct xc_table *table = xc_section_table(s, name, columns, XC_COUNT(columns));
	for (size_t i = 0; i < rows; i++)
		add_row(l, s, table, &l->rows[i]);
	uint64_t bytes = 0, blocks = 0;
	for (size_t i = rows; i < l->row_count; i++) {
		bytes += l->rows[i].bytes;
		blocks += l->rows[i].blocks;
	}
	if (blocks == 0)
		return;
	struct xc_text text = {0};
	xc_leaks_add_count(&text, blocks);
	xc_text_add(&text, " blocks, ");
	xc_text_size(&text, bytes);
	xc_section_message(s, XC_INFO, "--limit shows more", "%zu more rows with %s", l->row_count - rows, text.bytes);
	xc_text_fini(&text);
}

/* "12 blocks, 384 B, in 2 structures that no root reaches"; `blocks` is the name of their number, and so on. */
static char *totals_text(const struct leaks *l, const char *how)
{
	struct xc_text text = {0};
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < l->leaked.count; i++)
		bytes += size_of(l, i);
	xc_leaks_add_count(&text, l->leaked.count);
	xc_text_printf(&text, " block%s, ", l->leaked.count == 1 ? "" : "s");
	xc_text_size(&text, bytes);
	xc_text_add(&text, ", in ");
	xc_leaks_add_count(&text, l->leaked.head_count);
	xc_text_printf(&text, " structure%s that %s", l->leaked.head_count == 1 ? "" : "s", how);
	return xc_text_take(&text);
}

static void add_numbers(const struct leaks *l, struct xc_section *s, const char *const names[3],
			const char *const labels[3])
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < l->leaked.count; i++)
		bytes += size_of(l, i);
	xc_section_count(s, names[0], labels[0], l->leaked.count)->quiet = true;
	xc_section_bytes(s, names[1], labels[1], bytes)->quiet = true;
	xc_section_count(s, names[2], labels[2], l->leaked.head_count)->quiet = true;
}

/* If no blocks were found, nothing is known about leaks. */
static void add_leaked(const struct leaks *l, struct xc_section *s, size_t limit)
{
	static const char *const names[] = {"blocks", "bytes", "structures"};
	static const char *const labels[] = {"leaked blocks", "leaked", "structures"};
	xc_auto(xc_freep) char *totals = totals_text(l, "no root reaches");
	const char *none =
		xc_heap_why_empty(l->heap) ? "no blocks to examine" : "no leak: a root reaches every live block";
	add_numbers(l, s, names, labels);
	s->headline = xc_arena_strdup(&s->report->arena, l->leaked.count ? totals : none);
	add_table(l, s, "leaks", limit);
}

static void add_possible(const struct leaks *l, struct xc_section *s, size_t limit)
{
	static const char *const names[] = {"possible_blocks", "possible_bytes", "possible_structures"};
	static const char *const labels[] = {"possibly leaked blocks", "possibly leaked bytes", "possible structures"};
	static const char *const others[2][2] = {
		{"", ", or stale ones,"},
		{", or with other bits around them,", ", with other bits around them, or stale ones,"},
	};
	const struct xc_graph *graph = l->leaked.graph;
	xc_auto(xc_freep) char *which = xc_asprintf("only pointers into the middle of blocks%s lead to",
						    others[graph->disguised_count > 0][graph->firmly != NULL]);
	xc_auto(xc_freep) char *totals = totals_text(l, which);
	add_numbers(l, s, names, labels);
	xc_section_text(s, "possible", "possibly leaked",
			l->leaked.count ? totals : "no block: none is reached by such pointers only");
	add_table(l, s, "possibly", limit);
}

static void fini(struct leaks *l)
{
	xc_leak_structures_fini(&l->leaked);
	free(l->rows);
	xc_hashtable_fini(&l->row_numbers);
	free(l->row_of);
	free(l->depth);
	free(l->led);
}

struct xc_error *xc_leaks(struct xc_section *section, struct xc_heap *heap, const struct xc_leaks_options *options)
{
	struct leaks leaked = {.heap = heap}, possible = {.heap = heap};
	struct xc_graph *graph;
	struct xc_error *err = xc_graph_of(heap, &graph);
	if (err)
		return err;
	xc_leak_structures_find(&leaked.leaked, graph, false);
	if (options->types && (leaked.leaked.count || options->possible)) {
		xc_typing_or_note(section, heap);
		xc_leak_structures_fini(&leaked.leaked);
		xc_leak_structures_find(&leaked.leaked, graph, false); /* types tell more pointers */
	}
	make_rows(&leaked);
	add_leaked(&leaked, section, options->limit);
	fini(&leaked);
	if (options->possible) {
		xc_leak_structures_find(&possible.leaked, graph, true);
		make_rows(&possible);
		add_possible(&possible, section, options->limit);
		fini(&possible);
	}
	xc_leaks_add_notes(section, heap, options->possible);
	return NULL;
}
