/* type: the types of values.
 *
 * Types are made from DIEs on first use and kept for the life of the process: the same DIE always gives the same
 * pointer. Members, enumerators and parameters are read on first use. A type can be used without its DIE, so types
 * may also be made by hand (type_make.h, C declarations of a plugin). Chains and cycles in hostile debug information
 * are cut after XC_TYPE_DEPTH steps. Not thread-safe. */
#ifndef XC_TYPE_H
#define XC_TYPE_H

#include <elfutils/libdw.h>

#include "core/process/process.h"
#include "core/base/text.h"
#include "dwarf/module/exprcode.h"

enum { XC_TYPE_DEPTH = 64 };

enum xc_type_kind {
	XC_TYPE_VOID,
	XC_TYPE_INT,
	XC_TYPE_BOOL,
	XC_TYPE_CHAR, /* of one byte, or UTF code units of C++ */
	XC_TYPE_FLOAT,
	XC_TYPE_COMPLEX,
	XC_TYPE_ENUM,
	XC_TYPE_POINTER,
	XC_TYPE_REFERENCE,
	XC_TYPE_RVALUE_REFERENCE,
	XC_TYPE_MEMBER_POINTER,
	XC_TYPE_ARRAY,
	XC_TYPE_STRUCT,
	XC_TYPE_CLASS,
	XC_TYPE_UNION,
	XC_TYPE_FUNCTION,
	XC_TYPE_TYPEDEF,
	XC_TYPE_CONST,
	XC_TYPE_VOLATILE,
	XC_TYPE_RESTRICT,
	XC_TYPE_ATOMIC,
	XC_TYPE_UNKNOWN, /* unspecified (decltype(nullptr)), or debug information that cannot be followed */
};

enum xc_member_access { XC_ACCESS_PUBLIC, XC_ACCESS_PROTECTED, XC_ACCESS_PRIVATE };

/* A member of a struct, class or union. Base classes come first in C++ and are members, too. Static members are left
 * out. */
struct xc_member {
	const char *name; /* NULL for anonymous structs and unions; for a base class the class's name */
	const struct xc_type *type;
	uint64_t offset;          /* bytes from the start of the object */
	uint16_t bit_size;        /* 0 when it is not a bit-field */
	uint8_t bit_offset;       /* of a bit-field: bits from the low end of the byte at offset (little-endian) */
	bool base;                /* a base class */
	bool artificial;          /* made by the compiler (_vptr) */
	bool dynamic;             /* a virtual base whose offset depends on the object; evaluate `location` */
	bool is_virtual;          /* a virtual base, dynamic or not */
	uint8_t access;           /* enum xc_member_access */
	uint32_t alignment;       /* bytes, if the source asks for one; else 0 */
	Dwarf_Attribute location; /* valid when dynamic */
};

struct xc_enumerator {
	const char *name; /* qualified as in C++: "Color::RED", "ns::RED" */
	uint64_t value;   /* two's complement, sign-extended to 64 bits */
};

/* A template argument. The elements of a pack are listed one by one. */
struct xc_template {
	const char *name;           /* of the parameter; NULL when the source gives none */
	const struct xc_type *type; /* the argument; of a value its type; NULL when it is a template */
	const char *template_name;  /* the argument is this template; NULL otherwise */
	uint64_t value;             /* when has_value: two's complement, sign-extended; an address as in the file */
	bool is_value, has_value;   /* is_value: the argument is a value, which may be unknown */
	bool is_address;            /* value is an address in the file: add the module's bias */
	bool is_pack;               /* part of a pack; an empty pack is one entry without type and value */
	bool is_default;            /* equals the parameter's default (DWARF 5, clang) */
};

/* A static data member. Its value: xc_expr_variable of `die` when it is a constant, else look up the name. */
struct xc_static {
	const char *name;
	const struct xc_type *type;
	uint8_t access; /* enum xc_member_access */
	Dwarf_Die die;
};

struct xc_method {
	const char *name;           /* without scope; "~Class", "operator+" */
	const char *linkage_name;   /* mangled; may be NULL */
	const struct xc_type *type; /* a function; its first parameter is `this` unless is_static */
	uint8_t access;             /* enum xc_member_access */
	uint64_t slot;              /* of a virtual one: its index in the vtable, in words */
	bool is_static, is_virtual, is_pure, artificial, is_explicit, is_deleted, is_defaulted;
	Dwarf_Die die; /* the declaration */
};

struct xc_type {
	enum xc_type_kind kind;
	uint8_t encoding;    /* DW_ATE_… of scalars, 0 otherwise */
	bool is_signed;      /* integers, characters, enums */
	bool is_declaration; /* the definition is elsewhere: see xc_type_complete */
	bool is_vector;      /* array that the compiler treats as a vector register */
	bool is_c;           /* from a unit in C: tags are written with their keyword */
	bool is_rust;        /* from a unit in Rust */
	bool is_go;          /* from a unit in Go */
	bool is_prototyped;  /* functions */
	bool is_variadic;    /* functions */
	bool is_flags;       /* enum whose values are single bits */
	bool is_swapped;     /* numbers in the byte order opposite to the machine's */
	bool has_variants;   /* Rust enum: which members exist depends on a discriminant (variant.h) */
	bool is_byte;        /* a number of one byte, where C would have a character */
	bool size_known;     /* see xc_type_size */
	bool count_known;    /* array: false for `int d[]` and when it is computed at run time */
	/* its size is computed per frame: an array with such a count or element, a struct that holds one, a pointer
	 * to one */
	bool is_dynamic;
	const char *unreadable; /* why the bytes of an array are not its elements; NULL for most */
	const char *name;       /* qualified name without keyword; NULL when anonymous */
	uint64_t size;          /* bytes */
	uint64_t count;         /* elements of an array */
	const struct xc_type
		*target; /* of pointers, typedefs, qualifiers; element; enum's integer; return type; may be NULL
	                                 only for scalars, structs and unknown types */
	const struct xc_type *container; /* class of a member pointer */
	struct xc_type_detail *detail;   /* computed on demand */
};

/* The state of the types of a process. */
struct xc_types {
	const struct xc_process *process;
	struct xc_arena *arena; /* of the process */
	struct xc_pointer_map by_die, scopes, imports, sites, symbols;
	struct xc_views *views; /* view.h */
	struct xc_exprcodes codes;
	struct xc_pointer_map lists;                  /* of loclist */
	struct xc_ctypes *ctypes;                     /* ctype.h */
	const struct xc_synthetic_symbols *synthetic; /* synthetic_symbol.h; NULL for a real process */
	Dwarf_CU *unit;                               /* the unit to which the next fields apply */
	bool unit_is_c, unit_is_rust, unit_is_go;
	int unit_language;               /* DW_LANG_… */
	int from_language;               /* of the unit whose reference is followed; 0 when none is */
	struct xc_pointer_map languages; /* of units that do not state theirs */
	unsigned depth;                  /* of the type being made */
	/* Find the definitions of declared types in modules of any size. Set by commands that may wait for a name
	 * index (print, ptype), not by backtraces, whose result so does not depend on caches. */
	bool thorough;
	struct xc_type unknown, void_type;
};

/* The types of a process, created on first use. */
struct xc_types *xc_types_of(const struct xc_process *process);

/* The type that a DIE describes, or that its DW_AT_type refers to (void when there is none). Never NULL. */
const struct xc_type *xc_type_get(struct xc_types *types, Dwarf_Die *die);
const struct xc_type *xc_type_of(struct xc_types *types, Dwarf_Die *die);

/* The type without typedefs and qualifiers; XC_TYPE_UNKNOWN when they are circular. Never NULL. O(1) for most. */
const struct xc_type *xc_type_strip(const struct xc_type *type);

/* Through typedefs and qualifiers: is it a struct, class or union? A pointer or reference? */
bool xc_type_is_record(const struct xc_type *type);
bool xc_type_is_pointer(const struct xc_type *type);

/* Size in bytes, through typedefs and array counts. False when it is not known: declarations, `int[]`, void. */
bool xc_type_size(const struct xc_type *type, uint64_t *size_out);

/* The definition of a declaration: from a type unit, from the same unit, the same module, else from any module; the
 * type itself when there is none, or when several that are as near have different sizes. Unless types->thorough,
 * searches only the type's own module, and only when that is small. */
const struct xc_type *xc_type_complete(const struct xc_type *type);

/* The name as gdb writes it: "struct client *", "const char *", "unsigned char [16]", "void (*)(int)",
 * "ns::C<int>". At most 4 KiB; lives as long as the process. */
const char *xc_type_name(const struct xc_type *type);

/* The same as a declaration of `name` (may be NULL), in two parts: "struct client" and "*name[3]". Appends. */
void xc_type_declare(const struct xc_type *type, const char *name, struct xc_text *base, struct xc_text *declarator);

/* Members, enumerators and parameter types; count_out gets their number. Call with stripped types. */
const struct xc_member *xc_type_members(const struct xc_type *type, size_t *count_out);
const struct xc_enumerator *xc_type_enumerators(const struct xc_type *type, size_t *count_out);
/* The enumerators, to search them for a value: there may be 65,536, and as many values. None when the budget
 * (elf/budget.h) is spent. Not thread-safe. */
const struct xc_enumerator *xc_type_search_enumerators(const struct xc_type *type, size_t *count_out);
const struct xc_type *const *xc_type_parameters(const struct xc_type *type, size_t *count_out);

/* Further parts of a struct, class or union; count_out gets their number. Call with stripped, complete types.
 * `nested` are the types and typedefs that its scope declares. */
const struct xc_template *xc_type_templates(const struct xc_type *type, size_t *count_out);
const struct xc_static *xc_type_statics(const struct xc_type *type, size_t *count_out);
const struct xc_method *xc_type_methods(const struct xc_type *type, size_t *count_out);
const struct xc_type *const *xc_type_nested(const struct xc_type *type, size_t *count_out);

/* The template argument with this name (of the parameter), or else at this position; NULL when there is none. */
const struct xc_template *xc_type_template(const struct xc_type *type, const char *name, size_t position);

/* The alignment in bytes that the source asks for (alignas, DW_AT_alignment); 0 when it asks for none. */
uint64_t xc_type_alignment(const struct xc_type *type);

/* Where the source declares the type. False when that is unknown; *file_out may get NULL. */
bool xc_type_place(const struct xc_type *type, const char **file_out, unsigned *line_out);

/* The DW_AT_count or DW_AT_upper_bound of a dynamic array, to be evaluated in a frame. False when this dimension is
 * not dynamic. *is_bound_out: the count is the value plus one. */
bool xc_type_dimension(const struct xc_type *array, Dwarf_Attribute *attr_out, bool *is_bound_out);

/* The array type with this count and element type. Cached. */
const struct xc_type *xc_type_counted(const struct xc_type *array, const struct xc_type *element, uint64_t count);

/* The DW_AT_byte_size of a struct whose size is computed per frame; false for others. */
bool xc_type_dynamic_size(const struct xc_type *record, Dwarf_Attribute *attr_out);

/* The struct with these members, whose offsets and types were computed for a frame, and this size if it is known.
 * Cached. */
const struct xc_type *xc_type_laid(const struct xc_type *record, const struct xc_member *members, size_t count,
				   const uint64_t *size);

/* The type of a pointer to this type. Cached. */
const struct xc_type *xc_type_pointer(const struct xc_type *type, unsigned size);

#endif
