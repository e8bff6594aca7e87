/* layer: lua
 *
 * A text of C declarations, for a machine selected by its first byte. The declared types are looked up by the names in
 * the text, read from memory, shown and laid out; a second reading of the same text changes nothing. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/arch.h"
#include "core/base/text.h"
#include "dwarf/format/format.h"
#include "dwarf/layout/layout_text.h"
#include "lua/cdef/cdef.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_INPUT = 1 << 14, WORDS = 64, MAX_WORD = 200, MEMORY = 0x1000, MAX_TEXT = 1 << 24 };

static void must(bool ok)
{
	if (!ok)
		abort();
}

static struct xc_process *open_process(uint8_t which)
{
	static const struct {
		uint16_t machine;
		uint8_t elf_class;
	} machines[] = {{EM_X86_64, ELFCLASS64},  {EM_386, ELFCLASS32}, {EM_X86_64, ELFCLASS32},
			{EM_AARCH64, ELFCLASS64}, {EM_ARM, ELFCLASS32}, {EM_PPC64, ELFCLASS64},
			{EM_RISCV, ELFCLASS64}};
	static uint8_t memory[64];
	struct xc_process *process = xc_process_new("fuzz", false);
	size_t i = which % XC_COUNT(machines);
	process->arch = xc_arch_find(machines[i].machine, machines[i].elf_class, false);
	struct xc_segment segment = {
		.lo = MEMORY, .hi = MEMORY + sizeof memory - 1, .provenance = XC_FROM_CORE, .bytes = memory};
	xc_space_add(process->space, &segment);
	xc_space_seal(process->space);
	return process;
}

static void show(const struct xc_process *process, const struct xc_type *type)
{
	struct xc_format_options options = xc_format_defaults();
	struct xc_layout_shown shown = {.layout = {.cacheline = XC_CACHELINE, .expand = 2}, .methods = true};
	struct xc_value value = xc_value_memory(process, type, MEMORY);
	struct xc_text text = {0};
	struct xc_layout layout;
	must(*xc_type_name(type) != '\0');
	xc_format_value(&text, &value, &options);
	xc_layout_text(&text, type, &shown);
	must(text.len < MAX_TEXT);
	if (xc_layout_read(&layout, type, &shown.layout)) {
		for (size_t i = 0; i < layout.row_count && layout.size_known && layout.type->kind == XC_TYPE_STRUCT;
		     i++)
			must(layout.rows[i].offset <= layout.size);
		xc_layout_fini(&layout);
	}
	xc_text_fini(&text);
}

static bool in_word(char ch)
{
	return ch == '_' || (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* By each word of the text, alone and as a tag. */
static void ask(struct xc_cdef *cdef, const struct xc_process *process, const char *text)
{
	static const char *const forms[] = {"%.*s", "struct %.*s", "union %.*s", "enum %.*s [2]"};
	unsigned words = 0;
	while (*text && words < WORDS) {
		size_t len = 0;
		while (in_word(text[len]))
			len++;
		for (size_t i = 0; len > 0 && len < MAX_WORD && i < XC_COUNT(forms); i++) {
			char *name = xc_asprintf(forms[i], (int)len, text);
			const struct xc_type *type;
			int64_t value;
			struct xc_error *err = xc_cdef_type(cdef, name, &type);
			if (!err)
				show(process, type);
			xc_error_free(err);
			xc_error_free(xc_cdef_constant(cdef, name, &value));
			free(name);
		}
		words += len > 0;
		text += len ? len : 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > MAX_INPUT)
		return 0;
	struct xc_process *process = open_process(data[0]);
	struct xc_cdef *cdef = xc_cdef_new(process);
	char *text = xc_alloc(size); /* of exactly this size, so that ASan detects a read past it */
	const struct xc_type *type;
	memcpy(text, data + 1, size - 1);
	struct xc_error *err = xc_cdef_declare(cdef, text);
	must(!err || err->lines);
	if (!err && !strstr(text, "#")) /* macros may make it a different text */
		must(!xc_cdef_declare(cdef, text));
	xc_error_free(err);
	ask(cdef, process, text);
	xc_error_free(xc_cdef_type(cdef, text, &type));
	xc_cdef_free(cdef);
	xc_process_close(process);
	free(text);
	return 0;
}
