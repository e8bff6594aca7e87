/* file_magic: implements file_magic.h. */
#include "batch/util/file_magic.h"

#include <elf.h>
#include <string.h>

#include "core/io/archive_layout.h"

static bool begins(const unsigned char *bytes, const char *magic, size_t len)
{
	return !memcmp(bytes, magic, len);
}

bool xc_file_magic_core(const unsigned char *bytes)
{
	const bool big = bytes[EI_DATA] == ELFDATA2MSB;
	const unsigned type = big ? bytes[17] : bytes[16], rest = big ? bytes[16] : bytes[17];
	return (begins(bytes, ELFMAG, SELFMAG) && type == ET_CORE && !rest) || begins(bytes + 8, XC_ARCHIVE_MAGIC, 8);
}

bool xc_file_magic_compressed(const unsigned char *bytes)
{
	return begins(bytes, "\x28\xb5\x2f\xfd", 4) || begins(bytes, "\x50\x2a\x4d\x18", 4) ||
	       begins(bytes, "\x04\x22\x4d\x18", 4) || begins(bytes, "\xfd\x37zXZ", 6) || begins(bytes, "\x1f\x8b", 2);
}

bool xc_file_magic_bzip2(const unsigned char *bytes)
{
	return begins(bytes, "BZh", 3);
}

bool xc_file_magic_apport(const unsigned char *bytes)
{
	return begins(bytes, "ProblemType: ", 13);
}
