/* store_scan: reads files instead of mapping them. That is cheaper for a few kilobytes of each of many files, and a
 * file that is truncated meanwhile gives a short read. */
#include "dwarf/symstore/store_scan.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/cursor.h"
#include "dwarf/symstore/store_file.h"

enum {
	MAX_SECTION_BYTES = 16 << 20,
	MAX_NAMES = 1 << 20, /* of a name table that is read whole */
	MAX_NOTE = 64 << 10,
	MAX_NOTES = 16,
	MAX_LOOKED_UP = 4096, /* names that are read one by one */
	NAME = 24,            /* longer than any section name that is looked for */
};

enum which { INFO, INFO_DWO, ABBREV_DWO, CU_INDEX, ALTLINK, SUP, MINI, NAMED };

/* The result of the walk over the section headers. */
struct found {
	struct xc_store_section named[NAMED];
	bool has[NAMED], code, symbols;
	struct xc_store_section *infos; /* all .debug_info.dwo: gcc makes one for each type unit */
	size_t info_count, info_capacity;
	struct xc_build_id id;
	unsigned notes;
};

struct scan {
	struct xc_store_reader file;
	uint8_t head[4096]; /* of the file */
	size_t head_size;
	struct xc_elf elf; /* over head */
	struct found found;
	char *names; /* table of section names; NULL: too large */
	size_t names_size;
	struct xc_store_section names_section;
	unsigned names_looked_up;
};

size_t xc_store_read(const struct xc_store_reader *file, uint64_t at, void *buf, size_t len)
{
	size_t got = 0;
	while (got < len && at <= INT64_MAX - len) {
		ssize_t n = pread(file->fd, (char *)buf + got, len - got, (off_t)(at + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

/* ---- sections ---- */

static uint64_t field(const struct scan *s, const uint8_t *bytes, size_t wide_at, size_t narrow_at)
{
	bool wide = s->elf.elf_class == ELFCLASS64;
	return xc_load_uint(bytes + (wide ? wide_at : narrow_at), wide ? 8 : 4, s->elf.big_endian);
}

#define FIELD(s, bytes, type, member) field(s, bytes, offsetof(Elf64_##type, member), offsetof(Elf32_##type, member))

static struct xc_store_section section_at(const struct scan *s, const uint8_t *bytes)
{
	struct xc_store_section section = {
		.name = (uint32_t)xc_load_uint(bytes, 4, s->elf.big_endian),
		.type = (uint32_t)xc_load_uint(bytes + 4, 4, s->elf.big_endian),
		.flags = FIELD(s, bytes, Shdr, sh_flags),
		.offset = FIELD(s, bytes, Shdr, sh_offset),
		.size = FIELD(s, bytes, Shdr, sh_size),
		.align = FIELD(s, bytes, Shdr, sh_addralign),
	};
	if (section.type == SHT_NOBITS || section.offset >= s->file.size)
		section.size = 0;
	else if (section.size > s->file.size - section.offset)
		section.size = s->file.size - section.offset;
	return section;
}

static void read_names(struct scan *s, const struct xc_store_section *section)
{
	s->names_section = *section;
	if (section->size == 0 || section->size > MAX_NAMES)
		return;
	s->names = xc_alloc((size_t)section->size + 1);
	s->names_size = xc_store_read_section(&s->file, section, 0, s->names, (size_t)section->size);
}

/* The section's name in buf; empty when it cannot be read. */
static const char *name_of(struct scan *s, const struct xc_store_section *section, char buf[NAME])
{
	buf[0] = '\0';
	if (s->names && section->name < s->names_size)
		return s->names + section->name; /* a NUL follows them */
	if (!s->names && s->names_looked_up++ < MAX_LOOKED_UP)
		buf[xc_store_read_section(&s->file, &s->names_section, section->name, buf, NAME - 1)] = '\0';
	return buf;
}

static void read_notes(struct scan *s, uint64_t offset, uint64_t size, uint64_t align)
{
	if (s->found.id.size || size == 0 || s->found.notes++ >= MAX_NOTES)
		return;
	size_t len = size < MAX_NOTE ? (size_t)size : MAX_NOTE;
	xc_auto(xc_freep) uint8_t *bytes = xc_alloc(len);
	size_t got = xc_store_read(&s->file, offset, bytes, len);
	s->found.id = xc_elf_build_id_in_notes(bytes, got, align, s->elf.big_endian);
}

static void add_info(struct found *f, const struct xc_store_section *section)
{
	if (f->info_count >= XC_STORE_MAX_INFOS || (section->flags & SHF_COMPRESSED))
		return;
	f->infos = xc_grow(f->infos, f->info_count, &f->info_capacity, sizeof *f->infos);
	f->infos[f->info_count++] = *section;
}

static void note_name(struct scan *s, const struct xc_store_section *section)
{
	static const char *const names[NAMED] = {
		[INFO] = ".debug_info",         [INFO_DWO] = ".debug_info.dwo",  [ABBREV_DWO] = ".debug_abbrev.dwo",
		[CU_INDEX] = ".debug_cu_index", [ALTLINK] = ".gnu_debugaltlink", [SUP] = ".debug_sup",
		[MINI] = ".gnu_debugdata"};
	char buf[NAME];
	const char *name = name_of(s, section, buf);
	for (size_t i = 0; i < NAMED; i++)
		if (!strcmp(name, names[i]) || (i == INFO && !strcmp(name, ".zdebug_info"))) {
			s->found.named[i] = *section;
			s->found.has[i] = true;
			if (i == INFO_DWO)
				add_info(&s->found, section);
		}
}

static void look_at(struct scan *s, const struct xc_store_section *section)
{
	if (section->size == 0)
		return;
	if (section->type == SHT_NOTE)
		read_notes(s, section->offset, section->size, section->align);
	else if (section->type == SHT_SYMTAB)
		s->found.symbols = true;
	else if (section->flags & SHF_EXECINSTR)
		s->found.code = true;
	else if (section->type == SHT_PROGBITS && !(section->flags & SHF_ALLOC))
		note_name(s, section);
}

/* All section headers, at most MAX_SECTION_BYTES of them; malloc'ed, or NULL. *count_out is their number. Beyond
 * 65,279 sections the first header's sh_size holds the number, and its sh_link the index of the name table (gABI,
 * chapter 4). */
static uint8_t *section_headers(struct scan *s, size_t *entry_out, size_t *count_out, size_t *names_out)
{
	bool wide = s->elf.elf_class == ELFCLASS64;
	uint64_t at = FIELD(s, s->head, Ehdr, e_shoff);
	size_t entry = (size_t)xc_load_uint(s->head + (wide ? 58 : 46), 2, s->elf.big_endian);
	uint64_t count = xc_load_uint(s->head + (wide ? 60 : 48), 2, s->elf.big_endian);
	uint64_t names = xc_load_uint(s->head + (wide ? 62 : 50), 2, s->elf.big_endian);
	uint8_t first[sizeof(Elf64_Shdr)];
	size_t least = wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	if (at == 0 || entry < least || xc_store_read(&s->file, at, first, least) != least)
		return NULL;
	if (count == 0)
		count = FIELD(s, first, Shdr, sh_size);
	if (names == SHN_XINDEX)
		names = xc_load_uint(first + (wide ? 40 : 24), 4, s->elf.big_endian);
	if (count > MAX_SECTION_BYTES / entry)
		count = MAX_SECTION_BYTES / entry;
	uint8_t *headers = xc_alloc((size_t)count * entry);
	*count_out = xc_store_read(&s->file, at, headers, (size_t)count * entry) / entry;
	*entry_out = entry;
	*names_out = (size_t)names;
	return headers;
}

static bool look_at_sections(struct scan *s)
{
	size_t entry, count, names;
	xc_auto(xc_freep) uint8_t *headers = section_headers(s, &entry, &count, &names);
	if (!headers)
		return false;
	if (names < count) {
		struct xc_store_section section = section_at(s, headers + names * entry);
		read_names(s, &section);
	}
	for (size_t i = 1; i < count; i++) {
		struct xc_store_section section = section_at(s, headers + i * entry);
		look_at(s, &section);
	}
	return true;
}

/* Facts from segments: the build-id when no section has it; code when section headers were stripped. */
static void look_at_segments(struct scan *s, bool sections)
{
	if (s->elf.phoff > s->head_size)
		return;
	for (uint32_t i = 0; i < s->elf.phdrs_readable; i++) {
		struct xc_phdr p = xc_elf_phdr(&s->elf, i);
		if (p.type == PT_NOTE && p.offset < s->file.size)
			read_notes(s, p.offset, p.filesz, p.align);
		if (!sections && p.type == PT_LOAD && (p.flags & PF_X) && p.filesz)
			s->found.code = true;
	}
}

/* ---- what it comes to ---- */

/* .debug_sup of a common part (DWARF 5, 7.3.6): version (2), is_supplementary (1), name and NUL, length, checksum. */
static struct xc_build_id supplementary_id(struct scan *s)
{
	struct xc_build_id id = {0};
	uint8_t bytes[512];
	uint64_t version, flag, size;
	const char *name;
	const void *sum;
	size_t got = xc_store_read_section(&s->file, &s->found.named[SUP], 0, bytes, sizeof bytes);
	struct xc_cursor c = xc_cursor(bytes, got, ".debug_sup");
	struct xc_error *err;
	if (!(err = xc_cursor_uint(&c, 2, &version)) && !(err = xc_cursor_uint(&c, 1, &flag)) &&
	    !(err = xc_cursor_string(&c, &name)) && !(err = xc_cursor_uleb(&c, &size)) &&
	    !(err = xc_cursor_take(&c, (size_t)size, &sum)) && flag == 1 && size <= XC_BUILD_ID_MAX) {
		id.size = (uint8_t)size;
		memcpy(id.bytes, sum, (size_t)size);
	}
	xc_error_free(err);
	return id;
}

static void find_split_units(struct scan *s, struct xc_arena *arena, struct xc_store_scan *out)
{
	const struct found *f = &s->found;
	if (f->has[CU_INDEX])
		out->dwo_count = xc_store_dwp_units(&s->file, &f->named[CU_INDEX], arena, &out->dwo_ids);
	else
		out->dwo_count =
			xc_store_dwo_units(&s->file, f->infos, f->info_count,
					   f->has[ABBREV_DWO] ? &f->named[ABBREV_DWO] : NULL, arena, &out->dwo_ids);
}

static void conclude(struct scan *s, struct xc_arena *arena, struct xc_store_scan *out)
{
	struct found *f = &s->found;
	if (!f->id.size && f->has[SUP])
		f->id = supplementary_id(s);
	find_split_units(s, arena, out);
	bool common = s->elf.type == ET_REL && f->has[INFO] && !f->code && !f->symbols && f->id.size;
	out->id = f->id;
	out->has = (f->code ? XC_STORE_CODE : 0) | (f->symbols ? XC_STORE_SYMBOLS : 0) |
		   (f->has[INFO] ? XC_STORE_DWARF : 0) | (common ? XC_STORE_ALT : 0) |
		   (f->has[ALTLINK] || (f->has[SUP] && !common) ? XC_STORE_WANTS_ALT : 0) |
		   (f->has[INFO_DWO] && !f->has[CU_INDEX] ? XC_STORE_DWO : 0) | (f->has[CU_INDEX] ? XC_STORE_DWP : 0) |
		   (f->has[MINI] ? XC_STORE_MINI : 0);
	if (out->id.size >= 2 || out->dwo_count)
		out->kind = XC_STORE_ELF;
}

static bool is_package(const struct scan *s)
{
	static const char deb[] = "!<arch>\ndebian-binary", rpm[] = "\xed\xab\xee\xdb";
	return (s->head_size >= sizeof deb && !memcmp(s->head, deb, sizeof deb - 1)) ||
	       (s->head_size >= sizeof rpm && !memcmp(s->head, rpm, sizeof rpm - 1));
}

struct xc_store_scan xc_store_scan(int fd, uint64_t size, struct xc_arena *arena)
{
	struct xc_store_scan out = {.kind = XC_STORE_DULL};
	struct scan s = {.file = {.fd = fd, .size = size}};
	s.head_size = xc_store_read(&s.file, 0, s.head, sizeof s.head);
	bool elf = s.head_size > SELFMAG && !memcmp(s.head, ELFMAG, SELFMAG);
	struct xc_error *err = elf ? xc_elf_parse(s.head, s.head_size, &s.elf) : NULL;
	if (!elf || err || s.elf.type == ET_CORE) {
		xc_error_free(err);
		out.kind = is_package(&s) ? XC_STORE_PACKAGE : XC_STORE_DULL;
		return out;
	}
	s.file.big_endian = s.elf.big_endian;
	look_at_segments(&s, look_at_sections(&s));
	conclude(&s, arena, &out);
	free(s.names);
	free(s.found.infos);
	return out;
}

/* Tests for a regular file before opening: opening a device can have side effects. */
bool xc_store_scan_at(int directory, const char *path, struct xc_arena *arena, struct stat *stat_out,
		      struct xc_store_scan *scan_out)
{
	errno = 0;
	if (fstatat(directory, path, stat_out, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(stat_out->st_mode))
		return false;
	int fd = openat(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool good = fstat(fd, stat_out) == 0 && S_ISREG(stat_out->st_mode);
	if (good)
		*scan_out = xc_store_scan(fd, (uint64_t)stat_out->st_size, arena);
	close(fd);
	return good;
}
