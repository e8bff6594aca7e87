/* index_key: reading all that an index is made from takes longer than a look-up. So the kept file also records the
 * inodes that it was last checked against, as the cache of inflated sections does. */
#include "dwarf/index/index_key.h"

#include <gelf.h>
#include <isa-l/crc.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

/* What building reads (index.c), without ".debug_" or, for the old form of compression, ".zdebug_". */
static const char *const read_parts[] = {"info", "types", "abbrev", "str", "line_str", "str_offsets", "macro", "sup"};

static bool is_read(const char *name)
{
	if (!strcmp(name, ".gnu_debugaltlink"))
		return true;
	const char *part = !strncmp(name, ".debug_", 7) ? name + 7 : !strncmp(name, ".zdebug_", 8) ? name + 8 : NULL;
	for (size_t i = 0; part && i < XC_COUNT(read_parts); i++)
		if (!strcmp(part, read_parts[i]))
			return true;
	return false;
}

static void add_number(SHA2_CTX *context, uint64_t number)
{
	SHA256Update(context, (const uint8_t *)&number, sizeof number);
}

static void add_text(SHA2_CTX *context, const char *text)
{
	add_number(context, text ? strlen(text) : UINT64_MAX);
	SHA256Update(context, (const uint8_t *)(text ? text : ""), text ? strlen(text) : 0);
}

static void add_section(SHA2_CTX *context, const struct xc_keyed_hash *hash, Elf_Scn *section, const char *name)
{
	uint64_t sum[2];
	const Elf_Data *data = elf_rawdata(section, NULL);
	const size_t size = data && data->d_buf ? data->d_size : 0;
	xc_keyed_hash_of(hash, size ? data->d_buf : NULL, size, sum);
	add_text(context, name);
	add_number(context, elf_ndxscn(section));
	add_number(context, size);
	SHA256Update(context, (const uint8_t *)sum, sizeof sum);
}

/* Sections by number, so a second one of the same name counts too. False when they overlap: hashing them would take any
 * time. */
static bool add_file(SHA2_CTX *context, const struct xc_keyed_hash *hash, Elf *elf)
{
	GElf_Ehdr file;
	GElf_Shdr header;
	size_t size = 0, names = 0, read = 0;
	memset(&file, 0, sizeof file);
	elf_rawfile(elf, &size);
	add_number(context, size);
	if (gelf_getehdr(elf, &file))
		SHA256Update(context, (const uint8_t *)&file, sizeof file);
	elf_getshdrstrndx(elf, &names);
	for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
		if (!gelf_getshdr(s, &header))
			continue;
		SHA256Update(context, (const uint8_t *)&header, sizeof header);
		const char *name = elf_strptr(elf, names, header.sh_name);
		if (!name || header.sh_type == SHT_NOBITS || !is_read(name))
			continue;
		if (header.sh_size > size - read)
			return false;
		read += header.sh_size;
		add_section(context, hash, s, name);
	}
	return true;
}

/* Where split units are searched: another place may hold others of the same ids. */
static void add_places(SHA2_CTX *context, const struct xc_index_basis *basis)
{
	const struct xc_finder *finder = basis->split ? basis->finder : NULL;
	add_number(context, basis->split);
	add_text(context, finder ? finder->sysroot : NULL);
	add_number(context, finder ? finder->debug_dir_count : 0);
	for (size_t i = 0; finder && i < finder->debug_dir_count; i++)
		add_text(context, finder->debug_dirs[i]);
	add_text(context, basis->split && basis->file->source ? basis->file->source->path : NULL);
}

bool xc_index_make_key(const struct xc_index_basis *basis, uint8_t key[XC_INDEX_KEY])
{
	SHA2_CTX context;
	if (!basis->hash)
		return false;
	SHA256Init(&context);
	add_number(&context, basis->packed);
	if (!add_file(&context, basis->hash, basis->file->elf))
		return false;
	add_number(&context, basis->alternate != NULL);
	if (basis->alternate && !add_file(&context, basis->hash, basis->alternate))
		return false;
	add_places(&context, basis);
	SHA256Final(key, &context);
	return true;
}

/* ---- facts of inodes ---- */

static bool add_inode(SHA2_CTX *context, const struct xc_source *s)
{
	if (!s || !s->map || !s->ino)
		return false;
	const uint64_t facts[] = {s->dev, s->ino, s->stored_size, (uint64_t)s->mtime_ns, (uint64_t)s->ctime_ns};
	SHA256Update(context, (const uint8_t *)facts, sizeof facts);
	return true;
}

static bool digest_inodes(const struct xc_index_basis *basis, uint8_t digest[XC_INDEX_KEY])
{
	SHA2_CTX context;
	SHA256Init(&context);
	if (basis->packed || !add_inode(&context, basis->file->source) ||
	    (basis->alternate && !add_inode(&context, basis->alternate_source)))
		return false;
	add_places(&context, basis);
	SHA256Final(digest, &context);
	return true;
}

bool xc_index_seen_of(const struct xc_index_basis *basis, struct xc_index_seen *seen_out)
{
	*seen_out = (struct xc_index_seen){.unused = 0};
	if (!digest_inodes(basis, seen_out->digest))
		return false;
	seen_out->crc = crc32_iscsi((unsigned char *)seen_out, (int)offsetof(struct xc_index_seen, crc), 0);
	return true;
}

/* ---- names ---- */

static struct xc_index_name name_with(const char *prefix, const uint8_t key[XC_INDEX_KEY])
{
	struct xc_index_name name;
	int at = snprintf(name.text, sizeof name.text, "%s", prefix);
	for (size_t i = 0; i < XC_INDEX_KEY; i++)
		at += snprintf(name.text + at, 3, "%02x", key[i]);
	return name;
}

struct xc_index_name xc_index_name_of(const struct xc_index_basis *basis, const uint8_t *key)
{
	struct xc_index_name name = {""};
	uint8_t digest[XC_INDEX_KEY];
	char hex[2 * XC_BUILD_ID_MAX + 1];
	const struct xc_build_id id = xc_elffile_build_id(basis->file->elf);
	if (basis->packed)
		return key ? name_with("pack-", key) : name;
	if (id.size)
		snprintf(name.text, sizeof name.text, "%s", xc_build_id_hex(&id, hex));
	else if (digest_inodes(basis, digest))
		return name_with("none-", digest);
	else if (key)
		return name_with("none-", key);
	return name;
}
