/* note: one ELF note, as in PT_NOTE segments and SHT_NOTE sections. */
#ifndef XC_NOTE_H
#define XC_NOTE_H

#include "core/base/cursor.h"

struct xc_note {
	const char *name; /* without its NUL; borrowed, name_len bytes */
	size_t name_len;
	uint32_t type;
	const uint8_t *desc;
	size_t desc_len;
};

/* Read the next note and advance. Name and descriptor are padded to `align` (4 or 8).
 * Errors: XC_ERR_FORMAT when the note is cut short. */
XC_MUST_CHECK struct xc_error *xc_note_next(struct xc_cursor *c, size_t align, struct xc_note *note_out);

#endif
