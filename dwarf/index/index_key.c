/* index_key: reading .debug_abbrev takes longer than a look-up. So the kept file also records the inode that it was
 * last checked against, as the cache of inflated sections does. */
#include "dwarf/index/index_key.h"

#include <gelf.h>
#include <isa-l/crc.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

static void add_data(SHA2_CTX *context, Elf *elf, const char *name)
{
	const Elf_Data *data = xc_elffile_section(elf, name);
	uint64_t size = data ? data->d_size : 0;
	SHA256Update(context, (const uint8_t *)&size, sizeof size);
	if (data)
		SHA256Update(context, data->d_buf, data->d_size);
}

/* Add a checksum of a section that a rebuild changes although its header stays. It is too large for SHA-256 each time
 * that an unknown file is opened. */
static void add_sum(SHA2_CTX *context, Elf *elf, const char *name)
{
	enum { PIECE = 1 << 30 };
	const Elf_Data *data = xc_elffile_section(elf, name);
	size_t left = data ? data->d_size : 0;
	const uint8_t *at = left ? data->d_buf : NULL;
	uint32_t sum = 0;
	for (; left; left -= left < PIECE ? left : PIECE, at += PIECE)
		sum = crc32_iscsi((unsigned char *)(uintptr_t)at, left < PIECE ? (int)left : PIECE, sum);
	SHA256Update(context, (const uint8_t *)&sum, sizeof sum);
}

static void add_headers(SHA2_CTX *context, Elf *elf)
{
	GElf_Shdr header;
	for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s))
		if (gelf_getshdr(s, &header))
			SHA256Update(context, (const uint8_t *)&header, sizeof header);
}

void xc_index_make_key(const struct xc_elffile *file, uint8_t key[XC_INDEX_KEY])
{
	SHA2_CTX context;
	size_t size = 0;
	elf_rawfile(file->elf, &size);
	const uint64_t facts[] = {size};
	SHA256Init(&context);
	SHA256Update(&context, (const uint8_t *)facts, sizeof facts);
	add_headers(&context, file->elf);
	add_data(&context, file->elf, ".debug_abbrev");
	add_data(&context, file->elf, ".zdebug_abbrev");
	add_sum(&context, file->elf, ".debug_info");
	add_sum(&context, file->elf, ".debug_str");
	add_data(&context, file->elf, ".gnu_debugaltlink");
	add_data(&context, file->elf, ".debug_sup");
	SHA256Final(key, &context);
}

struct xc_index_name xc_index_name_of(const struct xc_elffile *file, const uint8_t key[XC_INDEX_KEY])
{
	struct xc_index_name name;
	char hex[2 * XC_BUILD_ID_MAX + 1];
	struct xc_build_id id = xc_elffile_build_id(file->elf);
	if (id.size) {
		snprintf(name.text, sizeof name.text, "%s", xc_build_id_hex(&id, hex));
		return name;
	}
	int at = snprintf(name.text, sizeof name.text, "none-");
	for (size_t i = 0; i < XC_INDEX_KEY; i++)
		at += snprintf(name.text + at, 3, "%02x", key[i]);
	return name;
}

bool xc_index_seen_of(const struct xc_elffile *file, struct xc_index_seen *seen_out)
{
	const struct xc_source *s = file->source;
	if (!s || !s->map || !s->ino)
		return false;
	*seen_out = (struct xc_index_seen){.dev = s->dev,
					   .ino = s->ino,
					   .size = s->stored_size,
					   .mtime_ns = (uint64_t)s->mtime_ns,
					   .ctime_ns = (uint64_t)s->ctime_ns};
	seen_out->crc = crc32_iscsi((unsigned char *)seen_out, (int)offsetof(struct xc_index_seen, crc), 0);
	return true;
}
