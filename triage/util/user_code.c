/* user_code: by its name, or by the place of its source. A function in a header that is not inlined is user code:
 * compilers attribute lines of inlined code to the function around it. */
#include "triage/util/user_code.h"

#include <dwarf.h>
#include <string.h>

#include "core/process/module.h"
#include "triage/util/names.h"

static bool is_library_name(const char *function)
{
	static const char *const names[] = {"std::",
					    "void std::",
					    "__gnu_cxx::",
					    "__cxxabiv1::",
					    "__rust",
					    "rust_panic",
					    "rust_begin_unwind",
					    "__gthread",
					    "__invoke",
					    "boost::",
					    "decltype",
					    "__asan",
					    "__sanitizer",
					    "__clang_call_terminate",
					    "__interceptor_",
					    "__ubsan",
					    "__cxa_",
					    "__gxx_",
					    "_Unwind_",
					    "operator new",
					    "runtime.",
					    "runtime/",
					    NULL};
	return xc_names_begin(names, function);
}

/* ---- Rust ---- */

/* Crates of Rust's library; in other languages programs may use these names for their own namespaces. */
static const char *const crates[] = {
	"core::", "alloc::", "std::", "hashbrown::", "std_detect::", "panic_abort::", "panic_unwind::", NULL};

static bool is_crate(const struct xc_place *place, size_t level)
{
	return xc_names_begin(crates, xc_place_function(place, level)) &&
	       xc_place_language(place, level) == DW_LANG_Rust;
}

/* Does the name say that it is in no crate of the library? The line may be the library's all the same: LLVM keeps the
 * line of code that was inlined, and forgets the function. */
static bool is_in_other_crate(const struct xc_place *place, size_t level)
{
	/* a program may use these, too: the file decides */
	static const char *const shared[] = {
		"compiler_builtins::", "test::",           "unwind::", "proc_macro::", "addr2line::", "gimli::",
		"miniz_oxide::",       "rustc_demangle::", "object::", "memchr::",     NULL};
	const char *name = xc_place_function(place, level);
	return name && !xc_names_begin(shared, name) && strstr(name, "::") &&
	       xc_place_language(place, level) == DW_LANG_Rust;
}

/* "&mut core::fmt::Formatter", "[T]", "usize": a type or trait of the library, or of no crate. The target of a
 * reference, slice or tuple does not matter to inherent methods, only to those of a trait: Rust lets a crate
 * implement its trait for all others' types. */
static bool is_of_library(const char *type, bool has_trait)
{
	static const char *const words[] = {"mut ", "const ", "dyn ", NULL};
	const char *word;
	if (!has_trait && strchr("&*[(", *type))
		return true;
	type += strspn(type, "&*[(");
	while ((word = xc_names_begin(words, type)))
		type += strlen(word) + strspn(type + strlen(word), "&*[(");
	size_t length = strcspn(type, "<>[](), ");
	return !memmem(type, length, "::", 2) || xc_names_begin(crates, type);
}

/* After the " as " of "<TYPE as TRAIT>::method"; NULL for "<TYPE>::method". */
static const char *trait_of(const char *name)
{
	unsigned depth = 0;
	for (const char *at = name; *at; at++) {
		depth += *at == '<';
		depth -= *at == '>' && at[-1] != '-'; /* fn() -> u32 */
		if (depth == 0)
			return NULL;
		if (depth == 1 && strncmp(at, " as ", 4) == 0)
			return at + 4;
	}
	return NULL;
}

/* Only the crate of the type or of the trait may implement the trait for the type. */
static bool is_library_method(const char *name)
{
	const char *trait = name && name[0] == '<' ? trait_of(name) : NULL;
	return name && name[0] == '<' && is_of_library(name + 1, trait) && (!trait || is_of_library(trait, true));
}

/* ---- files ---- */

static bool is_library_file(const char *file, bool inlined)
{
	static const char *const headers[] = {"/usr/include/", "/include/c++/", "/lib/gcc/", "/lib/clang/", NULL};
	static const char *const sources[] = {"/rustlib/src/", "/rustc/", NULL};
	return xc_names_in(sources, file) || (inlined && xc_names_in(headers, file));
}

bool xc_user_code_is(const struct xc_place *place, size_t level)
{
	const char *file = level < place->level_count ? place->levels[level].file : NULL;
	const char *name = xc_place_function(place, level);
	return !place->stub && !is_library_name(name) && !is_library_method(name) && !is_crate(place, level) &&
	       (is_in_other_crate(place, level) || !is_library_file(file, level + 1 < place->level_count));
}

bool xc_user_code_is_library_line(const struct xc_level *level)
{
	return is_library_file(level->file, true);
}

bool xc_user_code_is_jit(const struct xc_place *place)
{
	return !place->module && (place->level_count || place->symbol);
}

bool xc_user_code_level(const struct xc_place *place, size_t *level_out)
{
	if (!xc_user_code_is_jit(place) && (!place->module || xc_module_is_runtime(place->module)))
		return false;
	for (size_t l = 0; l == 0 || l < place->level_count; l++) {
		*level_out = l;
		if (xc_user_code_is(place, l))
			return true;
	}
	return false;
}

/* ---- variables ---- */

bool xc_user_code_variables(const struct xc_frame_context *context, struct xc_arena *arena,
			    xc_user_code_variable_fn *each, void *user)
{
	for (size_t level = 0; level < context->place->level_count; level++)
		for (int locals = 0; locals < 2 && xc_user_code_is(context->place, level); locals++) {
			struct xc_named_value *values;
			size_t count = xc_variable_values(context, level, locals, arena, &values);
			for (size_t i = 0; i < count; i++)
				if (each(user, &values[i]))
					return true;
		}
	return false;
}

bool xc_user_code_passed(const struct xc_frame_context *context, struct xc_arena *arena, xc_user_code_object_fn *each,
			 void *user)
{
	bool ended = false;
	for (size_t level = 0; !context->place->line_only && level < context->place->level_count && !ended; level++) {
		struct xc_named_value *values;
		size_t count = xc_user_code_is(context->place, level)
				       ? xc_variable_values(context, level, false, arena, &values)
				       : 0;
		for (size_t i = 0; i < count && !ended; i++) {
			struct xc_value object;
			struct xc_error *error = xc_value_deref(&values[i].value, &object);
			ended = !error && each(user, &object);
			xc_error_free(error);
		}
	}
	return ended;
}
