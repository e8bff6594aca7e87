/* module_file: reads facts that the core lacks from the files of modules.
 *
 * A core of qemu's user mode has no NT_FILE and no code, and so no program headers: neither the executable's, which
 * lead to the loader's list, nor those of libraries. The same is true of kernel cores with a coredump_filter that omits
 * headers, if their notes are lost. The headers of verified files then replace those in memory. */
#include <elf.h>
#include <string.h>

#include "core/process/module_impl.h"

/* The program headers of the module's file. */
static bool file_image(const struct xc_module *m, struct xc_image *image)
{
	struct xc_elf elf;
	image->count = 0;
	if (!m->file || !m->file->bytes || m->identity == XC_REFUSED)
		return false;
	struct xc_error *err = xc_elf_parse(m->file->bytes, m->file->size, &elf);
	bool good = !err && elf.phdrs_readable <= XC_MAX_PHDRS;
	xc_error_free(err);
	for (uint32_t i = 0; good && i < elf.phdrs_readable; i++)
		image->phdrs[image->count++] = xc_elf_phdr(&elf, i);
	return good;
}

/* Name the mappings that the module's segments lie in. */
static void name_mappings(struct xc_process *p, const struct xc_module *m, const struct xc_image *image)
{
	for (size_t k = 0; k < image->count; k++) {
		const struct xc_phdr *load = &image->phdrs[k];
		xc_addr first = xc_module_page_down(m->bias + load->vaddr), end = m->bias + load->vaddr + load->filesz;
		if (load->type != PT_LOAD || load->filesz == 0 || end < first)
			continue;
		const struct xc_mapping *at = xc_process_mapping(p, first);
		for (struct xc_mapping *map = at ? &p->mappings[at - p->mappings] : NULL;
		     map && map < p->mappings + p->mapping_count && map->lo < end; map++) {
			if (map->path || map->lo < first)
				continue;
			map->path = m->path;
			map->offset = xc_module_page_down(load->offset) + (map->lo - first);
		}
	}
}

void xc_module_name_mappings(struct xc_process *p, struct xc_module *m)
{
	struct xc_image image;
	if (m->kind != XC_MODULE_VDSO && !p->files_known && file_image(m, &image))
		name_mappings(p, m, &image);
}

void xc_module_read_file(struct xc_process *p, struct xc_module *m)
{
	struct xc_image image;
	bool leads = m->kind == XC_MODULE_EXE && !p->link_map_known && !p->files_known;
	if (m->kind == XC_MODULE_VDSO || (m->tls_offset_known && !leads) || !file_image(m, &image))
		return;
	const struct xc_phdr *dynamic = xc_module_find_phdr(&image, PT_DYNAMIC);
	if (dynamic && !m->dynamic)
		m->dynamic = xc_arch_wrap(p->arch, m->bias + dynamic->vaddr);
	if (leads) {
		xc_space_seal(p->space); /* the file's bytes may hold names of the list */
		xc_modules_add_linked(p, m);
	}
	if (!m->tls_offset_known)
		xc_module_read_tls(p, m, &image);
}
