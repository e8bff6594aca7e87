/* module_core: a core with one module, whose file is on the disk. The rule of memory: missing is never zero. */
#ifndef XC_TEST_MODULE_CORE_H
#define XC_TEST_MODULE_CORE_H

#include <elf.h>
#include <signal.h>

#include "core/process/finder.h"
#include "core/process/process.h"
#include "tests/support/check.h"
#include "tests/support/corefile.h"
#include "tests/support/scratch.h"

enum { PAGE = OBJECT_PAGE };
static const xc_addr BASE = 0x7f1200000000, STACK = 0x7ffc00000000;
static const char id[] = "build-id of 20 bytes";
static uint8_t object[OBJECT_SIZE], memory[OBJECT_SIZE], stack[PAGE];

/* The module's file is below a sysroot, so that no path of the test can exist on the host. */
static inline int make_files(void **state)
{
	(void)state;
	objectfile_build(id, object);
	memcpy(memory, object, sizeof memory);
	memset(memory + 3 * PAGE, 'W', PAGE); /* data as written by the process */
	memset(memory + OBJECT_DYNAMIC, 0, 64);
	memset(stack, 'S', sizeof stack);
	scratch_file("root/lib/libobject.so", object, sizeof object);
	return 0;
}

static inline struct xc_error *open_path(const char *path, bool strict, struct xc_process **p)
{
	xc_auto(xc_freep) char *root = xc_asprintf("%s/root", scratch_dir());
	struct xc_finder finder = {.sysroot = root, .strict = strict};
	struct xc_open_options options = {.finder = &finder, .strict = strict};
	return xc_process_open_core(path, &options, p);
}

static inline struct xc_process *open_bytes(const struct xc_text *file, size_t len)
{
	struct xc_process *p = NULL;
	CHECK_OK(open_path(scratch_file("core", file->bytes, len), false, &p));
	return p;
}

/* Build and open it, and free the builder. */
static inline struct xc_process *open_built(struct corefile *c)
{
	struct xc_text file = {0};
	corefile_build(c, &file);
	struct xc_process *p = open_bytes(&file, file.len);
	corefile_fini(c);
	xc_text_fini(&file);
	return p;
}

static inline void check_fault(const struct xc_process *p, xc_addr addr, const char *why)
{
	uint8_t byte = 0xee;
	CHECK_ERROR(xc_space_read(p->space, addr, &byte, 1), XC_ERR_FAULT, why);
	assert_int_equal(xc_space_peek(p->space, addr, &byte, 1), 0);
	assert_int_equal(byte, 0xee);
}

static inline void check_bytes(const struct xc_process *p, xc_addr addr, const void *bytes, size_t len,
			       enum xc_provenance from)
{
	xc_auto(xc_freep) uint8_t *buf = xc_alloc(len);
	CHECK_OK(xc_space_read(p->space, addr, buf, len));
	assert_memory_equal(buf, bytes, len);
	assert_int_equal(xc_space_find(p->space, addr)->provenance, from);
}

static inline void add_threads(struct corefile *c)
{
	corefile_prstatus(c, 77, SIGSEGV, BASE + PAGE, STACK + 64);
	corefile_prpsinfo(c, 77, "program", "program");
}

/* The module's four mappings as the kernel dumps them: the first page, no code, no constants, the data; `stored` bytes
 * of each. Then anonymous memory and a stack. */
static inline struct corefile module_core(const uint64_t stored[4])
{
	static const uint32_t flags[4] = {PF_R, PF_R | PF_X, PF_R, PF_R | PF_W};
	struct corefile c = corefile_new();
	add_threads(&c);
	for (uint64_t i = 0; i < 4; i++) {
		corefile_file(&c, BASE + i * PAGE, BASE + (i + 1) * PAGE, i, "/lib/libobject.so");
		corefile_load(&c, BASE + i * PAGE, PAGE, flags[i], memory + i * PAGE, stored[i]);
	}
	return c;
}

static inline struct corefile usual_core(void)
{
	static const uint64_t stored[4] = {PAGE, 0, 0, PAGE};
	struct corefile c = module_core(stored);
	corefile_load(&c, STACK, PAGE, PF_R | PF_W, stack, PAGE);
	return c;
}

#endif
