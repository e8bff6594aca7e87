/* expr_value: the value at a location, and the value of a variable's DIE.
 *
 * Pieces are copied into a buffer of the type's size, bit by bit. A missing piece becomes a hole with its reason, so
 * that the other members can be shown. A pointer that was optimised away (DW_OP_implicit_pointer) has the value of its
 * target. */
#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "dwarf/module/die.h"
#include "dwarf/value/expr_impl.h"
#include "dwarf/value/float.h"

enum { X87_REGS = 8, EXTENDED = 10, F0_PPC64 = 32, F31_PPC64 = 63 };

static void fail(struct xc_expr_context *c, const struct xc_type *type, const char *why, struct xc_value *out)
{
	*out = xc_value_absent(c->process, type, why);
}

/* The size of the format in which a register holds every float; 0: the same as in memory. The x87 stack has its own
 * format (psABI: st0 to st7). ppc64's registers hold doubles (Power ISA 3.1, 4.3.1: loads convert the single
 * format). */
static unsigned register_format(const struct xc_arch *arch, uint64_t reg)
{
	if (arch->x87 >= 0 && reg - (uint64_t)arch->x87 < X87_REGS)
		return EXTENDED;
	return arch->machine == EM_PPC64 && reg >= F0_PPC64 && reg <= F31_PPC64 ? sizeof(double) : 0;
}

static bool from_register(const struct xc_arch *arch, const struct xc_type *type, uint64_t reg, uint8_t bytes[16])
{
	const struct xc_type *number = xc_type_strip(type);
	unsigned format = register_format(arch, reg);
	if (!format || number->kind != XC_TYPE_FLOAT || number->size >= format)
		return true;
	unsigned __int128 bits;
	long double x;
	memcpy(&bits, bytes, 16);
	if (!xc_float_from_bits(bits, format, &x) || !xc_float_to_bits(x, (unsigned)number->size, &bits))
		return false;
	memcpy(bytes, &bits, 16);
	return true;
}

static struct xc_buffer *new_buffer(struct xc_expr_context *c, uint64_t size, size_t holes)
{
	struct xc_buffer *buffer = xc_arena_alloc(c->scratch, sizeof *buffer);
	buffer->size = (size_t)size;
	buffer->bytes = xc_arena_alloc(c->scratch, (size_t)size + 16);
	buffer->holes = xc_arena_alloc(c->scratch, holes * sizeof *buffer->holes + 1);
	return buffer;
}

static void add_hole(struct xc_buffer *buffer, uint64_t first, uint64_t count, const char *why)
{
	if (count > 0)
		buffer->holes[buffer->hole_count++] = (struct xc_hole){first, count, why};
}

static void in_buffer(struct xc_expr_context *c, const struct xc_type *type, struct xc_buffer *buffer,
		      struct xc_value *out)
{
	*out = (struct xc_value){.process = c->process, .type = type, .kind = XC_VALUE_BYTES, .buffer = buffer};
}

/* The rest of an x87 number's type is padding, which clang leaves out. */
static bool is_padded(const struct xc_expr_context *c, const struct xc_type *type, size_t len, uint64_t size)
{
	const struct xc_type *number = xc_type_strip(type);
	return number->kind == XC_TYPE_FLOAT && len == EXTENDED && size <= 16 &&
	       xc_float_kind_of(number, (unsigned)size, c->process->arch) == XC_FLOAT_X87;
}

static void from_bytes(struct xc_expr_context *c, const void *bytes, size_t len, const struct xc_type *type,
		       uint64_t size, struct xc_value *out)
{
	struct xc_buffer *buffer = new_buffer(c, size, 1);
	size_t take = len < size ? len : (size_t)size;
	if (take > 0)
		memcpy(buffer->bytes, bytes, take);
	if (!is_padded(c, type, len, size))
		add_hole(buffer, take * 8, (size - take) * 8, "its constant is shorter than its type");
	in_buffer(c, type, buffer, out);
}

static void in_register(struct xc_expr_context *c, uint64_t reg, const struct xc_type *type, uint64_t size,
			struct xc_value *out)
{
	uint8_t bytes[16], wide[XC_YMM_SIZE];
	size_t len;
	const char *why = xc_expr_register(c, reg, bytes, &len);
	if (!why && size > sizeof bytes && size <= sizeof wide && xc_expr_ymm(c, reg, wide)) {
		from_bytes(c, wide, sizeof wide, type, size, out);
		return;
	}
	if (!why && size > len && !(len == EXTENDED && size <= 16))
		why = "larger than its register";
	if (!why && !from_register(c->process->arch, type, reg, bytes))
		why = "a float of a size that is not supported";
	if (why)
		fail(c, type, why, out);
	else
		*out = xc_value_small(c->process, type, bytes, sizeof bytes);
}

/* A piece for a whole long double has the padding, too, that is not in the register or constant. */
static bool has_bytes(size_t len, size_t want)
{
	return want <= len || (len == EXTENDED && want <= 16);
}

/* The first `want` bytes of the location that a piece is cut from. NULL, or the reason why there are none. */
static const char *piece_bytes(struct xc_expr_context *c, const struct xc_location *from, uint8_t *bytes, size_t want)
{
	uint8_t reg[16], wide[XC_YMM_SIZE];
	size_t len;
	const char *why;
	switch (from->kind) {
	case XC_LOCATION_MEMORY:
		if (xc_space_peek(c->process->space, from->number, bytes, want) != want) {
			struct xc_text text = {0};
			xc_value_fault(c->process, from->number, want, &text);
			why = xc_arena_strdup(c->scratch, xc_text_string(&text));
			xc_text_fini(&text);
			return why;
		}
		return NULL;
	case XC_LOCATION_REGISTER:
		if ((why = xc_expr_register(c, from->number, reg, &len)))
			return why;
		if (!has_bytes(len, want) && (want > sizeof wide || !xc_expr_ymm(c, from->number, wide)))
			return "larger than its register";
		memcpy(bytes, has_bytes(len, want) ? reg : wide, want);
		return NULL;
	case XC_LOCATION_VALUE:
		if (want > sizeof from->bits)
			return "larger than its value";
		memcpy(bytes, &from->bits, want);
		return NULL;
	case XC_LOCATION_BYTES:
		if (!has_bytes(from->size, want))
			return "larger than its value";
		memset(bytes, 0, want);
		memcpy(bytes, from->bytes, want < from->size ? want : from->size);
		return NULL;
	case XC_LOCATION_ABSENT:
		return from->why;
	default:
		return "synthetic pointer";
	}
}

static void copy_bits(uint8_t *to, uint64_t to_bit, const uint8_t *from, uint64_t from_bit, uint64_t count)
{
	if (to_bit % 8 == 0 && from_bit % 8 == 0 && count % 8 == 0) {
		memcpy(to + to_bit / 8, from + from_bit / 8, (size_t)(count / 8));
		return;
	}
	for (uint64_t i = 0; i < count; i++, to_bit++, from_bit++) {
		unsigned bit = (unsigned)from[from_bit / 8] >> from_bit % 8 & 1u;
		to[to_bit / 8] = (uint8_t)(((unsigned)to[to_bit / 8] & ~(1u << to_bit % 8)) | bit << to_bit % 8);
	}
}

static void in_pieces(struct xc_expr_context *c, const struct xc_location *location, const struct xc_type *type,
		      uint64_t size, struct xc_value *out)
{
	struct xc_buffer *buffer = new_buffer(c, size, location->count + 1);
	uint64_t at = 0, total = size * 8;
	for (size_t i = 0; i < location->count && at < total; i++) {
		const struct xc_piece *piece = &location->pieces[i];
		uint64_t count = piece->bit_size < total - at ? piece->bit_size : total - at;
		uint64_t want = (piece->bit_offset + count + 7) / 8;
		xc_auto(xc_freep) uint8_t *bytes = xc_alloc((size_t)want + 1); /* bounded by XC_VALUE_MAX */
		const char *why = piece_bytes(c, &piece->location, bytes, (size_t)want);
		if (why)
			add_hole(buffer, at, count, why);
		else
			copy_bits(buffer->bytes, at, bytes, piece->bit_offset, count);
		at += count;
	}
	add_hole(buffer, at, total - at, "optimized out");
	in_buffer(c, type, buffer, out);
	if (buffer->hole_count == 1 && buffer->holes[0].count == total)
		fail(c, type, buffer->holes[0].why, out);
}

static void pointee(struct xc_expr_context *c, const struct xc_location *location, const struct xc_type *type,
		    struct xc_value *out)
{
	struct xc_value *target = xc_arena_alloc(c->scratch, sizeof *target);
	if (c->depth >= XC_EXPR_DEPTH) {
		fail(c, type, "synthetic pointer", out);
		return;
	}
	Dwarf_Die die = location->die;
	const struct xc_type *pointer = xc_type_strip(type);
	c->depth++;
	xc_expr_variable(c, &die, target);
	c->depth--;
	target->at += location->number;
	target->addr += location->number;
	if (pointer->target && (location->number != 0 || pointer->target->kind != XC_TYPE_VOID))
		target->type = pointer->target;
	*out = (struct xc_value){.process = c->process, .type = type, .kind = XC_VALUE_POINTEE, .pointee = target};
}

void xc_expr_value(struct xc_expr_context *c, const struct xc_location *location, const struct xc_type *type,
		   struct xc_value *out)
{
	uint64_t size = 0;
	bool sized = xc_type_size(type, &size) && size <= XC_VALUE_MAX, survives_call = c->survives_call;
	c->survives_call = location->survives_call;
	if (location->kind == XC_LOCATION_MEMORY)
		*out = xc_value_memory(c->process, type, location->number);
	else if (location->kind == XC_LOCATION_ABSENT)
		fail(c, type, location->why, out);
	else if (location->kind == XC_LOCATION_POINTEE)
		pointee(c, location, type, out);
	else if (!sized)
		fail(c, type, "its size is not known", out);
	else if (location->kind == XC_LOCATION_REGISTER)
		in_register(c, location->number, type, size, out);
	else if (location->kind == XC_LOCATION_PIECES)
		in_pieces(c, location, type, size, out);
	else if (location->kind == XC_LOCATION_BYTES)
		from_bytes(c, location->bytes, location->size, type, size, out);
	else if (size > sizeof location->bits)
		from_bytes(c, &location->bits, location->size, type, size, out);
	else
		*out = xc_value_small(c->process, type, &location->bits, sizeof location->bits);
	out->guessed = location->guessed || c->guessed;
	c->survives_call = survives_call;
}

void xc_expr_constant(struct xc_expr_context *c, Dwarf_Attribute *attr, const struct xc_type *type,
		      struct xc_value *out)
{
	uint64_t number, size = 0;
	Dwarf_Block block;
	const char *string;
	if (!xc_type_size(type, &size) || size > XC_VALUE_MAX) {
		fail(c, type, "its size is not known", out);
	} else if (xc_die_constant(attr, &number)) {
		bool negative = dwarf_whatform(attr) == DW_FORM_sdata || dwarf_whatform(attr) == DW_FORM_implicit_const;
		unsigned __int128 bits = negative ? (unsigned __int128)(__int128)(int64_t)number : number;
		*out = xc_value_small(c->process, type, &bits, sizeof bits);
	} else if (dwarf_formblock(attr, &block) == 0) {
		from_bytes(c, block.data, block.length, type, size, out);
	} else if ((string = dwarf_formstring(attr))) {
		from_bytes(c, string, strlen(string) + 1, type, size, out);
	} else {
		fail(c, type, "a constant of a form that is not supported", out);
	}
}

void xc_expr_variable(struct xc_expr_context *c, Dwarf_Die *die, struct xc_value *out)
{
	Dwarf_Attribute attr;
	struct xc_expr expr;
	struct xc_location location;
	const struct xc_type *type = xc_expr_resolve(c, xc_type_of(xc_types_of(c->process), die));
	if (xc_die_attr(die, DW_AT_const_value, &attr)) {
		xc_expr_constant(c, &attr, type, out);
	} else if (!xc_die_attr(die, DW_AT_location, &attr) ||
		   !xc_expr_of(xc_types_of(c->process), &attr, c->file_addr, &expr)) {
		fail(c, type, "optimized out", out);
	} else {
		xc_expr_locate(c, &expr, NULL, &location);
		xc_expr_value(c, &location, type, out);
	}
}

/* The value of an attribute in this frame: a constant, an expression, or another variable's value. `initial` (may be
 * NULL) is pushed first, for member offsets. */
static bool dynamic_number(struct xc_expr_context *c, Dwarf_Attribute *attr, const uint64_t *initial, uint64_t *out)
{
	Dwarf_Die die;
	struct xc_expr expr;
	bool known;
	if (c->depth >= XC_EXPR_DEPTH)
		return false;
	c->depth++;
	if (xc_die_follow(attr, &die)) {
		struct xc_value variable;
		xc_expr_variable(c, &die, &variable);
		known = xc_value_load(&variable, out);
	} else {
		struct xc_location location = {0};
		known = xc_expr_of(xc_types_of(c->process), attr, c->file_addr, &expr);
		if (known)
			xc_expr_locate(c, &expr, initial, &location);
		/* the result of an expression is the number itself; a variable's location list gives its address */
		known = known && (location.kind == XC_LOCATION_VALUE || location.kind == XC_LOCATION_MEMORY);
		*out = location.kind == XC_LOCATION_VALUE ? (uint64_t)location.bits : location.number;
	}
	c->depth--;
	return known;
}

static const struct xc_type *resolve_array(struct xc_expr_context *c, const struct xc_type *array)
{
	const struct xc_type *element = xc_expr_resolve(c, array->target);
	Dwarf_Attribute attr;
	bool is_bound;
	uint64_t count = array->count;
	if (!array->count_known) {
		if (!xc_type_dimension(array, &attr, &is_bound) || !dynamic_number(c, &attr, NULL, &count))
			return array;
		count += is_bound;
		if ((int64_t)count < 0)
			count = 0;
	}
	return xc_type_counted(array, element, count);
}

enum { MAX_DYNAMIC_MEMBERS = 1024 };

/* gcc computes the offsets of members after a variable length array from variables of the frame. */
static const struct xc_type *resolve_record(struct xc_expr_context *c, const struct xc_type *record)
{
	size_t count;
	const uint64_t start = 0;
	uint64_t size = 0;
	Dwarf_Attribute attr;
	const struct xc_member *members = xc_type_members(record, &count);
	if (count > MAX_DYNAMIC_MEMBERS)
		return record;
	bool known = xc_type_dynamic_size(record, &attr) && dynamic_number(c, &attr, NULL, &size);
	xc_auto(xc_freep) struct xc_member *laid = xc_alloc(count * sizeof *laid + 1);
	for (size_t i = 0; i < count; i++) {
		laid[i] = members[i];
		laid[i].type = xc_expr_resolve(c, members[i].type);
		if (laid[i].dynamic && dynamic_number(c, &laid[i].location, &start, &laid[i].offset))
			laid[i].dynamic = false;
	}
	return xc_type_laid(record, laid, count, known ? &size : NULL);
}

const struct xc_type *xc_expr_resolve(struct xc_expr_context *c, const struct xc_type *type)
{
	if (!type->is_dynamic || c->depth >= XC_EXPR_DEPTH)
		return type;
	const struct xc_type *plain = xc_type_strip(type), *resolved = type;
	c->depth++;
	if (plain->kind == XC_TYPE_ARRAY) {
		resolved = resolve_array(c, plain);
	} else if (plain->kind == XC_TYPE_STRUCT || plain->kind == XC_TYPE_UNION) {
		resolved = resolve_record(c, plain);
	} else if (plain->kind == XC_TYPE_POINTER) {
		const struct xc_type *target = xc_expr_resolve(c, plain->target);
		resolved = target == plain->target ? type : xc_type_pointer(target, (unsigned)plain->size);
	}
	c->depth--;
	return resolved;
}
