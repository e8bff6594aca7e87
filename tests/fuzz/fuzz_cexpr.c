/* layer: dwarf
 *
 * An expression. The process consists of this program's own file with its debug information, and its pc is in the
 * function below, so that names of all kinds and types are reachable; its stack is missing. */
#include <string.h>

#include "dwarf/cexpr/cexpr.h"
#include "dwarf/format/format.h"
#include "dwarf/format/value_json.h"
#include "tests/fuzz/self.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_TEXT = 1 << 20, INPUTS = 20000, MAX_INPUT = 1 << 15 };

/* The names used by the seeds. */
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

static struct xc_process *process;
static struct xc_thread thread;
static struct xc_frame_scope scope;

static void start(void)
{
	process = open_self(NULL);
	thread = (struct xc_thread){.tid = 1, .crashed = true, .has_regs = true};
	for (int i = 0; i < 16; i++)
		xc_regs_set(&thread.regs, i, 0x7ffc00000000 + (uint64_t)i * 64);
	xc_regs_set(&thread.regs, process->arch->pc, (xc_addr)(uintptr_t)&LLVMFuzzerTestOneInput + 64);
	struct xc_error *err = xc_frame_scope_open(&scope, process, &thread, 0);
	must(!err);
}

static void stop(void)
{
	xc_frame_scope_fini(&scope);
	close_self(process);
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
	char *text = xc_alloc(size + 1); /* of exactly this size, so that ASan detects a read past it */
	memcpy(text, data, size);
	struct xc_error *err = xc_cexpr_value(&scope, text, &arena, &value);
	if (!err)
		show(&value);
	else
		must(err->lines || size >= XC_CEXPR_LENGTH);
	xc_error_free(err);
	xc_error_free(xc_cexpr_type(&scope, text, &arena, &type, NULL));
	xc_arena_fini(&arena);
	free(text);
	if (++inputs % INPUTS == 0) /* types created by expressions stay with the process */
		stop();
	return 0;
}
