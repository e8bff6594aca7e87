/* elffile: elf_memory over a private mapping.
 *
 * libelf 0.188 uses the headers in place when they are in our byte order, and elf_compress, by which libdw inflates
 * sections, writes the new size into the section header: into our read-only mapping (libelf/elf_compress.c,
 * libelf/elf_begin.c). The mapping is private, so the pages from the section headers on are made writable; what is
 * written there stays ours, and is no part of what was loaded. Bytes without a mapping of their own (a vDSO inside
 * the core) are copied. */
#include "elffile.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../core/cursor.h"

enum { COPY_MAX = 64 << 20, ZSTD_TYPE = 2 /* ELFCOMPRESS_ZSTD, gABI of 2022 */ };

static bool make_headers_writable(const struct xc_source *source, const struct xc_elf *elf)
{
	bool wide = elf->elf_class == ELFCLASS64;
	uint64_t shoff = xc_load_uint(source->bytes + (wide ? 40 : 32), wide ? 8 : 4, elf->big_endian);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (shoff == 0 || shoff >= source->map_size)
		return true;
	shoff &= ~(page - 1);
	return mprotect((char *)source->map + shoff, (size_t)(source->map_size - shoff), PROT_READ | PROT_WRITE) == 0;
}

static void *copy_of(const struct xc_source *source)
{
	void *copy = source->size <= COPY_MAX ? malloc((size_t)source->size) : NULL;
	return copy ? memcpy(copy, source->bytes, (size_t)source->size) : NULL;
}

static bool begin(struct xc_elffile *file, void *bytes, size_t size)
{
	elf_version(EV_CURRENT);
	file->elf = elf_memory(bytes, size);
	if (file->elf && elf_kind(file->elf) == ELF_K_ELF)
		return true;
	xc_elffile_close(file);
	return false;
}

bool xc_elffile_open(struct xc_elffile *file, struct xc_source *source, bool owned)
{
	struct xc_elf header;
	*file = (struct xc_elffile){.source = source, .owned = owned};
	struct xc_error *err = xc_elf_parse(source->bytes, source->size, &header);
	bool good = !err;
	xc_error_free(err);
	if (good && source->map)
		good = make_headers_writable(source, &header);
	else if (good)
		good = (file->image = copy_of(source)) != NULL;
	if (!good) {
		xc_elffile_close(file);
		return false;
	}
	return begin(file, file->image ? file->image : (void *)(uintptr_t)source->bytes, (size_t)source->size);
}

bool xc_elffile_open_image(struct xc_elffile *file, void *bytes, size_t size)
{
	*file = (struct xc_elffile){.image = bytes};
	return begin(file, bytes, size);
}

void xc_elffile_close(struct xc_elffile *file)
{
	if (file->dwarf)
		dwarf_end(file->dwarf);
	if (file->elf)
		elf_end(file->elf);
	free(file->image);
	if (file->owned)
		xc_source_close(file->source);
	*file = (struct xc_elffile){0};
}

/* ---- sections ---- */

static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) < 0)
		return NULL;
	for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
		const char *found = gelf_getshdr(s, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
		if (found && !strcmp(found, name) && header->sh_type != SHT_NOBITS && header->sh_size)
			return s;
	}
	return NULL;
}

Elf_Data *xc_elffile_section(Elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(elf, name, &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	return data && data->d_buf && data->d_size ? data : NULL;
}

bool xc_elffile_has_dwarf(Elf *elf)
{
	GElf_Shdr header;
	return find_section(elf, ".debug_info", &header) || find_section(elf, ".zdebug_info", &header);
}

bool xc_elffile_has_symtab(Elf *elf)
{
	GElf_Shdr header;
	return find_section(elf, ".symtab", &header) != NULL;
}

bool xc_elffile_has_zstd(Elf *elf)
{
	static const char *const names[] = {".debug_info", ".debug_abbrev", ".debug_str", ".debug_line"};
	GElf_Shdr header;
	GElf_Chdr compression;
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		Elf_Scn *section = find_section(elf, names[i], &header);
		if (section && (header.sh_flags & SHF_COMPRESSED) && gelf_getchdr(section, &compression) &&
		    compression.ch_type == ZSTD_TYPE)
			return true;
	}
	return false;
}

struct xc_build_id xc_elffile_build_id(Elf *elf)
{
	struct xc_build_id id = {0};
	const void *bytes;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
	if (size > 0 && size <= XC_BUILD_ID_MAX) {
		id.size = (uint8_t)size;
		memcpy(id.bytes, bytes, (size_t)size);
	}
	return id;
}

Dwarf *xc_elffile_dwarf(struct xc_elffile *file)
{
	if (!file->dwarf && file->elf && xc_elffile_has_dwarf(file->elf))
		file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	return file->dwarf;
}
