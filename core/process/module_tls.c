/* module_tls: the offset of a module's TLS block from the thread pointer.
 *
 * The TLS fields of the private part of link_map are found by content, not by offset: l_tls_initimage,
 * l_tls_initimage_size, l_tls_blocksize, l_tls_align, l_tls_firstbyte_offset, l_tls_offset, l_tls_modid follow in this
 * order (include/link.h, glibc 2.26 to 2.41), and PT_TLS gives the first four. musl's struct dso has no
 * l_tls_firstbyte_offset among them, which is less than the alignment (ldso/dynlink.c and src/internal/libc.h, struct
 * tls_module: image, len, size, align, offset; then tls_id; 1.2). Layouts of the block: arch.h. */
#include <elf.h>

#include "core/base/cursor.h"
#include "core/process/module_impl.h"

enum {
	LINK_MAP_SCAN = 1600, /* bytes of link_map in which to look for the TLS fields */
	FIELDS = 7,
};

const struct xc_phdr *xc_module_find_phdr(const struct xc_image *image, uint32_t type)
{
	for (size_t i = 0; i < image->count; i++)
		if (image->phdrs[i].type == type)
			return &image->phdrs[i];
	return NULL;
}

/* NO_TLS_OFFSET and FORCED_DYNAMIC_TLS_OFFSET are 0 and -1, but -1 and -2 where a block may lie at the thread pointer
 * itself (sysdeps/powerpc/nptl/tls.h and sysdeps/riscv/nptl/tls.h, NO_TLS_OFFSET). */
static bool is_offset(const struct xc_arch *arch, int64_t offset)
{
	bool zero_counts = !arch->tls.below && arch->tls.head == 0;
	return offset != -1 && offset != (zero_counts ? -2 : 0);
}

static void read_link_map(const struct xc_process *p, struct xc_module *m, const struct xc_phdr *tls)
{
	uint8_t bytes[LINK_MAP_SCAN];
	size_t word = p->arch->word, got = xc_space_peek(p->space, m->link_map, bytes, sizeof bytes);
	const uint64_t known[] = {xc_arch_wrap(p->arch, m->bias + tls->vaddr), tls->filesz, tls->memsz, tls->align};
	for (size_t at = 0; at + FIELDS * word <= got; at += word) {
		size_t same = 0;
		while (same < XC_COUNT(known) &&
		       xc_load_uint(bytes + at + same * word, word, p->arch->big_endian) == known[same])
			same++;
		if (same < XC_COUNT(known))
			continue;
		bool musl =
			xc_load_uint(bytes + at + 4 * word, word, p->arch->big_endian) >= (tls->align ? tls->align : 1);
		const uint8_t *rest = bytes + at + (musl ? 4 : 5) * word;
		uint64_t offset = xc_load_uint(rest, word, p->arch->big_endian);
		m->tls_modid = xc_load_uint(rest + word, word, p->arch->big_endian);
		m->tls_offset = word == 4 ? (int32_t)offset : (int64_t)offset;
		m->tls_offset_known = is_offset(p->arch, m->tls_offset);
		return;
	}
}

/* The executable's block is next to the thread pointer, so its offset is known even without a link_map: the smallest
 * offset that holds the aligned block, as linkers compute it. */
static void compute_executable(const struct xc_arch *arch, struct xc_module *m, const struct xc_phdr *tls)
{
	uint64_t align = tls->align ? tls->align : 1;
	if (arch->tls.tp < 0 || tls->memsz > UINT32_MAX || align > UINT32_MAX || (align & (align - 1)))
		return;
	m->tls_modid = 1;
	m->tls_offset = arch->tls.below ? (int64_t)(tls->memsz + ((0 - tls->vaddr - tls->memsz) & (align - 1)))
					: (int64_t)((arch->tls.head + align - 1) & ~(align - 1));
	m->tls_offset_known = true;
}

void xc_module_read_tls(const struct xc_process *p, struct xc_module *m, const struct xc_image *image)
{
	const struct xc_phdr *tls = xc_module_find_phdr(image, PT_TLS);
	if (tls && m->link_map && !m->tls_offset_known)
		read_link_map(p, m, tls);
	if (tls && m->kind == XC_MODULE_EXE && !m->tls_offset_known)
		compute_executable(p->arch, m, tls);
}
