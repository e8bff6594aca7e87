/* disas: the part that all decoders share. */
#include "dwarf/decode/disas_impl.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct xc_error *xc_disas_open(const struct xc_arch *arch, enum xc_syntax syntax, struct xc_disas **disas_out)
{
	struct xc_disas *disas = xc_alloc(sizeof *disas);
	disas->arch = arch;
	disas->syntax = syntax;
	disas->step = 1;
	if (xc_disas_open_x86(disas) || xc_disas_open_capstone(disas)) {
		*disas_out = disas;
		return NULL;
	}
	free(disas);
	return xc_error_hint(
		xc_error_new(XC_ERR_UNSUPPORTED, "code of %s cannot be decoded", arch->name),
		"libcapstone decodes machines other than x86 (Debian: libcapstone4); RISC-V needs its version 5");
}

void xc_disas_close(struct xc_disas *disas)
{
	if (!disas)
		return;
	disas->close(disas);
	free(disas);
}

/* Bytes that are no instruction, as assemblers write them: ".byte 0x06", ".inst 0x00000000". */
static void write_data(const struct xc_disas *disas, const uint8_t *bytes, struct xc_code *out)
{
	uint32_t word = 0;
	for (unsigned i = 0; i < out->length; i++)
		word |= (uint32_t)bytes[disas->arch->big_endian ? out->length - 1u - i : i] << 8 * i;
	const char *directive = out->length == 1 ? ".byte" : out->length == 2 ? ".short" : ".inst";
	snprintf(out->text, sizeof out->text, "%s 0x%0*x", directive, 2 * out->length, word);
}

void xc_disas_decode(struct xc_disas *disas, const uint8_t *bytes, size_t len, xc_addr addr, struct xc_code *out)
{
	unsigned step = disas->thumb ? 2 : disas->step;
	size_t read = len < XC_CODE_LONGEST ? len : XC_CODE_LONGEST;
	out->addr = addr;
	out->length = (uint8_t)(step <= len ? step : 1);
	out->flow = XC_FLOW_ON;
	out->has_target = false;
	out->operand_count = 0;
	out->text[0] = '\0';
	out->valid = disas->decode(disas, bytes, read, out);
	if (!out->valid)
		write_data(disas, bytes, out);
}

bool xc_disas_length(struct xc_disas *disas, const uint8_t *bytes, size_t len, xc_addr addr, uint8_t *length_out)
{
	unsigned step = disas->thumb ? 2 : disas->step;
	*length_out = (uint8_t)(step <= len ? step : 1);
	return disas->length(disas, bytes, len < XC_CODE_LONGEST ? len : XC_CODE_LONGEST, addr, length_out);
}

void xc_disas_thumb(struct xc_disas *disas, bool thumb)
{
	disas->thumb = thumb && disas->arch->machine == EM_ARM;
}

struct xc_code_operand *xc_disas_operand(struct xc_code *out, enum xc_code_kind kind)
{
	if (out->operand_count >= XC_CODE_OPERANDS)
		return NULL;
	struct xc_code_operand *operand = &out->operands[out->operand_count++];
	*operand =
		(struct xc_code_operand){.kind = kind, .reg = -1, .segment = -1, .base = -1, .index = -1, .scale = 1};
	return operand;
}

/* The whole register of a part or an alias, by the machine's names. */
static const char *whole_register(const struct xc_disas *disas, const char *name, char buf[16])
{
	static const char *const arm[][2] = {{"sb", "r9"},  {"sl", "r10"}, {"fp", "r11"}, {"ip", "r12"},
					     {"sp", "r13"}, {"lr", "r14"}, {"pc", "r15"}};
	uint16_t machine = disas->arch->machine;
	for (size_t i = 0; machine == EM_ARM && i < XC_COUNT(arm); i++)
		if (strcmp(name, arm[i][0]) == 0)
			return arm[i][1];
	if (machine != EM_AARCH64)
		return NULL;
	if (strcmp(name, "fp") == 0 || strcmp(name, "lr") == 0)
		return *name == 'f' ? "x29" : "x30";
	if (strcmp(name, "wsp") == 0)
		return "sp";
	if (*name != 'w' || strlen(name) > 3)
		return NULL;
	snprintf(buf, 16, "x%s", name + 1);
	return buf;
}

static int number_of(const struct xc_arch *arch, const char *name)
{
	for (int i = 0; i < XC_REG_MAX; i++) {
		const char *known = xc_arch_reg_name(arch, i);
		if (known && strcmp(known, name) == 0)
			return i;
	}
	return -1;
}

int xc_disas_register(const struct xc_disas *disas, const char *name)
{
	char buf[16];
	int number = name ? number_of(disas->arch, name) : -1;
	const char *whole = name && number < 0 ? whole_register(disas, name, buf) : NULL;
	return whole ? number_of(disas->arch, whole) : number;
}

static bool add_register(const struct xc_regs *regs, int number, unsigned scale, xc_addr *sum)
{
	uint64_t value;
	if (number < 0)
		return true;
	if (!regs || !xc_regs_get(regs, number, &value))
		return false;
	*sum += value * scale;
	return true;
}

bool xc_disas_address(const struct xc_disas *disas, const struct xc_code_operand *operand, const struct xc_regs *regs,
		      xc_addr *addr_out)
{
	xc_addr sum = (uint64_t)operand->displacement;
	if (operand->kind != XC_CODE_MEMORY || operand->complex || !add_register(regs, operand->segment, 1, &sum) ||
	    !add_register(regs, operand->base, 1, &sum) || !add_register(regs, operand->index, operand->scale, &sum))
		return false;
	*addr_out = disas->arch->word == 4 ? sum & UINT32_MAX : sum;
	return true;
}
