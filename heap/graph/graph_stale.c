/* graph_stale: words that may be stale: links of an allocator's free lists that are left in live blocks, and what
 * variables of ended scopes held.
 *
 * Some allocators keep the address of the next free block in the first word of a free one, and link the blocks of new
 * memory in the order of their addresses. A program that never writes to such a block leaves the link to the next
 * block there. It is no pointer of the program; but a program may store such a pointer too. So what only such links
 * reach is possibly leaked, unless types tell that it is a link of a list that goes on (inner_pointer.h).
 *
 * A compiler gives the variable of a block its own place in the frame, where its last value stays when the block ends.
 * Later the place may be used for something without a name.
 *
 * A function may change some registers without restoring them. So while the C library waits in the kernel, its callers
 * expect nothing in these; what they hold was left there. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/cursor.h"
#include "core/live/live.h"
#include "core/process/module.h"
#include "dwarf/decode/disas.h"
#include "dwarf/disas/disas_range.h"
#include "dwarf/stack/ended_variable.h"
#include "heap/blocks/allocator.h"
#include "heap/graph/graph_impl.h"
#include "heap/graph/inner_pointer.h"

/* Only if the heap has one allocator, so that no block can be another one's. */
bool xc_graph_leaves_links(const struct xc_heap *heap)
{
	return heap->part_count == 1 && heap->parts[0].allocator && heap->parts[0].allocator->leaves_links;
}

static bool is_stale(const struct xc_graph *graph, struct xc_window *window, uint32_t block)
{
	const struct xc_blocks *blocks = &graph->heap->blocks;
	unsigned word = graph->heap->process->arch->word;
	uint32_t next = block + 1;
	if (graph->start[next] - graph->start[block] != 1 || graph->to[graph->start[block]] != next ||
	    xc_block_state(blocks, block) != XC_BLOCK_LIVE)
		return false;
	uint64_t size = xc_block_size(blocks, block);
	xc_addr addr = xc_block_addr(blocks, block);
	if (size < 2 * word || size > XC_WINDOW_COPY || xc_block_size(blocks, next) != size ||
	    xc_block_addr(blocks, next) != addr + size)
		return false;
	const uint8_t *bytes = xc_window(window, addr, size);
	return bytes && xc_load_uint(bytes, word, graph->heap->process->arch->big_endian) == addr + size &&
	       xc_is_zero(bytes + word, size - word);
}

uint64_t *xc_graph_find_stale(const struct xc_graph *graph)
{
	size_t count = graph->heap->blocks.count;
	uint64_t *bits = NULL;
	struct xc_window window;
	if (!xc_graph_leaves_links(graph->heap))
		return NULL;
	xc_window_init(&window, graph->heap->process->space);
	for (uint32_t i = 0; i + 1 < count; i++) {
		if (!is_stale(graph, &window, i) || xc_inner_pointer_first(graph->heap, i))
			continue;
		if (!bits)
			bits = xc_graph_bits(count);
		xc_graph_set_bit(bits, i);
	}
	xc_window_fini(&window);
	return bits;
}

/* ---- slots of stacks ---- */

enum { FRAMES = 10000, LONGEST_FUNCTION = 1 << 18 };

struct slot_search {
	struct xc_graph *graph;
	const uint64_t *reached;
	struct xc_unwinder *unwinder;
	uint64_t *roots; /* a bit for each that is one; NULL: none so far */
	size_t capacity;
};

static void add_slot(struct slot_search *s, size_t root, const struct xc_place *place, const char *variable)
{
	struct xc_graph *graph = s->graph;
	if (!s->roots)
		s->roots = xc_graph_bits(graph->root_count);
	xc_graph_set_bit(s->roots, (uint32_t)root);
	graph->slots = xc_grow(graph->slots, graph->slot_count, &s->capacity, sizeof *graph->slots);
	graph->slots[graph->slot_count++] = (struct xc_stale_slot){
		.block = graph->roots[root].block,
		.root = (uint32_t)root,
		.variable = variable,
		.function = place->level_count ? place->levels[place->level_count - 1].function : place->symbol};
}

static bool is_asked(const struct slot_search *s, size_t root)
{
	return !xc_graph_bit(s->reached, s->graph->roots[root].block);
}

/* The roots of one frame: from `first` on, below its CFA. Returns the first root above. */
static size_t look_at_frame(struct slot_search *s, const struct xc_thread *thread, struct xc_frame *frame, size_t first,
			    size_t end)
{
	const struct xc_process *process = s->graph->heap->process;
	struct xc_ended_variable *variables = NULL;
	struct xc_arena arena = {0};
	size_t count = 0, at = first;
	bool read = false;
	struct xc_frame_context context = {
		.process = process, .thread = thread, .unwinder = s->unwinder, .frame = frame};
	for (; at < end && s->graph->roots[at].at < frame->cfa; at++) {
		if (!is_asked(s, at))
			continue;
		if (!read) {
			context.place = xc_debuginfo_place(process, xc_frame_lookup(frame));
			count = xc_ended_variables(&context, &arena, &variables);
			read = true;
		}
		const struct xc_ended_variable *v =
			xc_ended_variable_at(&context, variables, count, s->graph->roots[at].at);
		if (v)
			add_slot(s, at, context.place, v->name);
	}
	xc_arena_fini(&arena);
	return at;
}

/* Compilers let only functions that call no others use the memory below the stack pointer. Other pieces of the function
 * (foo.cold) may have a call, too. */
static bool has_call(const struct xc_process *process, xc_addr pc)
{
	struct xc_code_range range;
	struct xc_window window;
	struct xc_disas *disas;
	struct xc_code code = {.flow = XC_FLOW_ON};
	if (!xc_arch_is_x86_64(process->arch) || !xc_disas_range(process, pc, &range) || range.hi < range.lo ||
	    range.hi - range.lo >= LONGEST_FUNCTION)
		return false;
	struct xc_error *err = xc_disas_open(process->arch, XC_SYNTAX_INTEL, &disas);
	if (err)
		return xc_error_free(err), false;
	xc_window_init(&window, process->space);
	uint64_t len = range.hi - range.lo + 1;
	const uint8_t *bytes = xc_window(&window, range.lo, len);
	for (uint64_t at = 0; bytes && at < len && code.flow != XC_FLOW_CALL; at += code.length ? code.length : 1) {
		xc_disas_decode(disas, bytes + at, len - at, range.lo + at, &code);
		code.flow = code.valid ? code.flow : XC_FLOW_ON;
	}
	xc_window_fini(&window);
	xc_disas_close(disas);
	return code.flow == XC_FLOW_CALL;
}

/* The roots below the stack pointer. Returns the first root above. */
static size_t look_below(struct slot_search *s, const struct xc_frame *frame, uint64_t sp, size_t first, size_t end)
{
	const struct xc_process *process = s->graph->heap->process;
	bool asked = false, calls = false;
	for (; first < end && s->graph->roots[first].at < sp; first++) {
		if (!is_asked(s, first))
			continue;
		if (!asked)
			calls = has_call(process, frame->pc);
		asked = true;
		if (calls)
			add_slot(s, first, xc_debuginfo_place(process, frame->pc), NULL);
	}
	return first;
}

/* The roots of one stack, in ascending order of addresses, as the frames are. */
static void look_at_thread(struct slot_search *s, const struct xc_thread *thread, size_t first, size_t end)
{
	const struct xc_process *process = s->graph->heap->process;
	struct xc_frame frame;
	const char *stop;
	if (process->live && !xc_live_thread_slept(process, thread))
		return;
	bool good = xc_unwind_first(s->unwinder, thread, &frame);
	for (unsigned i = 0; good && i < FRAMES && first < end; i++) {
		uint64_t sp;
		bool known = xc_regs_get(&frame.regs, process->arch->sp, &sp);
		if (known && i == 0)
			first = look_below(s, &frame, sp, first, end);
		while (known && first < end && s->graph->roots[first].at < sp)
			first++;
		if (xc_unwind_cfa(s->unwinder, &frame))
			first = look_at_frame(s, thread, &frame, first, end);
		good = xc_unwind_step(s->unwinder, &frame, &frame, &stop);
	}
}

/* ---- registers ---- */

/* Did the C library make a system call right before pc (x86-64)? Other code may have its own convention. */
static bool is_library_call(const struct xc_process *process, xc_addr pc)
{
	uint8_t code[2];
	if (!xc_arch_is_x86_64(process->arch) || xc_space_peek(process->space, pc - 2, code, 2) != 2 ||
	    code[0] != 0x0f || code[1] != 0x05)
		return false;
	const struct xc_module *module = xc_process_module(process, pc);
	return module && xc_module_is_runtime(module);
}

/* The System V ABI's scratch registers, except for the first arguments. */
static bool is_scratch(const struct xc_arch *arch, xc_addr number)
{
	enum { R8 = 8, R11 = 11 };
	return (number >= R8 && number <= R11) ||
	       (number >= (xc_addr)arch->vector && number < (xc_addr)(arch->vector + arch->vector_count));
}

static void look_at_registers(struct slot_search *s, const struct xc_thread *thread, size_t first, size_t end)
{
	const struct xc_process *process = s->graph->heap->process;
	uint64_t pc;
	if (!xc_regs_get(&thread->regs, process->arch->pc, &pc) || !is_library_call(process, pc))
		return;
	for (; first < end; first++)
		if (is_asked(s, first) && is_scratch(process->arch, s->graph->roots[first].at))
			add_slot(s, first, xc_debuginfo_place(process, pc), NULL);
}

/* ---- all of them ---- */

static void look_at_roots(struct slot_search *s, const struct xc_thread *thread, size_t first, size_t end)
{
	if (s->graph->roots[first].kind == XC_ROOT_REGISTER)
		look_at_registers(s, thread, first, end);
	else
		look_at_thread(s, thread, first, end);
}

static int slot_order(const void *a, const void *b)
{
	const struct xc_stale_slot *x = a, *y = b;
	return x->block != y->block ? (x->block < y->block ? -1 : 1) : x->root < y->root ? -1 : x->root > y->root;
}

void xc_graph_find_slots(struct xc_graph *graph, const uint64_t *reached, uint64_t **roots)
{
	const struct xc_process *process = graph->heap->process;
	struct slot_search s = {
		.graph = graph, .reached = reached, .roots = *roots, .unwinder = xc_unwinder_new(process)};
	for (size_t i = 0, end; i < graph->root_count; i = end) {
		const struct xc_root *first = &graph->roots[i];
		bool asked = false;
		for (end = i; end < graph->root_count && graph->roots[end].kind == first->kind &&
			      graph->roots[end].owner == first->owner;
		     end++)
			asked |= xc_root_is_of_thread(first) && is_asked(&s, end);
		if (asked && first->owner < process->thread_count)
			look_at_roots(&s, &process->threads[first->owner], i, end);
	}
	if (graph->slot_count)
		qsort(graph->slots, graph->slot_count, sizeof *graph->slots, slot_order);
	xc_unwinder_free(s.unwinder);
	*roots = s.roots;
}

/* ---- in words ---- */

static const struct xc_stale_slot *find_slot(const struct xc_graph *graph, uint32_t block)
{
	size_t lo = XC_LOWER_BOUND(graph->slot_count, i, graph->slots[i].block < block);
	return lo < graph->slot_count && graph->slots[lo].block == block ? &graph->slots[lo] : NULL;
}

static const char *register_name(const struct xc_graph *graph, const struct xc_stale_slot *slot)
{
	const char *name = xc_arch_reg_name(graph->heap->process->arch, (int)graph->roots[slot->root].at);
	return name ? name : "a vector register";
}

bool xc_graph_stale_text(const struct xc_graph *graph, uint32_t block, struct xc_text *text)
{
	const struct xc_stale_slot *slot = find_slot(graph, block);
	bool linked = graph->stale && block && xc_graph_bit(graph->stale, block - 1);
	if (slot && graph->roots[slot->root].kind == XC_ROOT_REGISTER)
		xc_text_printf(text, "only %s leads to it, which nobody needs after the system call in %s",
			       register_name(graph, slot), slot->function ? slot->function : "a function");
	else if (slot && !slot->variable)
		xc_text_printf(text, "only 0x%" PRIx64 " leads to it, below the frame of %s, which calls others",
			       graph->roots[slot->root].at, slot->function ? slot->function : "a function");
	else if (slot)
		xc_text_printf(text, "only 0x%" PRIx64 " leads to it, `%s` of %s, which is not in scope there",
			       graph->roots[slot->root].at, slot->variable,
			       slot->function ? slot->function : "a function");
	else if (linked)
		xc_text_printf(text,
			       "only 0x%" PRIx64 " leads to it, as a free list's link: its block has no other contents",
			       xc_block_addr(&graph->heap->blocks, block - 1));
	return slot || linked || xc_graph_stale_word_text(graph, block, text);
}
