/* erased_element: an iterator of a container of nodes, whose element was erased while a loop went on with it: what the
 * iterator reads of its neighbours was put there by the allocator. */
#include "triage/memory/pointer_diagnosis.h"

#include <string.h>

enum { NODE = 256 }; /* the value of an element is so near behind the beginning of its node */

/* The classes that an iterator of libstdc++ or libc++ is, and their containers. */
static const struct node_iterator {
	const char *name, *container;
} iterators[] = {
	{"std::_Rb_tree_iterator<", "std::map or std::set"},
	{"std::_Rb_tree_const_iterator<", "std::map or std::set"},
	{"std::_List_iterator<", "std::list"},
	{"std::_List_const_iterator<", "std::list"},
	{"std::_Fwd_list_iterator<", "std::forward_list"},
	{"std::_Fwd_list_const_iterator<", "std::forward_list"},
	{"std::__detail::_Node_iterator<", "std::unordered_map or std::unordered_set"},
	{"std::__detail::_Node_const_iterator<", "std::unordered_map or std::unordered_set"},
	{"std::__1::__map_iterator<", "std::map"},
	{"std::__1::__map_const_iterator<", "std::map"},
	{"std::__1::__tree_iterator<", "std::map or std::set"},
	{"std::__1::__tree_const_iterator<", "std::map or std::set"},
	{"std::__1::__list_iterator<", "std::list"},
	{"std::__1::__list_const_iterator<", "std::list"},
	{"std::__1::__hash_iterator<", "std::unordered_set"},
	{"std::__1::__hash_map_iterator<", "std::unordered_map"},
};

static const struct node_iterator *find_iterator(const struct xc_pointer *pointer)
{
	const struct xc_type *type = pointer->name && pointer->type ? xc_type_strip(pointer->type) : NULL;
	for (size_t i = 0; type && type->name && i < XC_COUNT(iterators); i++)
		if (xc_begins_with(type->name, iterators[i].name))
			return &iterators[i];
	return NULL;
}

/* The iterator that points into the block, or has moved on to a node that would have the bad value. */
bool xc_erased_element_report(struct xc_pointer_diagnosis *s, uint32_t block, uint64_t bad)
{
	for (size_t i = 0; i < s->pointers.count; i++) {
		const struct xc_pointer *pointer = &s->pointers.items[i];
		const struct node_iterator *kind = find_iterator(pointer);
		bool moved = bad - pointer->value < NODE && !xc_process_mapping(s->crash->process, pointer->value);
		if (!kind || (!moved && (block == XC_NO_BLOCK ||
					 xc_blocks_find(&s->crash->heap->blocks, pointer->value) != block)))
			continue;
		bool hidden = xc_begins_with(pointer->name, "__"); /* of a range-based for */
		xc_verdict_evidence(
			s->crash->report,
			"`%s` is %s of a %s%s: erasing an element ends the iterators that point to it; erase() "
			"returns the next one",
			pointer->name, hidden ? "the iterator of a range-based for loop," : "an iterator",
			kind->container, moved ? ", and was likely moved on from an element in freed memory" : "");
		xc_pointer_diagnosis_explain(s, "likely the element that the iterator `%s` pointed to had been erased",
					     pointer->name);
		return true;
	}
	return false;
}
