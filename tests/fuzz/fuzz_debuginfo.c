/* layer: dwarf
 *
 * An ELF file with DWARF, mapped as the only program of a hand-made process: places, call sites, variables, types and
 * stacks at addresses throughout its code. LLVMFuzzerCustomMutator damages only the sections named below, which a
 * debugger reads, so that the file can still be opened. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/elf/elf.h"
#include "core/process/module.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/unwind/unwind.h"
#include "dwarf/stack/variable.h"

enum { LOOKS = 12, FRAMES = 6, STACK_SIZE = 4096, REGS = 17, MAX_LOADS = 8, RETURN_REG = 16, SP = 7 };
#define STACK_LO UINT64_C(0x7ffd00000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* ---- the process ---- */

static struct xc_source *open_bytes(const uint8_t *data, size_t size)
{
	char path[64];
	struct xc_source *file = NULL;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct xc_error *err = xc_source_open(path, &(struct xc_source_options){.as_is = true}, &file);
	xc_error_free(err);
	close(fd);
	return file;
}

static void lay(struct xc_process *p, xc_addr lo, const void *bytes, size_t size)
{
	struct xc_segment s = {.lo = lo, .hi = lo + size - 1, .provenance = XC_FROM_CORE, .bytes = bytes};
	xc_space_add(p->space, &s);
}

static void map_load(struct xc_process *p, struct xc_module *m, const struct xc_phdr *load)
{
	const struct xc_source *file = m->file;
	uint64_t left = load->offset < file->size ? file->size - load->offset : 0;
	uint64_t size = load->filesz < left ? load->filesz : left;
	if (load->type != PT_LOAD || size == 0 || p->mapping_count == MAX_LOADS || load->vaddr > UINT32_MAX)
		return;
	xc_addr lo = load->vaddr, hi = lo + size - 1;
	if (p->mapping_count && lo <= p->mappings[p->mapping_count - 1].hi)
		return;
	lay(p, lo, file->bytes + load->offset, size);
	p->mappings[p->mapping_count++] = (struct xc_mapping){
		.lo = lo, .hi = hi, .path = m->path, .readable = true, .executable = load->flags & PF_X};
	m->lo = p->mappings[0].lo;
	m->hi = hi;
}

static struct xc_process *make_process(struct xc_source *file, uint8_t *stack)
{
	struct xc_elf elf;
	struct xc_error *err = xc_elf_parse(file->bytes, file->size, &elf);
	if (err) {
		xc_error_free(err);
		xc_source_close(file);
		return NULL;
	}
	struct xc_process *p = xc_process_new("fuzz", false);
	p->arch = xc_arch_host();
	p->mappings = xc_alloc(MAX_LOADS * sizeof *p->mappings);
	struct xc_module *m = xc_module_add(p, "/fuzz", XC_MODULE_EXE);
	m->identity = XC_VERIFIED;
	m->bias_known = true;
	m->file = file;
	m->file_path = file->path;
	for (uint32_t i = 0; i < elf.phdrs_readable; i++) {
		struct xc_phdr load = xc_elf_phdr(&elf, i);
		map_load(p, m, &load);
	}
	lay(p, STACK_LO, stack, STACK_SIZE);
	xc_space_seal(p->space);
	xc_process_index(p);
	return p;
}

/* ---- queries ---- */

static struct xc_thread thread_at(xc_addr pc)
{
	struct xc_thread t = {.tid = 1, .has_regs = true};
	for (int i = 0; i < REGS; i++)
		xc_regs_set(&t.regs, i, STACK_LO + 64 * (uint64_t)i);
	xc_regs_set(&t.regs, SP, STACK_LO + 256);
	xc_regs_set(&t.regs, RETURN_REG, pc);
	return t;
}

static void look(struct xc_process *p, struct xc_unwinder *u, const struct xc_thread *thread,
		 const struct xc_frame *frame)
{
	struct xc_format_options options = xc_format_defaults();
	struct xc_arena arena = {0};
	Dwarf_Die site;
	const struct xc_place *place = xc_debuginfo_place(p, xc_frame_lookup(frame));
	struct xc_frame_context context = {
		.process = p, .thread = thread, .unwinder = u, .frame = frame, .place = place};
	for (size_t i = 0; i < place->level_count && !place->line_only; i++) {
		struct xc_stack_row row = {0};
		must(place->levels[i].block_count > 0);
		xc_variables_fill(&context, i, true, &options, &arena, &row);
		for (size_t k = 0; k < row.local_count; k++)
			must(row.locals[k].name && row.locals[k].type && *row.locals[k].type &&
			     (!row.locals[k].value != !row.locals[k].why));
	}
	if (place->level_count && !place->line_only)
		xc_debuginfo_call_site(place, place->file_addr + 1, &site);
	xc_arena_fini(&arena);
}

static void walk(struct xc_process *p, struct xc_unwinder *u, xc_addr pc)
{
	struct xc_thread thread = thread_at(pc);
	struct xc_frame frame;
	const char *stop = NULL;
	if (!xc_unwind_first(u, &thread, &frame))
		return;
	do
		look(p, u, &thread, &frame);
	while (frame.index < FRAMES && xc_unwind_step(u, &frame, &frame, &stop));
	must(frame.index >= FRAMES || (stop && *stop));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t stack[STACK_SIZE];
	struct xc_source *file = open_bytes(data, size);
	struct xc_process *p = file ? make_process(file, stack) : NULL;
	struct xc_finder finder = {.sysroot = "/proc/nonexistent"}; /* no file of this host */
	if (!p)
		return 0;
	xc_debugfiles_use(p, &finder);
	struct xc_unwinder *u = xc_unwinder_new(p);
	for (size_t i = 0; i < p->mapping_count; i++) {
		const struct xc_mapping *m = &p->mappings[i];
		for (size_t k = 0; m->executable && k < LOOKS; k++) {
			xc_addr pc = m->lo + (m->hi - m->lo) / LOOKS * k + 1;
			uint64_t word = pc + 3; /* the stack is full of plausible return addresses */
			for (size_t at = 0; at < STACK_SIZE; at += sizeof word)
				memcpy(stack + at, &word, sizeof word);
			walk(p, u, pc);
		}
	}
	char name[64];
	xc_symbol_find(p, "main", NULL, &(xc_addr){0});
	xc_symbol_describe(p, p->modules[0]->lo + 64, name, sizeof name);
	xc_unwinder_free(u);
	xc_debuginfo_close(p);
	xc_debugfiles_close(p);
	xc_process_close(p);
	return 0;
}

/* ---- damage ---- */

#ifdef XC_FUZZER
static bool is_aim(const char *name)
{
	return !strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8) || !strncmp(name, ".eh_frame", 9) ||
	       !strcmp(name, ".symtab") || !strcmp(name, ".strtab") || !strncmp(name, ".gnu_debug", 10);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	Elf64_Ehdr e;
	Elf64_Shdr s, names;
	srand(seed);
	if (size < sizeof e || rand() % 16 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	memcpy(&e, data, sizeof e);
	for (int tries = 0; tries < 64 && e.e_shnum; tries++) {
		uint64_t at = e.e_shoff + (uint64_t)(rand() % e.e_shnum) * sizeof s;
		uint64_t names_at = e.e_shoff + (uint64_t)e.e_shstrndx * sizeof s;
		if (at > size || size - at < sizeof s || names_at > size || size - names_at < sizeof names)
			break;
		memcpy(&s, data + at, sizeof s);
		memcpy(&names, data + names_at, sizeof names);
		uint64_t name_at = names.sh_offset + s.sh_name;
		if (name_at >= size || size - name_at < 32 || s.sh_offset > size || s.sh_size > size - s.sh_offset ||
		    !s.sh_size || !is_aim((const char *)data + name_at))
			continue;
		uint8_t *bytes = data + s.sh_offset + (uint64_t)rand() % s.sh_size;
		size_t left = (size_t)(data + s.sh_offset + s.sh_size - bytes), most = left < 64 ? left : 64;
		LLVMFuzzerMutate(bytes, most, most);
		return size;
	}
	return LLVMFuzzerMutate(data, size, max_size);
}
#endif
