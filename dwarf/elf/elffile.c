/* elffile: elf_memory over a read-only mapping.
 *
 * libelf only reads it: elf_compress, the one function that writes, is never reached, since compressed sections are
 * inflated by dwarf/elf/inflate before libdw sees them. Bytes without a mapping of their own (a vDSO inside the core)
 * are copied, so that they are aligned.
 *
 * libdw 0.188 returns a string in .debug_info (DW_FORM_string) without looking for its end. All bytes given to it are
 * followed by a NUL, so such a string is garbage at worst. */
#include "dwarf/elf/elffile.h"

#include <elf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dwarf/elf/inflate.h"
#include "dwarf/elf/inflate_cache.h"
#include "dwarf/elf/section.h"

enum { COPY_MAX = 64 << 20 };

static void *copy_of(const struct xc_source *source)
{
	char *copy = source->size <= COPY_MAX ? malloc((size_t)source->size + 1) : NULL;
	if (!copy)
		return NULL;
	memcpy(copy, source->bytes, (size_t)source->size);
	copy[source->size] = '\0';
	return copy;
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
	if (good && !source->map)
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
	if (file->plain_elf)
		elf_end(file->plain_elf);
	if (file->elf)
		elf_end(file->elf);
	xc_source_close(file->plain);
	free(file->image);
	if (file->owned)
		xc_source_close(file->source);
	*file = (struct xc_elffile){0};
}

/* ---- sections ---- */

static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	struct xc_section_walk w;
	for (xc_section_walk_begin(&w, elf); xc_section_walk_next(&w);)
		if (!strcmp(w.name, name) && w.header.sh_type != SHT_NOBITS && w.header.sh_size) {
			*header = w.header;
			return w.section;
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

/* Notes are read by our own code: libdw does not accept ids whose length is not a multiple of four. Sections come
 * first, since dwz files have no program headers. */
struct xc_build_id xc_elffile_build_id(Elf *elf)
{
	struct xc_build_id id = {0};
	struct xc_elf parsed;
	GElf_Shdr header;
	size_t size;
	const char *bytes = elf_rawfile(elf, &size);
	struct xc_error *err = xc_elf_parse(bytes, size, &parsed);
	if (err) {
		xc_error_free(err);
		return id;
	}
	for (Elf_Scn *s = elf_nextscn(elf, NULL); s && !id.size; s = elf_nextscn(elf, s)) {
		const Elf_Data *notes =
			gelf_getshdr(s, &header) && header.sh_type == SHT_NOTE ? elf_rawdata(s, NULL) : NULL;
		if (notes && notes->d_buf)
			id = xc_elf_build_id_in_notes(notes->d_buf, notes->d_size, header.sh_addralign,
						      parsed.big_endian);
	}
	return id.size ? id : xc_elf_build_id(&parsed);
}

static Elf *use_plain(struct xc_elffile *file, struct xc_source *plain, size_t size)
{
	file->plain = plain;
	file->plain_elf = elf_memory((char *)(uintptr_t)plain->bytes, size);
	return file->plain_elf;
}

/* Forget a cache entry that is damaged although its trailer is complete: the machine stopped while it was written. */
static void forget_cached(struct xc_elffile *file)
{
	unlink(file->plain->path);
	elf_end(file->plain_elf);
	xc_source_close(file->plain);
	file->plain_elf = NULL;
	file->plain = NULL;
}

struct xc_error *xc_elffile_plain(struct xc_elffile *file, const char *cache_dir, Elf **elf_out)
{
	size_t size = 0;
	struct xc_source *plain = NULL;
	*elf_out = file->elf;
	if (!xc_inflate_needed(file->elf))
		return NULL;
	bool cache = cache_dir && file->source && file->source->map && file->source->ino;
	if (cache && (plain = xc_inflate_cache_get(cache_dir, file->source, &size))) {
		*elf_out = use_plain(file, plain, size);
		return NULL;
	}
	struct xc_error *err = cache ? xc_inflate_cache_fill(cache_dir, file->source, file->elf, &plain, &size) : NULL;
	if (!err && !plain && !(err = xc_inflate_sections(file->elf, &plain)))
		size = (size_t)plain->size;
	if (err)
		return err;
	*elf_out = use_plain(file, plain, size);
	return NULL;
}

struct xc_error *xc_elffile_dwarf(struct xc_elffile *file, const char *cache_dir, Dwarf **dwarf_out)
{
	Elf *elf = NULL;
	*dwarf_out = file->dwarf;
	if (file->dwarf || file->plain || !file->elf || !xc_elffile_has_dwarf(file->elf))
		return NULL;
	struct xc_error *err = xc_elffile_plain(file, cache_dir, &elf);
	if (err)
		return err;
	file->dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	if (!file->dwarf && file->plain && file->plain->ino) {
		forget_cached(file);
		return xc_elffile_dwarf(file, NULL, dwarf_out);
	}
	if (!file->dwarf)
		return xc_error_new(XC_ERR_FORMAT, "its DWARF cannot be read: %s", dwarf_errmsg(-1));
	*dwarf_out = file->dwarf;
	return NULL;
}

/* libdw requires one section that it knows. */
Dwarf *xc_elffile_empty_dwarf(struct xc_elffile *file)
{
	static const struct {
		Elf64_Ehdr header;
		Elf64_Shdr sections[3];
		char names[32], line[8];
	} layout = {
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_REL,
			   .e_machine = EM_NONE,
			   .e_version = EV_CURRENT,
			   .e_shoff = sizeof(Elf64_Ehdr),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = 3,
			   .e_shstrndx = 1},
		.sections = {{0},
			     {.sh_name = 1,
			      .sh_type = SHT_STRTAB,
			      .sh_size = 32,
			      .sh_addralign = 1,
			      .sh_offset = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr)},
			     {.sh_name = 11,
			      .sh_type = SHT_PROGBITS,
			      .sh_size = 8,
			      .sh_addralign = 1,
			      .sh_offset = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr) + 32}},
		.names = "\0.shstrtab\0.debug_line",
	};
	void *bytes = xc_alloc(sizeof layout);
	memcpy(bytes, &layout, sizeof layout);
	if (!xc_elffile_open_image(file, bytes, sizeof layout))
		return NULL;
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	return file->dwarf;
}
