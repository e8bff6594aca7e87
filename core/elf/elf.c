/* elf: reads each field at its gABI offset, in the file's byte order, and widens it to 64 bits. */
#include "core/elf/elf.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/cursor.h"

static uint64_t field(const struct xc_elf *elf, uint64_t at, size_t size)
{
	return xc_load_uint(elf->bytes + at, size, elf->big_endian);
}

static bool inside(const struct xc_elf *elf, uint64_t at, uint64_t len)
{
	return at <= elf->size && len <= elf->size - at;
}

/* With PN_XNUM the count is in sh_info of section header 0, which the kernel writes last: a truncated core lacks it, or
 * has zeros there. In that case the program headers end at the offset of the notes, which follow them. */
static uint32_t extended_phnum(const struct xc_elf *elf, uint64_t shoff)
{
	bool wide = elf->elf_class == ELFCLASS64;
	uint64_t info_at = wide ? offsetof(Elf64_Shdr, sh_info) : offsetof(Elf32_Shdr, sh_info);
	uint32_t told = shoff && inside(elf, shoff, info_at + 4) ? (uint32_t)field(elf, shoff + info_at, 4) : 0;
	if (told >= PN_XNUM)
		return told;
	if (!inside(elf, elf->phoff, elf->phentsize))
		return PN_XNUM;
	struct xc_phdr first = xc_elf_phdr(elf, 0);
	if (first.type != PT_NOTE || first.offset <= elf->phoff)
		return PN_XNUM;
	uint64_t count = (first.offset - elf->phoff) / elf->phentsize;
	return count <= UINT32_MAX ? (uint32_t)count : PN_XNUM;
}

static struct xc_error *parse_ident(struct xc_elf *elf)
{
	if (elf->size < EI_NIDENT || memcmp(elf->bytes, ELFMAG, SELFMAG) != 0)
		return xc_error_new(XC_ERR_FORMAT, "not an ELF file");
	elf->elf_class = elf->bytes[EI_CLASS];
	if (elf->elf_class != ELFCLASS32 && elf->elf_class != ELFCLASS64)
		return xc_error_new(XC_ERR_FORMAT, "ELF header: class %u is neither 32 nor 64 bits", elf->elf_class);
	if (elf->bytes[EI_DATA] != ELFDATA2LSB && elf->bytes[EI_DATA] != ELFDATA2MSB)
		return xc_error_new(XC_ERR_FORMAT, "ELF header: unknown byte order %u", elf->bytes[EI_DATA]);
	elf->big_endian = elf->bytes[EI_DATA] == ELFDATA2MSB;
	if (elf->size < (elf->elf_class == ELFCLASS64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return xc_error_new(XC_ERR_FORMAT, "ELF header cut short: the file has %" PRIu64 " bytes", elf->size);
	return NULL;
}

struct xc_error *xc_elf_parse(const void *bytes, uint64_t size, struct xc_elf *elf_out)
{
	struct xc_elf elf = {.bytes = bytes, .size = size};
	struct xc_error *err = parse_ident(&elf);
	if (err)
		return err;
	bool wide = elf.elf_class == ELFCLASS64;
	elf.type = (uint16_t)field(&elf, 16, 2);
	elf.machine = (uint16_t)field(&elf, 18, 2);
	elf.entry = field(&elf, 24, wide ? 8 : 4);
	elf.phoff = field(&elf, wide ? 32 : 28, wide ? 8 : 4);
	uint64_t shoff = field(&elf, wide ? 40 : 32, wide ? 8 : 4);
	elf.phentsize = (uint16_t)field(&elf, wide ? 54 : 42, 2);
	elf.phnum = (uint32_t)field(&elf, wide ? 56 : 44, 2);
	size_t least = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (elf.phnum && elf.phentsize < least)
		return xc_error_new(XC_ERR_FORMAT, "ELF header: program headers of %u bytes", elf.phentsize);
	if (elf.phnum == PN_XNUM)
		elf.phnum = extended_phnum(&elf, shoff);
	if (elf.phnum && elf.phoff < size) {
		uint64_t fit = (size - elf.phoff) / elf.phentsize;
		elf.phdrs_readable = fit < elf.phnum ? (uint32_t)fit : elf.phnum;
	}
	*elf_out = elf;
	return NULL;
}

struct xc_phdr xc_elf_phdr(const struct xc_elf *elf, uint32_t index)
{
	uint64_t at = elf->phoff + (uint64_t)index * elf->phentsize;
	struct xc_phdr p = {.type = (uint32_t)field(elf, at, 4)};
	if (elf->elf_class == ELFCLASS64) {
		p.flags = (uint32_t)field(elf, at + 4, 4);
		p.offset = field(elf, at + 8, 8);
		p.vaddr = field(elf, at + 16, 8);
		p.filesz = field(elf, at + 32, 8);
		p.memsz = field(elf, at + 40, 8);
		p.align = field(elf, at + 48, 8);
	} else {
		p.offset = field(elf, at + 4, 4);
		p.vaddr = field(elf, at + 8, 4);
		p.filesz = field(elf, at + 16, 4);
		p.memsz = field(elf, at + 20, 4);
		p.flags = (uint32_t)field(elf, at + 24, 4);
		p.align = field(elf, at + 28, 4);
	}
	return p;
}

/* Go counts a second NUL of its name. */
static bool is_owner(const uint8_t *name, uint64_t size, const char *owner)
{
	size_t len = strlen(owner) + 1;
	return (size == len || (size == len + 1 && !name[len])) && !memcmp(name, owner, len);
}

const uint8_t *xc_elf_note_find(const void *notes, size_t size, uint64_t align, bool big_endian, const char *owner,
				uint64_t type, size_t most, size_t *size_out)
{
	size_t pad = align == 8 ? 8 : 4, at = 0;
	const uint8_t *p = notes;
	while (size - at >= 12) {
		uint64_t namesz = xc_load_uint(p + at, 4, big_endian), descsz = xc_load_uint(p + at + 4, 4, big_endian);
		uint64_t found = xc_load_uint(p + at + 8, 4, big_endian);
		uint64_t name_padded = (namesz + pad - 1) & ~(uint64_t)(pad - 1);
		uint64_t desc_padded = (descsz + pad - 1) & ~(uint64_t)(pad - 1);
		size_t left = size - at - 12;
		if (name_padded > left || descsz > left - name_padded)
			return NULL;
		const uint8_t *name = p + at + 12, *desc = name + name_padded;
		if (found == type && descsz <= most && is_owner(name, namesz, owner)) {
			*size_out = (size_t)descsz;
			return desc;
		}
		if (desc_padded > left - name_padded)
			return NULL;
		at += 12 + name_padded + desc_padded;
	}
	return NULL;
}

struct xc_build_id xc_elf_build_id_in_notes(const void *notes, size_t size, uint64_t align, bool big_endian)
{
	struct xc_build_id id = {0};
	size_t length;
	const uint8_t *bytes =
		xc_elf_note_find(notes, size, align, big_endian, "GNU", NT_GNU_BUILD_ID, XC_BUILD_ID_MAX, &length);
	if (bytes) {
		id.size = (uint8_t)length;
		memcpy(id.bytes, bytes, length);
	}
	return id;
}

/* Overlapping note segments of a hostile file cost no more than reading the file once. */
struct xc_build_id xc_elf_build_id(const struct xc_elf *elf)
{
	struct xc_build_id id = {0};
	uint64_t budget = elf->size;
	for (uint32_t i = 0; i < elf->phdrs_readable && !id.size; i++) {
		struct xc_phdr p = xc_elf_phdr(elf, i);
		if (p.type != PT_NOTE || !inside(elf, p.offset, p.filesz) || p.filesz > budget)
			continue;
		budget -= p.filesz;
		id = xc_elf_build_id_in_notes(elf->bytes + p.offset, (size_t)p.filesz, p.align, elf->big_endian);
	}
	return id;
}

bool xc_build_id_equal(const struct xc_build_id *a, const struct xc_build_id *b)
{
	return a->size && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

char *xc_build_id_hex(const struct xc_build_id *id, char *buf)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < id->size; i++) {
		buf[2 * i] = digits[id->bytes[i] >> 4];
		buf[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	buf[2 * (size_t)id->size] = '\0';
	return buf;
}
