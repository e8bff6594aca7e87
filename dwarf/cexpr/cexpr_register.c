/* cexpr_register: $rip, $eax, $xmm0: registers of the frame, with gdb's names and types.
 *
 * In an outer frame, a register has the value that the function there had in it. Registers that calls do not preserve
 * are unknown. */
#include <elf.h>

#include "dwarf/cexpr/cexpr_impl.h"

enum { EFLAGS = 49, FIRST_SEGMENT = 50, LAST_SEGMENT = 55, XMM0 = 17, XMM_LOW = 16, ST0 = 33, ST_COUNT = 8 };

/* A part of a 64-bit register of x86-64. */
struct part {
	int number; /* DWARF */
	unsigned shift, size;
};

/* eax ax al ah, esi si sil, r8d r8w r8b (gdb: r8l). */
static bool find_part(const struct xc_arch *arch, const char *name, struct part *out)
{
	static const struct {
		const char *whole, *dword, *word, *low, *high;
	} names[] = {{"rax", "eax", "ax", "al", "ah"}, {"rbx", "ebx", "bx", "bl", "bh"},
		     {"rcx", "ecx", "cx", "cl", "ch"}, {"rdx", "edx", "dx", "dl", "dh"},
		     {"rsi", "esi", "si", "sil", ""},  {"rdi", "edi", "di", "dil", ""},
		     {"rbp", "ebp", "bp", "bpl", ""},  {"rsp", "esp", "", "spl", ""}};
	size_t len = strlen(name);
	if (arch->machine != EM_X86_64)
		return false;
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		const char *const parts[] = {names[i].dword, names[i].word, names[i].low, names[i].high};
		static const unsigned sizes[] = {4, 2, 1, 1};
		for (size_t k = 0; k < XC_COUNT(parts); k++) {
			if (len > 0 && strcmp(parts[k], name) == 0) {
				*out = (struct part){xc_arch_reg_named(arch, names[i].whole), k == 3 ? 8 : 0, sizes[k]};
				return true;
			}
		}
	}
	if (len < 3 || len > 4 || name[0] != 'r' || !strchr("dwbl", name[len - 1]))
		return false;
	char whole[8];
	snprintf(whole, sizeof whole, "%.*s", (int)len - 1, name);
	*out = (struct part){xc_arch_reg_named(arch, whole), 0,
			     name[len - 1] == 'd'   ? 4
			     : name[len - 1] == 'w' ? 2
						    : 1};
	return out->number >= 0;
}

static const struct xc_type *type_of(struct xc_cexpr *c, int number)
{
	const struct xc_arch *arch = c->process->arch;
	const struct xc_type *nothing = xc_ctype(c->process, XC_C_VOID);
	if (number == arch->pc)
		return xc_ctype_derive(c->process, XC_TYPE_POINTER,
				       xc_ctype_function(c->process, nothing, NULL, 0, false));
	if (number == arch->sp || number == arch->fp)
		return xc_ctype_derive(c->process, XC_TYPE_POINTER, nothing);
	if (arch->machine == EM_X86_64 && number == EFLAGS)
		return xc_ctype_eflags(c->process);
	if (arch->machine == EM_X86_64 && number >= FIRST_SEGMENT && number <= LAST_SEGMENT)
		return xc_ctype(c->process, XC_C_INT);
	return xc_ctype(c->process, XC_C_LONG);
}

static struct xc_error *not_known(const struct xc_cexpr *c, const char *name)
{
	const struct xc_frame_scope *s = c->scope;
	if (!s->has_frame)
		return xc_error_new(XC_ERR_ABSENT, "$%s: %s", name, s->why_no_frame);
	return xc_error_new(XC_ERR_ABSENT, "$%s is not known in frame %u: calls do not preserve it", name, s->row);
}

static struct xc_error *vector(struct xc_cexpr *c, int number, const char *name, struct xc_value *out)
{
	const struct xc_vector_regs *v = c->scope->has_frame ? c->scope->frame.regs.vector : NULL;
	bool x87 = number >= ST0;
	int index = number - (x87 ? ST0 : XMM0);
	if (!v || index >= (x87 ? v->st_count : v->xmm_count))
		return not_known(c, name);
	if (x87)
		*out = xc_value_small(c->process, xc_ctype(c->process, XC_C_LDOUBLE), v->st[index],
				      sizeof v->st[index]);
	else
		*out = xc_value_small(c->process, xc_ctype_vector_register(c->process, false), v->xmm[index],
				      sizeof v->xmm[index]);
	return NULL;
}

/* ymm0 to ymm15: the number; -1: another name. */
static int wide_of(const struct xc_arch *arch, const char *name)
{
	char xmm[8];
	if (strncmp(name, "ymm", 3) != 0 || strlen(name) >= sizeof xmm)
		return -1;
	snprintf(xmm, sizeof xmm, "xmm%s", name + 3);
	int number = xc_arch_reg_named(arch, xmm);
	return number >= XMM0 && number < XMM0 + XMM_LOW ? number - XMM0 : -1;
}

static struct xc_error *wide(struct xc_cexpr *c, int index, const char *name, struct xc_value *out)
{
	const struct xc_vector_regs *v = c->scope->has_frame ? c->scope->frame.regs.vector : NULL;
	struct xc_buffer *buffer = xc_arena_alloc(c->arena, sizeof *buffer);
	*buffer = (struct xc_buffer){.size = XC_YMM_SIZE, .bytes = xc_arena_alloc(c->arena, XC_YMM_SIZE)};
	if (!v)
		return not_known(c, name);
	if (!xc_vector_ymm(v, (uint64_t)index, buffer->bytes))
		return xc_error_new(XC_ERR_ABSENT, "$%s: the high half was not saved", name);
	*out = (struct xc_value){.process = c->process,
				 .type = xc_ctype_vector_register(c->process, true),
				 .kind = XC_VALUE_BYTES,
				 .buffer = buffer};
	return NULL;
}

static struct xc_error *known(struct xc_cexpr *c, int number, const char *name, uint64_t *value_out)
{
	const struct xc_frame_scope *s = c->scope;
	if (s->has_frame && xc_regs_get(&s->frame.regs, number, value_out))
		return NULL;
	return not_known(c, name);
}

struct xc_error *xc_cexpr_register(struct xc_cexpr *c, const char *name, struct xc_value *out)
{
	const struct xc_arch *arch = c->process->arch;
	int number = xc_arch_reg_named(arch, name);
	struct part part = {.number = -1};
	uint64_t value;
	struct xc_error *err;
	bool x86 = arch->machine == EM_X86_64;
	if (x86 && ((number >= XMM0 && number < XMM0 + XMM_LOW) || (number >= ST0 && number < ST0 + ST_COUNT)))
		return vector(c, number, name, out);
	if (x86 && wide_of(arch, name) >= 0)
		return wide(c, wide_of(arch, name), name, out);
	if (number < 0 && !find_part(arch, name, &part))
		return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "$%s: %s has no such register", name, arch->name),
				     "`xcore regs` shows them; $pc, $sp and $fp go by their roles");
	if ((err = known(c, number < 0 ? part.number : number, name, &value)))
		return err;
	if (number >= 0) {
		*out = xc_value_small(c->process, type_of(c, number), &value, sizeof value);
		return NULL;
	}
	value >>= part.shift;
	*out = xc_cexpr_int(c, part.size == 4 ? XC_C_INT : part.size == 2 ? XC_C_SHORT : XC_C_SCHAR, value);
	return NULL;
}
