/* disas_mnemonic: names that differ from those of Zydis 3.2.
 *
 * Conditions have several names each (Intel SDM volume 2, appendix B): gas uses e, ne, ae, a, ge, g. AT&T's names
 * carry the operand's size where no register shows it, and both sizes where they differ (gas manual, 9.16.3); Zydis
 * also adds suffixes to vector instructions, where they have another meaning (movsdq). */
#include "dwarf/decode/disas_mnemonic.h"

#include <stdio.h>
#include <string.h>

#include "core/base/base.h"

struct renaming {
	const char *from, *to;
};

static const char *renamed(const struct renaming *table, const char *name)
{
	for (; table->from; table++)
		if (strcmp(table->from, name) == 0)
			return table->to;
	return NULL;
}

static const char *stem_of(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return "j";
	case ZYDIS_CATEGORY_SETCC:
		return "set";
	case ZYDIS_CATEGORY_CMOV:
		return "cmov";
	default:
		return NULL;
	}
}

static bool rename_condition(const ZydisDecodedInstruction *instruction, const char *zydis, char name[XC_MNEMONIC])
{
	static const struct renaming conditions[] = {{"nb", "ae"}, {"nbe", "a"}, {"nl", "ge"}, {"nle", "g"},
						     {"nz", "ne"}, {"z", "e"},   {NULL, NULL}};
	const char *stem = stem_of(instruction);
	if (!stem || strncmp(zydis, stem, strlen(stem)) != 0)
		return false;
	const char *to = renamed(conditions, zydis + strlen(stem));
	if (to)
		snprintf(name, XC_MNEMONIC, "%s%s", stem, to);
	return to != NULL;
}

static char size_letter(unsigned bits)
{
	switch (bits) {
	case 8:
		return 'b';
	case 16:
		return 'w';
	case 32:
		return 'l';
	case 64:
		return 'q';
	default:
		return '\0';
	}
}

static bool is_visible(const ZydisDecodedOperand *operand)
{
	return operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
}

/* The visible memory operand if no register shows its size; cl as a shift count does not. */
static const ZydisDecodedOperand *unsized_memory(const ZydisDecodedInstruction *instruction,
						 const ZydisDecodedOperand *operands)
{
	const ZydisDecodedOperand *memory = NULL;
	bool shifts = instruction->meta.category == ZYDIS_CATEGORY_SHIFT ||
		      instruction->meta.category == ZYDIS_CATEGORY_ROTATE;
	for (unsigned i = 0; i < instruction->operand_count_visible; i++) {
		const ZydisDecodedOperand *operand = &operands[i];
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && is_visible(operand))
			memory = operand;
		else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && !(shifts && i > 0))
			return NULL;
	}
	return memory;
}

static bool takes_suffix(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_SETCC:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_STRINGOP:
	case ZYDIS_CATEGORY_IOSTRINGOP:
		return false;
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return true;
	default:
		return instruction->meta.isa_ext == ZYDIS_ISA_EXT_BASE ||
		       instruction->meta.isa_ext == ZYDIS_ISA_EXT_LONGMODE;
	}
}

/* movzx, movsx, movsxd: from one size to another. */
static bool name_extension(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
			   char name[XC_MNEMONIC])
{
	bool zero = instruction->mnemonic == ZYDIS_MNEMONIC_MOVZX;
	if (!zero && instruction->mnemonic != ZYDIS_MNEMONIC_MOVSX && instruction->mnemonic != ZYDIS_MNEMONIC_MOVSXD)
		return false;
	char from = size_letter(operands[1].size), to = size_letter(operands[0].size);
	if (from && to)
		snprintf(name, XC_MNEMONIC, "mov%c%c%c", zero ? 'z' : 's', from, to);
	return from && to;
}

/* fldt and fldl load floating-point numbers; fildl and fildll integers. */
static void add_float_suffix(const ZydisDecodedOperand *memory, const char *zydis, char name[XC_MNEMONIC])
{
	bool integer = zydis[1] == 'i';
	const char *suffix = "";
	if (memory->size == 80)
		suffix = integer || zydis[1] == 'b' ? "" : "t";
	else if (memory->size == 64)
		suffix = integer ? "ll" : "l";
	else if (memory->size == 32)
		suffix = integer ? "l" : "s";
	else if (memory->size == 16 && integer)
		suffix = "s";
	snprintf(name, XC_MNEMONIC, "%.24s%s", zydis, suffix);
}

static bool name_att(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands, const char *zydis,
		     char name[XC_MNEMONIC])
{
	static const struct renaming names[] = {{"cdqe", "cltq"},   {"cdq", "cltd"},    {"cqo", "cqto"},
						{"cwde", "cwtl"},   {"cbw", "cbtw"},    {"cwd", "cwtd"},
						{"stosd", "stosl"}, {"lodsd", "lodsl"}, {"scasd", "scasl"},
						{"insd", "insl"},   {"outsd", "outsl"}, {NULL, NULL}};
	const char *to = renamed(names, zydis);
	size_t len = strlen(zydis);
	if (to) {
		snprintf(name, XC_MNEMONIC, "%s", to);
		return true;
	}
	if (instruction->meta.category == ZYDIS_CATEGORY_STRINGOP && zydis[len - 1] == 'd') { /* movsd, cmpsd */
		snprintf(name, XC_MNEMONIC, "%.*sl", (int)len - 1, zydis);
		return true;
	}
	return name_extension(instruction, operands, name);
}

void xc_disas_mnemonic(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands, bool att,
		       char name[XC_MNEMONIC])
{
	const char *zydis = ZydisMnemonicGetString(instruction->mnemonic);
	if (!zydis || !*zydis)
		zydis = "(bad)";
	if (rename_condition(instruction, zydis, name) || (att && name_att(instruction, operands, zydis, name)))
		return;
	snprintf(name, XC_MNEMONIC, "%s", zydis);
	const ZydisDecodedOperand *memory = att ? unsized_memory(instruction, operands) : NULL;
	if (!memory)
		return;
	if (instruction->meta.isa_ext == ZYDIS_ISA_EXT_X87)
		add_float_suffix(memory, zydis, name);
	else if (takes_suffix(instruction) && strncmp(zydis, "cmpxchg", 7) != 0)
		snprintf(name, XC_MNEMONIC, "%.24s%c", zydis, size_letter(memory->size));
}
