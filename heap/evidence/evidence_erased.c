/* evidence_erased: std::function and std::any, which erase the type of their content.
 *
 *  libstdc++ std::function (bits/std_function.h)  | bytes or pointer: 16 | manager | invoker |
 *  libstdc++ std::any (std/any)                   | manager | bytes or pointer: 8 |
 *  libc++ (any)                                   | handler | pointer | … |   its function has an object with a vtable
 *
 * The manager is a function of a template over the type: _Function_handler<R (A…), F>::_M_manager,
 * any::_Manager_external<T>::_S_manage (T on the heap), _Manager_internal (T inside),
 * __any_imp::_LargeHandler<T>::__handle. All such functions of the process are looked up by their symbols at the
 * first such object, since types cannot be made while objects are visited. A function's target is stored inside if
 * it has at most 16 bytes and is trivially copyable. */
#include <dwarf.h>
#include <string.h>

#include "core/process/module.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/module/die.h"
#include "dwarf/types/scope.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/view/view.h"
#include "dwarf/view/view_part.h"
#include "heap/evidence/evidence_list.h"
#include "heap/evidence/recipe.h"

enum { WORD = 8, WITHIN = 2 * WORD, MAX_MANAGERS = 1 << 20, MAX_NEST = 16 };

struct xc_managers {
	struct xc_erased_list list;
};

/* ---- finding managers ---- */

/* How to recognise a mangled name, and the template argument of the class that is the content. */
static const struct {
	const char *class_part, *function_part;
	unsigned argument;
	bool heap, within; /* where the content may be */
} kinds[] = {
	{"_Function_handlerI", "_M_manager", 1, true, true}, {"_Manager_externalI", "_S_manage", 0, true, false},
	{"_Manager_internalI", "_S_manage", 0, false, true}, {"_LargeHandlerI", "__handle", 0, true, false},
	{"_SmallHandlerI", "__handle", 0, false, true},
};

/* The class in which a function is declared. */
static const struct xc_type *class_of(const struct xc_process *process, xc_addr function)
{
	struct xc_types *types = xc_types_of(process);
	const struct xc_place *place = xc_debuginfo_place(process, function);
	Dwarf_Die die, parent;
	if (place->level_count == 0 || place->line_only)
		return NULL;
	die = place->levels[place->level_count - 1].die;
	for (unsigned steps = 0; steps < 4; steps++) {
		Dwarf_Die origin;
		if (!xc_die_ref(&die, DW_AT_abstract_origin, &origin) &&
		    !xc_die_ref(&die, DW_AT_specification, &origin))
			break;
		die = origin;
	}
	return xc_scope_parent(types, &die, &parent) ? xc_type_get(types, &parent) : NULL;
}

/* Is copying more than copying bytes? A user-defined destructor, of the type or of a member, says so. */
static bool is_nontrivial(const struct xc_type *type, unsigned nest)
{
	size_t count;
	const struct xc_method *methods = xc_type_methods(type, &count);
	for (size_t i = 0; i < count; i++) {
		if (methods[i].name && methods[i].name[0] == '~' && !methods[i].artificial && !methods[i].is_defaulted)
			return true;
	}
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && nest < MAX_NEST; i++) {
		const struct xc_type *part = xc_view_plain(members[i].type);
		if ((part->kind == XC_TYPE_STRUCT || part->kind == XC_TYPE_CLASS) && is_nontrivial(part, nest + 1))
			return true;
	}
	return false;
}

static void keep_manager(struct xc_typing *typing, struct xc_erased_list *all, xc_addr addr, size_t kind)
{
	const struct xc_type *owner = class_of(typing->heap->process, addr);
	const struct xc_type *content = owner ? xc_view_argument(owner, kinds[kind].argument) : NULL;
	uint64_t size;
	if (!content || !xc_type_size(content, &size) || size == 0)
		return;
	const struct xc_typed what = {.type = content,
				      .shape = XC_TYPED_ONE,
				      .confidence = XC_TYPE_STRONG,
				      .via = "what its manager is made for"};
	bool heap = kinds[kind].heap, within = kinds[kind].within;
	if (heap && within) {
		const struct xc_type *plain = xc_view_plain(content);
		bool record = plain->kind == XC_TYPE_STRUCT || plain->kind == XC_TYPE_CLASS;
		heap = size > WITHIN || (record && is_nontrivial(plain, 0));
		within = !heap;
	}
	struct xc_erased one = {.addr = addr};
	one.item = heap ? xc_typing_item(typing, &what) : 0;
	one.object = within ? xc_typing_object(typing, content) : 0;
	xc_erased_add(all, one);
}

static void find_in(struct xc_typing *typing, struct xc_erased_list *all, struct xc_module *module)
{
	const struct xc_symtab *symbols = xc_debugfile_symbols(xc_debugfile_of(typing->heap->process, module));
	for (size_t i = 0; i < xc_symtab_count(symbols) && all->count < MAX_MANAGERS; i++) {
		const char *name = xc_symtab_mangled(symbols, i);
		for (size_t k = 0; name && k < XC_COUNT(kinds); k++) {
			const char *at = strstr(name, kinds[k].class_part);
			if (at && strstr(at, kinds[k].function_part))
				keep_manager(typing, all, xc_symtab_get(symbols, i)->value + module->bias, k);
		}
	}
}

static const struct xc_erased_list *managers_of(struct xc_typing *typing)
{
	const struct xc_process *process = typing->heap->process;
	struct xc_erased_list found = {0};
	if (typing->managers)
		return &typing->managers->list;
	/* before the search, since contents may be functions */
	typing->managers = xc_arena_alloc(&typing->heap->memory, sizeof *typing->managers);
	for (size_t i = 0; i < process->module_count; i++) {
		if (process->modules[i]->bias_known && !xc_module_is_runtime(process->modules[i]))
			find_in(typing, &found, process->modules[i]);
	}
	xc_erased_finish(&found, typing->heap);
	typing->managers->list = found;
	return &typing->managers->list;
}

/* ---- the source of evidence ---- */

static const void *meet(struct xc_typing *typing, const struct xc_type *type, bool *only_out)
{
	const struct xc_process *process = typing->heap->process;
	struct xc_recipe_maker maker = {.typing = typing, .process = process, .type = type};
	if (!type->name || type->is_c || type->is_rust)
		return NULL;
	maker.shape = xc_view_shape_of(process, type);
	if (!xc_recipe_erases(maker.shape))
		return NULL;
	maker.erased = managers_of(typing);
	xc_recipe_links(&maker);
	return xc_recipe_made(&maker, only_out);
}

const struct xc_evidence xc_evidence_erased = {.name = "function and any", .meet = meet, .visit = xc_recipe_follow};
