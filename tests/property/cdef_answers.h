/* cdef_answers: gcc's answers on declarations, for every machine. gcc compiles a file of the declarations and queries:
 * sizes, alignments and offsets are an array of numbers; each bit-field has an object with only that field set. Nothing
 * runs: the object file is read, so cross compilers work. */
#ifndef XC_TEST_CDEF_ANSWERS_H
#define XC_TEST_CDEF_ANSWERS_H

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/elf/arch.h"
#include "lua/cdef/cdef.h"
#include "tests/support/property.h"
#include "tests/support/scratch.h"

struct machine {
	const char *name, *compiler;
	uint16_t machine;
	uint8_t elf_class;
};

static const struct machine machines[] = {
	{"x86-64", "gcc", EM_X86_64, ELFCLASS64},
	{"i386", "gcc -m32", EM_386, ELFCLASS32},
	{"x32", "gcc -mx32", EM_X86_64, ELFCLASS32},
	{"aarch64", "aarch64-linux-gnu-gcc", EM_AARCH64, ELFCLASS64},
	{"arm", "arm-linux-gnueabihf-gcc", EM_ARM, ELFCLASS32},
	{"ppc64le", "powerpc64le-linux-gnu-gcc", EM_PPC64, ELFCLASS64},
	{"riscv64", "riscv64-linux-gnu-gcc", EM_RISCV, ELFCLASS64},
};

static const char preamble[] = "enum plain { P0, P1 = 5 };\nenum __attribute__((packed)) small { S0 = -3, S1 = 100 };\n"
			       "enum wide { W0 = 0x1ffffffffULL };\nenum negative { N0 = -1, N1 };\n"
			       "typedef int low_int __attribute__((aligned(1)));\n"
			       "typedef short __attribute__((__aligned__(8))) high_short;\n"
			       "typedef void function(int argc, char *const argv[], ...);\n"
			       "typedef struct { char a; long long b; } pair_t;\n"
			       "struct odd { char a[3]; };\nstruct even { short a, b; };\n"
			       "union two { char c[5]; short s; };\n";

/* The bytes of a symbol's object in the file; NULL in .bss. */
static inline const uint8_t *symbol_bytes(Elf *elf, const GElf_Sym *symbol)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_getscn(elf, symbol->st_shndx);
	assert_non_null(gelf_getshdr(section, &header));
	return header.sh_type == SHT_NOBITS ? NULL
					    : (const uint8_t *)elf_rawdata(section, NULL)->d_buf + symbol->st_value;
}

struct answers {
	const uint64_t *numbers;
	const uint8_t **objects; /* by query */
};

static inline struct answers read_answers(Elf *elf, size_t count)
{
	struct answers a = {.objects = xc_alloc(count * sizeof *a.objects)};
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		GElf_Shdr header;
		gelf_getshdr(s, &header);
		if (header.sh_type != SHT_SYMTAB)
			continue;
		Elf_Data *data = elf_getdata(s, NULL);
		for (int i = 0; i < (int)(header.sh_size / header.sh_entsize); i++) {
			GElf_Sym symbol;
			gelf_getsym(data, i, &symbol);
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
			if (strcmp(name, "numbers") == 0)
				a.numbers = (const uint64_t *)(const void *)symbol_bytes(elf, &symbol);
			else if (name[0] == 'b' && name[1] >= '0' && name[1] <= '9')
				a.objects[strtoul(name + 1, NULL, 10)] = symbol_bytes(elf, &symbol);
		}
	}
	assert_non_null(a.numbers);
	return a;
}

static inline Elf *compile(const struct machine *machine, const char *source, int *fd_out)
{
	xc_auto(xc_freep) char *c_path = xc_asprintf("%s/%s.c", scratch_dir(), machine->name);
	xc_auto(xc_freep) char *o_path = xc_asprintf("%s/%s.o", scratch_dir(), machine->name);
	xc_auto(xc_freep) char *command =
		xc_asprintf("%s -w -Wno-packed-bitfield-compat -Wno-psabi -ffreestanding -fwrapv -c -o %s %s",
			    machine->compiler, scratch_word(o_path), scratch_word(c_path));
	FILE *file = fopen(c_path, "w");
	assert_non_null(file);
	fputs(source, file);
	fclose(file);
	if (system(command) != 0)
		fail_msg("%s", command);
	elf_version(EV_CURRENT);
	*fd_out = open(o_path, O_RDONLY | O_CLOEXEC);
	assert_true(*fd_out >= 0);
	Elf *elf = elf_begin(*fd_out, ELF_C_READ, NULL);
	assert_non_null(elf);
	return elf;
}

static inline uint64_t constant(struct xc_cdef *cdef, const char *name)
{
	int64_t value;
	CHECK_OK(xc_cdef_constant(cdef, name, &value));
	return (uint64_t)value;
}

static inline struct xc_process *process_of(const struct machine *machine)
{
	struct xc_process *process = xc_process_new("cdef", false);
	process->arch = xc_arch_find(machine->machine, machine->elf_class, false);
	return process;
}

/* Skip the test if this machine has no such compiler. */
static inline void needs_compiler(const struct machine *machine)
{
	char program[32];
	snprintf(program, sizeof program, "%.*s", (int)strcspn(machine->compiler, " "), machine->compiler);
	check_needs(program);
}

/* A test on each machine. `name` is the test's. */
static inline int run_on_machines(const char *name, CMUnitTestFunction test)
{
	struct CMUnitTest tests[XC_COUNT(machines)];
	for (size_t i = 0; i < XC_COUNT(machines); i++)
		tests[i] = (struct CMUnitTest){
			.name = xc_asprintf("%s: %s", name, machines[i].name),
			.test_func = test,
			.initial_state = (void *)(uintptr_t)&machines[i],
		};
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (size_t i = 0; i < XC_COUNT(tests); i++)
		free((void *)(uintptr_t)tests[i].name);
	return failed;
}

#endif
