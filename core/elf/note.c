#include "core/elf/note.h"

#include <string.h>

struct xc_error *xc_note_next(struct xc_cursor *c, size_t align, struct xc_note *note_out)
{
	struct xc_cursor at = *c;
	uint64_t namesz, descsz, type;
	const void *name = NULL, *desc = NULL;
	struct xc_error *err;
	if ((err = xc_cursor_uint(&at, 4, &namesz)) || (err = xc_cursor_uint(&at, 4, &descsz)) ||
	    (err = xc_cursor_uint(&at, 4, &type)))
		return err;
	size_t name_padded = (size_t)(namesz + align - 1) & ~(align - 1);
	size_t desc_padded = (size_t)(descsz + align - 1) & ~(align - 1);
	if ((err = xc_cursor_take(&at, name_padded, &name)) || (err = xc_cursor_take(&at, (size_t)descsz, &desc)))
		return err;
	size_t pad = desc_padded - (size_t)descsz;
	at.at += pad < xc_cursor_left(&at) ? pad : xc_cursor_left(&at);
	size_t name_len = strnlen(name, (size_t)namesz);
	*note_out = (struct xc_note){
		.name = name, .name_len = name_len, .type = (uint32_t)type, .desc = desc, .desc_len = (size_t)descsz};
	*c = at;
	return NULL;
}
