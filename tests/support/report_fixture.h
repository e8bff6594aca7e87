/* report_fixture: a report with every kind of item, and strings as in a hostile core. */
#ifndef REPORT_FIXTURE_H
#define REPORT_FIXTURE_H

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/render/render.h"
#include "core/report/stacktree.h"

/* Suffix of hostile strings. A test may define it before it includes this file. */
#ifndef HOSTILE_END
#define HOSTILE_END ""
#endif

/* A terminal escape, a C1 control sequence introducer, markup, quotes, malformed UTF-8, a bidi override, a newline. */
#define HOSTILE                                                                                                        \
	"a\033[31m\xc2\x9b"                                                                                            \
	"1m</script><b>\"'&\xff\xfe\xe2\x80\xae\n\x07]]>" HOSTILE_END

struct fixture {
	struct xc_report *report;
	struct xc_stacktree *tree; /* must not move: nodes point to its root */
};

static inline struct xc_variable_text variable(const char *name, const char *type, const char *value, const char *why)
{
	return (struct xc_variable_text){.name = name, .type = type, .value = value, .why = why};
}

static inline void fixture_frames(struct xc_arena *arena, struct xc_stack *stack)
{
	stack->rows = xc_arena_alloc(arena, 4 * sizeof *stack->rows);
	stack->row_count = 4;
	struct xc_variable_text *args = xc_arena_alloc(arena, 3 * sizeof *args);
	args[0] = variable("r", "struct request *", "0x55d0c1a2b3c0", NULL);
	args[1] = variable("n", "int", NULL, "optimized out");
	args[2] = variable("flags", "unsigned", "3", NULL);
	args[2].guessed = true;
	struct xc_variable_text *locals = xc_arena_alloc(arena, 2 * sizeof *locals);
	locals[0] = variable("secret", "char [16]", "\"hunter2\"", NULL);
	locals[1] = variable(HOSTILE, HOSTILE, HOSTILE, NULL);
	stack->rows[0] = (struct xc_stack_row){.index = 0,
					       .pc = 0x401136,
					       .function = "handle_request",
					       .inlined = true,
					       .trust = "context",
					       .module = "/usr/bin/prog",
					       .build_id = "9c5f",
					       .has_offset = true,
					       .offset = 0x1136,
					       .file = "/src/server.c",
					       .line = 42,
					       .column = 7,
					       .args = args,
					       .arg_count = 3,
					       .locals = locals,
					       .local_count = 2,
					       .has_variables = true};
	stack->rows[1] = (struct xc_stack_row){.index = 1,
					       .pc = 0x401200,
					       .function = HOSTILE,
					       .trust = "cfi",
					       .module = HOSTILE,
					       .file = HOSTILE,
					       .line = 1,
					       .has_variables = true};
	stack->rows[2] = (struct xc_stack_row){.index = 2,
					       .pc = 0x7f0000001234,
					       .trust = "scan",
					       .unverified = true,
					       .module = "/lib/libfoo.so",
					       .has_offset = true,
					       .offset = 0x1234};
	stack->rows[3] = (struct xc_stack_row){.index = 900,
					       .pc = 0x401000,
					       .function = "main",
					       .trust = "fp",
					       .signal = true,
					       .module = "/usr/bin/prog"};
}

static inline void fixture_stacks(struct xc_section *s)
{
	static const char *const names[] = {"crasher", "worker", "worker"};
	struct xc_arena *arena = &s->report->arena;
	struct xc_stacks *stacks = xc_section_stacks(s, "stacks");
	stacks->stack_count = 3;
	stacks->stacks = xc_arena_alloc(arena, 3 * sizeof *stacks->stacks);
	for (int i = 0; i < 3; i++) {
		struct xc_stack *stack = &stacks->stacks[i];
		*stack = (struct xc_stack){
			.tid = 100 + i, .name = names[i], .crashed = i == 0, .stop = XC_STOP_OUTERMOST};
		fixture_frames(arena, stack);
	}
	stacks->stacks[0].elided = 897;
	stacks->stacks[0].elided_at = 3;
	stacks->stacks[0].cycle = "448 × [parse_value → parse_array]";
	stacks->stacks[1].stop = "0x7fff0000: not dumped into the core";
	stacks->groups = xc_arena_alloc(arena, 2 * sizeof *stacks->groups);
	stacks->group_count = 2;
	static size_t first[] = {0}, others[] = {1, 2};
	stacks->groups[0] = (struct xc_stack_group){.members = first, .member_count = 1};
	stacks->groups[1] = (struct xc_stack_group){.members = others, .member_count = 2};
	stacks->full = true;
	s->schema = "xcore.bt/1";
}

static inline void fixture_table(struct xc_section *s)
{
	static const struct xc_column columns[] = {
		{"name", "NAME", XC_FIELD_TEXT, false},
		{"bytes", "BYTES", XC_FIELD_BYTES, false},
		{"note", "NOTE", XC_FIELD_TEXT, true},
		{"path", "FILE", XC_FIELD_TEXT, false},
	};
	struct xc_table *table = xc_section_table(s, "modules", columns, XC_COUNT(columns));
	const struct xc_cell first[] = {xc_cell_text("libc.so.6"), xc_cell_bytes(1 << 20),
					xc_cell_null("not looked for"),
					xc_cell_text("/usr/lib/x86_64-linux-gnu/libc.so.6")};
	const struct xc_cell second[] = {xc_cell_text(HOSTILE), xc_cell_null("lost"), xc_cell_text("n"),
					 xc_cell_text(HOSTILE)};
	xc_table_row(s, table, first);
	xc_table_row(s, table, second);
}

/* Items that plugins add. */
static inline void fixture_answers(struct xc_section *s)
{
	static const char *const path[] = {"db0", HOSTILE};
	struct xc_bucket buckets[] = {
		{xc_cell_bytes(0), xc_cell_bytes(0), 3},
		{xc_cell_bytes(1024), xc_cell_bytes(2047), 40},
		{xc_cell_bytes(UINT64_C(1) << 63), xc_cell_bytes(UINT64_MAX), 1},
	};
	const struct xc_histogram histogram = {.label = HOSTILE,
					       .kind = XC_FIELD_BYTES,
					       .buckets = buckets,
					       .bucket_count = XC_COUNT(buckets),
					       .count = 44,
					       .least = xc_cell_bytes(0),
					       .greatest = xc_cell_bytes(UINT64_MAX),
					       .sum = xc_cell_number(1.8446744073709552e19),
					       .mean = xc_cell_number(4.1924259257521704e17)};
	xc_section_cell(s, "share", "share", xc_cell_ratio(0.125));
	xc_section_cell(s, "factor", "load", xc_cell_number(0.1));
	xc_section_value(s, "head", "head", "{fd = 7, name = 0x1000 \"hunter2\"}",
			 json_pack("{s:s, s:s, s:{s:i, s:[f, n, b]}}", "type", "struct client", "addr", "0x1000",
				   "value", "fd", 7, "rest", 0.1, 1));
	xc_section_histogram(s, "sizes", &histogram);
	struct xc_stacktree *tree = xc_report_new_tree(s->report, HOSTILE, "bytes");
	xc_stacktree_add(tree, path, 2, 4096);
	xc_stacktree_add(tree, path, 1, 100);
	xc_stacktree_add(tree, path + 1, 1, UINT64_MAX);
	xc_section_tree(s, "memory", tree)->label = "memory";
	xc_report_finish_trees(s->report);
	xc_section_lines(s, "labelled", "one\ntwo")->label = HOSTILE;
	xc_section_lines(s, "silent", "not for people")->quiet = true;
	xc_section_document(s, "layout", "struct a {\n\tint b;\n}", json_pack("{s:[i, i]}", "list", 1, 2));
	xc_report_print(s->report, HOSTILE, strlen(HOSTILE));
	xc_report_print(s->report, "a\0b c", 5);
	xc_report_print(s->report, "", 0);
}

static inline void fixture_verdict(struct xc_report *report)
{
	struct xc_verdict *verdict = xc_report_verdict(report);
	verdict->class_name = "null-write";
	verdict->headline = "SIGSEGV: wrote 8 bytes at 0x18, an address in the first page (SEGV_MAPERR)";
	verdict->severity = "low";
	verdict->confidence = "certain";
	verdict->function = "handle_request";
	verdict->file = "/src/server.c";
	verdict->line = 42;
	verdict->tid = 100;
	verdict->thread_name = "crasher";
	verdict->message = "prog: server.c:42: Assertion `password == \"hunter2\"' failed.";
	verdict->source = "   41\tint n = next();\n→  42\tr->value = n;\n   43\t}\n";
	verdict->cause = "r->value is at offset 0x18 of struct request, and r is NULL";
	xc_verdict_evidence(report, "rbx = %d is %s", 0, "r");
	xc_verdict_evidence(report, "%s", HOSTILE);
}

/* `copy` numbers two copies of one core. The reports differ only where copies may differ. */
static inline struct fixture fixture_new(const char *copy)
{
	struct fixture f = {.report = xc_report_new("analyze"), .tree = xc_alloc(sizeof *f.tree)};
	static const char *const path[] = {"main", HOSTILE, "read"}, *const other[] = {"main", "write"};
	struct xc_section *target = xc_report_target(f.report);
	target->headline = xc_arena_printf(&f.report->arena, "%s   prog   pid 100   x86-64   187 MiB, complete", copy);
	xc_section_text(target, "core_id", "core id", "00ff")->quiet = true;
	xc_section_text(target, "args", "arguments", "--password hunter2")->cell.secret = true;
	xc_section_message(target, XC_WARNING, "copy it again", "the core is cut: %s", HOSTILE);
	fixture_verdict(f.report);
	fixture_stacks(xc_report_section(f.report, "stacks", "Threads"));
	struct xc_section *s = xc_report_section(f.report, "modules", "Modules " HOSTILE);
	xc_section_count(s, "count", "loaded", 1204331);
	xc_section_count(s, "huge", "huge", UINT64_MAX);
	xc_section_integer(s, "delta", "delta", -5);
	xc_section_bool(s, "ok", "all well", true);
	xc_section_seconds(s, "took", "took", 0.25);
	xc_section_unknown(s, "why", "unknown", "its page was not dumped");
	xc_section_address(s, "base", "base", 0x7f0000000000);
	fixture_table(s);
	xc_section_lines(s, "code", "mov\t%rax,0x18(%rbx)\n" HOSTILE "\n");
	xc_section_lines(s, "dump", "68 75 6e 74 65 72 32  |hunter2|\n")->secret = true;
	xc_stacktree_init(f.tree, copy, "threads");
	xc_stacktree_add(f.tree, path, 3, 30);
	xc_stacktree_add(f.tree, other, 2, 10);
	xc_stacktree_finish(f.tree);
	xc_section_tree(s, "tree", f.tree);
	fixture_answers(s);
	xc_section_text(xc_report_run(f.report), "target", "target", copy);
	return f;
}

typedef struct xc_error *render_function(const struct xc_report *, const struct xc_render_options *, FILE *);

static inline void fixture_free(struct fixture *f)
{
	xc_report_free(f->report);
	xc_stacktree_fini(f->tree);
	free(f->tree);
}

/* Render into a malloc'ed string. */
static inline char *render_to_string(render_function *render, const struct xc_report *report,
				     struct xc_render_options options)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct xc_error *err = render(report, &options, out);
	fclose(out);
	if (err) {
		xc_error_free(err);
		free(text);
		return NULL;
	}
	return text;
}

/* Characters that could move a cursor or reorder text on a terminal, except newlines. */
static inline bool has_control(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		bool c0 = (*p < 0x20 && *p != '\n') || *p == 0x7f;
		bool c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0,
		     bidi = p[0] == 0xe2 && p[1] == 0x80 && p[2] == 0xae;
		if (c0 || c1 || bidi || *p >= 0xf8)
			return true;
	}
	return false;
}

#endif
