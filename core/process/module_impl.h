/* module_impl: shared by the files module*.c and package.c. */
#ifndef XC_MODULE_IMPL_H
#define XC_MODULE_IMPL_H

#include "core/process/module.h"

enum { XC_MAX_MODULES = 16384, XC_MAX_PHDRS = 256 };

/* The program headers of an ELF image in the target's memory. */
struct xc_image {
	struct xc_phdr phdrs[XC_MAX_PHDRS];
	size_t count;
};

/* The headers of the ELF image that begins at `at`; false when they are unreadable or not of the process's kind. */
bool xc_module_read_image(const struct xc_process *p, xc_addr at, struct xc_image *image);

/* The first program header of a type, or NULL. */
const struct xc_phdr *xc_module_find_phdr(const struct xc_image *image, uint32_t type);

/* Set tls_modid and tls_offset, from the link_map or, for the executable, from the headers alone. */
void xc_module_read_tls(const struct xc_process *p, struct xc_module *m, const struct xc_image *image);

/* Walk the loader's list once the executable's dynamic section is known, and add what it names. */
void xc_modules_add_linked(struct xc_process *p, struct xc_module *exe);

/* The PT_LOAD with the lowest address, or NULL. */
const struct xc_phdr *xc_module_first_load(const struct xc_image *image);

/* Set the fields of a module whose bias is known from its headers: range, dynamic section, build-id. */
void xc_module_apply_image(const struct xc_process *p, struct xc_module *m, const struct xc_image *image);

/* Add a module for every file that has an executable mapping and no module yet. */
void xc_modules_add_mapped(struct xc_process *p);

static inline xc_addr xc_module_page_down(xc_addr addr)
{
	return addr & ~(xc_addr)0xfff;
}

#endif
