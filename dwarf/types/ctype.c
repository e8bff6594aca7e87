/* ctype: types that no DIE describes.
 *
 * Sizes: System V psABIs. The ABIs differ in the word (long, pointers), in the sign of plain char (signed only on
 * x86), in wchar_t (unsigned on ARM), and in long double (x87's 10 bytes in 16 or 12 on x86, quad elsewhere). */
#include "dwarf/types/ctype.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "dwarf/types/type_impl.h"
#include "dwarf/types/type_make.h"

struct xc_ctypes {
	struct xc_type *base[XC_C_COUNT];
	struct xc_pointer_map derived; /* target, kind */
	struct xc_pointer_map arrays;  /* element, count + 1 */
	struct xc_type *untyped, *untyped_code, *vector_register, *wide_register, *eflags;
};

struct base {
	const char *name;
	enum xc_type_kind kind;
	uint8_t size; /* bytes; 0: the word */
	uint8_t encoding;
};

static const struct base bases[XC_C_COUNT] = {
	[XC_C_VOID] = {"void", XC_TYPE_VOID, 0, 0},
	[XC_C_BOOL] = {"bool", XC_TYPE_BOOL, 1, DW_ATE_boolean},
	[XC_C_CHAR] = {"char", XC_TYPE_CHAR, 1, DW_ATE_signed_char},
	[XC_C_SCHAR] = {"signed char", XC_TYPE_CHAR, 1, DW_ATE_signed_char},
	[XC_C_UCHAR] = {"unsigned char", XC_TYPE_CHAR, 1, DW_ATE_unsigned_char},
	[XC_C_SHORT] = {"short", XC_TYPE_INT, 2, DW_ATE_signed},
	[XC_C_USHORT] = {"unsigned short", XC_TYPE_INT, 2, DW_ATE_unsigned},
	[XC_C_INT] = {"int", XC_TYPE_INT, 4, DW_ATE_signed},
	[XC_C_UINT] = {"unsigned int", XC_TYPE_INT, 4, DW_ATE_unsigned},
	[XC_C_LONG] = {"long", XC_TYPE_INT, 0, DW_ATE_signed},
	[XC_C_ULONG] = {"unsigned long", XC_TYPE_INT, 0, DW_ATE_unsigned},
	[XC_C_LLONG] = {"long long", XC_TYPE_INT, 8, DW_ATE_signed},
	[XC_C_ULLONG] = {"unsigned long long", XC_TYPE_INT, 8, DW_ATE_unsigned},
	[XC_C_INT128] = {"__int128", XC_TYPE_INT, 16, DW_ATE_signed},
	[XC_C_UINT128] = {"unsigned __int128", XC_TYPE_INT, 16, DW_ATE_unsigned},
	[XC_C_FLOAT16] = {"_Float16", XC_TYPE_FLOAT, 2, DW_ATE_float},
	[XC_C_FLOAT] = {"float", XC_TYPE_FLOAT, 4, DW_ATE_float},
	[XC_C_DOUBLE] = {"double", XC_TYPE_FLOAT, 8, DW_ATE_float},
	[XC_C_LDOUBLE] = {"long double", XC_TYPE_FLOAT, 16, DW_ATE_float},
	[XC_C_FLOAT128] = {"_Float128", XC_TYPE_FLOAT, 16, DW_ATE_float},
	[XC_C_WCHAR] = {"wchar_t", XC_TYPE_INT, 4, DW_ATE_signed},
	[XC_C_CHAR16] = {"char16_t", XC_TYPE_CHAR, 2, DW_ATE_UTF},
	[XC_C_CHAR32] = {"char32_t", XC_TYPE_CHAR, 4, DW_ATE_UTF},
};

static bool has_unsigned_char(const struct xc_arch *arch)
{
	return arch->machine == EM_AARCH64 || arch->machine == EM_ARM || arch->machine == EM_PPC64 ||
	       arch->machine == EM_PPC || arch->machine == EM_RISCV;
}

static struct xc_type *new_sized(struct xc_types *types, enum xc_type_kind kind, const char *name, uint64_t size)
{
	struct xc_type *type = xc_type_new(types, kind);
	type->name = name;
	type->size = size;
	type->size_known = true;
	type->is_c = true;
	return type;
}

static void make_bases(struct xc_types *types, struct xc_ctypes *c)
{
	const struct xc_arch *arch = types->process->arch;
	for (size_t i = 0; i < XC_C_COUNT; i++) {
		const struct base *base = &bases[i];
		struct xc_type *type = new_sized(types, base->kind, base->name, base->size ? base->size : arch->word);
		type->encoding = base->encoding;
		type->is_signed = base->encoding == DW_ATE_signed || base->encoding == DW_ATE_signed_char;
		c->base[i] = type;
	}
	c->base[XC_C_VOID]->size_known = false;
	if (has_unsigned_char(arch)) {
		c->base[XC_C_CHAR]->is_signed = false;
		c->base[XC_C_WCHAR]->is_signed = arch->machine != EM_ARM && arch->machine != EM_AARCH64;
	}
	if (arch->machine == EM_386)
		c->base[XC_C_LDOUBLE]->size = 12;
	if (arch->machine == EM_ARM)
		c->base[XC_C_LDOUBLE]->size = 8;
}

static struct xc_ctypes *ctypes_of(const struct xc_process *process)
{
	struct xc_types *types = xc_types_of(process);
	if (!types->ctypes) {
		types->ctypes = xc_arena_alloc(types->arena, sizeof *types->ctypes);
		make_bases(types, types->ctypes);
	}
	return types->ctypes;
}

const struct xc_type *xc_ctype(const struct xc_process *process, enum xc_ctype which)
{
	return ctypes_of(process)->base[which];
}

const struct xc_type *xc_ctype_library(const struct xc_process *process, const char *name)
{
	static const struct {
		const char *name;
		enum xc_ctype type;
	} known[] = {
		{"int8_t", XC_C_SCHAR},    {"uint8_t", XC_C_UCHAR},   {"int16_t", XC_C_SHORT},
		{"uint16_t", XC_C_USHORT}, {"int32_t", XC_C_INT},     {"uint32_t", XC_C_UINT},
		{"int64_t", XC_C_LLONG},   {"uint64_t", XC_C_ULLONG}, {"intptr_t", XC_C_LONG},
		{"uintptr_t", XC_C_ULONG}, {"ptrdiff_t", XC_C_LONG},  {"size_t", XC_C_ULONG},
		{"ssize_t", XC_C_LONG},    {"bool", XC_C_BOOL},       {"wchar_t", XC_C_WCHAR},
		{"char8_t", XC_C_UCHAR},   {"char16_t", XC_C_CHAR16}, {"char32_t", XC_C_CHAR32},
		{"u8", XC_C_UCHAR},        {"i8", XC_C_SCHAR},        {"u16", XC_C_USHORT},
		{"i16", XC_C_SHORT},       {"u32", XC_C_UINT},        {"i32", XC_C_INT},
		{"u64", XC_C_ULLONG},      {"i64", XC_C_LLONG},       {"usize", XC_C_ULONG},
		{"isize", XC_C_LONG},      {"f32", XC_C_FLOAT},       {"f64", XC_C_DOUBLE},
		{"u128", XC_C_UINT128},    {"i128", XC_C_INT128},
	};
	for (size_t i = 0; i < XC_COUNT(known); i++) {
		if (strcmp(known[i].name, name) == 0)
			return xc_ctype(process, known[i].type);
	}
	return NULL;
}

static const void *number_key(uint64_t number)
{
	return (const void *)(uintptr_t)number; /* used for comparison only */
}

const struct xc_type *xc_ctype_derive(const struct xc_process *process, enum xc_type_kind kind,
				      const struct xc_type *target)
{
	struct xc_ctypes *c = ctypes_of(process);
	struct xc_types *types = xc_types_of(process);
	if (kind == XC_TYPE_POINTER && target->detail)
		return xc_type_pointer(target, process->arch->word);
	void **slot = xc_pointer_map_at(&c->derived, types->arena, target, number_key(kind));
	if (!*slot) {
		struct xc_type *type = xc_type_new(types, kind);
		*slot = type;
		type->target = target;
		type->is_c = target->is_c;
		type->is_dynamic = target->is_dynamic;
		if (kind < XC_TYPE_TYPEDEF) {
			type->size = process->arch->word;
			type->size_known = true;
		}
	}
	return *slot;
}

const struct xc_type *xc_ctype_constant(const struct xc_process *process, const struct xc_type *enumeration)
{
	struct xc_type *type = (struct xc_type *)xc_ctype_derive(process, XC_TYPE_TYPEDEF, enumeration); /* made here */
	type->name = xc_type_name(enumeration);
	return type;
}

/* No typedef of a program has the same name as its target. */
bool xc_ctype_is_constant(const struct xc_type *type)
{
	return type->kind == XC_TYPE_TYPEDEF && type->target && type->target->kind == XC_TYPE_ENUM && type->name &&
	       type->name == xc_type_name(type->target);
}

static const struct xc_type *array_of(const struct xc_process *process, const struct xc_type *element, uint64_t key,
				      bool known)
{
	struct xc_types *types = xc_types_of(process);
	void **slot = xc_pointer_map_at(&ctypes_of(process)->arrays, types->arena, element, number_key(key));
	if (!*slot) {
		struct xc_type *type = xc_type_new(types, XC_TYPE_ARRAY);
		*slot = type;
		type->target = element;
		type->count = known ? key - 1 : 0;
		type->count_known = known;
		type->is_c = element->is_c;
	}
	return *slot;
}

const struct xc_type *xc_ctype_array(const struct xc_process *process, const struct xc_type *element, uint64_t count)
{
	return array_of(process, element, count + 1, true);
}

const struct xc_type *xc_ctype_unbounded(const struct xc_process *process, const struct xc_type *element)
{
	return array_of(process, element, 0, false);
}

const struct xc_type *xc_ctype_function(const struct xc_process *process, const struct xc_type *result,
					const struct xc_type *const *parameters, size_t count, bool variadic)
{
	struct xc_types *types = xc_types_of(process);
	struct xc_type *type = xc_type_new(types, XC_TYPE_FUNCTION);
	const struct xc_type **items = xc_arena_alloc(types->arena, count * sizeof *items + 1);
	type->target = result;
	type->is_c = result->is_c;
	type->is_prototyped = true;
	type->is_variadic = variadic;
	if (count > 0)
		memcpy(items, parameters, count * sizeof *items);
	type->detail->items = items;
	type->detail->item_count = count;
	type->detail->items_read = true;
	return type;
}

const struct xc_type *xc_ctype_untyped(const struct xc_process *process)
{
	struct xc_ctypes *c = ctypes_of(process);
	if (!c->untyped) {
		c->untyped = xc_type_new(xc_types_of(process), XC_TYPE_UNKNOWN);
		c->untyped->name = "<data variable, no debug info>";
	}
	return c->untyped;
}

const struct xc_type *xc_ctype_untyped_code(const struct xc_process *process)
{
	struct xc_ctypes *c = ctypes_of(process);
	if (!c->untyped_code) {
		struct xc_type *result = xc_type_new(xc_types_of(process), XC_TYPE_UNKNOWN);
		result->name = "<unknown return type>";
		c->untyped_code = xc_type_new(xc_types_of(process), XC_TYPE_FUNCTION);
		c->untyped_code->target = result;
		c->untyped_code->is_c = true;
		c->untyped_code->detail->items_read = true;
	}
	return c->untyped_code;
}

static void keep_items(struct xc_types *types, struct xc_type *type, const void *items, size_t count, size_t size)
{
	type->detail->items = xc_arena_alloc(types->arena, count * size);
	memcpy(type->detail->items, items, count * size);
	type->detail->item_count = count;
	type->detail->items_read = true;
}

const struct xc_type *xc_ctype_class(const struct xc_process *process, const char *name, uint64_t size)
{
	struct xc_type *type = xc_type_new(xc_types_of(process), XC_TYPE_CLASS);
	type->name = name;
	type->size = size;
	type->size_known = size > 0;
	type->is_declaration = size == 0;
	return type;
}

static const struct xc_type *vector_of(const struct xc_process *process, const struct xc_type *element, uint64_t count)
{
	struct xc_type *type = xc_type_new(xc_types_of(process), XC_TYPE_ARRAY);
	type->target = element;
	type->count = count;
	type->count_known = type->is_vector = true;
	return type;
}

/* The views that gdb's target descriptions give (64bit-sse.xml), of `size` bytes. */
static struct xc_type *vector_register(const struct xc_process *process, const char *name, unsigned size)
{
	static const struct {
		const char *name;
		enum xc_ctype element;
		unsigned size;
	} views[] = {
		{"float", XC_C_FLOAT, 4},    {"double", XC_C_DOUBLE, 8}, {"int8", XC_C_SCHAR, 1},
		{"int16", XC_C_SHORT, 2},    {"int32", XC_C_INT, 4},     {"int64", XC_C_LONG, 8},
		{"int128", XC_C_INT128, 16},
	};
	struct xc_types *types = xc_types_of(process);
	struct xc_member members[XC_COUNT(views)] = {0};
	for (size_t i = 0; i < XC_COUNT(views); i++) {
		const struct xc_type *element = xc_ctype(process, views[i].element);
		unsigned count = size / views[i].size;
		if (views[i].element == XC_C_SCHAR) { /* numbers, not characters */
			struct xc_type *number = new_sized(types, XC_TYPE_INT, "int8_t", 1);
			number->is_signed = true;
			element = number;
		}
		members[i].name =
			count == 1 ? "uint128" : xc_arena_printf(types->arena, "v%u_%s", count, views[i].name);
		members[i].type = count == 1 ? xc_ctype(process, XC_C_UINT128) : vector_of(process, element, count);
	}
	struct xc_type *type = new_sized(types, XC_TYPE_UNION, name, size);
	type->is_c = false;
	keep_items(types, type, members, XC_COUNT(members), sizeof *members);
	return type;
}

const struct xc_type *xc_ctype_vector_register(const struct xc_process *process, bool wide)
{
	struct xc_ctypes *c = ctypes_of(process);
	struct xc_type **type = wide ? &c->wide_register : &c->vector_register;
	if (!*type)
		*type = wide ? vector_register(process, "vec256", 32) : vector_register(process, "vec128", 16);
	return *type;
}

/* Intel SDM volume 1, 3.4.3. Bit 1 is always set and has no name. */
const struct xc_type *xc_ctype_eflags(const struct xc_process *process)
{
	static const struct xc_enumerator flags[] = {
		{"CF", 1 << 0},  {"", 1 << 1},    {"PF", 1 << 2},   {"AF", 1 << 4},   {"ZF", 1 << 6},  {"SF", 1 << 7},
		{"TF", 1 << 8},  {"IF", 1 << 9},  {"DF", 1 << 10},  {"OF", 1 << 11},  {"NT", 1 << 14}, {"RF", 1 << 16},
		{"VM", 1 << 17}, {"AC", 1 << 18}, {"VIF", 1 << 19}, {"VIP", 1 << 20}, {"ID", 1 << 21},
	};
	struct xc_ctypes *c = ctypes_of(process);
	if (!c->eflags) {
		c->eflags = new_sized(xc_types_of(process), XC_TYPE_ENUM, "eflags", 4);
		c->eflags->is_flags = true;
		c->eflags->is_c = false;
		c->eflags->target = xc_ctype(process, XC_C_UINT);
		keep_items(xc_types_of(process), c->eflags, flags, XC_COUNT(flags), sizeof *flags);
	}
	return c->eflags;
}
