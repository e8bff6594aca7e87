/* foreign_frame: each piece of code is kept with a row of call frame information. On the first look-up the pieces are
 * painted into disjoint spans: of those that overlap at a place, the one added last wins. */
#include "dwarf/cfi/foreign_frame.h"

#include <stdlib.h>
#include <string.h>

#include "core/report/report.h"

struct xc_foreign_span {
	xc_addr lo, hi;
	const struct xc_foreign_entry *entry;
};

/* ---- of a process ---- */

struct xc_foreign *xc_foreign_of(const struct xc_process *process)
{
	return process->foreign;
}

static struct xc_foreign *foreign_made(struct xc_process *process)
{
	if (!process->foreign)
		process->foreign = xc_alloc(sizeof(struct xc_foreign));
	return process->foreign;
}

struct xc_foreign *xc_foreign_take(struct xc_process *process)
{
	struct xc_foreign *foreign = process->foreign;
	process->foreign = NULL;
	return foreign;
}

/* NULL is fine. */
static void free_foreign(struct xc_foreign *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->failure_count; i++)
		xc_error_free(g->failures[i]);
	free(g->failures);
	free(g->codes);
	free(g->spans);
	free(g->lists);
	free(g);
}

void xc_foreign_set(struct xc_process *process, struct xc_foreign *foreign)
{
	free_foreign(process->foreign);
	process->foreign = foreign;
}

/* ---- code ---- */

/* The register whose rule gives the return address, as in call frame information. */
static int return_register(const struct xc_arch *arch)
{
	return arch->lr >= 0 ? arch->lr : arch->pc;
}

static bool is_frame_register(const struct xc_arch *arch, int reg)
{
	return reg >= 0 && (reg < arch->frame_regs || reg == arch->pc);
}

static struct xc_error *check_code(const struct xc_arch *arch, const struct xc_foreign_code *code)
{
	if (code->lo > code->hi)
		return xc_error_new(XC_ERR_USAGE, "code that ends before it begins");
	if (code->cfa_reg < 0)
		return code->saved_count ? xc_error_new(XC_ERR_USAGE, "'saved' without 'cfa'") : NULL;
	bool known = arch->unwinds && code->cfa_reg < arch->frame_regs;
	for (size_t i = 0; i < code->saved_count; i++) {
		const struct xc_foreign_saved *s = &code->saved[i];
		known = known && is_frame_register(arch, s->reg) && (s->from < 0 || s->from < arch->frame_regs);
	}
	return known ? NULL : xc_error_new(XC_ERR_USAGE, "a register that call frame information does not cover");
}

static struct xc_cfi_rule rule_of(const struct xc_foreign_saved *saved)
{
	if (saved->from >= 0)
		return (struct xc_cfi_rule){.kind = XC_CFI_REGISTER, .reg = saved->from};
	return (struct xc_cfi_rule){.kind = XC_CFI_AT_CFA, .offset = saved->offset};
}

/* Rules of the machine's calling convention, changed by those of the code. */
static struct xc_cfi_row *make_row(struct xc_arena *arena, const struct xc_arch *arch,
				   const struct xc_foreign_code *code)
{
	int back = return_register(arch);
	struct xc_cfi_row *row = xc_arena_alloc(arena, sizeof *row + arch->frame_regs * sizeof row->rules[0]);
	*row = (struct xc_cfi_row){.found = true,
				   .told = true,
				   .cfa_reg = code->cfa_reg,
				   .cfa_offset = code->cfa_offset,
				   .return_reg = back,
				   .rule_count = arch->frame_regs};
	for (int i = 0; i < arch->frame_regs; i++)
		row->rules[i].kind = xc_arch_has(arch->preserved, i) ? XC_CFI_SAME : XC_CFI_LOST;
	row->rules[arch->sp] = (struct xc_cfi_rule){.kind = XC_CFI_CFA_PLUS};
	row->rules[back] = (struct xc_cfi_rule){.kind = arch->lr >= 0 ? XC_CFI_SAME : XC_CFI_AT_CFA,
						.offset = -(int64_t)arch->reg_size};
	for (size_t i = 0; i < code->saved_count; i++) {
		const struct xc_foreign_saved *s = &code->saved[i];
		row->rules[s->reg == arch->pc ? back : s->reg] = rule_of(s);
	}
	return row;
}

struct xc_error *xc_foreign_add_code(struct xc_process *process, const struct xc_foreign_code *code)
{
	struct xc_foreign *g = foreign_made(process);
	struct xc_error *err = check_code(process->arch, code);
	if (err)
		return err;
	if (g->code_count == XC_FOREIGN_CODES)
		return xc_error_new(XC_ERR_LIMIT, "more than %d ranges of code", XC_FOREIGN_CODES);
	struct xc_foreign_entry *entry = xc_arena_alloc(&process->arena, sizeof *entry);
	entry->code = *code;
	entry->code.name = xc_arena_strdup(&process->arena, code->name);
	entry->code.file = xc_arena_strdup(&process->arena, code->file);
	entry->code.language = xc_arena_strdup(&process->arena, code->language);
	if (code->cfa_reg >= 0)
		entry->row = make_row(&process->arena, process->arch, code);
	struct xc_foreign_saved *saved = xc_arena_alloc(&process->arena, code->saved_count * sizeof *saved);
	for (size_t i = 0; i < code->saved_count; i++)
		saved[i] = code->saved[i];
	entry->code.saved = saved;
	g->codes = xc_grow(g->codes, g->code_count, &g->code_capacity, sizeof(struct xc_foreign_entry *));
	g->codes[g->code_count++] = entry;
	g->painted = false;
	return NULL;
}

/* ---- painting ---- */

/* Codes sorted by start; those open at the current place are in a heap with the one added last on top. */
struct painter {
	struct xc_foreign *foreign;
	size_t *starts, *open;
	size_t open_count, next;
};

static int by_start(const void *a, const void *b, void *foreign)
{
	const struct xc_foreign *g = foreign;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	xc_addr left = g->codes[x]->code.lo, right = g->codes[y]->code.lo;
	return left < right ? -1 : left > right ? 1 : x < y ? -1 : x > y;
}

static void heap_push(struct painter *p, size_t code)
{
	size_t at = p->open_count++;
	for (; at && p->open[(at - 1) / 2] < code; at = (at - 1) / 2)
		p->open[at] = p->open[(at - 1) / 2];
	p->open[at] = code;
}

static void heap_pop(struct painter *p)
{
	size_t last = p->open[--p->open_count], at = 0;
	for (size_t child; (child = 2 * at + 1) < p->open_count; at = child) {
		if (child + 1 < p->open_count && p->open[child + 1] > p->open[child])
			child++;
		if (p->open[child] <= last)
			break;
		p->open[at] = p->open[child];
	}
	p->open[at] = last;
}

static const struct xc_foreign_code *code_of(const struct painter *p, size_t index)
{
	return &p->foreign->codes[index]->code;
}

/* Open the codes that begin at `at`, close those that ended before it. */
static void settle(struct painter *p, xc_addr at)
{
	for (; p->next < p->foreign->code_count && code_of(p, p->starts[p->next])->lo <= at; p->next++)
		heap_push(p, p->starts[p->next]);
	while (p->open_count && code_of(p, p->open[0])->hi < at)
		heap_pop(p);
}

static void paint_spans(struct painter *p)
{
	struct xc_foreign *g = p->foreign;
	size_t capacity = 0;
	for (xc_addr at = 0;;) {
		settle(p, at);
		bool more = p->next < g->code_count;
		xc_addr start = more ? code_of(p, p->starts[p->next])->lo : 0;
		if (!p->open_count && !more)
			break;
		if (!p->open_count) {
			at = start;
			continue;
		}
		xc_addr hi = code_of(p, p->open[0])->hi;
		hi = more && start <= hi ? start - 1 : hi;
		g->spans = xc_grow(g->spans, g->span_count, &capacity, sizeof *g->spans);
		g->spans[g->span_count++] = (struct xc_foreign_span){at, hi, g->codes[p->open[0]]};
		if (hi == UINT64_MAX)
			break;
		at = hi + 1;
	}
}

static void paint(struct xc_foreign *g)
{
	struct painter p = {.foreign = g};
	free(g->spans);
	g->spans = NULL;
	g->span_count = 0;
	p.starts = xc_alloc((g->code_count + 1) * sizeof *p.starts);
	p.open = xc_alloc((g->code_count + 1) * sizeof *p.open);
	for (size_t i = 0; i < g->code_count; i++)
		p.starts[i] = i;
	qsort_r(p.starts, g->code_count, sizeof *p.starts, by_start, g);
	paint_spans(&p);
	free(p.starts);
	free(p.open);
	g->painted = true;
}

static const struct xc_foreign_entry *entry_at(const struct xc_process *process, xc_addr addr, bool override)
{
	struct xc_foreign *g = process->foreign;
	if (!g || !g->code_count)
		return NULL;
	if (!g->painted)
		paint(g);
	size_t lo = XC_LOWER_BOUND(g->span_count, i, g->spans[i].hi < addr);
	const struct xc_foreign_span *span = &g->spans[lo];
	if (lo == g->span_count || span->lo > addr || (override && !span->entry->code.override))
		return NULL;
	return span->entry;
}

const struct xc_foreign_code *xc_foreign_code_at(const struct xc_process *process, xc_addr addr, bool override)
{
	const struct xc_foreign_entry *entry = entry_at(process, addr, override);
	return entry ? &entry->code : NULL;
}

const struct xc_cfi_row *xc_foreign_row(const struct xc_process *process, xc_addr addr, bool override)
{
	const struct xc_foreign_entry *entry = entry_at(process, addr, override);
	return entry ? entry->row : NULL;
}

/* ---- frames ---- */

struct xc_variable_text *xc_foreign_variables(struct xc_arena *arena, const struct xc_variable_text *from, size_t count)
{
	struct xc_variable_text *to = xc_arena_alloc(arena, count * sizeof *to);
	for (size_t i = 0; i < count; i++)
		to[i] = (struct xc_variable_text){.name = xc_arena_strdup(arena, from[i].name),
						  .type = xc_arena_strdup(arena, from[i].type),
						  .value = xc_arena_strdup(arena, from[i].value),
						  .why = xc_arena_strdup(arena, from[i].why)};
	return to;
}

static void copy_row(struct xc_arena *arena, const struct xc_stack_row *from, struct xc_stack_row *to)
{
	*to = (struct xc_stack_row){
		.guest = true,
		.pc = from->pc,
		.function = xc_arena_strdup(arena, from->function),
		.file = xc_arena_strdup(arena, from->file),
		.line = from->line,
		.language = xc_arena_strdup(arena, from->language),
		.kind = xc_arena_strdup(arena, from->kind),
		.args = xc_foreign_variables(arena, from->args, from->arg_count),
		.arg_count = from->arg_count,
		.locals = xc_foreign_variables(arena, from->locals, from->local_count),
		.local_count = from->local_count,
		.has_variables = true,
	};
}

static struct xc_error *check_frames(const struct xc_process *process, const struct xc_foreign *g,
				     const struct xc_foreign_frames *frames)
{
	size_t variables = 0;
	if (frames->tid && !xc_process_thread(process, frames->tid))
		return xc_error_new(XC_ERR_NOT_FOUND, "no thread %d", (int)frames->tid);
	if (g->list_count == XC_FOREIGN_LISTS)
		return xc_error_new(XC_ERR_LIMIT, "more than %d lists of frames", XC_FOREIGN_LISTS);
	if (frames->row_count > XC_FOREIGN_ROWS - g->row_count)
		return xc_error_new(XC_ERR_LIMIT, "more than %d frames", XC_FOREIGN_ROWS);
	for (size_t i = 0; i < frames->row_count; i++)
		variables += frames->rows[i].arg_count + frames->rows[i].local_count;
	if (variables > XC_FOREIGN_VARIABLES - g->variable_count)
		return xc_error_new(XC_ERR_LIMIT, "more than %d variables of frames", XC_FOREIGN_VARIABLES);
	return NULL;
}

struct xc_error *xc_foreign_add_frames(struct xc_process *process, const struct xc_foreign_frames *frames)
{
	struct xc_foreign *g = foreign_made(process);
	struct xc_error *err = check_frames(process, g, frames);
	if (err)
		return err;
	struct xc_foreign_frames copy = *frames;
	copy.order = g->list_count;
	copy.name = xc_arena_strdup(&process->arena, frames->name);
	copy.state = xc_arena_strdup(&process->arena, frames->state);
	copy.rows = xc_arena_alloc(&process->arena, frames->row_count * sizeof *copy.rows);
	for (size_t i = 0; i < frames->row_count; i++) {
		copy_row(&process->arena, &frames->rows[i], &copy.rows[i]);
		g->variable_count += frames->rows[i].arg_count + frames->rows[i].local_count;
	}
	g->row_count += frames->row_count;
	g->lists = xc_grow(g->lists, g->list_count, &g->list_capacity, sizeof *g->lists);
	g->lists[g->list_count++] = copy;
	g->sorted = false;
	return NULL;
}

static int by_thread(const void *a, const void *b)
{
	const struct xc_foreign_frames *x = a, *y = b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->tid && x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

const struct xc_foreign_frames *xc_foreign_frames_of(const struct xc_process *process, pid_t tid, size_t *count_out)
{
	struct xc_foreign *g = process->foreign;
	*count_out = 0;
	if (!g || !g->list_count)
		return NULL;
	if (!g->sorted)
		qsort(g->lists, g->list_count, sizeof *g->lists, by_thread);
	g->sorted = true;
	size_t lo = XC_LOWER_BOUND(g->list_count, i, g->lists[i].tid < tid);
	for (size_t i = lo; i < g->list_count && g->lists[i].tid == tid; i++)
		++*count_out;
	return &g->lists[lo];
}

/* ---- failures ---- */

void xc_foreign_fail(struct xc_process *process, struct xc_error *err)
{
	struct xc_foreign *g = foreign_made(process);
	g->failures = xc_grow(g->failures, g->failure_count, &g->failure_capacity, sizeof(struct xc_error *));
	g->failures[g->failure_count++] = err;
}

struct xc_error *xc_foreign_failure(struct xc_process *process)
{
	struct xc_foreign *g = process->foreign;
	if (!g || g->failure_shown == g->failure_count)
		return NULL;
	struct xc_error **failure = &g->failures[g->failure_shown++];
	return xc_take(*failure);
}
