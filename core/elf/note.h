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

/* Take the next note at the cursor; padding after name and descriptor is `align` (4 or 8).
 * Errors: XC_ERR_FORMAT when it is cut short. */
XC_MUST_CHECK struct xc_error *xc_note_next(struct xc_cursor *c, size_t align, struct xc_note *note_out);

#endif
