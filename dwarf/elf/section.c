/* section: see section.h. */
#include "dwarf/elf/section.h"

#include <gelf.h>
#include <string.h>

struct xc_cursor xc_section_cursor(Elf *elf, const char *name)
{
	size_t names;
	GElf_Shdr h;
	if (elf_getshdrstrndx(elf, &names) < 0)
		return xc_cursor("", 0, name);
	for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
		const char *found = gelf_getshdr(s, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;
		if (!found || strcmp(found, name) != 0 || h.sh_type == SHT_NOBITS || (h.sh_flags & SHF_COMPRESSED))
			continue;
		Elf_Data *data = elf_rawdata(s, NULL);
		return data && data->d_buf ? xc_cursor(data->d_buf, data->d_size, name) : xc_cursor("", 0, name);
	}
	return xc_cursor("", 0, name);
}
