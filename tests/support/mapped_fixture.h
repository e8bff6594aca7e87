/* mapped_fixture: an in-memory core in which one real ELF file is mapped as by the loader. */
#ifndef XC_TEST_MAPPED_FIXTURE_H
#define XC_TEST_MAPPED_FIXTURE_H

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/arch.h"
#include "core/process/module.h"
#include "core/process/process.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

enum { MAPPED_BIAS = 0x7f0000000000 };

struct mapped {
	struct xc_process *process;
	struct xc_module *module;
	struct xc_source *image; /* the file as it was when mapped */
};

/* Run a shell command in the scratch directory, with a fixed locale. Fails the test if the command fails. */
static inline void shell(const char *format, ...) XC_PRINTF(1, 2);
static inline void shell(const char *format, ...)
{
	char command[2048];
	int len = snprintf(command, sizeof command, "export LC_ALL=C; cd %s && ", scratch_word(scratch_dir()));
	va_list args;
	va_start(args, format);
	vsnprintf(command + len, sizeof command - (size_t)len, format, args);
	va_end(args);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

/* Build a shared library DIR/name from C text. `flags` are for gcc. */
static inline const char *build(const char *name, const char *flags, const char *text)
{
	char source[128];
	const char *path = scratch_path(name);
	snprintf(source, sizeof source, "%s.c", name);
	scratch_file(source, text, strlen(text));
	shell("gcc -shared -fPIC -nostdlib %s -o %s '%s.c'", flags, scratch_word(path), name);
	return path;
}

static inline xc_addr page_of(uint64_t value)
{
	return value & ~UINT64_C(0xfff);
}

static inline void map_load(struct mapped *m, const struct xc_phdr *load, const char *path, size_t *capacity)
{
	struct xc_process *p = m->process;
	xc_addr lo = MAPPED_BIAS + page_of(load->vaddr), hi = (MAPPED_BIAS + load->vaddr + load->filesz - 1) | 0xfff;
	p->mappings = xc_grow(p->mappings, p->mapping_count, capacity, sizeof *p->mappings);
	p->mappings[p->mapping_count++] = (struct xc_mapping){.lo = lo,
							      .hi = hi,
							      .path = path,
							      .offset = page_of(load->offset),
							      .readable = load->flags & PF_R,
							      .writable = load->flags & PF_W,
							      .executable = load->flags & PF_X};
	struct xc_segment claim = {.lo = lo, .hi = hi, .provenance = XC_NOT_DUMPED};
	xc_space_add(p->space, &claim);
}

/* Store the first `size` bytes of the file in the core. */
static inline void store_front(struct mapped *m, uint64_t size)
{
	struct xc_segment s = {
		.lo = MAPPED_BIAS, .hi = MAPPED_BIAS + size - 1, .provenance = XC_FROM_CORE, .bytes = m->image->bytes};
	xc_space_add(m->process->space, &s);
	xc_space_seal(m->process->space);
}

/* Store all of the file's mapped bytes. */
static inline void store_all(struct mapped *m)
{
	for (size_t i = 0; i < m->process->mapping_count; i++) {
		const struct xc_mapping *mapping = &m->process->mappings[i];
		uint64_t left = m->image->size - mapping->offset, size = mapping->hi - mapping->lo + 1;
		struct xc_segment s = {.lo = mapping->lo,
				       .hi = mapping->lo + (left < size ? left : size) - 1,
				       .provenance = XC_FROM_CORE,
				       .bytes = m->image->bytes + mapping->offset};
		xc_space_add(m->process->space, &s);
	}
	xc_space_seal(m->process->space);
}

/* A process in which the file at `image` is mapped under the name `path`, with its first page stored. The module is in
 * the state that core/module leaves: it has its build-id if `id_known`. */
static inline struct mapped map_file(const char *image, const char *path, bool id_known)
{
	struct mapped m = {.process = xc_process_new("core", false)};
	struct xc_elf elf;
	size_t capacity = 0;
	m.process->arch = xc_arch_host();
	CHECK_OK(xc_source_open(image, NULL, &m.image));
	CHECK_OK(xc_elf_parse(m.image->bytes, m.image->size, &elf));
	m.module = xc_module_add(m.process, path, XC_MODULE_LIBRARY);
	for (uint32_t i = 0; i < elf.phdrs_readable; i++) {
		struct xc_phdr load = xc_elf_phdr(&elf, i);
		if (load.type == PT_LOAD && load.filesz)
			map_load(&m, &load, m.module->path, &capacity);
	}
	m.module->lo = MAPPED_BIAS;
	m.module->hi = m.process->mappings[m.process->mapping_count - 1].hi;
	m.module->bias = MAPPED_BIAS;
	m.module->bias_known = true;
	if (id_known)
		m.module->build_id = xc_elf_build_id(&elf);
	m.module->build_id_lost = !id_known;
	store_front(&m, 0x1000);
	xc_process_index(m.process);
	return m;
}

static inline void unmap(struct mapped *m)
{
	xc_process_close(m->process);
	xc_source_close(m->image);
}

#endif
