/* disas_x86: Zydis, with the names of instructions that gdb and objdump write (disas_mnemonic.h).
 *
 * Segments: fs and gs have separate bases that the kernel saves (DWARF numbers 58 and 59, x86-64 psABI 3.6.2); in
 * 32-bit code the base is in a descriptor, which is not in a core. Operands that Zydis calls hidden are implied by
 * the instruction: the stack of push, flags, rip. */
#include <Zydis/Zydis.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/decode/disas_impl.h"
#include "dwarf/decode/disas_mnemonic.h"

enum { FS_BASE = 58, GS_BASE = 59 };

struct x86 {
	ZydisDecoder decoder;
	ZydisFormatter formatter;
	ZydisMachineMode mode;
};

/* Replace Zydis's name, which has suffixes after it and prefixes before it. */
static void rename_instruction(const struct xc_disas *disas, const ZydisDecodedInstruction *instruction,
			       const ZydisDecodedOperand *operands, const char *from, char to[XC_CODE_TEXT])
{
	char name[XC_MNEMONIC];
	const char *zydis = ZydisMnemonicGetString(instruction->mnemonic), *word = from;
	size_t len = zydis ? strlen(zydis) : 0;
	while (strncmp(word, zydis ? zydis : "", len) != 0 && (word = strchr(word, ' ')))
		word++;
	if (!word)
		word = from;
	xc_disas_mnemonic(instruction, operands, disas->syntax == XC_SYNTAX_ATT, name);
	snprintf(to, XC_CODE_TEXT, "%.*s%s%.*s", (int)(word - from), from, name, XC_CODE_TEXT / 2,
		 word + strcspn(word, " "));
}

/* Write a star before the operand of an indirect jump, and no blanks after commas. */
static void tidy_att(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands, const char *from,
		     char to[XC_CODE_TEXT])
{
	const char *end = to + XC_CODE_TEXT - 4;
	bool goes = instruction->meta.category == ZYDIS_CATEGORY_CALL ||
		    instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
	bool star = goes && instruction->operand_count_visible && operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
	const char *place = star ? strrchr(from, ' ') : NULL; /* one operand, without blanks */
	for (; *from && to < end; from++) {
		*to++ = *from;
		if (from == place)
			*to++ = '*';
		if (*from == ',' && from[1] == ' ')
			from++;
	}
	*to = '\0';
}

static bool is_nop(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_NOP || instruction->meta.category == ZYDIS_CATEGORY_WIDENOP;
}

static void write_text(const struct xc_disas *disas, const ZydisDecodedInstruction *instruction,
		       const ZydisDecodedOperand *operands, struct xc_code *out)
{
	const struct x86 *x86 = disas->state;
	char text[XC_CODE_TEXT / 2], named[XC_CODE_TEXT];
	ZyanU8 shown = instruction->operand_count_visible;
	if (is_nop(instruction))
		shown = 0; /* they only make the line longer */
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&x86->formatter, instruction, operands, shown, text,
							  sizeof text, out->addr, NULL)))
		snprintf(text, sizeof text, "%s", ZydisMnemonicGetString(instruction->mnemonic));
	rename_instruction(disas, instruction, operands, text, named);
	if (disas->syntax == XC_SYNTAX_ATT)
		tidy_att(instruction, operands, named, out->text);
	else
		snprintf(out->text, sizeof out->text, "%s", named);
}

static int number_of(const struct xc_disas *disas, ZydisRegister reg)
{
	const struct x86 *x86 = disas->state;
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(x86->mode, reg);
	return xc_disas_register(disas, ZydisRegisterGetString(whole ? whole : reg));
}

static void add_memory(const struct xc_disas *disas, const ZydisDecodedInstruction *instruction,
		       const ZydisDecodedOperand *from, struct xc_code *out)
{
	const ZydisDecodedOperandMem *mem = &from->mem;
	struct xc_code_operand *to = xc_disas_operand(out, XC_CODE_MEMORY);
	if (!to)
		return;
	bool fs = mem->segment == ZYDIS_REGISTER_FS, gs = mem->segment == ZYDIS_REGISTER_GS;
	to->read = from->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	to->written = from->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	to->implied = from->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	to->address_only = mem->type == ZYDIS_MEMOP_TYPE_AGEN || instruction->meta.category == ZYDIS_CATEGORY_NOP ||
			   instruction->meta.category == ZYDIS_CATEGORY_WIDENOP;
	to->complex = mem->type != ZYDIS_MEMOP_TYPE_MEM && mem->type != ZYDIS_MEMOP_TYPE_AGEN;
	to->complex |= (fs || gs) && disas->arch->machine != EM_X86_64;
	to->segment = disas->arch->machine != EM_X86_64 ? -1 : fs ? FS_BASE : gs ? GS_BASE : -1;
	to->displacement = mem->disp.has_displacement ? mem->disp.value : 0;
	to->scale = mem->scale ? mem->scale : 1;
	to->size = from->size / 8;
	if (mem->base == ZYDIS_REGISTER_RIP || mem->base == ZYDIS_REGISTER_EIP) {
		to->pc_relative = true;
		to->displacement += (int64_t)(out->addr + instruction->length);
	} else if (mem->base != ZYDIS_REGISTER_NONE) {
		to->base = number_of(disas, mem->base);
		to->complex |= to->base < 0;
	}
	if (mem->index != ZYDIS_REGISTER_NONE) {
		to->index = number_of(disas, mem->index);
		to->complex |= to->index < 0;
	}
	/* push writes below the previous stack pointer */
	if (to->implied && to->written && (mem->base == ZYDIS_REGISTER_RSP || mem->base == ZYDIS_REGISTER_ESP))
		to->displacement -= to->size;
}

static void add_register(const struct xc_disas *disas, const ZydisDecodedOperand *from, struct xc_code *out)
{
	const char *name = ZydisRegisterGetString(from->reg.value);
	struct xc_code_operand *to;
	if (from->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN || !name ||
	    !(to = xc_disas_operand(out, XC_CODE_REGISTER)))
		return; /* hidden: the flags, rip, rsp */
	to->read = from->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	to->written = from->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	to->reg = number_of(disas, from->reg.value);
	to->size = from->size / 8;
	snprintf(to->name, sizeof to->name, "%s", name);
}

static enum xc_flow flow_of(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return XC_FLOW_CALL;
	case ZYDIS_CATEGORY_RET:
		return XC_FLOW_RETURN;
	case ZYDIS_CATEGORY_COND_BR:
		return XC_FLOW_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return XC_FLOW_JUMP;
	default:
		return XC_FLOW_ON;
	}
}

static bool decode(struct xc_disas *disas, const uint8_t *bytes, size_t len, struct xc_code *out)
{
	struct x86 *x86 = disas->state;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&x86->decoder, bytes, len, &instruction, operands)))
		return false;
	out->length = instruction.length;
	out->flow = flow_of(&instruction);
	write_text(disas, &instruction, operands, out);
	for (size_t i = 0; i < instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &operands[i];
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_memory(disas, &instruction, operand, out);
		else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
			add_register(disas, operand, out);
		else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative)
			out->has_target =
				ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, operand, out->addr, &out->target));
	}
	return true;
}

static bool length(struct xc_disas *disas, const uint8_t *bytes, size_t len, xc_addr addr, uint8_t *length_out)
{
	struct x86 *x86 = disas->state;
	ZydisDecodedInstruction instruction;
	(void)addr;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&x86->decoder, NULL, bytes, len, &instruction)))
		return false;
	*length_out = instruction.length;
	return true;
}

static void close_x86(struct xc_disas *disas)
{
	free(disas->state);
}

static bool set_up(struct x86 *x86, ZydisStackWidth width, enum xc_syntax syntax)
{
	ZydisFormatterStyle style = syntax == XC_SYNTAX_INTEL ? ZYDIS_FORMATTER_STYLE_INTEL : ZYDIS_FORMATTER_STYLE_ATT;
	ZydisFormatter *f = &x86->formatter;
	if (!ZYAN_SUCCESS(ZydisDecoderInit(&x86->decoder, x86->mode, width)) ||
	    !ZYAN_SUCCESS(ZydisFormatterInit(f, style)))
		return false;
	ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE);
	ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
	return true;
}

bool xc_disas_open_x86(struct xc_disas *disas)
{
	bool wide = disas->arch->machine == EM_X86_64;
	if (!wide && disas->arch->machine != EM_386)
		return false;
	struct x86 *x86 = xc_alloc(sizeof *x86);
	x86->mode = wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
	disas->state = x86;
	disas->decode = decode;
	disas->length = length;
	disas->close = close_x86;
	if (set_up(x86, wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32, disas->syntax))
		return true;
	free(x86);
	return false;
}
