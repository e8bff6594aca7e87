/* expr_refer: operators that need more than the stack: registers, types, other entries, threads, callers. */
#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "dwarf/module/die.h"
#include "dwarf/module/exprcode.h"
#include "dwarf/value/entry_value.h"
#include "dwarf/value/expr_impl.h"
#include "dwarf/module/unit.h"

/* x86-64 psABI 1.0, figure 3.36, i386 psABI 1.1, table 2.14: DWARF numbers of MMX registers and of xmm16 and up. */
enum { MM_64 = 41, MM_32 = 29, X87_REGS = 8, XMM16 = 67, XMM31 = 82, S0_ARM = 64, S_COUNT = 32 };

static const char *not_saved(struct xc_expr_context *c, uint64_t number)
{
	const char *name = number < XC_REG_MAX ? xc_arch_reg_name(c->process->arch, (int)number) : NULL;
	if (name)
		return xc_arena_printf(c->scratch, "%s not saved by this frame", name);
	return xc_arena_printf(c->scratch, "register %llu not saved by this frame", (unsigned long long)number);
}

static const void *x87_register(const struct xc_arch *arch, const struct xc_vector_regs *v, uint64_t number,
				size_t *len_out)
{
	uint64_t st = number - (uint64_t)arch->x87, mm = number - (arch->machine == EM_386 ? MM_32 : MM_64);
	*len_out = st < X87_REGS ? sizeof v->st[0] : 8; /* MMX registers are the low bytes of these */
	uint64_t index = st < X87_REGS ? st : mm;
	return arch->x87 >= 0 && index < X87_REGS && index < v->st_count ? v->st[index] : NULL;
}

static const void *vector_register(const struct xc_arch *arch, const struct xc_vector_regs *v, uint64_t number,
				   size_t *len_out)
{
	uint64_t index = number - (uint64_t)arch->vector;
	if (xc_arch_is_x86_64(arch) && number >= XMM16 && number <= XMM31)
		index = number - XMM16 + 16;
	else if (arch->vector < 0 || index >= (uint64_t)arch->vector_count)
		return x87_register(arch, v, number, len_out);
	*len_out = arch->vector_size;
	return index < v->xmm_count ? v->xmm[index] : NULL;
}

bool xc_expr_ymm(const struct xc_expr_context *c, uint64_t number, uint8_t bytes[XC_YMM_SIZE])
{
	const struct xc_arch *arch = c->process->arch;
	return c->frame && arch->vector >= 0 && number >= (uint64_t)arch->vector &&
	       xc_vector_ymm(c->frame->regs.vector, number - (uint64_t)arch->vector, bytes);
}

/* arm: s0 and s1 are the halves of d0, and so on; "DWARF for the Arm Architecture" has both numberings. */
static const char *single_register(struct xc_expr_context *c, uint64_t index, uint8_t bytes[16], size_t *len_out)
{
	const char *why = xc_expr_register(c, (uint64_t)c->process->arch->vector + index / 2, bytes, len_out);
	if (why)
		return why;
	if (index % 2)
		memmove(bytes, bytes + 4, 4);
	else
		return NULL; /* gcc names a double by its first half: all of it */
	memset(bytes + 4, 0, 12);
	*len_out = 4;
	return NULL;
}

const char *xc_expr_register(struct xc_expr_context *c, uint64_t number, uint8_t bytes[16], size_t *len_out)
{
	uint64_t value;
	if (!c->frame)
		return "needs a frame";
	const struct xc_arch *arch = c->process->arch;
	const struct xc_vector_regs *v = c->frame->regs.vector;
	if (arch->machine == EM_ARM && number >= S0_ARM && number < S0_ARM + S_COUNT)
		return single_register(c, number - S0_ARM, bytes, len_out);
	const void *from = v ? vector_register(arch, v, number, len_out) : NULL;
	if (from) { /* first: of aarch64's callee-saved vector registers only the lower halves are kept as numbers */
		memset(bytes, 0, 16);
		memcpy(bytes, from, *len_out);
		return NULL;
	}
	uint64_t kept = xc_arch_number(arch, number);
	if (kept < XC_REG_MAX && xc_regs_get(&c->frame->regs, (int)kept, &value)) {
		memset(bytes, 0, 16);
		memcpy(bytes, &value, sizeof value);
		*len_out = xc_arch_saved_size(arch, (int)kept);
		return NULL;
	}
	return xc_expr_clobbered(c, number, bytes, len_out) ? NULL : not_saved(c, number);
}

static const char NO_ENTRY_DIE[] = "debug information refers to a missing entry";

/* These operators name a DIE by its offset in the whole .debug_info; a unit may be open on its own. */
static Dwarf_Op from_unit(Dwarf_CU *unit, const Dwarf_Op *op)
{
	Dwarf_Op own = *op;
	switch (op->atom) {
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
	case DW_OP_GNU_variable_value:
	case DW_OP_call_ref:
		own.number -= xc_unit_base(dwarf_cu_getdwarf(unit));
		break;
	default:
		break;
	}
	return own;
}

static bool referred(const struct xc_expr *expr, const Dwarf_Op *op, Dwarf_Die *out)
{
	Dwarf_Attribute attr = expr->attr;
	if (!attr.cu)
		return false;
	Dwarf_Op own = from_unit(attr.cu, op);
	return dwarf_getlocation_die(&attr, &own, out) == 0;
}

/* An element of the type that an operator names; offset 0 in DW_OP_convert means the generic type. */
static const char *typed_element(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op, uint64_t offset,
				 struct xc_stack_element *like)
{
	Dwarf_Die die;
	*like = xc_stack_element_word(0, m->word);
	if (offset == 0)
		return NULL;
	if (!referred(expr, op, &die))
		return NO_ENTRY_DIE;
	const struct xc_type *type = xc_type_get(xc_types_of(m->context->process), &die);
	return xc_stack_element_typed(type, 0, like) ? NULL : "a type that is not supported on the expression stack";
}

static const char *regval_type(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op)
{
	struct xc_stack_element element;
	uint8_t bytes[16];
	size_t len;
	const char *why = typed_element(m, expr, op, op->number2, &element);
	if (why || (why = xc_expr_register(m->context, op->number, bytes, &len)))
		return why;
	if (element.size > len)
		return "a register that is smaller than its type";
	memcpy(&element.bits, bytes, element.size);
	return xc_machine_push(m, &element);
}

static const char *deref_type(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op)
{
	struct xc_stack_element element;
	uint64_t addr;
	const char *why = typed_element(m, expr, op, op->number2, &element);
	if (why || (why = xc_machine_pop_word(m, &addr)) ||
	    (why = xc_expr_read(m->context, addr, element.size, &element.bits)))
		return why;
	return xc_machine_push(m, &element);
}

static const char *const_type(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op)
{
	struct xc_stack_element element;
	const char *why = typed_element(m, expr, op, op->number, &element);
	if (why)
		return why;
	const uint8_t *bytes = xc_exprcode_bytes(op); /* the first byte is the length */
	if (bytes[0] != element.size)
		return "a typed constant of another size";
	memcpy(&element.bits, bytes + 1, element.size);
	return xc_machine_push(m, &element);
}

static const char *convert(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op)
{
	struct xc_stack_element like;
	const char *why = typed_element(m, expr, op, op->number, &like);
	if (why)
		return why;
	if (m->depth == 0)
		return "location expression pops an empty stack";
	struct xc_stack_element *top = &m->elements[m->depth - 1];
	if (op->atom != DW_OP_reinterpret && op->atom != DW_OP_GNU_reinterpret)
		return xc_stack_element_convert(top, &like);
	if (like.size != top->size)
		return "reinterpreted as a type of another size";
	top->kind = like.kind;
	return NULL;
}

static const char *indexed(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op, bool is_address)
{
	uint64_t value;
	if (!expr->attr.cu || !xc_expr_indexed(xc_types_of(m->context->process), expr->attr.cu, op->number, &value))
		return "address table entry not found";
	if (!is_address)
		return xc_machine_push_word(m, value);
	if (!m->context->module || !m->context->module->bias_known)
		return "the load address of the module is not known";
	return xc_machine_push_word(m, value + m->context->module->bias);
}

/* Drepper, "ELF Handling For Thread-Local Storage", 3 and 4.1.6; glibc 2.36 sysdeps/MACHINE/nptl/tls.h (tcbhead_t) and
 * sysdeps/generic/dl-dtv.h (dtv[-1].counter is the length, entries of two words). arch.h has the layouts:
 *
 *     the module's block of static TLS, from the thread pointer, or else      dtv; dtv[modid].val -> its block
 */
static const char *no_thread_pointer(struct xc_expr_context *c)
{
	const char *name = xc_arch_reg_name(c->process->arch, c->process->arch->tls.tp);
	return xc_arena_printf(c->scratch, "the thread's storage is not known (no %s)", name ? name : "thread pointer");
}

static const char *tls_block(struct xc_expr_context *c, xc_addr *block_out)
{
	const struct xc_module *module = c->module;
	const struct xc_arch *arch = c->process->arch;
	unsigned __int128 dtv, length, block = 0;
	uint64_t tp, word = arch->word;
	if (arch->tls.tp < 0)
		return "thread-local storage of this machine is not supported";
	if (!c->thread || !xc_regs_get(&c->thread->regs, arch->tls.tp, &tp))
		return no_thread_pointer(c);
	tp -= arch->tls.bias;
	if (module && module->tls_offset_known) {
		*block_out = xc_arch_wrap(arch, arch->tls.below ? tp - (uint64_t)module->tls_offset
								: tp + (uint64_t)module->tls_offset);
		return NULL;
	}
	if (!module || module->tls_modid == 0)
		return "the module's thread-local storage is not known (no link map)";
	const char *why;
	if ((why = xc_expr_read(c, xc_arch_wrap(arch, tp + (uint64_t)(int64_t)arch->tls.dtv), word, &dtv)) ||
	    (why = xc_expr_read(c, xc_arch_wrap(arch, (uint64_t)dtv - 2 * word), word, &length)))
		return why;
	if (module->tls_modid > length)
		return "not allocated for this thread";
	if ((why = xc_expr_read(c, xc_arch_wrap(arch, (uint64_t)dtv + module->tls_modid * 2 * word), word, &block)))
		return why;
	if (block == 0 || block == xc_arch_wrap(arch, UINT64_MAX)) /* TLS_DTV_UNALLOCATED */
		return "not allocated for this thread";
	*block_out = (uint64_t)block;
	return NULL;
}

/* In split units, gcc 12 gives the variable's address in the module (of a symbol in .tdata) in place of its offset in
 * the block. A value that cannot be an offset is converted. */
static const char *check_offset(const struct xc_module *module, uint64_t *offset)
{
	struct xc_elf elf;
	struct xc_error *err = module && module->file ? xc_elf_parse(module->file->bytes, module->file->size, &elf)
						      : xc_error_new(XC_ERR_NOT_FOUND, "no file");
	uint32_t count = err ? 0 : elf.phdrs_readable;
	xc_error_free(err);
	for (uint32_t i = 0; i < count; i++) {
		struct xc_phdr p = xc_elf_phdr(&elf, i);
		if (p.type != PT_TLS || *offset < p.memsz)
			continue;
		if (*offset - p.vaddr >= p.memsz)
			return "outside the module's thread-local storage";
		*offset -= p.vaddr;
		return NULL;
	}
	return NULL;
}

static const char *tls(struct xc_machine *m)
{
	uint64_t offset;
	xc_addr block = 0;
	const char *why = xc_machine_pop_word(m, &offset);
	if (why || (why = check_offset(m->context->module, &offset)) || (why = tls_block(m->context, &block)))
		return why;
	return xc_machine_push_word(m, block + offset);
}

/* DW_OP_call2 …: the location of another entry is evaluated on this stack. Without a location nothing happens. */
static const char *call(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op)
{
	Dwarf_Die die;
	Dwarf_Attribute attr;
	struct xc_expr other;
	if (!referred(expr, op, &die))
		return NO_ENTRY_DIE;
	if (!xc_die_attr(&die, DW_AT_location, &attr) ||
	    !xc_expr_of(xc_types_of(m->context->process), &attr, m->context->file_addr, &other))
		return NULL;
	bool survives_call = m->context->survives_call;
	m->context->survives_call = other.survives_call;
	const char *why = xc_machine_run(m, &other);
	m->context->survives_call = survives_call;
	return why;
}

/* The register of an entry value, in the forms that compilers write: reg5, regx 5, breg5 0 deref, regval_type 17
 * double. False for every other expression. */
static bool entry_form(const Dwarf_Op *ops, size_t count, unsigned word, unsigned *reg_out, bool *deref_out)
{
	unsigned atom = ops[0].atom;
	*deref_out = count == 2 && atom >= DW_OP_breg0 && atom <= DW_OP_breg31 && ops[0].number == 0 &&
		     (ops[1].atom == DW_OP_deref || (ops[1].atom == DW_OP_deref_size && ops[1].number == word));
	*reg_out = (unsigned)ops[0].number;
	if (*deref_out)
		*reg_out = atom - DW_OP_breg0;
	else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
		*reg_out = atom - DW_OP_reg0;
	else if (atom != DW_OP_regx && atom != DW_OP_regval_type && atom != DW_OP_GNU_regval_type)
		return false;
	return *deref_out || count == 1;
}

/* The expression inside an entry value. */
static bool entry_inner(struct xc_types *types, const struct xc_expr *expr, const Dwarf_Op *op,
			struct xc_expr *inner_out)
{
	struct xc_exprcode code;
	*inner_out = (struct xc_expr){.attr = expr->attr};
	if (!expr->attr.cu || !xc_exprcode_read(&types->codes, expr->attr.cu, xc_exprcode_bytes(op), op->number, &code))
		return false;
	inner_out->ops = code.ops;
	inner_out->count = code.count;
	return code.count > 0;
}

bool xc_expr_is_entry_of(struct xc_types *types, const struct xc_expr *expr, uint64_t number, unsigned word)
{
	struct xc_expr inner;
	unsigned reg;
	bool deref;
	return expr->count == 2 && expr->ops[1].atom == DW_OP_stack_value &&
	       (expr->ops[0].atom == DW_OP_entry_value || expr->ops[0].atom == DW_OP_GNU_entry_value) &&
	       entry_inner(types, expr, &expr->ops[0], &inner) &&
	       entry_form(inner.ops, inner.count, word, &reg, &deref) && !deref && reg == number;
}

static const char *entry_value(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op)
{
	struct xc_expr inner;
	struct xc_stack_element element = xc_stack_element_word(0, m->word);
	unsigned reg;
	bool deref;
	const char *why = NULL;
	if (!entry_inner(xc_types_of(m->context->process), expr, op, &inner))
		return "entry value of an empty expression";
	const Dwarf_Op *ops = inner.ops;
	if (!entry_form(ops, inner.count, m->word, &reg, &deref))
		return "entry value of more than one register";
	if (ops[0].atom == DW_OP_regval_type || ops[0].atom == DW_OP_GNU_regval_type)
		why = typed_element(m, &inner, &ops[0], ops[0].number2, &element);
	unsigned __int128 bits;
	if (why || (why = xc_entry_value_register(m->context, reg, deref, &bits)))
		return why;
	element.bits = element.size >= 16 ? bits : bits & (((unsigned __int128)1 << element.size * 8) - 1);
	return xc_machine_push(m, &element);
}

static const char *parameter_ref(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op)
{
	Dwarf_Die die;
	unsigned __int128 bits;
	if (!referred(expr, op, &die))
		return NO_ENTRY_DIE;
	const char *why = xc_entry_value_parameter(m->context, &die, &bits);
	return why ? why : xc_machine_push_word(m, (uint64_t)bits);
}

static const char *variable_value(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op)
{
	Dwarf_Die die;
	struct xc_value value;
	uint64_t bits;
	if (!referred(expr, op, &die))
		return NO_ENTRY_DIE;
	xc_expr_variable(m->context, &die, &value);
	return xc_value_load(&value, &bits) ? xc_machine_push_word(m, bits) : "refers to a variable without a value";
}

static const char *implicit(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op)
{
	m->located = true;
	if (op->atom == DW_OP_implicit_value) {
		if (!xc_exprcode_bytes(op))
			return "implicit value without bytes"; /* not from a file */
		m->location = (struct xc_location){
			.kind = XC_LOCATION_BYTES, .bytes = xc_exprcode_bytes(op), .size = op->number};
		return NULL;
	}
	m->location = (struct xc_location){.kind = XC_LOCATION_POINTEE, .number = op->number2};
	return referred(expr, op, &m->location.die) ? NULL : NO_ENTRY_DIE;
}

const char *xc_machine_refer(struct xc_machine *m, const struct xc_expr *expr, const Dwarf_Op *op, bool *handled_out)
{
	*handled_out = true;
	switch (op->atom) {
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
		return regval_type(m, expr, op);
	case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
		return deref_type(m, expr, op);
	case DW_OP_const_type:
	case DW_OP_GNU_const_type:
		return const_type(m, expr, op);
	case DW_OP_convert:
	case DW_OP_GNU_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_reinterpret:
		return convert(m, expr, op);
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return indexed(m, expr, op, true);
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		return indexed(m, expr, op, false);
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return tls(m);
	case DW_OP_call2:
	case DW_OP_call4:
	case DW_OP_call_ref:
		return call(m, expr, op);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return entry_value(m, expr, op);
	case DW_OP_GNU_parameter_ref:
		return parameter_ref(m, expr, op);
	case DW_OP_GNU_variable_value:
		return variable_value(m, expr, op);
	case DW_OP_implicit_value:
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return implicit(m, expr, op);
	default:
		*handled_out = false;
		return NULL;
	}
}
