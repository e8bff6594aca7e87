/* cdef_layout: gcc's layout of records (gcc 12: stor-layout.c, place_field, update_alignment_for_field, layout_decl),
 * in bits.
 *
 * With its names here: `asked` is *_USER_ALIGN, `limit` maximum_field_alignment (#pragma pack), `known` the alignment
 * that the place behind the last field happens to have. All machines let a bit-field's type matter
 * (PCC_BITFIELD_TYPE_MATTERS): it lies within a unit of its type, unless packed, and aligns the record as a member of
 * that type would. The machines differ in
 *
 * i386            integers and double take 4 bytes' alignment as members (x86_field_alignment), 8 elsewhere; long
 * double always 4 arm, aarch64    bit-fields without a name align the record too (TARGET_ALIGN_ANON_BITFIELD)
 *
 * Bit-fields of 0 bits move what follows to a boundary of their type, whatever is packed.
 *
 * Not followed: on i386 a union of 8 bytes that holds an _Atomic long long and something that fits no register is
 * aligned to 8. */
#include "lua/cdef/cdef_impl.h"

#include <elf.h>

enum { BYTE = 8, MOST_BYTES_LOG = 56 };

struct alignment {
	uint64_t bits;
	bool asked; /* by the source */
};

uint64_t xc_cdef_most(const struct xc_process *process)
{
	return process->arch->word == 4 ? INT32_MAX : UINT64_C(1) << MOST_BYTES_LOG;
}

static bool is_i386(const struct xc_process *process)
{
	return process->arch->machine == EM_386;
}

static bool aligns_unnamed(const struct xc_process *process)
{
	return process->arch->machine == EM_ARM || process->arch->machine == EM_AARCH64;
}

uint64_t xc_cdef_largest_alignment(const struct xc_process *process)
{
	return process->arch->machine == EM_ARM ? 8 : 16;
}

/* Of types that C has by itself. */
static uint64_t base_alignment(const struct xc_type *type)
{
	if (!type->size_known || type->size == 0)
		return BYTE;
	return (type->size & (type->size - 1) ? 4 : type->size) * BYTE; /* 12: long double of i386 */
}

/* _Atomic types that a machine's integer could hold are aligned as that (c-common: find_atomic_core_type). */
static uint64_t atomic_alignment(const struct xc_process *process, const struct xc_type *type)
{
	uint64_t size;
	if (!xc_type_size(type, &size) || size == 0 || (size & (size - 1)) || size > 2u * process->arch->word)
		return BYTE;
	return size * BYTE;
}

static struct alignment alignment_of(const struct xc_process *process, const struct xc_type *type)
{
	uint64_t least = BYTE;
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		bool asked;
		uint64_t bits = (uint64_t)xc_type_made_alignment(type, &asked) * BYTE;
		if (bits > 0) {
			return (struct alignment){bits > least ? bits : least, asked};
		}
		if (type->kind == XC_TYPE_ATOMIC)
			least = atomic_alignment(process, type);
		bool inside =
			(type->kind >= XC_TYPE_TYPEDEF && type->kind <= XC_TYPE_ATOMIC) || type->kind == XC_TYPE_ARRAY;
		if (!inside)
			break;
		type = type->target;
	}
	uint64_t bits = base_alignment(type);
	return (struct alignment){bits > least ? bits : least, false};
}

/* Strips arrays, typedefs and qualifiers; *atomic_out: one was _Atomic. */
static const struct xc_type *innermost(const struct xc_type *type, bool *atomic_out)
{
	*atomic_out = false;
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		bool alias = type->kind >= XC_TYPE_TYPEDEF && type->kind <= XC_TYPE_ATOMIC;
		*atomic_out |= type->kind == XC_TYPE_ATOMIC;
		if (!alias && type->kind != XC_TYPE_ARRAY)
			break;
		type = type->target;
	}
	return type;
}

/* ADJUST_FIELD_ALIGN: what a member of a type gets of an alignment. */
static uint64_t adjust(const struct xc_process *process, const struct xc_type *type, uint64_t bits)
{
	bool atomic;
	const struct xc_type *plain = innermost(type, &atomic);
	if (!is_i386(process) || atomic || bits <= 32)
		return bits;
	bool record = plain->kind == XC_TYPE_STRUCT || plain->kind == XC_TYPE_UNION;
	return plain->size_known && plain->size <= 8 && (!record || plain->size == 8) ? 32 : bits;
}

uint64_t xc_cdef_full_alignment(const struct xc_process *process, const struct xc_type *type)
{
	return alignment_of(process, type).bits / BYTE;
}

uint64_t xc_cdef_alignment(const struct xc_process *process, const struct xc_type *type)
{
	struct alignment a = alignment_of(process, type);
	return (a.asked ? a.bits : adjust(process, type, a.bits)) / BYTE;
}

/* ---- fields ---- */

struct layout {
	const struct xc_process *process;
	struct xc_cdef_record *record;
	uint64_t limit; /* bits; 0: none */
	uint64_t at;    /* after the last field, bits; of unions the largest member */
	struct alignment whole;
};

struct placing {
	const struct xc_cdef_field *field;
	struct alignment type; /* of the field's type */
	bool is_bits;          /* still to be placed as one */
	bool packed;
	struct alignment own; /* wanted by the field */
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t round_up(uint64_t at, uint64_t bits)
{
	return (at + bits - 1) & ~(bits - 1);
}

/* A bit-field as wide as an integer, where that would be aligned, is a plain one. */
static void try_integer(struct placing *f, uint64_t known)
{
	uint64_t width = f->field->member.bit_size;
	bool integer = width == 8 || width == 16 || width == 32 || width == 64 || width == 128;
	if (!integer || (f->packed && width > BYTE) || (known && known < width))
		return;
	f->own.bits = most(f->own.bits, width);
	f->is_bits = false;
}

/* layout_decl: what alignment the field wants. */
static void want(const struct layout *l, struct placing *f, uint64_t known)
{
	const struct xc_member *member = &f->field->member;
	bool asked_before = f->own.asked, empty = f->is_bits && member->bit_size == 0;
	bool packed = f->packed && !empty;
	if (empty || (!f->is_bits && !(packed && asked_before))) {
		if (f->type.bits > f->own.bits)
			f->own = f->type;
	}
	if (f->is_bits && !empty)
		try_integer(f, known);
	if (packed && !asked_before)
		f->own.bits = least(f->own.bits, BYTE);
	if (!packed && !f->own.asked)
		f->own.bits = adjust(l->process, member->type, f->own.bits);
	if (l->limit && !empty)
		f->own.bits = least(f->own.bits, l->limit);
}

/* update_alignment_for_field */
static void align_record(struct layout *l, const struct placing *f)
{
	const struct xc_member *member = &f->field->member;
	bool asked = f->own.asked;
	if (!f->field->is_bits) {
		l->whole.bits = most(l->whole.bits, f->own.bits);
	} else if (member->name || aligns_unnamed(l->process)) {
		uint64_t type = f->type.asked ? f->type.bits : adjust(l->process, member->type, f->type.bits);
		if (member->bit_size > 0 && l->limit)
			type = least(type, l->limit);
		else if (member->bit_size > 0 && f->packed)
			type = least(type, BYTE);
		l->whole.bits = most(l->whole.bits, most(type, f->own.bits));
		asked |= f->type.asked;
	}
	l->whole.asked |= asked;
}

/* A bit-field spans no more units of its type's alignment than its type does. */
static void fit_unit(struct layout *l, const struct placing *f)
{
	const struct xc_member *member = &f->field->member;
	uint64_t size = 0, unit = f->type.asked ? f->type.bits : adjust(l->process, member->type, f->type.bits);
	xc_type_size(member->type, &size);
	uint64_t within = l->at % unit;
	if ((within + member->bit_size + unit - 1) / unit > size * BYTE / unit)
		l->at = round_up(l->at, unit);
	l->whole.asked |= f->type.asked;
}

static bool place(struct layout *l, struct xc_cdef_field *field)
{
	bool is_union = l->record->is_union;
	struct alignment type = alignment_of(l->process, field->member.type);
	struct placing f = {.field = field,
			    .type = type,
			    .is_bits = field->is_bits,
			    .packed = (l->record->packed || field->packed) && (field->is_bits || type.bits > BYTE),
			    .own = {field->member.alignment ? (uint64_t)field->member.alignment * BYTE : 1,
				    field->member.alignment > 0}};
	uint64_t known = is_union ? 0 : l->at & -l->at, size = 0;
	want(l, &f, known);
	align_record(l, &f);
	xc_type_size(field->member.type, &size); /* of a flexible array nothing */
	uint64_t bits = field->is_bits ? field->member.bit_size : size * BYTE;
	if (is_union) {
		l->at = most(l->at, round_up(bits, BYTE));
		return true;
	}
	l->at = round_up(l->at, f.own.bits);
	if (f.is_bits && !f.packed && !l->limit && field->member.bit_size > 0)
		fit_unit(l, &f);
	field->member.offset = l->at / BYTE;
	field->member.bit_offset = (uint8_t)(l->at % BYTE);
	l->at += bits;
	return l->at / BYTE <= xc_cdef_most(l->process);
}

bool xc_cdef_lay_out(const struct xc_process *process, struct xc_cdef_record *record)
{
	struct layout l = {.process = process,
			   .record = record,
			   .limit = record->pack * BYTE,
			   .whole = {record->aligned ? record->aligned * BYTE : BYTE, record->aligned > 0}};
	for (size_t i = 0; i < record->count; i++) {
		if (!place(&l, &record->fields[i]))
			return false;
	}
	record->size = round_up(l.at, l.whole.bits) / BYTE;
	record->alignment = l.whole.bits / BYTE;
	record->alignment_asked = l.whole.asked;
	return record->size <= xc_cdef_most(process);
}
