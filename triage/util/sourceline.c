/* sourceline: see sourceline.h. */
#include "triage/util/sourceline.h"

#include <string.h>

bool xc_sourceline(const struct xc_place *place, size_t number, const char *before, struct xc_text *text)
{
	const struct xc_level *level = number < place->level_count ? &place->levels[number] : NULL;
	if (!level || !level->file || !level->line)
		return false;
	const char *slash = strrchr(level->file, '/');
	xc_text_add(text, before);
	xc_text_name(text, slash ? slash + 1 : level->file);
	xc_text_printf(text, ":%u", level->line);
	return true;
}
