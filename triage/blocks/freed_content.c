#include "triage/blocks/freed_content.h"

#include <inttypes.h>

#include "core/base/text.h"
#include "dwarf/format/format.h"
#include "dwarf/types/field.h"
#include "dwarf/view/view.h"
#include "dwarf/view/view_part.h"
#include "triage/util/same_type.h"

enum { LENGTH = 320 };

/* An object in the block. */
struct content {
	const struct xc_type *type; /* NULL: none */
	xc_addr at;
	uint64_t size;
	const char *name; /* who leads there */
};

/* The largest that fits wins: a part of an object begins where the object does. */
static void offer(const struct xc_crash_context *crash, uint32_t block, const struct xc_type *type, xc_addr at,
		  const char *name, struct content *best)
{
	xc_addr begin = xc_block_addr(&crash->heap->blocks, block);
	uint64_t room = xc_block_size(&crash->heap->blocks, block), size;
	if (type && xc_same_type_is_record(type) && name && xc_type_size(type, &size) && size > best->size &&
	    at >= begin && at - begin <= room && size <= room - (at - begin))
		*best = (struct content){type, at, size, name};
}

/* The nodes of libstdc++ (bits/stl_tree.h, stl_list.h, hashtable_policy.h): links, then the element, by the name of the
 * iterator and its first argument. The debug information mostly lacks the node. */
static const struct xc_type *element_of(const struct xc_type *iterator, uint64_t *offset_out)
{
	static const struct {
		const char *name;
		uint64_t links; /* bytes of them, where words have 8 */
	} iterators[] = {
		{"std::_Rb_tree_iterator<", 32},       {"std::_Rb_tree_const_iterator<", 32},
		{"std::_List_iterator<", 16},          {"std::_List_const_iterator<", 16},
		{"std::__detail::_Node_iterator<", 8}, {"std::__detail::_Node_const_iterator<", 8},
	};
	size_t count;
	const struct xc_template *arguments = xc_type_templates(iterator, &count);
	const struct xc_type *element = count && arguments[0].type ? xc_view_plain(arguments[0].type) : NULL;
	for (size_t i = 0; element && iterator->name && i < XC_COUNT(iterators); i++)
		if (xc_begins_with(iterator->name, iterators[i].name)) {
			*offset_out = xc_view_align(iterators[i].links, element);
			return element;
		}
	return NULL;
}

static void offer_pointer(const struct xc_crash_context *crash, uint32_t block, const struct xc_pointer *pointer,
			  struct content *best)
{
	uint64_t offset = 0;
	if (!pointer->name || xc_blocks_find(&crash->heap->blocks, pointer->value) != block)
		return;
	const struct xc_type *type = xc_same_type_pointed(pointer->type);
	if (!type && crash->process->arch->word == 8)
		type = element_of(xc_type_complete(xc_type_strip(pointer->type)), &offset);
	offer(crash, block, type, pointer->value + offset, pointer->name, best);
}

/* How many bytes at the block's beginning are the allocator's (glibc: malloc/malloc.c, tcache_put, _int_free); 0: not
 * known. */
static uint64_t written_to(const struct xc_crash_context *crash, uint32_t block)
{
	enum xc_block_state state = xc_block_state(&crash->heap->blocks, block);
	unsigned word = crash->process->arch->word;
	return state == XC_BLOCK_CACHED ? 2 * word : state == XC_BLOCK_FAST ? word : 0;
}

void xc_freed_content_report(const struct xc_crash_context *crash, uint32_t block, const struct xc_deref *way,
			     const struct xc_pointers *pointers)
{
	struct content best = {.type = NULL};
	struct xc_text text = {0};
	struct xc_format_options options = xc_format_defaults();
	if (way && way->led_known)
		offer(crash, block, xc_same_type_pointed(way->pointer_type), way->led, way->pointer, &best);
	for (size_t i = 0; pointers && i < pointers->count; i++)
		offer_pointer(crash, block, &pointers->items[i], &best);
	if (!best.type)
		return;
	const struct xc_value value = xc_value_memory(crash->process, best.type, best.at);
	uint64_t into = best.at - xc_block_addr(&crash->heap->blocks, block), written = written_to(crash, block);
	options.length = LENGTH;
	if (xc_format_whole(&text, &value, &options)) {
		struct xc_text type = {0};
		if (!xc_view_brief_name(&type, best.type))
			xc_text_add(&type, xc_type_name(best.type));
		const char *what =
			xc_arena_printf(&crash->report->arena, "left in the freed block, by `%s`: a value of type %s",
					best.name, xc_text_string(&type));
		if (into < written)
			xc_verdict_evidence(crash->report,
					    "%s, of which the allocator has overwritten the first %" PRIu64
					    " bytes: %s",
					    what, written - into, xc_text_string(&text));
		else
			xc_verdict_evidence(crash->report, "%s: %s", what, xc_text_string(&text));
		xc_verdict_redact(crash->report, what);
		xc_text_fini(&type);
	}
	xc_text_fini(&text);
}
