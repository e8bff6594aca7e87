/* layer: dwarf
 *
 * A location expression: that of a variable of a hand-made unit, in a frame with registers and memory. Byte 0 selects
 * the variable's type; references to other entries lead to the few existing ones. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/process/process.h"
#include "core/base/text.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/module/die.h"
#include "dwarf/value/expr.h"
#include "dwarf/format/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECTIONS = 4, MEMORY = 0x4000, MAX_TEXT = 1 << 16, MAX_EXPRESSION = 8192, REGS = 17 };

/* DWARF 5, 7.5.3: unit; base type (size, encoding, name); variable (name, type, location). */
static const uint8_t abbreviations[] = {1, 0x11, 1, 0,    0, 2, 0x24, 0,    0x0b, 0x0b, 0x3e, 0x0b, 3, 8,
					0, 0,    3, 0x34, 0, 3, 8,    0x49, 0x13, 2,    0x18, 0,    0, 0};
/* After the header (11 bytes): int at 12, double at 18, then the variable. */
static const uint8_t entries[] = {1, 2, 4, 5, 'i', 'n', 't', 0, 2, 8, 4, 'd', 'b', 'l', 0, 3, 'v', 0};
enum { INT_AT = 12, DOUBLE_AT = 19, HEADER = 11 };

struct image {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	char names[48];
	uint8_t abbreviations[sizeof abbreviations];
};

static void must(bool ok)
{
	if (!ok)
		abort();
}

static size_t put(uint8_t *at, uint64_t value, size_t size)
{
	memcpy(at, &value, size);
	return size;
}

/* The unit, which follows the image; its size. */
static size_t write_unit(uint8_t *at, const uint8_t *expression, size_t len, bool is_double)
{
	uint8_t *start = at;
	at += 4;
	at += put(at, 4, 2); /* version */
	at += put(at, 0, 4); /* abbreviations */
	at += put(at, 8, 1);
	memcpy(at, entries, sizeof entries);
	at += sizeof entries;
	at += put(at, is_double ? DOUBLE_AT : INT_AT, 4);
	at += put(at, (len & 0x7f) | 0x80, 1);
	at += put(at, len >> 7, 1);
	memcpy(at, expression, len);
	at += len;
	*at++ = 0;
	put(start, (uint64_t)(at - start) - 4, 4);
	return (size_t)(at - start);
}

static Elf64_Shdr section(Elf64_Word name, Elf64_Word type, size_t offset, size_t size)
{
	return (Elf64_Shdr){.sh_name = name, .sh_type = type, .sh_offset = offset, .sh_size = size, .sh_addralign = 1};
}

static void fill(struct image *im, size_t unit)
{
	static const char names[] = "\0.debug_info\0.debug_abbrev\0.shstrtab";
	*im = (struct image){
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_EXEC,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_shoff = offsetof(struct image, sections),
			   .e_ehsize = sizeof im->header,
			   .e_shentsize = sizeof im->sections[0],
			   .e_shnum = SECTIONS,
			   .e_shstrndx = SECTIONS - 1}};
	im->sections[1] = section(1, SHT_PROGBITS, sizeof *im, unit);
	im->sections[2] = section(13, SHT_PROGBITS, offsetof(struct image, abbreviations), sizeof abbreviations);
	im->sections[3] = section(27, SHT_STRTAB, offsetof(struct image, names), sizeof im->names);
	memcpy(im->names, names, sizeof names);
	memcpy(im->abbreviations, abbreviations, sizeof abbreviations);
}

static struct xc_process *make_process(void)
{
	static uint8_t memory[MEMORY];
	struct xc_process *p = xc_process_new("fuzz", false);
	struct xc_segment s = {.lo = 0x1000, .hi = 0x1000 + MEMORY - 1, .provenance = XC_FROM_CORE, .bytes = memory};
	for (size_t i = 0; i < MEMORY; i++)
		memory[i] = (uint8_t)(i * 7 + (i >> 8));
	p->arch = xc_arch_host();
	xc_space_add(p->space, &s);
	xc_space_seal(p->space);
	return p;
}

static void evaluate(struct xc_process *p, Dwarf_Die *variable)
{
	struct xc_module module = {.bias_known = true, .bias = 0x100};
	struct xc_frame frame = {.cfa = 0x2000, .cfa_known = true, .pc = 0x1800};
	struct xc_thread thread = {.tid = 1};
	struct xc_place place = {.module = &module};
	struct xc_arena scratch = {0};
	struct xc_text text = {0};
	struct xc_value value;
	struct xc_format_options options = xc_format_defaults();
	options.symbols = false;
	for (int i = 0; i < REGS; i++)
		xc_regs_set(&frame.regs, i, 0x1000 + (uint64_t)i * 0x100);
	thread.regs = frame.regs;
	struct xc_expr_context context = xc_expr_in_frame(p, &thread, NULL, &frame, &place, &scratch);
	xc_expr_variable(&context, variable, &value);
	xc_format_value(&text, &value, &options);
	must(text.len > 0 && text.len < MAX_TEXT);
	xc_text_fini(&text);
	xc_arena_fini(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Dwarf_Die variable;
	if (size < 1 || size > MAX_EXPRESSION)
		return 0;
	uint8_t unit[MAX_EXPRESSION + 64];
	size_t unit_size = write_unit(unit, data + 1, size - 1, data[0] & 1), all = sizeof(struct image) + unit_size;
	struct image *im = xc_alloc(all + 1); /* zeroed: followed by a NUL, as in dwarf/elffile */
	fill(im, unit_size);
	memcpy(im + 1, unit, unit_size);
	elf_version(EV_CURRENT);
	Elf *elf = elf_memory((char *)im, all);
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	must(dwarf && dwarf_offdie(dwarf, HEADER + sizeof entries - 3, &variable));
	must(dwarf_tag(&variable) == 0x34);
	struct xc_process *p = make_process();
	evaluate(p, &variable);
	xc_debuginfo_close(p);
	xc_process_close(p);
	dwarf_end(dwarf);
	elf_end(elf);
	free(im);
	return 0;
}
