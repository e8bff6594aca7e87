/* minidebug: liblzma with limits on its memory and its output: a few kilobytes of xz can hold gigabytes. */
#include "dwarf/elf/minidebug.h"

#include <lzma.h>
#include <stdlib.h>

enum { MAX_OUTPUT = 64 << 20, MAX_MEMORY = 128 << 20, FIRST = 256 << 10 };

/* Decode everything into a malloc'ed buffer; NULL when it is damaged or too large. */
static uint8_t *inflate(const Elf_Data *packed, size_t *size_out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t capacity = FIRST;
	uint8_t *bytes = malloc(capacity);
	lzma_ret status = lzma_stream_decoder(&stream, MAX_MEMORY, 0);
	stream.next_in = packed->d_buf;
	stream.avail_in = packed->d_size;
	while (bytes && status == LZMA_OK) {
		stream.next_out = bytes + stream.total_out;
		stream.avail_out = capacity - (size_t)stream.total_out;
		status = lzma_code(&stream, LZMA_FINISH);
		if (status != LZMA_OK || stream.avail_out)
			continue;
		if (capacity >= MAX_OUTPUT)
			break;
		capacity *= 2;
		bytes = xc_realloc(bytes, capacity);
	}
	*size_out = (size_t)stream.total_out;
	lzma_end(&stream);
	if (status == LZMA_STREAM_END) {
		bytes = xc_realloc(bytes, *size_out + 1);
		bytes[*size_out] = '\0';
		return bytes;
	}
	free(bytes);
	return NULL;
}

bool xc_minidebug_open(Elf *elf, struct xc_elffile *file_out)
{
	size_t size;
	Elf_Data *packed = xc_elffile_section(elf, ".gnu_debugdata");
	uint8_t *bytes = packed ? inflate(packed, &size) : NULL;
	return bytes && xc_elffile_open_image(file_out, bytes, size);
}
