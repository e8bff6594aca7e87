/* eval_context: the context in which expressions of a run are evaluated: a scope of names without a frame, the
 * innermost frame of the crashed thread, an unwinder that all frames share, and memory for one evaluation at a time. */
#ifndef XC_EVAL_CONTEXT_H
#define XC_EVAL_CONTEXT_H

#include "dwarf/stack/frame_scope.h"
#include "lua/vm/bind.h"

struct xc_eval_context {
	struct xc_frame_scope global;  /* without a frame; thread-local variables are those of `crashed`'s thread */
	struct xc_frame_scope crashed; /* frame 0 of the crashed thread, else the first; see xc_eval_context_crashed */
	bool is_open;                  /* whether `crashed` is set */
	struct xc_unwinder *unwinder;  /* see xc_eval_context_unwinder */
	struct xc_arena arena;         /* memory of the last evaluation */
	unsigned types;                /* see xc_eval_context_count_type */
};

void xc_eval_context_open(lua_State *L); /* once a state */
struct xc_eval_context *xc_eval_context_of(lua_State *L);

/* An empty arena for values that are pushed before the next evaluation: xc_bind_push copies the data that they
 * borrow. */
struct xc_arena *xc_eval_context_arena(struct xc_eval_context *context);

const struct xc_frame_scope *xc_eval_context_crashed(struct xc_eval_context *context);
struct xc_unwinder *xc_eval_context_unwinder(
	struct xc_eval_context *context); /* NULL when stacks of the machine are not supported */

/* Types that a script creates live as long as the process: raise `limit` when there are too many. */
enum { XC_EVAL_CONTEXT_TYPES = 1 << 16 };
void xc_eval_context_count_type(lua_State *L);

/* Push the value of an expression, or raise. */
void xc_eval_context_push(lua_State *L, const struct xc_frame_scope *scope, const char *expression);

/* The same as a reference. */
void xc_eval_context_push_reference(lua_State *L, const struct xc_frame_scope *scope, const char *expression);

#endif
