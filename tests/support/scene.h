/* scene: a hand-built process with one stack: code that is assembled or compiled while the test runs, linked at fixed
 * addresses without libraries, a stack with words that the test writes, and registers. */
#ifndef XC_TEST_SCENE_H
#define XC_TEST_SCENE_H

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "core/process/module.h"
#include "core/base/text.h"
#include "dwarf/elf/symbol.h"
#include "tests/support/scratch.h"
#include "tests/support/opened.h"

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R12 = 12, RIP = 16, STACK_WORDS = 1024 };
#define STACK_LO UINT64_C(0x7ffd00000000)

struct scene {
	struct xc_process *process;
	struct xc_module *module;
	struct xc_unwinder *unwinder;
	struct xc_thread thread;
	uint64_t stack[STACK_WORDS];
	size_t mapping_capacity;
};

static inline void add_mapping(struct scene *s, xc_addr lo, xc_addr hi, uint32_t flags, const char *path)
{
	struct xc_process *p = s->process;
	p->mappings = xc_grow(p->mappings, p->mapping_count, &s->mapping_capacity, sizeof *p->mappings);
	p->mappings[p->mapping_count++] = (struct xc_mapping){.lo = lo,
							      .hi = hi,
							      .path = path,
							      .readable = flags & PF_R,
							      .writable = flags & PF_W,
							      .executable = flags & PF_X};
}

static inline void lay(struct scene *s, xc_addr lo, const void *bytes, size_t len, enum xc_provenance provenance)
{
	struct xc_segment segment = {.lo = lo, .hi = lo + len - 1, .provenance = provenance, .bytes = bytes};
	xc_space_add(s->process->space, &segment);
	xc_space_seal(s->process->space);
}

static inline void map_program(struct scene *s, struct xc_source *file)
{
	struct xc_elf elf;
	s->module = xc_module_add(s->process, "/scene/program", XC_MODULE_EXE);
	*s->module = (struct xc_module){.path = s->module->path,
					.name = s->module->name,
					.kind = XC_MODULE_EXE,
					.lo = UINT64_MAX,
					.bias_known = true,
					.identity = XC_VERIFIED,
					.file = file,
					.file_path = file->path};
	CHECK_OK(xc_elf_parse(file->bytes, file->size, &elf));
	for (uint32_t i = 0; i < elf.phdrs_readable; i++) {
		struct xc_phdr load = xc_elf_phdr(&elf, i);
		if (load.type != PT_LOAD || !load.filesz)
			continue;
		xc_addr hi = (load.vaddr + load.filesz - 1) | 0xfff;
		add_mapping(s, load.vaddr & ~UINT64_C(0xfff), hi, load.flags, s->module->path);
		lay(s, load.vaddr, file->bytes + load.offset, load.filesz, XC_FROM_CORE);
		s->module->lo = load.vaddr < s->module->lo ? load.vaddr : s->module->lo;
		s->module->hi = hi > s->module->hi ? hi : s->module->hi;
	}
	xc_process_index(s->process);
}

/* The compiler reads the source from its standard input: "gcc -x assembler", "gcc -g -O2 -x c". */
static inline struct scene *make_scene(const char *compiler, const char *source)
{
	char command[1024];
	struct scene *s = xc_alloc(sizeof *s);
	struct xc_source *file;
	snprintf(command, sizeof command,
		 "%s -nostdlib -static -no-pie -fno-stack-protector -Wl,-e,0 -Wl,-z,noexecstack", compiler);
	CHECK_OK(xc_source_open(dying_program("program", command, source), NULL, &file));
	s->process = xc_process_new("scene", false);
	map_program(s, file);
	add_mapping(s, STACK_LO, STACK_LO + sizeof s->stack - 1, PF_R | PF_W, NULL);
	lay(s, STACK_LO, s->stack, sizeof s->stack, XC_FROM_CORE);
	s->thread = (struct xc_thread){.tid = 1, .crashed = true, .has_regs = true};
	s->unwinder = xc_unwinder_new(s->process);
	return s;
}

/* A scene of functions in assembly language. */
static inline struct scene *assemble(const char *text)
{
	return make_scene("gcc -g -x assembler", text);
}

static inline void end_scene(struct scene *s)
{
	xc_unwinder_free(s->unwinder);
	close_process(s->process);
	free(s);
}

static inline xc_addr label(const struct scene *s, const char *name)
{
	xc_addr addr;
	if (!xc_symbol_find(s->process, name, NULL, &addr))
		fail_msg("no label %s", name);
	return addr;
}

/* The address of a word of the stack. */
static inline xc_addr word(size_t index)
{
	return STACK_LO + 8 * index;
}

static inline void set_reg(struct scene *s, int number, uint64_t value)
{
	xc_regs_set(&s->thread.regs, number, value);
}

static inline uint64_t reg(const struct xc_frame *frame, int number)
{
	uint64_t value;
	if (!xc_regs_get(&frame->regs, number, &value))
		fail_msg("register %d is unknown", number);
	return value;
}

static inline struct xc_frame first_frame(struct scene *s, xc_addr pc, xc_addr sp)
{
	struct xc_frame frame;
	set_reg(s, RIP, pc);
	set_reg(s, RSP, sp);
	assert_true(xc_unwind_first(s->unwinder, &s->thread, &frame));
	return frame;
}

/* The caller. Fails if there is none. */
static inline struct xc_frame step(struct scene *s, const struct xc_frame *frame)
{
	struct xc_frame caller;
	const char *stop;
	if (!xc_unwind_step(s->unwinder, frame, &caller, &stop))
		fail_msg("no caller: %s", stop);
	return caller;
}

/* The reason for the missing caller; valid as long as the unwinder. */
static inline const char *stop_of(struct scene *s, const struct xc_frame *frame)
{
	struct xc_frame caller;
	const char *stop = NULL;
	if (xc_unwind_step(s->unwinder, frame, &caller, &stop))
		fail_msg("a caller at 0x%llx", (unsigned long long)caller.pc);
	return stop;
}

static inline void check_text(const char *got, const char *part)
{
	if (!got || !strstr(got, part))
		fail_msg("\"%s\" without \"%s\"", got ? got : "(null)", part);
}

#endif
