/* image: from program headers in memory to a small ELF file with sections.
 *
 *	memory                                    image
 *	PT_GNU_EH_FRAME ───────────────────────→  .eh_frame_hdr
 *	   its pointer, then record by record ─→  .eh_frame
 *	PT_DYNAMIC: SYMTAB, STRTAB, hash ──────→  .dynsym .dynstr
 *
 * The dynamic section does not say how many symbols there are: DT_HASH does (nchain), and DT_GNU_HASH by walking the
 * chain of the highest bucket to its end (glibc 2.36 elf/dl-lookup.c reads it so).
 * The dynamic loader adds the load address to pointers in the dynamic section in place; the vDSO's stay as they were.
 * .eh_frame_hdr: Linux Standard Base 5.0, 10.6.2. */
#include "dwarf/elf/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

enum {
	MAX_PHDRS = 64,
	MAX_SECTION = 64 << 20,
	MAX_SYMBOLS = 1 << 20,
	MAX_DYNAMIC = 512,
	SECTIONS = 6, /* null, four sections, names */
};

struct image {
	const struct xc_process *process;
	const struct xc_module *module;
	Elf64_Ehdr header;
	Elf64_Phdr phdrs[MAX_PHDRS];
	size_t phdr_count;
	struct xc_text bytes;
	Elf64_Shdr sections[SECTIONS];
	size_t count;
	struct xc_text names;
};

/* ---- reading memory ---- */

static bool peek(const struct image *im, uint64_t vaddr, void *buf, size_t size)
{
	return xc_space_peek(im->process->space, im->module->bias + vaddr, buf, size) == size;
}

/* Malloc'ed, all or nothing. */
static void *peek_new(const struct image *im, uint64_t vaddr, uint64_t size)
{
	void *bytes = size && size <= MAX_SECTION ? malloc((size_t)size) : NULL;
	if (bytes && peek(im, vaddr, bytes, (size_t)size))
		return bytes;
	free(bytes);
	return NULL;
}

static bool read_headers(struct image *im)
{
	const struct xc_process *p = im->process;
	uint64_t at, count;
	bool whole = xc_space_peek(p->space, im->module->lo, &im->header, sizeof im->header) == sizeof im->header &&
		     !memcmp(im->header.e_ident, ELFMAG, SELFMAG);
	if (whole) {
		at = im->module->lo + im->header.e_phoff;
		count = im->header.e_phnum;
	} else if (im->module->kind != XC_MODULE_EXE || !xc_process_auxv(p, AT_PHDR, &at) ||
		   !xc_process_auxv(p, AT_PHNUM, &count)) {
		return false;
	}
	if (count == 0 || count > MAX_PHDRS)
		return false;
	im->phdr_count = (size_t)count;
	return xc_space_peek(p->space, at, im->phdrs, im->phdr_count * sizeof *im->phdrs) ==
	       im->phdr_count * sizeof *im->phdrs;
}

static const Elf64_Phdr *find_phdr(const struct image *im, uint32_t type)
{
	for (size_t i = 0; i < im->phdr_count; i++)
		if (im->phdrs[i].p_type == type)
			return &im->phdrs[i];
	return NULL;
}

/* Bytes from vaddr to the end of its segment; 0 when it is in none. */
static uint64_t left_in_segment(const struct image *im, uint64_t vaddr)
{
	for (size_t i = 0; i < im->phdr_count; i++) {
		const Elf64_Phdr *load = &im->phdrs[i];
		if (load->p_type == PT_LOAD && vaddr >= load->p_vaddr && vaddr - load->p_vaddr < load->p_filesz)
			return load->p_filesz - (vaddr - load->p_vaddr);
	}
	return 0;
}

/* ---- writing sections ---- */

static void align(struct image *im)
{
	while (im->bytes.len % 16)
		xc_text_char(&im->bytes, '\0');
}

static Elf64_Shdr *add_section(struct image *im, const char *name, uint32_t type, uint64_t vaddr, const void *bytes,
			       size_t size)
{
	Elf64_Shdr *s = &im->sections[im->count++];
	align(im);
	*s = (Elf64_Shdr){.sh_name = (Elf64_Word)im->names.len,
			  .sh_type = type,
			  .sh_addr = vaddr,
			  .sh_flags = vaddr ? SHF_ALLOC : 0,
			  .sh_offset = im->bytes.len,
			  .sh_size = size,
			  .sh_addralign = 1};
	xc_text_addn(&im->names, name, strlen(name) + 1);
	xc_text_addn(&im->bytes, bytes, size);
	return s;
}

/* ---- call frame information ---- */

/* The pointer to .eh_frame in .eh_frame_hdr; encodings that linkers use: DW_EH_PE_pcrel|sdata4, udata4, udata8. */
static bool eh_frame_pointer(const uint8_t *header, size_t size, uint64_t vaddr, uint64_t *pointer)
{
	int32_t relative;
	uint32_t absolute;
	if (size < 12 || header[0] != 1)
		return false;
	memcpy(&relative, header + 4, 4);
	memcpy(&absolute, header + 4, 4);
	if (header[1] == 0x1b)
		*pointer = vaddr + 4 + (uint64_t)(int64_t)relative;
	else if (header[1] == 0x03)
		*pointer = absolute;
	else if (header[1] == 0x04)
		memcpy(pointer, header + 4, 8);
	else
		return false;
	return true;
}

/* The size of the complete records at the front; a zero length ends them. */
static size_t whole_records(const uint8_t *bytes, size_t size)
{
	size_t at = 0;
	while (size - at >= 4) {
		uint32_t len;
		uint64_t record = 4;
		memcpy(&len, bytes + at, 4);
		if (len == 0)
			return at + 4;
		if (len == UINT32_MAX) {
			if (size - at < 12)
				break;
			memcpy(&record, bytes + at + 4, 8);
			if (record > size - at - 12)
				break;
			record += 12;
		} else {
			record += len;
		}
		if (record > size - at)
			break;
		at += (size_t)record;
	}
	return at;
}

static void add_frames(struct image *im)
{
	const Elf64_Phdr *segment = find_phdr(im, PT_GNU_EH_FRAME);
	uint64_t pointer;
	xc_auto(xc_freep) uint8_t *header = segment ? peek_new(im, segment->p_vaddr, segment->p_memsz) : NULL;
	if (!header || !eh_frame_pointer(header, segment->p_memsz, segment->p_vaddr, &pointer))
		return;
	uint64_t most = left_in_segment(im, pointer);
	most = most < MAX_SECTION ? most : MAX_SECTION;
	xc_auto(xc_freep) uint8_t *records = malloc((size_t)most + 1);
	size_t got = records ? xc_space_peek(im->process->space, im->module->bias + pointer, records, (size_t)most) : 0;
	size_t size = whole_records(records, got);
	if (size == 0)
		return;
	/* the table refers to records by address, so it is useful only when all of them are there */
	if (got == most || size < got)
		add_section(im, ".eh_frame_hdr", SHT_PROGBITS, segment->p_vaddr, header, segment->p_memsz);
	add_section(im, ".eh_frame", SHT_PROGBITS, pointer, records, size);
}

/* ---- symbols ---- */

struct dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash;
};

/* Pointers may or may not include the bias. */
static uint64_t to_file(const struct image *im, uint64_t pointer)
{
	return pointer >= im->module->lo && pointer <= im->module->hi ? pointer - im->module->bias : pointer;
}

static void read_dynamic(const struct image *im, struct dynamic *d)
{
	const Elf64_Phdr *segment = find_phdr(im, PT_DYNAMIC);
	Elf64_Dyn entry;
	for (uint64_t i = 0; segment && i < MAX_DYNAMIC; i++) {
		if (!peek(im, segment->p_vaddr + i * sizeof entry, &entry, sizeof entry) || entry.d_tag == DT_NULL)
			return;
		uint64_t value = entry.d_un.d_val;
		switch (entry.d_tag) {
		case DT_SYMTAB:
			d->symtab = to_file(im, value);
			break;
		case DT_STRTAB:
			d->strtab = to_file(im, value);
			break;
		case DT_STRSZ:
			d->strsz = value;
			break;
		case DT_HASH:
			d->hash = to_file(im, value);
			break;
		case DT_GNU_HASH:
			d->gnu_hash = to_file(im, value);
			break;
		default:
			break;
		}
	}
}

/* One past the highest symbol in a GNU hash table; 0 when it cannot be read. */
static uint64_t gnu_hash_count(const struct image *im, uint64_t at)
{
	uint32_t head[4], highest = 0, link; /* nbuckets, symoffset, bloom words, bloom shift */
	if (!peek(im, at, head, sizeof head) || head[0] == 0 || head[0] > MAX_SYMBOLS || head[2] > MAX_SYMBOLS)
		return 0;
	uint64_t buckets = at + sizeof head + 8 * (uint64_t)head[2];
	xc_auto(xc_freep) uint32_t *bucket = peek_new(im, buckets, 4 * (uint64_t)head[0]);
	for (size_t i = 0; bucket && i < head[0]; i++)
		highest = bucket[i] > highest ? bucket[i] : highest;
	if (!bucket || highest < head[1])
		return head[1];
	for (; highest < MAX_SYMBOLS; highest++) {
		if (!peek(im, buckets + 4 * (uint64_t)head[0] + 4 * (uint64_t)(highest - head[1]), &link, 4))
			return 0;
		if (link & 1)
			return (uint64_t)highest + 1;
	}
	return 0;
}

static uint64_t symbol_count(const struct image *im, const struct dynamic *d)
{
	uint32_t head[2]; /* nbucket, nchain */
	if (d->hash && peek(im, d->hash, head, sizeof head))
		return head[1];
	return d->gnu_hash ? gnu_hash_count(im, d->gnu_hash) : 0;
}

static void add_symbols(struct image *im)
{
	struct dynamic d = {0};
	read_dynamic(im, &d);
	uint64_t count = symbol_count(im, &d);
	if (!d.symtab || !d.strtab || count == 0 || count > MAX_SYMBOLS)
		return;
	xc_auto(xc_freep) void *symbols = peek_new(im, d.symtab, count * sizeof(Elf64_Sym));
	xc_auto(xc_freep) void *names = peek_new(im, d.strtab, d.strsz);
	if (!symbols || !names)
		return;
	add_section(im, ".dynstr", SHT_STRTAB, d.strtab, names, (size_t)d.strsz);
	uint32_t link = (uint32_t)im->count - 1;
	Elf64_Shdr *s = add_section(im, ".dynsym", SHT_DYNSYM, d.symtab, symbols, (size_t)count * sizeof(Elf64_Sym));
	s->sh_link = link;
	s->sh_entsize = sizeof(Elf64_Sym);
}

/* ---- all of it ---- */

static void finish(struct image *im)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = im->process->arch->machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof header,
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	xc_text_addn(&im->names, ".shstrtab", sizeof ".shstrtab");
	Elf64_Shdr *s = &im->sections[im->count++];
	align(im);
	*s = (Elf64_Shdr){.sh_name = (Elf64_Word)(im->names.len - sizeof ".shstrtab"),
			  .sh_type = SHT_STRTAB,
			  .sh_offset = im->bytes.len,
			  .sh_size = im->names.len,
			  .sh_addralign = 1};
	xc_text_addn(&im->bytes, im->names.bytes, im->names.len);
	align(im);
	header.e_shoff = im->bytes.len;
	header.e_shnum = (Elf64_Half)im->count;
	header.e_shstrndx = (Elf64_Half)(im->count - 1);
	xc_text_addn(&im->bytes, (const char *)im->sections, im->count * sizeof *im->sections);
	memcpy(im->bytes.bytes, &header, sizeof header);
}

void *xc_image_build(const struct xc_process *process, const struct xc_module *module, size_t *size_out)
{
	struct image im = {.process = process, .module = module, .count = 1};
	static const char room[sizeof(Elf64_Ehdr)];
	if (process->arch->elf_class != ELFCLASS64 || process->arch->big_endian || !module->bias_known ||
	    !read_headers(&im))
		return NULL;
	xc_text_addn(&im.bytes, room, sizeof room);
	xc_text_char(&im.names, '\0');
	add_frames(&im);
	add_symbols(&im);
	bool useful = im.count > 1;
	if (useful)
		finish(&im);
	*size_out = im.bytes.len;
	xc_text_fini(&im.names);
	char *bytes = xc_text_take(&im.bytes);
	if (useful)
		return bytes;
	free(bytes);
	return NULL;
}
