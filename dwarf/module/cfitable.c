/* cfitable: length, identifier, then a common entry (CIE) or one of a function (FDE).
 *
 * .debug_frame: DWARF 5, 6.4.1. .eh_frame and .eh_frame_hdr: Linux Standard Base 5.0, 10.6. libdw is not used: it
 * keeps rules in an array as long as the highest register number that a program names, which in damaged information
 * means gigabytes (elfutils 0.188, libdw/cfi.c, enough_registers). */
#include "dwarf/module/cfitable.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/section.h"
#include "dwarf/elf/take.h"

enum { SEARCH_HEADER = 0x3b031b01, SEARCH_PAIR = 8, LOOK_BACK = 16 };

struct xc_cfirange {
	uint64_t lo, end;
	size_t offset;
};

/* ---- reading ---- */

static bool read_signed(struct xc_cursor *c, size_t size, uint64_t *value)
{
	if (!xc_take_uint(c, size, value))
		return false;
	*value = xc_sign_extend(*value, 8 * (unsigned)size);
	return true;
}

static bool read_form(const struct xc_cfitable *t, struct xc_cursor *c, uint8_t encoding, uint64_t *value)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		return xc_take_uint(c, t->word, value);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return xc_take_uint(c, 8, value);
	case DW_EH_PE_udata2:
		return xc_take_uint(c, 2, value);
	case DW_EH_PE_udata4:
		return xc_take_uint(c, 4, value);
	case DW_EH_PE_sdata2:
		return read_signed(c, 2, value);
	case DW_EH_PE_sdata4:
		return read_signed(c, 4, value);
	case DW_EH_PE_uleb128:
		return xc_take_uleb(c, value);
	case DW_EH_PE_sleb128:
		return xc_take_sleb(c, (int64_t *)value);
	default:
		return false;
	}
}

/* As wide as the file's addresses. */
static uint64_t wrapped(const struct xc_cfitable *t, uint64_t addr)
{
	return t->word == 4 ? (uint32_t)addr : addr;
}

/* Read a pointer by its encoding (LSB, 10.5.1). c reads bytes of the table. */
static bool read_pointer(const struct xc_cfitable *t, struct xc_cursor *c, uint8_t encoding, uint64_t *value)
{
	uint64_t here = t->addr + (uint64_t)(c->at - t->bytes);
	if (!read_form(t, c, encoding, value))
		return false;
	switch (encoding & 0xf0) {
	case 0:
		*value = wrapped(t, *value);
		return true;
	case DW_EH_PE_pcrel:
		*value = wrapped(t, *value + here);
		return true;
	case DW_EH_PE_datarel:
		*value = wrapped(t, *value + t->search_addr);
		return t->search_addr != 0;
	default:
		return false;
	}
}

/* ---- entries ---- */

struct head {
	struct xc_cursor body; /* after the identifier */
	bool common;
	size_t common_offset; /* of the CIE that an FDE names */
	size_t next;          /* offset of the entry after it */
};

static bool read_head(const struct xc_cfitable *t, size_t offset, struct head *h)
{
	uint64_t length, id;
	size_t wide = 4;
	if (offset >= t->size)
		return false;
	struct xc_cursor c = xc_cursor(t->bytes + offset, t->size - offset, t->eh ? ".eh_frame" : ".debug_frame");
	if (!xc_take_uint(&c, 4, &length) || length == 0)
		return false;
	if (length == 0xffffffff) {
		wide = t->eh ? 4 : 8;
		if (!xc_take_uint(&c, 8, &length))
			return false;
	}
	if (!xc_take_part(&c, length, &h->body))
		return false;
	h->next = (size_t)(c.at - t->bytes);
	size_t id_offset = (size_t)(h->body.at - t->bytes);
	if (!xc_take_uint(&h->body, wide, &id))
		return false;
	h->common = t->eh ? id == 0 : id == (wide == 4 ? UINT32_MAX : UINT64_MAX);
	h->common_offset = (size_t)(t->eh ? id_offset - id : id);
	return true;
}

struct common {
	uint8_t encoding; /* of addresses */
	bool augmented;   /* its FDEs have augmentation data */
};

/* Read the data that the letters of the augmentation announce. An unknown letter leaves the rest unread; the length
 * skips it. */
static bool read_augmentation(const struct xc_cfitable *t, const char *letters, struct xc_cursor *c,
			      struct common *common, struct xc_cfientry *e)
{
	uint64_t size, ignored, encoding;
	struct xc_cursor data;
	common->augmented = true;
	if (!xc_take_uleb(c, &size) || !xc_take_part(c, size, &data))
		return false;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'S':
			e->signal = true;
			continue;
		case 'B': /* aarch64: return addresses are signed */
			continue;
		case 'R':
			if (!xc_take_uint(&data, 1, &encoding))
				return false;
			common->encoding = (uint8_t)encoding;
			continue;
		case 'L':
			if (!xc_take_uint(&data, 1, &encoding))
				return false;
			continue;
		case 'P':
			if (!xc_take_uint(&data, 1, &encoding) || !read_form(t, &data, (uint8_t)encoding, &ignored))
				return false;
			continue;
		default:
			return true;
		}
	}
	return true;
}

static bool read_common(const struct xc_cfitable *t, size_t offset, struct common *common, struct xc_cfientry *e)
{
	struct head h;
	uint64_t version, address_size = t->word, segment = 0;
	const char *letters;
	if (!read_head(t, offset, &h) || !h.common || !xc_take_uint(&h.body, 1, &version) ||
	    (version != 1 && version != 3 && version != 4))
		return false;
	struct xc_error *err = xc_cursor_string(&h.body, &letters);
	xc_error_free(err);
	if (err ||
	    (version == 4 && (!xc_take_uint(&h.body, 1, &address_size) || !xc_take_uint(&h.body, 1, &segment))) ||
	    address_size != t->word || segment != 0 || !xc_take_uleb(&h.body, &e->code_align) ||
	    !xc_take_sleb(&h.body, &e->data_align) ||
	    !(version == 1 ? xc_take_uint(&h.body, 1, &e->return_reg) : xc_take_uleb(&h.body, &e->return_reg)))
		return false;
	*common = (struct common){.encoding = DW_EH_PE_absptr};
	if (*letters == 'z' ? !read_augmentation(t, letters + 1, &h.body, common, e) : *letters != '\0')
		return false;
	e->initial = h.body;
	return true;
}

static bool read_entry(const struct xc_cfitable *t, const struct head *h, struct xc_cfientry *e)
{
	struct common common;
	struct xc_cursor c = h->body, skipped;
	uint64_t size;
	*e = (struct xc_cfientry){.lo = 0};
	if (h->common || !read_common(t, h->common_offset, &common, e) ||
	    !read_pointer(t, &c, common.encoding, &e->lo) || !read_form(t, &c, common.encoding, &size))
		return false;
	if (common.augmented) {
		uint64_t length;
		if (!xc_take_uleb(&c, &length) || !xc_take_part(&c, length, &skipped))
			return false;
	}
	e->end = e->lo + wrapped(t, size);
	e->program = c;
	return e->end > e->lo;
}

static bool entry_at(const struct xc_cfitable *t, size_t offset, struct xc_cfientry *e)
{
	struct head h;
	return read_head(t, offset, &h) && read_entry(t, &h, e);
}

static bool covers(const struct xc_cfientry *e, uint64_t addr)
{
	return addr >= e->lo && addr < e->end;
}

/* ---- the index ---- */

static int by_lo(const void *a, const void *b)
{
	const struct xc_cfirange *x = a, *y = b;
	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void build_index(struct xc_cfitable *t)
{
	struct head h;
	struct xc_cfientry e;
	t->indexed = true;
	for (size_t offset = 0; read_head(t, offset, &h); offset = h.next) {
		if (h.common || !read_entry(t, &h, &e) || e.lo == 0)
			continue; /* address 0: the linker dropped its code */
		t->ranges = xc_grow(t->ranges, t->range_count, &t->range_capacity, sizeof *t->ranges);
		t->ranges[t->range_count++] = (struct xc_cfirange){.lo = e.lo, .end = e.end, .offset = offset};
	}
	if (t->range_count)
		qsort(t->ranges, t->range_count, sizeof *t->ranges, by_lo);
}

/* The number of ranges that begin at or before an address. */
static size_t indexed_before(struct xc_cfitable *t, uint64_t addr)
{
	if (!t->indexed && t->size)
		build_index(t);
	return XC_LOWER_BOUND(t->range_count, i, t->ranges[i].lo <= addr);
}

static bool find_indexed(struct xc_cfitable *t, uint64_t addr, struct xc_cfientry *e)
{
	size_t at = indexed_before(t, addr);
	for (size_t back = 0; at > 0 && back < LOOK_BACK; back++)
		if (addr < t->ranges[--at].end)
			return entry_at(t, t->ranges[at].offset, e) && covers(e, addr);
	return false;
}

/* ---- .eh_frame_hdr ---- */

static uint64_t search_value(const struct xc_cfitable *t, size_t index, size_t which)
{
	int32_t relative;
	memcpy(&relative, t->search + SEARCH_PAIR * index + 4 * which, sizeof relative);
	return wrapped(t, t->search_addr + (uint64_t)(int64_t)relative);
}

static bool last_by_search(const struct xc_cfitable *t, uint64_t addr, struct xc_cfientry *e)
{
	size_t lo = XC_LOWER_BOUND(t->search_count, i, search_value(t, i, 0) <= addr);
	return lo > 0 && entry_at(t, (size_t)(search_value(t, lo - 1, 1) - t->addr), e) && e->lo <= addr;
}

bool xc_cfitable_find(struct xc_cfitable *t, uint64_t file_addr, struct xc_cfientry *entry_out)
{
	struct xc_cfientry e;
	bool found = (t->search && last_by_search(t, file_addr, &e) && covers(&e, file_addr)) ||
		     find_indexed(t, file_addr, &e);
	if (found)
		*entry_out = e;
	return found;
}

bool xc_cfitable_last(struct xc_cfitable *t, uint64_t file_addr, struct xc_cfientry *entry_out)
{
	if (t->search && last_by_search(t, file_addr, entry_out))
		return true;
	size_t at = indexed_before(t, file_addr);
	return at > 0 && entry_at(t, t->ranges[at - 1].offset, entry_out);
}

/* ---- finding the sections ---- */

/* The bytes of the file from a file address to the end of its segment. */
static const uint8_t *bytes_at(Elf *elf, uint64_t addr, size_t *size_out)
{
	size_t count, file_size;
	GElf_Phdr p;
	const uint8_t *file = (const uint8_t *)elf_rawfile(elf, &file_size);
	if (!file || elf_getphdrnum(elf, &count) != 0)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || addr < p.p_vaddr ||
		    addr - p.p_vaddr >= p.p_filesz)
			continue;
		uint64_t in = addr - p.p_vaddr;
		if (p.p_offset > file_size || in >= file_size - p.p_offset)
			return NULL;
		uint64_t left = file_size - p.p_offset - in;
		*size_out = (size_t)(p.p_filesz - in < left ? p.p_filesz - in : left);
		return file + p.p_offset + in;
	}
	return NULL;
}

static bool program_header(Elf *elf, uint32_t type, GElf_Phdr *out)
{
	size_t count;
	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, out) && out->p_type == type)
			return true;
	return false;
}

/* Accepts the usual form only: version 1, a relative pointer to .eh_frame, a 4-byte count, a sorted table of 4-byte
 * pairs relative to the header. */
static bool open_search(struct xc_cfitable *t, Elf *elf)
{
	GElf_Phdr p;
	size_t size;
	int32_t relative;
	const uint8_t *h = program_header(elf, PT_GNU_EH_FRAME, &p) ? bytes_at(elf, p.p_vaddr, &size) : NULL;
	if (!h || size < 12 || xc_load_uint(h, 4, false) != SEARCH_HEADER)
		return false;
	memcpy(&relative, h + 4, sizeof relative);
	uint64_t count = xc_load_uint(h + 8, 4, false);
	t->search_addr = p.p_vaddr;
	t->addr = wrapped(t, p.p_vaddr + 4 + (uint64_t)(int64_t)relative);
	t->bytes = bytes_at(elf, t->addr, &t->size);
	if (!t->bytes)
		return false;
	if (count <= (size - 12) / SEARCH_PAIR) {
		t->search = h + 12;
		t->search_count = (size_t)count;
	}
	return true;
}

static uint64_t section_addr(Elf *elf, const char *name)
{
	struct xc_section_walk w;
	for (xc_section_walk_begin(&w, elf); xc_section_walk_next(&w);)
		if (!strcmp(w.name, name))
			return w.header.sh_addr;
	return 0;
}

void xc_cfitable_open(struct xc_cfitable *t, Elf *elf, bool eh)
{
	GElf_Ehdr header;
	*t = (struct xc_cfitable){.eh = eh, .word = 8};
	if (!elf || !gelf_getehdr(elf, &header) || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return;
	t->word = header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	if (eh && open_search(t, elf))
		return;
	const char *name = eh ? ".eh_frame" : ".debug_frame";
	struct xc_cursor c = xc_section_cursor(elf, name);
	t->bytes = c.at;
	t->size = xc_cursor_left(&c);
	t->addr = eh ? section_addr(elf, name) : 0;
	t->search_addr = 0;
}

void xc_cfitable_fini(struct xc_cfitable *t)
{
	free(t->ranges);
}

void xc_cfitables_fini(struct xc_cfitables *tables)
{
	xc_cfitable_fini(&tables->eh);
	xc_cfitable_fini(&tables->debug);
}
