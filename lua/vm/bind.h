/* bind: the declarations that all bindings (bind_*.c) share. The only header that includes Lua's.
 *
 * Lua's errors longjmp over C frames. So a function that Lua calls must hold nothing that needs release across a call
 * that can raise: keep it in userdata, in the arena of the process, or in Lua's own buffers, and raise last.
 *
 * A value of the target is a userdata that holds a struct xc_lua_value. It keeps nothing alive: types live as long
 * as the process, and the process outlives the state. */
#ifndef XC_BIND_H
#define XC_BIND_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "dwarf/value/value.h"
#include "core/report/stacktree.h"
#include "lua/vm/host.h"
#include "lua/vm/memory_view.h"
#include "lua/vm/limit.h"
#include "lua/vm/path.h"

struct xc_cdef;
struct xc_accessors;

/* The member that a script followed last in a list: lets the node after the next be prefetched. */
struct xc_trail {
	/* For looking up members and elements: the type, or the target of the pointer, without typedefs and
	 * qualifiers, completed. */
	const struct xc_type *shape;
	uint64_t offset; /* of the pointer in them */
	xc_addr node;    /* the last node that was read */
};

struct xc_host {
	lua_State *L;
	struct xc_host_options options;
	struct xc_process *process;
	struct xc_types *types;
	struct xc_accessors *accessors; /* accessor.h */
	struct xc_paths paths;
	struct xc_memory_view window; /* the memory read last, if it can be read directly */
	struct xc_memory_views views;
	struct xc_trail trail;
	struct xc_cdef *cdef;    /* made by the first xcore.cdef; owned */
	struct xc_limit limit;   /* the resources that the run has used */
	unsigned calls;          /* nested calls of xc_host_call */
	struct xc_text scratch;  /* see xc_bind_scratch */
	struct xc_text shown;    /* for xc_pretty_write */
	struct xc_error *failed; /* the error that ends the current call; made while the stack was intact */
	struct xc_error *raised; /* the error raised last: owned here while Lua, which may raise in turn, copies it */
};

static inline struct xc_host *xc_bind_host(lua_State *L)
{
	return *(struct xc_host **)lua_getextraspace(L);
}

/* An empty text to build a string in. It belongs to the host, so it does not leak when Lua raises. Then push it. */
struct xc_text *xc_bind_scratch(lua_State *L);
int xc_bind_push_scratch(lua_State *L); /* returns 1 */

/* Each adds its functions to the table `xcore`, which is on top of the stack. */
void xc_bind_value_open(lua_State *L);
void xc_bind_ops_open(lua_State *L);
void xc_bind_text_open(lua_State *L);
void xc_bind_type_open(lua_State *L);
void xc_bind_each_open(lua_State *L);
void xc_bind_bulk_open(lua_State *L);
void xc_bind_chains_open(lua_State *L);
void xc_bind_gather_open(lua_State *L);
void xc_bind_tally_open(lua_State *L);
void xc_bind_graph_open(lua_State *L);
void xc_bind_target_open(lua_State *L);
void xc_bind_live_open(lua_State *L);
void xc_bind_cdef_open(lua_State *L);
void xc_bind_report_open(lua_State *L);
void xc_bind_histogram_open(lua_State *L);
void xc_bind_top_open(lua_State *L);
void xc_bind_progress_open(lua_State *L);

/* As luaL_tolstring, but without addresses of xcore: "table: #1". */
const char *xc_bind_tolstring(lua_State *L, int index, size_t *len_out);

/* Raise: these do not return; their type int allows `return xc_bind_raise(…)`. xc_bind_raise takes err, which
 * becomes an xcore.Error; it returns when err is NULL. */
int xc_bind_raise(lua_State *L, struct xc_error *err);
int xc_bind_fail(lua_State *L, enum xc_error_code code, const char *format, ...) XC_PRINTF(3, 4);
void xc_bind_error_open(lua_State *L);

/* Is it an xcore.Error? */
bool xc_bind_error_is(lua_State *L, int index);

/* Is the value at this positive index an error that a script reports to its user (wrong arguments, something does
 * not exist), rather than a failure of the script? */
bool xc_bind_error_answers(lua_State *L, int index);

/* Pop the error at the top of the stack as a struct xc_error. Errors of other kinds have the code XC_ERR_FORMAT. */
struct xc_error *xc_bind_error_take(lua_State *L);

enum xc_form {
	XC_FORM_PLACE,     /* a struct, union, array, … in memory */
	XC_FORM_POINTER,   /* a pointer's bits are `addr`; never NULL */
	XC_FORM_REFERENCE, /* xcore.ref: the address of any object, also of a scalar */
	XC_FORM_HELD,      /* anything else: values in registers, bit-fields; see xc_bind_held */
};

struct xc_lua_value {
	const struct xc_type *type; /* as declared; for POINTER the pointer's type */
	/* For looking up members and elements: the type, or the pointer's target, without typedefs and qualifiers,
	 * completed. */
	const struct xc_type *shape;
	xc_addr addr;               /* of the shape's bytes */
	const struct xc_path *path; /* the C path to the value, for messages; NULL: unknown */
	enum xc_form form;
};

/* The userdata of a HELD value; what `value` borrows follows it (bind_held.c). */
struct xc_lua_held {
	struct xc_lua_value head;
	struct xc_value value;
};

/* Push a userdata of `size` bytes for a value, zeroed but for its metatable. */
void *xc_bind_new(lua_State *L, size_t size);

/* Push a value as scripts see it: scalars as numbers and booleans, NULL as nil, everything else as values. Raises
 * `absent` and `fault` when a scalar cannot be read. */
void xc_bind_push(lua_State *L, const struct xc_value *value, const struct xc_path *path);

/* Push a value of one of the forms; type is as declared. */
void xc_bind_push_place(lua_State *L, const struct xc_type *type, xc_addr addr, const struct xc_path *path);
void xc_bind_push_pointer(lua_State *L, const struct xc_type *type, xc_addr addr, const struct xc_path *path);
void xc_bind_push_reference(lua_State *L, const struct xc_value *value, const struct xc_path *path);

/* Push a value unconverted, also a scalar, with a copy of all data that it borrows. */
void xc_bind_push_held(lua_State *L, const struct xc_value *value, const struct xc_path *path);

/* The argument as a value. xc_bind_test: NULL when it is not a value; xc_bind_check raises then. */
struct xc_lua_value *xc_bind_test(lua_State *L, int arg);
struct xc_lua_value *xc_bind_check(lua_State *L, int arg);

/* The same as a value of dwarf/value/value.h. */
struct xc_value xc_bind_value(lua_State *L, const struct xc_lua_value *value);

/* The target; raises when there is none (reading a manifest). */
struct xc_process *xc_bind_process(lua_State *L);

/* An argument that is an address: an integer or a value (see xcore.addr). */
xc_addr xc_bind_check_address(lua_State *L, int arg);
xc_addr xc_bind_address_of(lua_State *L, const struct xc_lua_value *value);

/* Types are userdata. xc_bind_check_type accepts a type, or a name (looked up in debug information first, then in
 * xcore.cdef). */
void xc_bind_push_type(lua_State *L, const struct xc_type *type);
const struct xc_type *xc_bind_test_type(lua_State *L, int arg); /* userdata only; NULL when it is none */
const struct xc_type *xc_bind_check_type(lua_State *L, int arg);
struct xc_error *xc_bind_type_named(struct xc_host *host, const char *name, const struct xc_type **out);
bool xc_bind_has_type(struct xc_host *host, const char *name); /* no suggestion of similar names, so cheap */

/* The type in which members and elements are looked up: stripped and completed. Never NULL. */
const struct xc_type *xc_bind_shape(const struct xc_type *type);

/* Read `size` (at most 8) bytes of the target as a little-endian number. False: they cannot be read. Fast: made for
 * loops. */
bool xc_bind_load(struct xc_host *host, xc_addr addr, unsigned size, uint64_t *bits_out);

/* Forget cached memory: call when the target's mappings, or the frozen bytes, change. */
void xc_bind_forget_bytes(struct xc_host *host);

/* The error for [addr, addr + size), which cannot be read. Never NULL. */
struct xc_error *xc_bind_fault(struct xc_host *host, xc_addr addr, uint64_t size);

/* Push the bytes of the target from addr up to a NUL, or up to `max` bytes or unreadable memory (*cut_out). False,
 * and nothing is pushed, when the first byte is unreadable. */
bool xc_bind_push_string(lua_State *L, xc_addr addr, uint64_t max, bool *cut_out);

/* Argument 1, a value, or the member of it that argument `arg`, if present, names ("a.b[2].c"). Raises errors. */
struct xc_value xc_bind_chosen(lua_State *L, int arg);

/* xc_value_member, with a hint at a similar name. */
XC_MUST_CHECK struct xc_error *xc_bind_find_member(const struct xc_value *value, const char *name,
						   struct xc_value *out);

/* Push a value as `xcore print` formats it, on one line. */
void xc_bind_format(lua_State *L, const struct xc_value *value);

/* Append "server.clients.head", or "((struct client *) 0x…)" when no path is known. */
void xc_bind_path_text(struct xc_text *text, const struct xc_lua_value *value);

/* Raise err, which occurred while `member` (may be NULL) of a value was read: the message starts with its path. */
int xc_bind_raise_at(lua_State *L, struct xc_error *err, const struct xc_lua_value *value, const char *member);

/* Raise err, which occurred while the object at the end of a path was read. */
int xc_bind_raise_path(lua_State *L, struct xc_error *err, const struct xc_path *path);

#endif
