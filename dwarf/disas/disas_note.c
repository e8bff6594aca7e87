/* disas_note: names of addresses, and values in memory.
 *
 * A call into a procedure linkage table has the name of the function in its slot. The stub's first instructions load
 * the slot from a pc-relative address, or (AArch64) from a page whose address is in a register. A value is the current
 * contents of memory: in a core, those at the time of death, not of the instruction. */
#include "dwarf/disas/disas_note.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/facts/facts.h"
#include "core/text/jsonvalue.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/value/value.h"

enum { NAME = 512, STUB = 4, STRING = 60, LEAST_STRING = 3 };

/* ---- names ---- */

/* The slot of the procedure linkage table that a stub jumps through. */
static bool find_slot(const struct xc_code_view *view, xc_addr at, xc_addr *slot)
{
	uint8_t bytes[STUB * XC_CODE_LONGEST];
	size_t got = xc_space_peek(view->process->space, at, bytes, sizeof bytes), done = 0;
	struct xc_regs pages = {0};
	struct xc_code code;
	for (int i = 0; i < STUB && done < got; i++, done += code.length) {
		xc_disas_decode(view->disas, bytes + done, got - done, at + done, &code);
		if (!code.valid)
			return false;
		for (size_t o = 0; o < code.operand_count; o++) {
			const struct xc_code_operand *operand = &code.operands[o];
			xc_addr addr;
			if (operand->kind != XC_CODE_MEMORY || operand->implied ||
			    !xc_disas_address(view->disas, operand, &pages, &addr))
				continue;
			if (operand->address_only && code.operands[0].kind == XC_CODE_REGISTER)
				xc_regs_set(&pages, code.operands[0].reg, addr);
			else if (!operand->address_only) {
				*slot = addr;
				return true;
			}
		}
		if (code.flow != XC_FLOW_ON)
			return false;
	}
	return false;
}

static const char *stub_name(const struct xc_code_view *view, xc_addr at, char *buf, size_t size)
{
	xc_addr slot, value;
	if (!find_slot(view, at, &slot) ||
	    !xc_space_peek_uint(view->process->space, slot, view->process->arch->word, &value) ||
	    !xc_symbol_describe(view->process, value, buf, size) || strstr(buf, "+0x"))
		return NULL;
	size_t len = strlen(buf);
	snprintf(buf + len, size - len, "@plt");
	return buf;
}

/* "foo+0x12", "malloc@plt", "libx.so+0x1234"; NULL when nothing is mapped there. */
static const char *name_of(const struct xc_code_view *view, xc_addr addr, bool code, char *buf, size_t size)
{
	const char *name = xc_symbol_describe(view->process, addr, buf, size);
	if (!name && code)
		name = stub_name(view, addr, buf, size);
	if (!name && xc_process_module(view->process, addr))
		name = xc_facts_place(view->process, addr, buf, size);
	return name;
}

static void set_text(json_t *object, const char *key, const char *text)
{
	xc_jsonvalue_set(object, key, xc_jsonvalue_text(text));
}

static void add_name(struct xc_text *text, const char *name)
{
	xc_text_add(text, " <");
	xc_text_name(text, name);
	xc_text_char(text, '>');
}

static void note_target(const struct xc_code_view *view, const struct xc_code *code, struct xc_text *text,
			json_t *object)
{
	char buf[NAME];
	const struct xc_code_range *range = view->range;
	const char *name = name_of(view, code->target, true, buf, sizeof buf);
	if (range && code->target >= range->lo && code->target <= range->hi && code->flow != XC_FLOW_CALL)
		xc_text_printf(text, " <+%" PRIu64 ">", code->target - range->lo);
	else if (name)
		add_name(text, name);
	xc_jsonvalue_set(object, "target", xc_jsonvalue_address(code->target));
	set_text(object, "symbol", name);
}

/* ---- places in memory ---- */

/* A string in the program's constants, up to its first unprintable character. */
static bool constant_string(const struct xc_code_view *view, xc_addr addr, char buf[STRING + 1])
{
	const struct xc_mapping *mapping = xc_process_mapping(view->process, addr);
	bool cut;
	if (!mapping || mapping->writable || mapping->executable || !mapping->path)
		return false;
	long len = xc_space_peek_string(view->process->space, addr, buf, STRING, &cut);
	if (len < LEAST_STRING)
		return false;
	for (long i = 0; i < len; i++)
		if ((buf[i] < ' ' || buf[i] > '~') && buf[i] != '\n' && buf[i] != '\t')
			return false;
	return true;
}

static bool is_number(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* " = 0x7f… <handler>" */
static void note_value(const struct xc_code_view *view, xc_addr addr, uint32_t size, struct xc_text *comment,
		       json_t *object)
{
	uint64_t value;
	char buf[NAME];
	xc_auto(xc_text_fini) struct xc_text why = {0};
	if (xc_value_fault(view->process, addr, size ? size : 1, &why)) {
		const char *reason = strstr(why.bytes, ": ");
		xc_text_add(comment, ": ");
		xc_text_name(comment, reason ? reason + 2 : why.bytes);
		set_text(object, "why", why.bytes);
		return;
	}
	if (view->redact || !is_number(size) || !xc_space_peek_uint(view->process->space, addr, size, &value))
		return;
	xc_text_printf(comment, " = 0x%" PRIx64, value);
	xc_jsonvalue_set(object, "value", xc_jsonvalue_address(value));
	if (size == view->process->arch->word && xc_process_module(view->process, value) &&
	    xc_symbol_describe(view->process, value, buf, sizeof buf) &&
	    (size == 8 || !strstr(buf, "+0x"))) { /* many 32-bit numbers are addresses within some symbol */
		add_name(comment, buf);
		set_text(object, "value_symbol", buf);
	}
}

/* An operand whose address is in the instruction, or in it and in an earlier page address. */
static void note_reference(const struct xc_code_view *view, const struct xc_code_operand *operand,
			   struct xc_text *comment, json_t *object)
{
	char buf[NAME], string[STRING + 1];
	xc_addr addr;
	if (!xc_disas_address(view->disas, operand, view->pages, &addr))
		return;
	const char *name = name_of(view, addr, false, buf, sizeof buf);
	xc_text_printf(comment, "%s0x%" PRIx64, comment->len ? ", " : "", addr);
	xc_jsonvalue_set(object, "reference", xc_jsonvalue_address(addr));
	set_text(object, "reference_symbol", name);
	if (name)
		add_name(comment, name);
	if (!operand->address_only)
		note_value(view, addr, operand->size, comment, object);
	else if (!view->redact && constant_string(view, addr, string)) {
		xc_text_add(comment, " \"");
		xc_text_escaped(comment, string, strlen(string));
		xc_text_add(comment, "\"");
	}
}

/* adrp: the address of a page, to which later instructions add an offset. */
static bool keeps_page(const struct xc_code_view *view, const struct xc_code *code)
{
	return view->pages && view->process->arch->machine == EM_AARCH64 && strncmp(code->text, "adrp ", 5) == 0 &&
	       code->operand_count == 2 && code->operands[0].kind == XC_CODE_REGISTER &&
	       code->operands[1].kind == XC_CODE_MEMORY;
}

/* A register that is written no longer has the page address. After a jump, none is known. */
static void forget_pages(const struct xc_code_view *view, const struct xc_code *code)
{
	if (view->pages && code->flow != XC_FLOW_ON)
		*view->pages = (struct xc_regs){.vector = NULL};
	for (size_t i = 0; view->pages && i < code->operand_count; i++)
		if (code->operands[i].kind == XC_CODE_REGISTER && code->operands[i].written)
			xc_regs_forget(view->pages, code->operands[i].reg);
}

void xc_disas_note(const struct xc_code_view *view, const struct xc_code *code, struct xc_text *text,
		   struct xc_text *comment, json_t *object)
{
	bool page = keeps_page(view, code);
	if (code->has_target)
		note_target(view, code, text, object);
	for (size_t i = 0; i < code->operand_count && !page; i++) {
		const struct xc_code_operand *operand = &code->operands[i];
		if (operand->kind == XC_CODE_MEMORY && !operand->implied && operand->index < 0 &&
		    operand->segment < 0 && !operand->complex)
			note_reference(view, operand, comment, object);
	}
	forget_pages(view, code);
	if (page)
		xc_regs_set(view->pages, code->operands[0].reg, (uint64_t)code->operands[1].displacement);
}

/* ---- the current instruction ---- */

struct operands {
	const struct xc_code_view *view;
	struct xc_text *comment;
	json_t *array;
	bool shown[XC_REG_MAX];
};

static void note_register(struct operands *o, int number)
{
	const char *name = xc_arch_reg_name(o->view->process->arch, number);
	uint64_t value;
	if (number < 0 || number >= XC_REG_MAX || !name || o->shown[number])
		return;
	o->shown[number] = true;
	bool known = o->view->regs && xc_regs_get(o->view->regs, number, &value);
	json_t *one = json_object();
	set_text(one, "register", name);
	xc_jsonvalue_set(one, "value", known ? xc_jsonvalue_address(value) : json_null());
	json_array_append_new(o->array, one);
	xc_text_printf(o->comment, "%s%s", o->comment->len ? ", " : "", name);
	if (known)
		xc_text_printf(o->comment, " = 0x%" PRIx64, value);
	else
		xc_text_add(o->comment, " unknown");
}

static void note_memory(struct operands *o, const struct xc_code_operand *operand)
{
	const char *access = operand->address_only ? "computes" : operand->written ? "writes" : "reads";
	xc_addr addr;
	if (operand->complex || (operand->address_only && operand->pc_relative))
		return;
	json_t *one = json_object();
	bool known = xc_disas_address(o->view->disas, operand, o->view->regs, &addr);
	set_text(one, "access", operand->address_only ? "address" : operand->written ? "write" : "read");
	xc_jsonvalue_set(one, "addr", known ? xc_jsonvalue_address(addr) : json_null());
	xc_jsonvalue_set(one, "size", operand->size ? xc_jsonvalue_count(operand->size) : json_null());
	json_array_append_new(o->array, one);
	if (!known)
		return;
	xc_text_printf(o->comment, "%s%s", o->comment->len ? "; " : "", access);
	if (operand->size && !operand->address_only)
		xc_text_printf(o->comment, " %u byte%s at", operand->size, operand->size == 1 ? "" : "s");
	xc_text_printf(o->comment, " 0x%" PRIx64, addr);
	if (!operand->address_only)
		note_value(o->view, addr, operand->size, o->comment, one);
}

/* Accesses to the stack by push, pop and call are not shown, unless the memory is missing. That of ret is. */
static bool is_ordinary(const struct xc_code_view *view, const struct xc_code *code,
			const struct xc_code_operand *operand)
{
	xc_addr addr;
	uint8_t byte;
	return operand->implied && code->flow != XC_FLOW_RETURN &&
	       xc_disas_address(view->disas, operand, view->regs, &addr) &&
	       xc_space_peek(view->process->space, addr, &byte, 1) == 1;
}

void xc_disas_note_operands(const struct xc_code_view *view, const struct xc_code *code, struct xc_text *comment,
			    json_t *object)
{
	struct operands o = {.view = view, .comment = comment, .array = json_array()};
	for (size_t i = 0; i < code->operand_count; i++) {
		const struct xc_code_operand *operand = &code->operands[i];
		if (operand->kind == XC_CODE_REGISTER && (operand->read || operand->reg < 0))
			note_register(&o, operand->reg);
		if (operand->kind != XC_CODE_MEMORY || operand->implied)
			continue;
		note_register(&o, operand->base);
		note_register(&o, operand->index);
		note_register(&o, operand->segment);
	}
	for (size_t i = 0; i < code->operand_count; i++)
		if (code->operands[i].kind == XC_CODE_MEMORY && !is_ordinary(view, code, &code->operands[i]))
			note_memory(&o, &code->operands[i]);
	xc_jsonvalue_set(object, "operands", o.array);
}
