/* section: see section.h. */
#include "dwarf/elf/section.h"

#include <string.h>

bool xc_section_walk_begin(struct xc_section_walk *w, Elf *elf)
{
	*w = (struct xc_section_walk){.elf = elf};
	w->more = elf_getshdrstrndx(elf, &w->names) >= 0;
	return w->more;
}

bool xc_section_walk_next(struct xc_section_walk *w)
{
	while (w->more && (w->section = elf_nextscn(w->elf, w->section))) {
		w->name = gelf_getshdr(w->section, &w->header) ? elf_strptr(w->elf, w->names, w->header.sh_name) : NULL;
		if (w->name)
			return true;
	}
	w->more = false;
	return false;
}

struct xc_cursor xc_section_cursor(Elf *elf, const char *name)
{
	struct xc_section_walk w;
	for (xc_section_walk_begin(&w, elf); xc_section_walk_next(&w);) {
		if (strcmp(w.name, name) != 0 || w.header.sh_type == SHT_NOBITS || (w.header.sh_flags & SHF_COMPRESSED))
			continue;
		Elf_Data *data = elf_rawdata(w.section, NULL);
		return data && data->d_buf ? xc_cursor(data->d_buf, data->d_size, name) : xc_cursor("", 0, name);
	}
	return xc_cursor("", 0, name);
}
