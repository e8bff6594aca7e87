/* symbol: one array in address order, built without touching a name.
 *
 *	keys (value, row)  ──radix sort──→  symbols[]   value ascending, TLS last
 *	                                    reach[i] = largest end (value + size) among symbols[0 … i]
 *
 * Symbols nest and overlap (aliases, hand-written assembler), so the covering ones are found by walking back from the
 * last symbol at or below the address for as long as reach says that one of those before still covers it.
 * Tables are read from the section's bytes as libelf hands them out (in our byte order), not symbol by symbol:
 * gelf_getsym costs more than all the rest. Elf32_Sym, Elf64_Sym: System V gABI 4.1, chapter 4. */
#include "dwarf/elf/symbol.h"

#include <assert.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hashtable.h"
enum {
	MAX_SYMBOLS = 1 << 26,
	MAX_WALK = 1024,     /* steps back for one address; only hostile tables need more */
	MAX_PROBES = 512,    /* consecutive names that share a slot: hashes can be forged to collide */
	MAX_NAME = 64 << 10, /* bytes of a name that is returned */
	SHARING = 8,         /* how many names may share bytes by being the end of another */
	FILES = 2,
};

/* The rows of one symbol table in its file. */
struct table_bytes {
	Elf *elf;
	const char *rows, *names;
	size_t count, names_size; /* names_size: up to and with the last NUL */
	bool wide;
	uint16_t machine;
};

struct key {
	uint64_t value;
	uint32_t row;
	uint8_t file;
};

struct xc_symtab {
	struct table_bytes files[FILES];
	struct xc_symbol *symbols;
	uint64_t *reach;
	size_t count, addressed; /* addressed: without TLS symbols */
	size_t names_added;      /* bytes of the names that are not from a file */
	uint32_t *hash;          /* index + 1 into symbols; NULL until the first look-up by name */
	size_t hash_mask;
	struct xc_arena arena; /* holds names whose version was cut off */
};

/* ---- reading ---- */

static Elf_Scn *find_table(Elf *elf, GElf_Shdr *header)
{
	Elf_Scn *dynamic = NULL;
	GElf_Shdr h, dynamic_header = {0};
	for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
		if (!gelf_getshdr(s, &h))
			continue;
		if (h.sh_type == SHT_SYMTAB && h.sh_size) {
			*header = h;
			return s;
		}
		if (h.sh_type == SHT_DYNSYM && h.sh_size && !dynamic) {
			dynamic = s;
			dynamic_header = h;
		}
	}
	*header = dynamic_header;
	return dynamic;
}

static void open_table(struct table_bytes *t, Elf *elf)
{
	GElf_Shdr header;
	GElf_Ehdr file;
	Elf_Scn *section = elf ? find_table(elf, &header) : NULL;
	Elf_Data *rows = section ? elf_getdata(section, NULL) : NULL;
	Elf_Data *names = rows ? elf_getdata(elf_getscn(elf, header.sh_link), NULL) : NULL;
	if (!rows || !rows->d_buf || !names || !names->d_buf)
		return;
	t->elf = elf;
	t->wide = gelf_getclass(elf) == ELFCLASS64;
	t->machine = gelf_getehdr(elf, &file) ? file.e_machine : EM_NONE;
	t->rows = rows->d_buf;
	t->count = rows->d_size / (t->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	t->count = t->count < MAX_SYMBOLS ? t->count : MAX_SYMBOLS;
	t->names = names->d_buf;
	for (t->names_size = names->d_size; t->names_size && t->names[t->names_size - 1]; t->names_size--)
		;
}

static Elf64_Sym row_at(const struct table_bytes *t, size_t index)
{
	Elf64_Sym row;
	Elf32_Sym narrow;
	if (t->wide) {
		memcpy(&row, t->rows + index * sizeof row, sizeof row);
		return row;
	}
	memcpy(&narrow, t->rows + index * sizeof narrow, sizeof narrow);
	return (Elf64_Sym){.st_name = narrow.st_name,
			   .st_info = narrow.st_info,
			   .st_other = narrow.st_other,
			   .st_shndx = narrow.st_shndx,
			   .st_value = narrow.st_value,
			   .st_size = narrow.st_size};
}

/* "$a", "$t.1", "$d", "$xrv64…": mapping symbols between code and data (ELF for the Arm Architecture 2022Q3, 5.5.5,
 * and for the 64-bit one, 5.6; RISC-V ELF psABI 1.0, "Mapping Symbol"). */
static bool is_mark(const struct table_bytes *t, const Elf64_Sym *row)
{
	bool marks = t->machine == EM_ARM || t->machine == EM_AARCH64 || t->machine == EM_RISCV;
	if (!marks || ELF64_ST_TYPE(row->st_info) != STT_NOTYPE || row->st_name >= t->names_size)
		return false;
	const char *name = t->names + row->st_name;
	return name[0] == '$' && name[1] && strchr("atdx", name[1]);
}

/* Bit 0 of an arm function's value marks Thumb code. */
static bool is_thumb(const struct table_bytes *t, const Elf64_Sym *row)
{
	uint8_t type = ELF64_ST_TYPE(row->st_info);
	return t->machine == EM_ARM && (type == STT_FUNC || type == STT_GNU_IFUNC) && (row->st_value & 1);
}

static bool is_wanted(const struct table_bytes *t, const Elf64_Sym *row)
{
	uint8_t type = ELF64_ST_TYPE(row->st_info);
	if (row->st_shndx == SHN_UNDEF || row->st_shndx == SHN_ABS || row->st_shndx == SHN_COMMON || is_mark(t, row))
		return false;
	return row->st_name != 0 && row->st_name < t->names_size &&
	       (type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC || type == STT_TLS ||
		type == STT_GNU_IFUNC);
}

/* Keys of the symbols with (or without) an address. */
static size_t collect(const struct xc_symtab *table, bool tls, struct key *keys)
{
	size_t count = 0;
	for (uint8_t f = 0; f < FILES; f++)
		for (size_t i = 1; i < table->files[f].count; i++) { /* row 0 is never a symbol */
			Elf64_Sym row = row_at(&table->files[f], i);
			if (is_wanted(&table->files[f], &row) && (ELF64_ST_TYPE(row.st_info) == STT_TLS) == tls)
				keys[count++] =
					(struct key){row.st_value - is_thumb(&table->files[f], &row), (uint32_t)i, f};
		}
	return count;
}

/* ---- sorting ---- */

/* Least significant byte first, stable; bytes in which all keys agree are skipped. */
static struct key *radix_sort(struct key *keys, struct key *spare, size_t count)
{
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t starts[257] = {0};
		for (size_t i = 0; i < count; i++)
			starts[(keys[i].value >> shift & 0xff) + 1]++;
		if (count && starts[(keys[0].value >> shift & 0xff) + 1] == count)
			continue;
		for (size_t i = 1; i < 257; i++)
			starts[i] += starts[i - 1];
		for (size_t i = 0; i < count; i++)
			spare[starts[keys[i].value >> shift & 0xff]++] = keys[i];
		struct key *swap = keys;
		keys = spare;
		spare = swap;
	}
	return keys;
}

static uint64_t end_of(uint64_t value, uint64_t size)
{
	uint64_t room = UINT64_MAX - value;
	return value + (size < room ? size : room);
}

static void emit(struct xc_symtab *table, const struct key *keys, size_t count)
{
	uint64_t reach = 0;
	for (size_t i = 0; i < count; i++) {
		const struct table_bytes *t = &table->files[keys[i].file];
		Elf64_Sym row = row_at(t, keys[i].row);
		uint64_t value = keys[i].value, end = end_of(value, row.st_size);
		reach = end > reach ? end : reach;
		table->reach[table->count] = reach;
		table->symbols[table->count++] = (struct xc_symbol){
			.name = t->names + row.st_name,
			.value = value,
			.size = row.st_size,
			.type = ELF64_ST_TYPE(row.st_info),
			.bind = ELF64_ST_BIND(row.st_info),
			.file = keys[i].file,
			.section = row.st_shndx,
			.thumb = is_thumb(t, &row),
		};
	}
}

struct xc_symtab *xc_symtab_read(Elf *first, Elf *second)
{
	struct xc_symtab *table = xc_alloc(sizeof *table);
	open_table(&table->files[0], first);
	open_table(&table->files[1], second);
	size_t most = table->files[0].count + table->files[1].count;
	xc_auto(xc_freep) struct key *keys = malloc((most + 1) * sizeof *keys),
				     *spare = malloc((most + 1) * sizeof *spare);
	table->symbols = xc_realloc(NULL, (most + 1) * sizeof *table->symbols);
	table->reach = xc_realloc(NULL, (most + 1) * sizeof *table->reach);
	if (!keys || !spare)
		return table;
	size_t count = collect(table, false, keys);
	emit(table, radix_sort(keys, spare, count), count);
	table->addressed = count;
	count = collect(table, true, keys);
	emit(table, radix_sort(keys, spare, count), count);
	return table;
}

void xc_symtab_add(struct xc_symtab *table, const struct xc_symbol *functions, size_t count, size_t names_size)
{
	size_t most = table->count + count, from = 0, added = 0;
	struct xc_symbol *all = xc_realloc(NULL, (most + 1) * sizeof *all);
	assert(!table->hash);
	table->reach = xc_realloc(table->reach, (most + 1) * sizeof *table->reach);
	for (size_t i = 0; i < most; i++) {
		bool more = from < table->addressed;
		bool own = added == count || (more && table->symbols[from].value <= functions[added].value);
		all[i] = own ? table->symbols[from++] : functions[added++];
		uint64_t end = end_of(all[i].value, all[i].size);
		table->reach[i] = i && table->reach[i - 1] > end ? table->reach[i - 1] : end;
	}
	free(table->symbols);
	table->symbols = all;
	table->count = most;
	table->addressed += count;
	table->names_added += names_size;
}

void xc_symtab_free(struct xc_symtab *table)
{
	if (!table)
		return;
	xc_arena_fini(&table->arena);
	free(table->symbols);
	free(table->reach);
	free(table->hash);
	free(table);
}

/* ---- names ---- */

/* Strip @V or @@V and limit the length; done when the symbol is first returned. */
static const struct xc_symbol *handed_out(const struct xc_symtab *table, size_t index)
{
	struct xc_symtab *own = (struct xc_symtab *)(uintptr_t)table;
	struct xc_symbol *symbol = &own->symbols[index];
	size_t whole = strnlen(symbol->name, MAX_NAME + 1), len = whole > MAX_NAME ? MAX_NAME : whole;
	const char *version = memchr(symbol->name, '@', len);
	if (version && version > symbol->name)
		len = (size_t)(version - symbol->name);
	if (whole > MAX_NAME)
		symbol->name = "(a name of more than 64 KiB)";
	else if (len < whole)
		symbol->name = xc_arena_strndup(&own->arena, symbol->name, len);
	return symbol;
}

static size_t name_len(const char *name)
{
	size_t whole = strnlen(name, MAX_NAME);
	const char *version = memchr(name, '@', whole);
	return version && version > name ? (size_t)(version - name) : whole;
}

static unsigned bind_rank(const struct xc_symbol *s)
{
	return s->bind == STB_LOCAL ? 2 : s->bind == STB_WEAK ? 1 : 0;
}

static unsigned type_rank(const struct xc_symbol *s)
{
	return s->type == STT_FUNC || s->type == STT_GNU_IFUNC ? 0
	       : s->type == STT_OBJECT || s->type == STT_TLS   ? 1
							       : 2;
}

static bool old_version(const struct xc_symbol *s)
{
	const char *at = strchr(s->name, '@');
	return at && at[1] != '@';
}

static bool better_named(const struct xc_symbol *a, const struct xc_symbol *b)
{
	if (bind_rank(a) != bind_rank(b))
		return bind_rank(a) < bind_rank(b);
	if (old_version(a) != old_version(b))
		return old_version(b);
	return type_rank(a) < type_rank(b);
}

/* The slot of a name: the one it is in, or the free one where it would go; NULL when too many others collide. */
static uint32_t *slot_of(const struct xc_symtab *table, const char *name, size_t len)
{
	size_t at = xc_hash_mix(xc_hash_bytes(0, name, len), 0) >> 32 & table->hash_mask;
	for (size_t probe = 0; probe < MAX_PROBES; probe++, at = (at + 1) & table->hash_mask) {
		uint32_t *slot = &table->hash[at];
		if (!*slot)
			return slot;
		const char *other = table->symbols[*slot - 1].name;
		if (!strncmp(other, name, len) && (other[len] == '\0' || other[len] == '@'))
			return slot;
	}
	return NULL;
}

/* A hundred thousand names can be the ends of one string of a megabyte. Once the bytes of all strings have been read
 * several times over, further names are not found by name. */
static void build_hash(struct xc_symtab *table)
{
	size_t names_size = table->files[0].names_size + table->files[1].names_size + table->names_added;
	size_t slots = 16, left = SHARING * names_size + MAX_NAME;
	while (slots < 2 * table->count)
		slots *= 2;
	table->hash = xc_alloc(slots * sizeof *table->hash);
	table->hash_mask = slots - 1;
	for (size_t i = 0; i < table->count; i++) {
		const struct xc_symbol *symbol = &table->symbols[i];
		size_t len = name_len(symbol->name);
		if (len > left)
			return;
		left -= len;
		uint32_t *slot = slot_of(table, symbol->name, len);
		if (slot && (!*slot || better_named(symbol, &table->symbols[*slot - 1])))
			*slot = (uint32_t)(i + 1);
	}
}

const struct xc_symbol *xc_symtab_named(const struct xc_symtab *table, const char *name)
{
	if (!*name || table->count == 0)
		return NULL;
	if (!table->hash)
		build_hash((struct xc_symtab *)(uintptr_t)table);
	const uint32_t *slot = slot_of(table, name, strlen(name));
	return slot && *slot ? handed_out(table, *slot - 1) : NULL;
}

const char *xc_symtab_mangled(const struct xc_symtab *table, size_t index)
{
	return index < table->count ? table->symbols[index].name : NULL;
}

size_t xc_symtab_count(const struct xc_symtab *table)
{
	return table->count;
}

const struct xc_symbol *xc_symtab_get(const struct xc_symtab *table, size_t index)
{
	return index < table->count ? handed_out(table, index) : NULL;
}

/* ---- addresses ---- */

/* Of two symbols at the same address, prefer the better known. */
static bool better_at(const struct xc_symbol *a, const struct xc_symbol *b)
{
	bool a_local = a->bind == STB_LOCAL, b_local = b->bind == STB_LOCAL;
	if (a_local != b_local)
		return b_local;
	if (type_rank(a) != type_rank(b))
		return type_rank(a) < type_rank(b);
	size_t x = strspn(a->name, "_"), y = strspn(b->name, "_");
	if (x != y)
		return x < y; /* clock_gettime, not __clock_gettime: public names are often the weak ones */
	if (bind_rank(a) != bind_rank(b))
		return bind_rank(a) < bind_rank(b);
	return strcmp(a->name, b->name) < 0;
}

/* The number of symbols that begin at or below addr. */
static size_t upper_bound(const struct xc_symtab *table, uint64_t addr)
{
	return XC_LOWER_BOUND(table->addressed, i, table->symbols[i].value <= addr);
}

static bool in_section(const struct xc_symtab *table, const struct xc_symbol *s, uint64_t addr)
{
	GElf_Shdr header;
	Elf_Scn *section = s->section < SHN_LORESERVE ? elf_getscn(table->files[s->file].elf, s->section) : NULL;
	return section && gelf_getshdr(section, &header) && addr >= header.sh_addr &&
	       addr - header.sh_addr < header.sh_size;
}

/* The nearest symbol before addr in its section, if its end is not known. */
static const struct xc_symbol *unsized_at(const struct xc_symtab *table, uint64_t addr, size_t end)
{
	const struct xc_symbol *best = NULL;
	for (size_t i = end; i-- > 0 && end - i < MAX_WALK;) {
		const struct xc_symbol *s = &table->symbols[i];
		if (best && s->value != best->value)
			break;
		if (!in_section(table, s, addr))
			continue;
		if (s->size)
			return NULL; /* ends before addr, or it would cover it */
		if (!best || better_at(s, best))
			best = s;
	}
	return best;
}

const struct xc_symbol *xc_symtab_at(const struct xc_symtab *table, uint64_t addr)
{
	const struct xc_symbol *best = NULL;
	size_t end = upper_bound(table, addr);
	for (size_t i = end; i-- > 0 && table->reach[i] > addr && end - i < MAX_WALK;) {
		const struct xc_symbol *s = &table->symbols[i];
		if (best && s->value != best->value)
			break;
		if (addr - s->value < s->size && (!best || better_at(s, best)))
			best = s;
	}
	if (!best)
		best = unsized_at(table, addr, end);
	return best ? handed_out(table, (size_t)(best - table->symbols)) : NULL;
}
