/* expr: the stack machine of DWARF expressions (DWARF 5, 2.5 and 2.6).
 *
 * An expression results in one of four things: an address on the stack (the value is in memory there), a register's
 * name, the value itself, or pieces of any of these. `located` is set once one of the latter three is named; then only
 * a piece operator may follow. A piece without a location before it is optimised out. Steps, stack, nesting and pieces
 * are bounded, whatever the file contains. */
#include "dwarf/value/expr.h"

#include <dwarf.h>
#include <string.h>

#include "core/base/cursor.h"
#include "dwarf/elf/budget.h"
#include "dwarf/module/die.h"
#include "dwarf/value/expr_impl.h"

enum { PAID_STEPS = 4 };

static const char EMPTY[] = "location expression pops an empty stack";
static const char ABSENT[] = "optimized out";

const char *xc_machine_push(struct xc_machine *m, const struct xc_stack_element *element)
{
	if (m->depth >= XC_EXPR_ELEMENTS)
		return "location expression overflows its stack";
	m->elements[m->depth++] = *element;
	return NULL;
}

const char *xc_machine_push_word(struct xc_machine *m, uint64_t value)
{
	struct xc_stack_element element = xc_stack_element_word(value, m->word);
	return xc_machine_push(m, &element);
}

const char *xc_machine_pop_word(struct xc_machine *m, uint64_t *value_out)
{
	if (m->depth == 0)
		return EMPTY;
	struct xc_stack_element element = m->elements[--m->depth];
	if (element.kind == XC_ELEMENT_FLOAT)
		return "location expression uses a float as an address";
	*value_out = (uint64_t)element.bits;
	return NULL;
}

const char *xc_expr_read(struct xc_expr_context *context, xc_addr addr, size_t size, unsigned __int128 *bits_out)
{
	const struct xc_process *process = context->process;
	uint8_t bytes[16] = {0};
	if (size == 0 || size > sizeof bytes)
		return "location expression reads a size that is not supported";
	if (xc_space_peek(process->space, addr, bytes, size) != size) {
		struct xc_text text = {0};
		xc_value_fault(process, addr, size, &text);
		const char *why = xc_arena_strdup(context->scratch, xc_text_string(&text));
		xc_text_fini(&text);
		return why;
	}
	*bits_out = 0;
	if (size <= 8)
		*bits_out = xc_load_uint(bytes, size, process->arch->big_endian);
	else
		memcpy(bits_out, bytes, size);
	return NULL;
}

/* The frame base is that of the concrete function of the frame, below all functions inlined into it. */
static const char *find_base(struct xc_expr_context *c)
{
	struct xc_expr expr;
	Dwarf_Attribute attr;
	if (c->frame_base)
		return xc_expr_number(c, c->frame_base, &c->base);
	if (!c->place || c->place->level_count == 0)
		return "frame base not known";
	Dwarf_Die *die = &c->place->levels[c->place->level_count - 1].die;
	if (!xc_die_attr(die, DW_AT_frame_base, &attr) ||
	    !xc_expr_of(xc_types_of(c->process), &attr, c->file_addr, &expr))
		return "frame base not known";
	return xc_expr_number(c, &expr, &c->base);
}

/* A function that left by a tail call has given its frame back, also that part in which its arguments were: others have
 * written there since. */
static const char *released(const struct xc_expr_context *c)
{
	return c->frame && c->frame->tail_call ? "its frame was released by a tail call" : NULL;
}

static const char *fbreg(struct xc_machine *m, int64_t offset)
{
	struct xc_expr_context *c = m->context;
	const char *gone = released(c);
	if (gone)
		return gone;
	if (!c->base_tried) {
		c->base_tried = true;
		c->base_why = "frame base refers to itself"; /* while find_base runs */
		c->base_why = find_base(c);
	}
	if (c->base_why)
		return c->base_why;
	return xc_machine_push_word(m, c->base + (uint64_t)offset);
}

static const char *breg(struct xc_machine *m, uint64_t number, uint64_t offset)
{
	uint8_t bytes[16];
	size_t len;
	const struct xc_expr_context *c = m->context;
	bool stack = xc_arch_number(c->process->arch, number) == (uint64_t)c->process->arch->sp;
	const char *why = stack ? released(c) : NULL;
	why = why ? why : xc_expr_register(m->context, number, bytes, &len);
	if (why)
		return why;
	return xc_machine_push_word(m, xc_load_uint(bytes, len > 8 ? 8 : len, false) + offset);
}

static const char *deref(struct xc_machine *m, size_t size)
{
	uint64_t addr;
	unsigned __int128 bits;
	const char *why = xc_machine_pop_word(m, &addr);
	if (why || (why = xc_expr_read(m->context, addr, size, &bits)))
		return why;
	return xc_machine_push_word(m, (uint64_t)bits);
}

static void locate(struct xc_machine *m, enum xc_location_kind kind, uint64_t number)
{
	m->located = true;
	m->location = (struct xc_location){.kind = kind, .number = number};
}

static const char *stack_value(struct xc_machine *m)
{
	if (m->depth == 0)
		return EMPTY;
	struct xc_stack_element *top = &m->elements[--m->depth];
	locate(m, XC_LOCATION_VALUE, 0);
	m->location.bits = top->bits;
	m->location.size = top->size;
	return NULL;
}

/* The location that the operators so far describe. */
static void named_so_far(struct xc_machine *m, struct xc_location *out)
{
	if (m->located)
		*out = m->location;
	else if (m->depth > 0)
		*out = (struct xc_location){.kind = XC_LOCATION_MEMORY,
					    .number = (uint64_t)m->elements[--m->depth].bits};
	else
		*out = (struct xc_location){.kind = XC_LOCATION_ABSENT, .why = ABSENT};
	m->located = false;
}

static const char *add_piece(struct xc_machine *m, uint64_t bit_offset, uint64_t bit_size)
{
	if (m->piece_count >= XC_EXPR_PIECES || bit_size > (uint64_t)XC_VALUE_MAX * 8 ||
	    bit_offset > (uint64_t)XC_VALUE_MAX * 8)
		return "location expression has too many pieces";
	if (m->piece_count == m->piece_capacity) {
		m->piece_capacity = m->piece_capacity ? m->piece_capacity * 2 : 8;
		struct xc_piece *larger = xc_arena_alloc(m->context->scratch, m->piece_capacity * sizeof *larger);
		if (m->piece_count > 0)
			memcpy(larger, m->pieces, m->piece_count * sizeof *larger);
		m->pieces = larger;
	}
	struct xc_piece *piece = &m->pieces[m->piece_count++];
	named_so_far(m, &piece->location);
	piece->bit_offset = bit_offset;
	piece->bit_size = bit_size;
	return NULL;
}

/* dup, drop, over, pick, swap, rot. */
static const char *shuffle(struct xc_machine *m, const Dwarf_Op *op)
{
	struct xc_stack_element *top = m->elements + m->depth, first;
	uint64_t back = op->atom == DW_OP_pick ? op->number : op->atom == DW_OP_over;
	unsigned needed = op->atom == DW_OP_rot ? 3 : op->atom == DW_OP_swap ? 2 : 1;
	if (m->depth < needed || (needed == 1 && op->atom != DW_OP_drop && back >= m->depth))
		return EMPTY;
	switch (op->atom) {
	case DW_OP_drop:
		m->depth--;
		return NULL;
	case DW_OP_swap:
		first = top[-1];
		top[-1] = top[-2];
		top[-2] = first;
		return NULL;
	case DW_OP_rot:
		first = top[-1];
		top[-1] = top[-2];
		top[-2] = top[-3];
		top[-3] = first;
		return NULL;
	default: /* dup, over, pick */
		first = top[-1 - (ptrdiff_t)back];
		return xc_machine_push(m, &first);
	}
}

static const char *unary(struct xc_machine *m, const Dwarf_Op *op)
{
	if (m->depth == 0)
		return EMPTY;
	struct xc_stack_element *top = &m->elements[m->depth - 1];
	if (op->atom != DW_OP_plus_uconst)
		return xc_stack_element_unary(op->atom, top);
	struct xc_stack_element sum, add = *top;
	add.bits = op->number;
	const char *why = xc_stack_element_binary(DW_OP_plus, top, &add, m->word, &sum);
	if (!why)
		*top = sum;
	return why;
}

static const char *binary(struct xc_machine *m, const Dwarf_Op *op)
{
	if (m->depth < 2)
		return EMPTY;
	struct xc_stack_element result;
	const char *why = xc_stack_element_binary(op->atom, &m->elements[m->depth - 2], &m->elements[m->depth - 1],
						  m->word, &result);
	m->depth--;
	if (!why)
		m->elements[m->depth - 1] = result;
	return why;
}

/* Operands of DW_OP_skip and DW_OP_bra count from the end of the operator, which has 3 bytes. Operators have a byte
 * offset. */
static const char *jump(struct xc_machine *m, const struct xc_expr *expr, size_t *at)
{
	const Dwarf_Op *op = &expr->ops[*at];
	uint64_t truth = 1;
	if (op->atom == DW_OP_bra) {
		if (m->depth == 0)
			return EMPTY;
		truth = m->elements[--m->depth].bits != 0;
	}
	if (!truth)
		return NULL;
	int64_t target = (int64_t)op->offset + 3 + (int16_t)op->number;
	size_t lo = XC_LOWER_BOUND(expr->count, i, (int64_t)expr->ops[i].offset < target);
	if (lo < expr->count && (int64_t)expr->ops[lo].offset != target)
		return "location expression jumps into an operator";
	if (lo == expr->count && expr->size && target != (int64_t)expr->size)
		return "location expression jumps out of itself";
	*at = lo - 1; /* the caller adds one; at the end the expression is finished */
	return NULL;
}

static const char *cfa(struct xc_machine *m)
{
	struct xc_expr_context *c = m->context;
	const char *gone = released(c);
	if (gone)
		return gone;
	if (!c->cfa_tried && c->frame) {
		c->cfa_tried = true;
		struct xc_frame frame = *c->frame;
		c->cfa_known = frame.cfa_known || (c->unwinder && xc_unwind_cfa(c->unwinder, &frame));
		c->cfa = frame.cfa;
	}
	return c->cfa_known ? xc_machine_push_word(m, c->cfa) : "no call frame information here";
}

static const char *constant(struct xc_machine *m, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_addr:
		if (!m->context->module || !m->context->module->bias_known)
			return "the load address of the module is not known";
		return xc_machine_push_word(m, op->number + m->context->module->bias);
	default:
		return xc_machine_push_word(m, op->number);
	}
}

/* Operators without a number in their name. */
static const char *plain(struct xc_machine *m, const struct xc_expr *expr, size_t *at)
{
	const Dwarf_Op *op = &expr->ops[*at];
	switch (op->atom) {
	case DW_OP_addr ... DW_OP_addr + 2: /* 0x04, 0x05 are reserved */
	case DW_OP_const1u ... DW_OP_consts:
		return constant(m, op);
	case DW_OP_deref:
		return deref(m, m->word);
	case DW_OP_deref_size:
		return op->number <= m->word ? deref(m, op->number) : "DW_OP_deref_size reads more than an address";
	case DW_OP_dup ... DW_OP_rot:
		return shuffle(m, op);
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
		return unary(m, op);
	case DW_OP_and:
	case DW_OP_div ... DW_OP_mul:
	case DW_OP_or:
	case DW_OP_plus:
	case DW_OP_shl ... DW_OP_xor:
	case DW_OP_eq ... DW_OP_ne:
		return binary(m, op);
	case DW_OP_bra:
	case DW_OP_skip:
		return jump(m, expr, at);
	case DW_OP_regx:
		locate(m, XC_LOCATION_REGISTER, op->number);
		return NULL;
	case DW_OP_fbreg:
		return fbreg(m, (int64_t)op->number);
	case DW_OP_bregx:
		return breg(m, op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return cfa(m);
	case DW_OP_stack_value:
		return stack_value(m);
	case DW_OP_push_object_address:
		return m->context->has_object ? xc_machine_push_word(m, m->context->object) : "needs an object";
	case DW_OP_nop:
	case DW_OP_GNU_uninit:
		return NULL;
	default:
		return xc_arena_printf(m->context->scratch, "location operator 0x%x is not supported", op->atom);
	}
}

static bool is_piece(const Dwarf_Op *op)
{
	return op->atom == DW_OP_piece || op->atom == DW_OP_bit_piece;
}

static const char *step(struct xc_machine *m, const struct xc_expr *expr, size_t *at)
{
	const Dwarf_Op *op = &expr->ops[*at];
	if (is_piece(op)) {
		bool bits = op->atom == DW_OP_bit_piece;
		if (!bits && op->number > XC_VALUE_MAX)
			return "location expression has a piece that is too large";
		return add_piece(m, bits ? op->number2 : 0, bits ? op->number : op->number * 8);
	}
	if (m->located && op->atom != DW_OP_nop && op->atom != DW_OP_GNU_uninit)
		return "operators after a complete location";
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return xc_machine_push_word(m, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return breg(m, op->atom - DW_OP_breg0, op->number);
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		locate(m, XC_LOCATION_REGISTER, op->atom - DW_OP_reg0);
		return NULL;
	}
	bool handled = false;
	const char *why = xc_machine_refer(m, expr, op, &handled);
	return handled ? why : plain(m, expr, at);
}

const char *xc_machine_run(struct xc_machine *m, const struct xc_expr *expr)
{
	const char *why = NULL;
	if (m->context->depth >= XC_EXPR_DEPTH + m->context->callers * XC_EXPR_CALLER_DEPTH)
		return "location expressions nested too deeply";
	m->context->depth++;
	for (size_t at = 0; !why && at < expr->count; at++) {
		if (m->context->steps++ >= XC_EXPR_STEPS ||
		    (m->context->steps % PAID_STEPS == 0 && !xc_budget_spend(1)))
			why = "location expression takes too many steps";
		else
			why = step(m, expr, &at);
	}
	m->context->depth--;
	return why;
}

static struct xc_expr_context *begin(struct xc_machine *m, struct xc_expr_context *context, const uint64_t *initial)
{
	m->context = context;
	m->word = context->process->arch->word;
	m->depth = 0;
	m->located = false;
	m->pieces = NULL;
	m->piece_count = m->piece_capacity = 0;
	if (context->depth == 0) {
		context->steps = 0;
		context->guessed = false;
	}
	if (initial)
		(void)xc_machine_push_word(m, *initial); /* cannot fail: the stack is empty */
	return context;
}

void xc_expr_locate(struct xc_expr_context *context, const struct xc_expr *expr, const uint64_t *initial,
		    struct xc_location *out)
{
	struct xc_machine m; /* elements are unset until pushed */
	struct xc_expr next;
	bool survives_call = context->survives_call;
	const char *why = "";
	begin(&m, context, initial);
	context->survives_call = false;
	if (xc_expr_after_call(context, expr, &next))
		why = xc_machine_run(&m, &next);
	if (why) {
		begin(&m, context, initial);
		context->survives_call = expr->survives_call;
		why = xc_machine_run(&m, expr);
	}
	context->survives_call = survives_call;
	if (why)
		*out = (struct xc_location){.kind = XC_LOCATION_ABSENT, .why = why};
	else if (m.piece_count > 0)
		*out = (struct xc_location){.kind = XC_LOCATION_PIECES, .pieces = m.pieces, .count = m.piece_count};
	else
		named_so_far(&m, out);
	out->guessed = context->guessed;
	out->survives_call = expr->survives_call;
}

const char *xc_expr_bits(struct xc_expr_context *context, const struct xc_expr *expr, unsigned __int128 *bits_out)
{
	struct xc_location location;
	uint8_t bytes[16];
	size_t len;
	const char *why;
	bool survives_call;
	xc_expr_locate(context, expr, NULL, &location);
	switch (location.kind) {
	case XC_LOCATION_MEMORY:
		*bits_out = location.number;
		return NULL;
	case XC_LOCATION_VALUE:
		*bits_out = location.bits;
		return NULL;
	case XC_LOCATION_REGISTER:
		survives_call = context->survives_call;
		context->survives_call = location.survives_call;
		why = xc_expr_register(context, location.number, bytes, &len);
		context->survives_call = survives_call;
		if (why)
			return why;
		memcpy(bits_out, bytes, sizeof *bits_out);
		return NULL;
	case XC_LOCATION_ABSENT:
		return location.why;
	default:
		return "not a number";
	}
}

const char *xc_expr_number(struct xc_expr_context *context, const struct xc_expr *expr, uint64_t *number_out)
{
	unsigned __int128 bits = 0;
	const char *why = xc_expr_bits(context, expr, &bits);
	if (!why)
		*number_out = (uint64_t)bits;
	return why;
}

struct xc_expr_context xc_expr_in_frame(const struct xc_process *process, const struct xc_thread *thread,
					struct xc_unwinder *unwinder, const struct xc_frame *frame,
					const struct xc_place *place, struct xc_arena *scratch)
{
	struct xc_expr_context context = {.process = process,
					  .thread = thread,
					  .unwinder = unwinder,
					  .frame = frame,
					  .place = place,
					  .scratch = scratch};
	context.module = place ? place->module : frame->module;
	context.file_addr = place ? place->file_addr : 0;
	return context;
}
