/* gopclntab: the section .gopclntab of Go 1.18 to 1.24 (runtime/symtab.go: pcHeader, functab, _func;
 * debug/gosym/pclntab.go). A "word" has ptrSize bytes:
 *
 *	pcHeader  magic u32 (0xfffffff0; since 1.20 …f1), 0, 0, quantum u8, ptrSize u8,
 *	          words: nfunc, nfiles, textStart, offsets of funcnametab, cutab, filetab, pctab, and functab
 *	functab   nfunc × { entry u32, from textStart; offset of its _func from functab u32 }, end u32
 *	_func     entry u32, again; offset of its name in funcnametab u32; …
 *
 * textStart needs relocation in a PIE. There the file may have 0, which is refused, since the text of a cgo program
 * need not begin with Go's. */
#include "dwarf/elf/gopclntab.h"

#include <elf.h>
#include <gelf.h>
#include <stdlib.h>

#include "core/base/cursor.h"
#include "dwarf/elf/elffile.h"
#include "dwarf/elf/symbol.h"

enum {
	HEADER = 8,
	WORDS = 8,
	ROW = 8,
	FUNCTIONS = 1 << 22, /* large programs have some hundred thousand */
	ALIGNED = 32,        /* Go 1.19, cmd/link/internal/ld/data.go */
	TRIES = 16,
};
enum word { COUNT, FILE_COUNT, TEXT, NAMES, UNITS, FILES, LINES, TABLE }; /* of pcHeader */

static bool is_inside(uint64_t offset, uint64_t len, uint64_t size)
{
	return offset <= size && len <= size - offset;
}

static uint32_t u32_at(const struct xc_gopclntab *t, uint64_t offset)
{
	return (uint32_t)xc_load_uint(t->bytes + offset, 4, false);
}

static bool is_header(const uint8_t *b)
{
	return (b[0] == 0xf0 || b[0] == 0xf1) && b[1] == 0xff && b[2] == 0xff && b[3] == 0xff && !b[4] && !b[5] &&
	       (b[7] == 4 || b[7] == 8);
}

bool xc_gopclntab_open(const void *bytes, size_t size, struct xc_gopclntab *out)
{
	const uint8_t *b = bytes;
	uint64_t words[WORDS];
	if (size < HEADER || !is_header(b) || !is_inside(HEADER, WORDS * b[7], size))
		return false;
	for (size_t i = 0; i < WORDS; i++)
		words[i] = xc_load_uint(b + HEADER + i * b[7], b[7], false);
	*out = (struct xc_gopclntab){.bytes = b,
				     .size = size,
				     .text = words[TEXT],
				     .names = words[NAMES],
				     .names_end = words[UNITS],
				     .functions = words[TABLE],
				     .count = words[COUNT]};
	if (!out->count || out->count > FUNCTIONS || out->names_end > size || out->names >= out->names_end ||
	    !is_inside(out->functions, out->count * ROW + 4, size))
		return false;
	while (out->names_end > out->names && b[out->names_end - 1])
		out->names_end--;
	return out->names_end > out->names;
}

bool xc_gopclntab_function(const struct xc_gopclntab *t, uint64_t index, struct xc_gofunction *out)
{
	if (index >= t->count)
		return false;
	uint64_t row = t->functions + index * ROW, left = t->size - t->functions;
	uint32_t entry = u32_at(t, row), end = u32_at(t, row + ROW), function = u32_at(t, row + 4);
	if (end <= entry || end > UINT64_MAX - t->text || !is_inside(function, ROW, left) ||
	    u32_at(t, t->functions + function) != entry)
		return false;
	uint32_t name = u32_at(t, t->functions + function + 4);
	if (name >= t->names_end - t->names)
		return false;
	*out = (struct xc_gofunction){
		.addr = t->text + entry, .size = end - entry, .name = (const char *)t->bytes + t->names + name};
	return *out->name;
}

bool xc_gopclntab_range(const struct xc_gopclntab *t, uint64_t *from_out, uint64_t *end_out)
{
	uint32_t from = u32_at(t, t->functions), end = u32_at(t, t->functions + t->count * ROW);
	*from_out = t->text + from;
	*end_out = t->text + end;
	return from < end && end <= UINT64_MAX - t->text;
}

/* ---- of a file ---- */

/* Is there code at these addresses of the file? */
static bool is_code(Elf *elf, uint64_t addr, uint64_t size)
{
	GElf_Phdr h;
	size_t count;
	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count && i < UINT16_MAX; i++)
		if (gelf_getphdr(elf, (int)i, &h) && h.p_type == PT_LOAD && (h.p_flags & PF_X) && addr >= h.p_vaddr &&
		    is_inside(addr - h.p_vaddr, size, h.p_filesz))
			return true;
	return false;
}

static bool is_of(Elf *elf, const struct xc_gopclntab *t)
{
	uint64_t from, end;
	return xc_gopclntab_range(t, &from, &end) && is_code(elf, from, end - from);
}

/* Search other data for the table. In a valid file few places look like its header, so only a few are tried. */
static bool search(Elf *elf, const Elf_Data *data, struct xc_gopclntab *out)
{
	const uint8_t *bytes = data->d_buf;
	unsigned tried = 0;
	for (size_t at = 0; is_inside(at, HEADER, data->d_size) && tried < TRIES; at += ALIGNED) {
		if (!is_header(bytes + at))
			continue;
		if (xc_gopclntab_open(bytes + at, data->d_size - at, out) && is_of(elf, out))
			return true;
		tried++;
	}
	return false;
}

static const char *const sections[] = {".gopclntab", ".data.rel.ro.gopclntab"};

bool xc_gopclntab_is_go(Elf *elf)
{
	for (size_t i = 0; i < XC_COUNT(sections); i++)
		if (xc_elffile_section(elf, sections[i]))
			return true;
	return xc_elffile_section(elf, ".go.buildinfo") || xc_elffile_section(elf, ".note.go.buildid");
}

bool xc_gopclntab_find(Elf *elf, struct xc_gopclntab *out)
{
	const Elf_Data *data;
	for (size_t i = 0; i < XC_COUNT(sections); i++)
		if ((data = xc_elffile_section(elf, sections[i])))
			return xc_gopclntab_open(data->d_buf, data->d_size, out) && is_of(elf, out);
	data = xc_gopclntab_is_go(elf) ? xc_elffile_section(elf, ".data.rel.ro") : NULL;
	return data && search(elf, data, out);
}

/* The number of functions in the table; 0 when they are not in address order. */
static size_t count_functions(const struct xc_gopclntab *t)
{
	struct xc_gofunction f;
	size_t count = 0;
	uint64_t last, end;
	if (!xc_gopclntab_range(t, &end, &last))
		return 0;
	for (uint64_t i = 0; i < t->count; i++) {
		if (!xc_gopclntab_function(t, i, &f))
			continue;
		if (f.addr < end || f.size > last - f.addr)
			return 0;
		end = f.addr + f.size;
		count++;
	}
	return count;
}

void xc_gopclntab_add(Elf *elf, struct xc_symtab *symbols)
{
	struct xc_gopclntab t;
	struct xc_gofunction f;
	size_t most = xc_gopclntab_find(elf, &t) ? count_functions(&t) : 0, count = 0;
	xc_auto(xc_freep) struct xc_symbol *functions = xc_realloc(NULL, (most + 1) * sizeof *functions);
	for (uint64_t i = 0; count < most; i++)
		if (xc_gopclntab_function(&t, i, &f))
			functions[count++] = (struct xc_symbol){
				.name = f.name, .value = f.addr, .size = f.size, .type = STT_FUNC, .bind = STB_GLOBAL};
	xc_symtab_add(symbols, functions, count, count ? t.names_end - t.names : 0);
}
