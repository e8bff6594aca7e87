/* expr_clobbered: caller-saved registers, in a frame that waits for a call.
 *
 *     mov  %rbx,%rdi      location list: x is in rdi
 *     call f              f may overwrite rdi, so its value is lost …
 *     …                   <- return address
 *
 * … but for three cases. (1) The call site has the value that was passed in rdi (DWARF 5, 3.4.2). (2) The list's entry
 * continues unchanged after the call: gcc knew that the callee preserves rdi (-fipa-ra), so rdi has the same value in
 * the callee. Other compilers end the entry at the call. An expression that is not in a list proves nothing, since gcc
 * emits it for the whole scope. (3) After the call, the list has entry_value(rdi): the function has not changed rdi.
 * The first two give the register's contents; the third is marked as guessed, like all entry values. In all other cases
 * the register is lost; gdb shows its value in the innermost frame instead. */
#include <dwarf.h>
#include <string.h>

#include "dwarf/value/entry_value.h"
#include "dwarf/value/expr_impl.h"

static bool at_call(const struct xc_expr_context *c)
{
	return c->frame && !c->frame->interrupted && c->place && c->place->level_count > 0;
}

static bool by_gcc(const struct xc_place *place)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit = place->unit;
	const char *producer = dwarf_attr(&unit, DW_AT_producer, &attr) ? dwarf_formstring(&attr) : NULL;
	return producer && strncmp(producer, "GNU ", 4) == 0;
}

/* (1) */
static bool was_passed(struct xc_expr_context *c, uint64_t number, uint8_t bytes[16])
{
	unsigned __int128 bits;
	if (c->in_arguments || c->frame->tail_call)
		return false;
	c->in_arguments = true;
	const char *why = xc_entry_value_argument(c, (unsigned)number, &bits);
	c->in_arguments = false;
	if (!why)
		memcpy(bytes, &bits, 16);
	return !why;
}

/* (2) */
static bool was_spared(struct xc_expr_context *c, uint64_t number, uint8_t bytes[16])
{
	uint64_t value;
	if (!c->survives_call || !xc_arch_has(c->process->arch->scratch, (int)number) ||
	    !xc_regs_left(&c->frame->regs, (int)number, &value) || !by_gcc(c->place))
		return false;
	memset(bytes, 0, 16);
	memcpy(bytes, &value, sizeof value);
	return true;
}

bool xc_expr_clobbered(struct xc_expr_context *c, uint64_t number, uint8_t bytes[16], size_t *len_out)
{
	if (!at_call(c) || number >= XC_REG_MAX)
		return false;
	*len_out = c->process->arch->reg_size;
	return was_passed(c, number, bytes) || was_spared(c, number, bytes);
}

static bool only_register(const struct xc_expr *expr, uint64_t *number_out)
{
	if (expr->count != 1)
		return false;
	const Dwarf_Op *op = expr->ops;
	*number_out = op->atom == DW_OP_regx ? op->number : op->atom - (uint64_t)DW_OP_reg0;
	return op->atom == DW_OP_regx || (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31);
}

/* (3) */
bool xc_expr_after_call(struct xc_expr_context *c, const struct xc_expr *expr, struct xc_expr *next_out)
{
	uint64_t number;
	uint8_t bytes[16];
	size_t len;
	if (expr->survives_call || !expr->next_ops || !at_call(c) || !only_register(expr, &number))
		return false;
	*next_out = (struct xc_expr){.ops = expr->next_ops, .count = expr->next_count, .attr = expr->attr};
	return xc_expr_is_entry_of(xc_types_of(c->process), next_out, number, c->process->arch->word) &&
	       xc_expr_register(c, number, bytes, &len) != NULL;
}
