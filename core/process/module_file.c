/* module_file: what a core does not tell of its modules, by their files.
 *
 * A core made by qemu's user mode has no NT_FILE and none of the code, so that not even program headers are left: not the
 * executable's, through which the loader's list is found, nor those of the libraries. The same is so of kernel cores with a
 * coredump_filter that leaves headers out, when their notes are lost. The files that were given and fit then tell. */
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

/* Give the mappings that its segments lie in the module's name. */
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
		xc_space_seal(p->space); /* names in the list may stand in what the file showed */
		xc_modules_add_linked(p, m);
	}
	if (!m->tls_offset_known)
		xc_module_read_tls(p, m, &image);
}
