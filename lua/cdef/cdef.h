/* cdef: C declarations as types of a process, for types that its debug information lacks.
 *
 * struct ngx_str { size_t len; u_char *data; };     typedef enum { RED, GREEN = 7 } color_t;     #define SLOTS (1 <<
 * 10)
 *
 * Supported are structs, unions, enums, typedefs, declarators of any kind, bit-fields, flexible and empty arrays,
 * attributes (packed, aligned), _Alignas, #pragma pack, macros without parameters, integer constant expressions with
 * sizeof, offsetof and _Alignof, static_assert. Functions, variables and the bodies of functions are skipped. Layouts
 * are those of gcc for the target's ABI. Integer types that a C library would define (uint32_t, size_t) are known.
 *
 * A struct, union or enum that is mentioned and never defined is the one that the debug information has by that name,
 * if it does (xc_type_complete); but its size is not known to sizeof, nor to members.
 *
 * The types are ordinary ones (dwarf/types/type.h) and live as long as the process. The same declaration may come
 * again; another one of the same name is an error. Bounds: XC_CDEF_TEXT bytes a text, XC_CDEF_NESTING levels,
 * XC_CDEF_ITEMS members and enumerators in all. Not thread-safe. */
#ifndef XC_CDEF_H
#define XC_CDEF_H

#include "core/process/process.h"
#include "dwarf/types/type.h"

enum { XC_CDEF_TEXT = 1 << 20, XC_CDEF_NESTING = 200, XC_CDEF_ITEMS = 1 << 20, XC_CDEF_RECORD_ITEMS = 1 << 16 };

struct xc_cdef;

/* A new, empty scope. The process must outlive it; the types outlive it. Never NULL. */
struct xc_cdef *xc_cdef_new(const struct xc_process *process);
void xc_cdef_free(struct xc_cdef *cdef); /* NULL is fine */

/* Parse declarations. All or nothing: after an error the scope is unchanged. Errors: XC_ERR_FORMAT,
 * XC_ERR_UNSUPPORTED, XC_ERR_LIMIT; the message starts with line and column, the lines show the place. */
XC_MUST_CHECK struct xc_error *xc_cdef_declare(struct xc_cdef *cdef, const char *text);

/* The type of a type name: "struct foo *", "foo_t [4]", "unsigned long", "void (*)(int)". Errors: XC_ERR_NOT_FOUND
 * for undeclared names, else as above. */
XC_MUST_CHECK struct xc_error *xc_cdef_type(struct xc_cdef *cdef, const char *name, const struct xc_type **out);

/* The value of a macro or an enumerator, in two's complement. Errors: XC_ERR_NOT_FOUND, XC_ERR_FORMAT when a macro
 * is not an integer constant expression. */
XC_MUST_CHECK struct xc_error *xc_cdef_constant(struct xc_cdef *cdef, const char *name, int64_t *out);

#endif
