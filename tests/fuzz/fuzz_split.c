/* layer: dwarf
 *
 * A .dwo or .dwp: images are made of all its units, with skeletons that have a few addresses, and then read. */
#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/arch.h"
#include "dwarf/elf/budget.h"
#include "dwarf/module/die.h"
#include "dwarf/value/expr.h"
#include "dwarf/format/format.h"
#include "dwarf/split/split_image.h"
#include "dwarf/module/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_MEMBERS = 32, MAX_DIES = 2000, MAX_DEPTH = 16, BUDGET = 1 << 18, TABLE = 64 * 8, COPIES = 16 << 20 };

static void must(bool ok)
{
	if (!ok)
		abort();
}

struct input {
	const struct xc_split_file *file;
	struct xc_split_member *members;
	size_t count;
};

static void add(struct input *in, const struct xc_split_piece *piece, const struct xc_raw_unit *unit)
{
	uint64_t id = unit->id;
	bool type = unit->type == DW_UT_type || unit->type == DW_UT_split_type;
	if (in->count == MAX_MEMBERS || (!type && !xc_split_piece_id(piece, unit, &id)))
		return;
	must(unit->size <= xc_cursor_left(&piece->info));
	struct xc_split_member *m = &in->members[in->count++];
	*m = (struct xc_split_member){.piece = *piece, .unit = *unit, .id = id, .has_skeleton = !type};
	m->skeleton = (struct xc_skeleton){.id = id, .low_pc = 0x1000, .addr_base = 8};
}

static bool add_piece(void *context, const struct xc_split_piece *piece, const struct xc_raw_unit *unit)
{
	add(context, piece, unit);
	return true;
}

static void add_found(struct input *in, bool type, uint64_t id)
{
	struct xc_split_piece piece;
	struct xc_raw_unit unit;
	if (xc_split_file_find(in->file, type, id, &piece) && xc_raw_unit_at(piece.info, piece.types, &unit))
		add(in, &piece, &unit);
}

static bool add_signature(void *context, uint64_t signature)
{
	add_found(context, true, signature);
	return true;
}

static void add_slots(struct input *in, const struct xc_split_index *index, bool type)
{
	uint64_t id;
	uint32_t row;
	for (uint32_t i = 0; i < index->slot_count && in->count < MAX_MEMBERS && xc_budget_spend(1); i++)
		if (xc_split_index_slot(index, i, &id, &row))
			add_found(in, type, id);
}

/* ---- reads ---- */

struct look {
	struct xc_process *process;
	struct xc_module module;
	struct xc_arena scratch;
	size_t left;
};

static void look_at(struct look *l, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die child;
	struct xc_expr_context context = {
		.process = l->process, .module = &l->module, .scratch = &l->scratch, .file_addr = 0x1004};
	struct xc_format_options options = xc_format_defaults();
	struct xc_text text = {0};
	struct xc_value value;
	for (bool more = depth < MAX_DEPTH && xc_die_child(die, &child); more && l->left; more = xc_die_next(&child)) {
		l->left--;
		xc_die_holds(&child, 0x1004);
		xc_type_name(xc_type_get(xc_types_of(l->process), &child));
		xc_expr_variable(&context, &child, &value);
		xc_format_value(&text, &value, &options);
		look_at(l, &child, depth + 1);
	}
	xc_text_fini(&text);
}

static void look_through(struct xc_split_image *image)
{
	struct look l = {.process = xc_process_new("fuzz", false), .left = MAX_DIES};
	l.process->arch = xc_arch_host();
	l.module.bias_known = true;
	xc_space_seal(l.process->space);
	for (size_t i = 0; i < image->member_count; i++) {
		const struct xc_split_member *m = &image->members[i];
		Dwarf_Die die;
		if (m->piece.types ? dwarf_offdie_types(image->dwarf, m->at + m->first, &die) != NULL
				   : dwarf_offdie(image->dwarf, m->at + m->first, &die) != NULL)
			look_at(&l, &die, 0);
	}
	xc_walk_forget();
	xc_arena_fini(&l.scratch);
	xc_debuginfo_close(l.process);
	xc_process_close(l.process);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t table[TABLE];
	struct xc_split_file *file = NULL;
	struct xc_split_image *image = NULL;
	uint64_t budget = COPIES;
	elf_version(EV_CURRENT);
	xc_budget_set(BUDGET);
	for (size_t i = 0; i < TABLE; i += 8)
		table[i + 1] = 0x10;
	struct xc_error *err = xc_split_file_open(xc_source_over(data, size, "fuzz"), NULL, &file);
	if (err) {
		xc_error_free(err);
		return 0;
	}
	struct input in = {.file = file, .members = xc_alloc(MAX_MEMBERS * sizeof *in.members)};
	struct xc_skeleton_sections sections = {.addr = xc_cursor(table, TABLE, ".debug_addr"),
						.ranges = xc_cursor(table, TABLE, ".debug_ranges"),
						.machine = EM_X86_64};
	if (file->package) {
		add_slots(&in, &file->units, false);
		for (size_t i = 0; i < in.count; i++) {
			struct xc_split_member m = in.members[i];
			xc_split_signatures(&m.piece, &m.unit, add_signature, &in);
		}
		add_slots(&in, &file->types, true);
	} else {
		xc_split_file_each(file, add_piece, &in);
	}
	err = xc_split_image_new(in.members, in.count, &sections, &budget, &image); /* takes the members */
	xc_error_free(err);
	if (image)
		look_through(image);
	xc_split_image_free(image);
	xc_split_file_close(file);
	return 0;
}
