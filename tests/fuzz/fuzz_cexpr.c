/* layer: dwarf
 *
 * An expression. The process is made of this program's own file, with its debug information, and stands in the function below,
 * so that names of all kinds and types can be met; its stack is not there. */
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/finder.h"
#include "../../core/module.h"
#include "../../dwarf/cexpr.h"
#include "../../dwarf/debugfile.h"
#include "../../dwarf/debuginfo.h"
#include "../../dwarf/format.h"
#include "../../dwarf/value_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_TEXT = 1 << 20, INPUTS = 20000, MAX_INPUT = 1 << 15 };

/* What the seeds talk about. */
struct fuzz_node {
	struct fuzz_node *next;
	char name[8];
	unsigned three : 3;
	union {
		double number;
		short shorts[4];
	};
	enum { FUZZ_ONE = 1, FUZZ_TWO } kind;
};
static struct fuzz_node fuzz_second = {NULL, "second", 5, {2.5}, FUZZ_TWO};
struct fuzz_node fuzz_first = {&fuzz_second, "first", 3, {1.5}, FUZZ_ONE};
int fuzz_grid[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
int (*fuzz_function)(const uint8_t *, size_t) = LLVMFuzzerTestOneInput;

static void must(bool ok)
{
	if (!ok)
		abort();
}

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(xc_addr *)base = info->dlpi_addr;
	return 1; /* the first is the program */
}

static struct xc_process *open_self(struct xc_source **file_out)
{
	static const struct xc_finder finder = {.quiet = true};
	struct xc_process *p = xc_process_new("fuzz", false);
	struct xc_module *module = xc_module_add(p, "/fuzz/program", XC_MODULE_EXE);
	struct xc_elf elf;
	struct xc_error *err = xc_source_open("/proc/self/exe", NULL, file_out);
	must(!err && !xc_elf_parse((*file_out)->bytes, (*file_out)->size, &elf));
	p->arch = xc_arch_host();
	dl_iterate_phdr(find_base, &module->bias);
	module->bias_known = true;
	module->identity = XC_VERIFIED;
	module->file = *file_out;
	module->file_path = (*file_out)->path;
	module->lo = UINT64_MAX;
	for (uint32_t i = 0; i < elf.phdrs_readable; i++) {
		struct xc_phdr load = xc_elf_phdr(&elf, i);
		if (load.type != PT_LOAD || load.filesz == 0)
			continue;
		struct xc_segment s = {.lo = module->bias + load.vaddr,
				       .hi = module->bias + load.vaddr + load.filesz - 1,
				       .provenance = XC_FROM_CORE,
				       .bytes = (*file_out)->bytes + load.offset};
		xc_space_lay(p->space, &s);
		module->lo = s.lo < module->lo ? s.lo : module->lo;
		module->hi = s.hi > module->hi ? s.hi : module->hi;
	}
	xc_space_seal(p->space);
	xc_process_index(p);
	xc_debugfiles_use(p, &finder);
	return p;
}

static struct xc_process *process;
static struct xc_thread thread;
static struct xc_standpoint standpoint;

static void start(void)
{
	struct xc_source *file;
	process = open_self(&file);
	thread = (struct xc_thread){.tid = 1, .crashed = true, .has_regs = true};
	for (int i = 0; i < 16; i++)
		xc_regs_set(&thread.regs, i, 0x7ffc00000000 + (uint64_t)i * 64);
	xc_regs_set(&thread.regs, process->arch->pc, (xc_addr)(uintptr_t)&LLVMFuzzerTestOneInput + 64);
	struct xc_error *err = xc_standpoint_open(&standpoint, process, &thread, 0);
	must(!err);
}

static void stop(void)
{
	xc_standpoint_fini(&standpoint);
	xc_debuginfo_close(process);
	xc_debugfiles_close(process);
	xc_process_close(process);
	process = NULL;
}

static void show(const struct xc_value *value)
{
	static const char letters[] = "xduotcafz";
	struct xc_format_options options = xc_format_defaults();
	struct xc_json_options json_options = {.depth = 5, .elements = 100};
	struct xc_json_result result;
	struct xc_text text = {0};
	for (const char *letter = letters;; letter++) {
		options.letter = *letter;
		xc_format_value(&text, value, &options);
		must(text.len < MAX_TEXT);
		text.len = 0;
		if (!*letter)
			break;
	}
	must(*xc_type_name(value->type) != '\0');
	xc_value_json(value, &json_options, &result);
	json_decref(result.value);
	json_decref(result.unknown);
	xc_text_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned inputs;
	struct xc_arena arena = {0};
	struct xc_value value;
	const struct xc_type *type;
	if (size > MAX_INPUT)
		return 0;
	if (!process)
		start();
	char *text = xc_alloc(size + 1); /* of this size, so that ASan sees a byte too many */
	memcpy(text, data, size);
	struct xc_error *err = xc_cexpr_value(&standpoint, text, &arena, &value);
	if (!err)
		show(&value);
	else
		must(err->lines || size >= XC_CEXPR_LENGTH);
	xc_error_free(err);
	xc_error_free(xc_cexpr_type(&standpoint, text, &arena, &type, NULL));
	xc_arena_fini(&arena);
	free(text);
	if (++inputs % INPUTS == 0) /* types that expressions make stay with the process */
		stop();
	return 0;
}
