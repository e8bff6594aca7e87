/* layer: lua
 *
 * Random calls of the whole API with hostile values: the bytes select functions, methods and arguments (fuzz_bind.lua).
 * The target is this program's own file with its types, and nodes in lists that end, cycle or lead to unmapped memory.
 * The resulting report is rendered. */
#include <stdio.h>
#include <string.h>

#include "core/base/embed.h"
#include "core/render/render.h"
#include "lua/vm/bind.h"
#include "tests/fuzz/self.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 4096, INPUTS = 5000, MEMORY = 0x10000000, NODES = 100 };

/* The script, embedded by the assembler. */
XC_EMBED(fuzz_script, "tests/fuzz/fuzz_bind.lua");

struct fuzz_node {
	struct fuzz_node *next;
	const char *name;
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

/* A node of the target: 0 to 2 form a cycle, 3 leads into it, 4 leads to unmapped memory; from 5 on they lead to the
 * last, which ends the list. */
static struct fuzz_node make_node(size_t i)
{
	static const size_t next[] = {1, 2, 0, 1};
	struct fuzz_node node = {.three = i & 7, .number = (double)i, .kind = FUZZ_TWO};
	size_t to = i < XC_COUNT(next) ? next[i] : i + 1;
	node.next = (struct fuzz_node *)(uintptr_t)(MEMORY + to * sizeof node);
	node.name = (const char *)(uintptr_t)(i & 1 ? MEMORY + 16 : 0x4141);
	if (i == 4)
		node.next = (struct fuzz_node *)(uintptr_t)UINT64_C(0x4141414141414141);
	if (i == NODES - 1)
		node.next = NULL;
	return node;
}

static void start(void)
{
	static struct fuzz_node nodes[NODES];
	struct xc_segment memory = {.lo = MEMORY,
				    .hi = MEMORY + sizeof nodes - 1,
				    .provenance = XC_FROM_CORE,
				    .bytes = (const uint8_t *)nodes};
	for (size_t i = 0; i < NODES; i++)
		nodes[i] = make_node(i);
	process = open_self(&memory);
	process->threads = xc_alloc(sizeof *process->threads);
	process->thread_count = 1;
	struct xc_thread *thread = process->threads;
	*thread = (struct xc_thread){.tid = 1, .name = "fuzz", .crashed = true, .has_regs = true, .syscall = -1};
	for (int i = 0; i < 16; i++)
		xc_regs_set(&thread->regs, i, MEMORY + (uint64_t)i * 64);
	xc_regs_set(&thread->regs, process->arch->pc, (xc_addr)(uintptr_t)&LLVMFuzzerTestOneInput + 64);
}

static void render(const struct xc_report *report)
{
	static FILE *out;
	struct xc_render_options options = {0};
	if (!out)
		out = fopen("/dev/null", "w");
	must(out);
	xc_error_free(xc_render_json(report, &options, out));
	xc_error_free(xc_render_text(report, &options, out));
	xc_error_free(xc_render_html(report, &options, out));
}

static void run(const uint8_t *data, size_t size)
{
	struct xc_report *report = xc_report_new("fuzz");
	struct xc_host_options options = {.process = process,
					  .report = report,
					  .name = "fuzz",
					  .limits = {.instructions = 1000000, .memory = 8 << 20, .seconds = 5}};
	struct xc_host *host = xc_host_new(&options);
	lua_pushlstring(host->L, (const char *)data, size);
	lua_setglobal(host->L, "fuzz_input");
	lua_pushinteger(host->L, MEMORY);
	lua_setglobal(host->L, "fuzz_memory");
	struct xc_error *err = xc_host_run(host, "fuzz_bind.lua", fuzz_script, strlen(fuzz_script), NULL, 0);
	must(!err || (err->code == XC_ERR_LIMIT && *err->message)); /* every other error is caught by the script */
	if (getenv("FUZZ_SHOW") && err)
		fprintf(stderr, "%s\n%s\n", err->message, err->lines ? err->lines : "");
	xc_error_free(err);
	xc_host_free(host);
	render(report);
	xc_report_free(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned inputs;
	if (size > LONGEST)
		return 0;
	if (!process)
		start();
	run(data, size);
	if (++inputs % INPUTS == 0) { /* types that scripts make stay with the process */
		close_self(process);
		process = NULL;
	}
	return 0;
}
