/* user_code: which functions of a place were written for this program, and which are a language's library in it:
 * templates, inlined functions, statically linked runtimes (std::mutex::lock, core::ops::…). */
#ifndef XC_USER_CODE_H
#define XC_USER_CODE_H

#include "dwarf/stack/variable.h"
#include "dwarf/symbolize/debuginfo.h"

/* Is this level of the place user code? The module is not considered. A place without debug information has level 0. */
bool xc_user_code_is(const struct xc_place *place, size_t level);

/* Is the level's line one of a language's library? In user code such a line is left of a function that was inlined. */
bool xc_user_code_is_library_line(const struct xc_level *level);

/* Is it code of no module that a plugin has named, such as that of a JIT (dwarf/cfi/foreign_frame.h)? That is user
 * code, too. */
bool xc_user_code_is_jit(const struct xc_place *place);

/* The innermost level of user code. False when there is none, or the place is in no module or in a runtime's. */
bool xc_user_code_level(const struct xc_place *place, size_t *level_out);

/* Call `each` with the arguments and locals of all levels of user code of a frame, the innermost level first, each
 * level's arguments before its locals, until it returns true. Returns whether it did. A level is evaluated when its
 * turn comes; buffers of values live in `arena`. */
typedef bool xc_user_code_variable_fn(void *user, const struct xc_named_value *variable);
bool xc_user_code_variables(const struct xc_frame_context *context, struct xc_arena *arena,
			    xc_user_code_variable_fn *each, void *user);

/* The same with what the arguments point to; those that point nowhere are left out. None where the place has lines
 * only. The object lives as long as the call. */
typedef bool xc_user_code_object_fn(void *user, const struct xc_value *object);
bool xc_user_code_passed(const struct xc_frame_context *context, struct xc_arena *arena, xc_user_code_object_fn *each,
			 void *user);

#endif
