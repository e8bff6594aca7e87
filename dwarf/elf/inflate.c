/* inflate: replaces libdw's own inflation. libdw uses elf_compress, which writes the new sizes into the section
 * headers it was given (libelf/elf_compress.c, 0.188): here that would be our mapping of the file, whose pages a pack
 * also stores. It runs zlib on one thread, where ISA-L takes half the time; and elfutils before 0.189 does not know
 * zstd. So an ELF image is made in memory that has only what libdw reads:
 *
 *	header | .debug_* inflated or copied, .gnu_debug* copied | names | section headers
 *
 * Elf64_Chdr: System V gABI 4.1 with the additions of 2012 and 2022. .zdebug_*: "ZLIB", size as 8 bytes big-endian,
 * zlib stream (binutils, bfd/compress.c). */
#include "dwarf/elf/inflate.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "core/base/cursor.h"
#include "dwarf/elf/section.h"

enum {
	MAX_SECTIONS = 128,
	ALIGNMENT = 16,
	OLD_HEADER = 12,
	TYPE_ZLIB = 1, /* ELFCOMPRESS_ZLIB */
	TYPE_ZSTD = 2, /* ELFCOMPRESS_ZSTD, missing from older headers */
#ifdef XC_HOSTILE
	PIECE = 4093,
	CHUNK = 4099,
#else
	PIECE = 1 << 30,
	CHUNK = 256 << 10, /* fits the second-level cache */
#endif
	WORTH_A_THREAD = 256 << 10,
};
/* Debug sections do not compress a hundred to one; a bomb of zeros compresses a thousand to one. Small sections do no
 * harm. */
enum { MAX_RATIO = 128, HARMLESS = 64 << 20 };
static const uint64_t MAX_TOTAL = UINT64_C(8) << 30;

struct part {
	const char *name;      /* in the file */
	const uint8_t *stored; /* after the compression header */
	uint64_t stored_size, size, offset;
	uint32_t type; /* TYPE_ZLIB, TYPE_ZSTD, else plain */
	bool old;      /* .zdebug: the name loses its z */
	GElf_Shdr header;
};

struct plan {
	Elf *elf;
	struct part parts[MAX_SECTIONS];
	size_t count;
	uint64_t size; /* of the image so far */
};

static bool is_debug(const char *name)
{
	return !strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8) || !strncmp(name, ".gnu_debug", 10);
}

bool xc_inflate_needed(Elf *elf)
{
	struct xc_section_walk w;
	for (xc_section_walk_begin(&w, elf); xc_section_walk_next(&w);)
		if (is_debug(w.name) && ((w.header.sh_flags & SHF_COMPRESSED) || w.name[1] == 'z'))
			return true;
	return false;
}

/* ---- planning ---- */

static struct xc_error *read_header(struct part *part, const Elf_Data *data)
{
	Elf64_Chdr header;
	part->stored = data->d_buf;
	part->stored_size = part->size = data->d_size;
	if (part->header.sh_flags & SHF_COMPRESSED) {
		if (data->d_size < sizeof header)
			return xc_error_new(XC_ERR_FORMAT, "%s is too short to be compressed", part->name);
		memcpy(&header, data->d_buf, sizeof header);
		part->type = header.ch_type;
		part->size = header.ch_size;
		part->stored += sizeof header;
		part->stored_size -= sizeof header;
		if (part->type != TYPE_ZLIB && part->type != TYPE_ZSTD)
			return xc_error_new(XC_ERR_UNSUPPORTED, "%s has compression type %" PRIu32, part->name,
					    part->type);
	} else if (part->old && data->d_size >= OLD_HEADER && !memcmp(data->d_buf, "ZLIB", 4)) {
		part->type = TYPE_ZLIB;
		part->size = xc_load_uint(part->stored + 4, 8, true);
		part->stored += OLD_HEADER;
		part->stored_size -= OLD_HEADER;
	}
	return NULL;
}

static struct xc_error *add_part(struct plan *plan, Elf_Scn *section, const char *name, const GElf_Shdr *header)
{
	const Elf_Data *data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || !data->d_size || header->sh_type == SHT_NOBITS)
		return NULL;
	if (plan->count == MAX_SECTIONS)
		return xc_error_new(XC_ERR_LIMIT, "more than %d debug sections", MAX_SECTIONS);
	struct part *part = &plan->parts[plan->count++];
	*part = (struct part){.name = name, .old = name[1] == 'z', .header = *header};
	struct xc_error *err = read_header(part, data);
	if (err)
		return err;
	if (part->size > MAX_TOTAL - plan->size)
		return xc_error_new(XC_ERR_LIMIT, "its debug sections inflate to more than 8 GiB");
	if (part->size > HARMLESS && part->size / MAX_RATIO > part->stored_size)
		return xc_error_new(XC_ERR_LIMIT, "%s would inflate to %" PRIu64 " bytes from %" PRIu64, part->name,
				    part->size, part->stored_size);
	part->offset = plan->size;
	plan->size = (plan->size + part->size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
	return NULL;
}

static struct xc_error *make_plan(struct plan *plan)
{
	struct xc_section_walk w;
	const char *ident = elf_getident(plan->elf, NULL);
	if (!ident || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return xc_error_new(XC_ERR_UNSUPPORTED, "compressed debug sections of a 32-bit or big-endian file");
	if (!xc_section_walk_begin(&w, plan->elf))
		return xc_error_new(XC_ERR_FORMAT, "no section names");
	plan->size = sizeof(Elf64_Ehdr);
	while (xc_section_walk_next(&w)) {
		struct xc_error *err = is_debug(w.name) ? add_part(plan, w.section, w.name, &w.header) : NULL;
		if (err)
			return err;
	}
	return NULL;
}

/* ---- filling ---- */

/* Destination of the image: memory, or a file through a buffer that stays in the processor's cache. */
struct sink {
	uint8_t *bytes; /* NULL: write to fd */
	int fd;
};

static bool put(const struct sink *sink, uint64_t offset, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	if (sink->bytes) {
		memcpy(sink->bytes + offset, bytes, len);
		return true;
	}
	while (len) {
		ssize_t n = pwrite(sink->fd, at, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

/* Space for the next bytes of a part: in place, or in the buffer. */
static uint8_t *room_for(const struct sink *sink, uint8_t *buffer, uint64_t offset)
{
	return sink->bytes ? sink->bytes + offset : buffer;
}

static bool flush(const struct sink *sink, const uint8_t *buffer, uint64_t offset, size_t len)
{
	return sink->bytes || put(sink, offset, buffer, len);
}

/* ISA-L's counters are 32 bits wide, so large sections are inflated in pieces. */
static bool inflate_zlib(const struct part *part, const struct sink *sink, uint8_t *buffer)
{
	struct inflate_state z;
	uint64_t in = part->stored_size, done = 0;
	const uint64_t most = sink->bytes ? PIECE : CHUNK;
	isal_inflate_init(&z);
	z.crc_flag = ISAL_ZLIB;
	z.next_in = (uint8_t *)(uintptr_t)part->stored;
	for (;;) {
		uint64_t left = part->size - done;
		uint32_t give = in < PIECE ? (uint32_t)in : PIECE, room = (uint32_t)(left < most ? left : most);
		uint8_t *to = room_for(sink, buffer, part->offset + done);
		z.avail_in = give;
		z.avail_out = room;
		z.next_out = to;
		if (isal_inflate(&z) != ISAL_DECOMP_OK || !flush(sink, to, part->offset + done, room - z.avail_out))
			return false;
		in -= give - z.avail_in;
		done += room - z.avail_out;
		if (z.block_state == ISAL_BLOCK_FINISH)
			return done == part->size;
		if (z.avail_in == give && z.avail_out == room)
			return false; /* no progress: input or output is used up */
	}
}

static bool inflate_zstd(const struct part *part, const struct sink *sink, uint8_t *buffer)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	ZSTD_inBuffer in = {.src = part->stored, .size = (size_t)part->stored_size};
	const uint64_t most = sink->bytes ? part->size : CHUNK;
	uint64_t done = 0;
	size_t more = 1;
	while (context && more && !ZSTD_isError(more)) {
		uint64_t left = part->size - done;
		uint8_t *to = room_for(sink, buffer, part->offset + done);
		ZSTD_outBuffer out = {.dst = to, .size = (size_t)(left < most ? left : most)};
		size_t before = in.pos;
		more = ZSTD_decompressStream(context, &out, &in);
		if (ZSTD_isError(more) || !flush(sink, to, part->offset + done, out.pos))
			break;
		done += out.pos;
		if (more && !out.pos && in.pos == before)
			break; /* no progress */
	}
	ZSTD_freeDCtx(context);
	return more == 0 && done == part->size && in.pos == in.size;
}

static bool fill_part(const struct part *part, const struct sink *sink, uint8_t *buffer)
{
	if (part->type == TYPE_ZLIB)
		return inflate_zlib(part, sink, buffer);
	if (part->type == TYPE_ZSTD)
		return inflate_zstd(part, sink, buffer);
	return put(sink, part->offset, part->stored, (size_t)part->size);
}

/* Two threads take parts until none is left, largest first: .debug_info is about as much work as all other sections
 * together. */
struct filling {
	const struct plan *plan;
	const struct sink *sink;
	const struct part *order[MAX_SECTIONS];
	atomic_size_t next;
	_Atomic(const struct part *) damaged;
};

static void *fill_parts(void *argument)
{
	struct filling *f = argument;
	xc_auto(xc_freep) uint8_t *buffer = f->sink->bytes ? NULL : xc_alloc(CHUNK);
	size_t i;
	while ((i = atomic_fetch_add(&f->next, 1)) < f->plan->count)
		if (!fill_part(f->order[i], f->sink, buffer))
			atomic_store(&f->damaged, f->order[i]);
	return NULL;
}

static int larger_first(const void *a, const void *b)
{
	const struct part *x = *(const struct part *const *)a, *y = *(const struct part *const *)b;
	return x->size < y->size ? 1 : x->size > y->size ? -1 : 0;
}

/* Returns the part that is damaged, or NULL. */
static const struct part *fill(const struct plan *plan, const struct sink *sink)
{
	struct filling f = {.plan = plan, .sink = sink};
	pthread_t helper;
	for (size_t i = 0; i < plan->count; i++)
		f.order[i] = &plan->parts[i];
	qsort(f.order, plan->count, sizeof *f.order, larger_first);
	bool helped = plan->size > WORTH_A_THREAD && pthread_create(&helper, NULL, fill_parts, &f) == 0;
	fill_parts(&f);
	if (helped)
		pthread_join(helper, NULL);
	return atomic_load(&f.damaged);
}

/* The size of names and section headers, which follow the parts. */
static size_t tail_size(const struct plan *plan)
{
	size_t size = (plan->count + 2) * sizeof(Elf64_Shdr) + 4 * ALIGNMENT;
	for (size_t i = 0; i < plan->count; i++)
		size += strlen(plan->parts[i].name) + 2;
	return size;
}

static Elf64_Ehdr header_of(const struct plan *plan, uint64_t sections_at)
{
	GElf_Ehdr original;
	bool known = gelf_getehdr(plan->elf, &original) != NULL;
	return (Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			    .e_type = known ? original.e_type : ET_DYN,
			    .e_machine = known ? original.e_machine : EM_NONE,
			    .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = (Elf64_Half)(plan->count + 2),
			    .e_shstrndx = 1,
			    .e_shoff = sections_at};
}

/* Write the names to the start of `tail`; returns the number of bytes. */
static size_t write_names(const struct plan *plan, uint8_t *tail, Elf64_Shdr *shdrs)
{
	static const char own[] = "\0.shstrtab";
	size_t names = sizeof own;
	memcpy(tail, own, sizeof own);
	for (size_t i = 0; i < plan->count; i++) {
		const struct part *part = &plan->parts[i];
		/* ".zdebug" or ".debug", from "debug" on */
		const char *name = part->old ? part->name + 2 : part->name + 1;
		size_t len = strlen(name);
		shdrs[i + 2] = (Elf64_Shdr){.sh_name = (Elf64_Word)names,
					    .sh_type = part->header.sh_type,
					    .sh_flags = part->header.sh_flags & ~(uint64_t)SHF_COMPRESSED,
					    .sh_offset = part->offset,
					    .sh_size = part->size,
					    .sh_addralign = 1,
					    .sh_entsize = part->header.sh_entsize};
		tail[names] = '.';
		memcpy(tail + names + 1, name, len + 1);
		names += len + 2;
	}
	return names;
}

static bool finish(const struct plan *plan, const struct sink *sink)
{
	Elf64_Shdr shdrs[MAX_SECTIONS + 2] = {{0}};
	size_t size = tail_size(plan);
	xc_auto(xc_freep) uint8_t *tail = xc_alloc(size);
	size_t names = write_names(plan, tail, shdrs), at = (names + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	shdrs[1] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = plan->size, .sh_size = names, .sh_addralign = 1};
	memcpy(tail + at, shdrs, (plan->count + 2) * sizeof *shdrs);
	Elf64_Ehdr header = header_of(plan, plan->size + at);
	return put(sink, plan->size, tail, size) && put(sink, 0, &header, sizeof header);
}

static struct xc_error *build(const struct plan *plan, const struct sink *sink)
{
	const struct part *damaged = fill(plan, sink);
	if (damaged)
		return xc_error_new(XC_ERR_FORMAT, "%s is damaged: it does not inflate to the size it states",
				    damaged->name);
	return finish(plan, sink) ? NULL : xc_error_errno(errno, "writing inflated debug sections");
}

static struct xc_error *plan_of(Elf *elf, struct plan **plan_out)
{
	struct plan *plan = xc_alloc(sizeof *plan);
	plan->elf = elf;
	struct xc_error *err = make_plan(plan);
	if (err)
		free(plan);
	else
		*plan_out = plan;
	return err;
}

struct xc_error *xc_inflate_sections(Elf *elf, struct xc_source **image_out)
{
	xc_auto(xc_freep) struct plan *plan = NULL;
	struct xc_error *err = plan_of(elf, &plan);
	if (err)
		return err;
	size_t size = (size_t)plan->size + tail_size(plan);
	xc_auto(xc_source_closep) struct xc_source *image = xc_source_blank(size, "inflated debug sections");
	if (!image)
		return xc_error_new(XC_ERR_LIMIT, "no memory for %zu bytes of inflated debug sections", size);
	if ((err = build(plan, &(struct sink){.bytes = (uint8_t *)(uintptr_t)image->bytes})))
		return err;
	*image_out = xc_take(image);
	return NULL;
}

struct xc_error *xc_inflate_size(Elf *elf, uint64_t *size_out)
{
	xc_auto(xc_freep) struct plan *plan = NULL;
	struct xc_error *err = plan_of(elf, &plan);
	if (!err)
		*size_out = plan->size + tail_size(plan);
	return err;
}

struct xc_error *xc_inflate_to(Elf *elf, int fd)
{
	xc_auto(xc_freep) struct plan *plan = NULL;
	struct xc_error *err = plan_of(elf, &plan);
	return err ? err : build(plan, &(struct sink){.fd = fd});
}
