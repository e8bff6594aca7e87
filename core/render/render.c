/* render: cells, variables and stack rows as plain text, for the renderers that people read. */
#include "core/render/render.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "core/report/scrub.h"
#include "core/report/stacktree.h"
#include "core/text/threadlabel.h"

enum { BRIEF_MOST = 64, BRIEF_HEAD = 32, BRIEF_TAIL = 16 }; /* rows */
enum {
	BEFORE_MOST = 64, /* rows before a recursion: a handler, what the innermost round had called */
	ROUND_MOST = 20,  /* rows of a round of a recursion, inlined functions included */
	ROUNDS_LEAST = 4,
	ROUND_ROWS = 16, /* rows that repeat; fewer are quickly read */
};

void xc_render_count(struct xc_text *text, uint64_t count)
{
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%" PRIu64, count);
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			xc_text_char(text, ',');
		xc_text_char(text, digits[i]);
	}
}

void xc_render_weight(struct xc_text *text, const struct xc_stacktree *tree, uint64_t weight)
{
	if (tree->unit && strcmp(tree->unit, "bytes") == 0)
		xc_text_size(text, weight);
	else
		xc_render_count(text, weight);
}

/* From two minutes on: two units, truncated to the smaller one. */
static void render_long(struct xc_text *text, double seconds)
{
	static const struct {
		const char *name, *part;
		uint64_t size, step, most; /* seconds */
	} units[] = {{"min", "s", 60, 1, 7200}, {"h", "min", 3600, 60, 172800}, {"d", "h", 86400, 3600, UINT64_MAX}};
	uint64_t whole = seconds < 1e15 ? (uint64_t)seconds : (uint64_t)1e15;
	size_t i = 0;
	while (whole >= units[i].most)
		i++;
	xc_text_printf(text, "%" PRIu64 " %s", whole / units[i].size, units[i].name);
	if (whole % units[i].size / units[i].step)
		xc_text_printf(text, " %" PRIu64 " %s", whole % units[i].size / units[i].step, units[i].part);
}

static void render_seconds(struct xc_text *text, double seconds)
{
	xc_text_add(text, seconds < 0 ? "-" : "");
	seconds = fabs(seconds);
	if (seconds == 0)
		xc_text_add(text, "0 s");
	else if (seconds < 1e-3)
		xc_text_printf(text, "%.0f µs", seconds * 1e6);
	else if (seconds < 0.9995)
		xc_text_printf(text, "%.3g ms", seconds * 1e3);
	else if (seconds < 120)
		xc_text_printf(text, "%.3g s", seconds);
	else
		render_long(text, seconds);
}

/* In per cent, with enough digits to differ from 0 and 100; of very little, no more than that. */
static void render_ratio(struct xc_text *text, double fraction)
{
	double percent = fraction * 100;
	if (percent != 0 && fabs(percent) < 0.001) {
		xc_text_add(text, percent > 0 ? "<0.001%" : ">-0.001%");
		return;
	}
	bool round = fabs(percent) >= 0.1 && (fabs(percent) <= 99.9 || fabs(percent) >= 100.1);
	xc_text_printf(text, round ? "%.1f%%" : fabs(percent) < 0.1 ? "%.2g%%" : "%.4g%%", percent);
}

bool xc_render_shown(const struct xc_field *field)
{
	return !field->quiet && (field->cell.kind != XC_FIELD_NULL || field->cell.text);
}

void xc_render_cell(struct xc_text *text, const struct xc_cell *cell, bool redact)
{
	if (redact && cell->secret && cell->kind != XC_FIELD_NULL) {
		xc_text_name(text, cell->redacted ? cell->redacted : XC_REDACTED);
		return;
	}
	switch (cell->kind) {
	case XC_FIELD_TEXT:
	case XC_FIELD_VALUE:
		xc_text_name(text, cell->text);
		break;
	case XC_FIELD_COUNT:
		xc_render_count(text, cell->number);
		break;
	case XC_FIELD_INTEGER:
		xc_text_printf(text, "%" PRId64, (int64_t)cell->number);
		break;
	case XC_FIELD_BYTES:
		xc_text_size(text, cell->number);
		break;
	case XC_FIELD_ADDRESS:
		xc_text_printf(text, "0x%" PRIx64, cell->number);
		break;
	case XC_FIELD_BOOL:
		xc_text_add(text, cell->number ? "yes" : "no");
		break;
	case XC_FIELD_SECONDS:
		render_seconds(text, cell->real);
		break;
	case XC_FIELD_NUMBER:
		xc_text_printf(text, "%.6g", cell->real);
		break;
	case XC_FIELD_RATIO:
		render_ratio(text, cell->real);
		break;
	case XC_FIELD_NULL:
		xc_text_name(text, cell->text ? cell->text : "–");
		break;
	}
}

bool xc_render_right(enum xc_field_kind kind)
{
	return kind == XC_FIELD_COUNT || kind == XC_FIELD_INTEGER || kind == XC_FIELD_BYTES ||
	       kind == XC_FIELD_ADDRESS || kind == XC_FIELD_SECONDS || kind == XC_FIELD_NUMBER ||
	       kind == XC_FIELD_RATIO;
}

void xc_render_variable(struct xc_text *text, const struct xc_variable_text *variable, bool redact)
{
	if (variable->value && redact) {
		xc_text_add(text, XC_REDACTED);
	} else if (variable->value) {
		xc_text_name(text, variable->value);
		if (variable->guessed)
			xc_text_add(text, " (at entry)");
	} else {
		xc_text_char(text, '<');
		xc_text_name(text, variable->why ? variable->why : "unknown");
		xc_text_char(text, '>');
	}
}

/* Do the rows show the same call? Their numbers and values may differ. */
static bool same_call(const struct xc_stack_row *a, const struct xc_stack_row *b)
{
	bool named = a->function && b->function && strcmp(a->function, b->function) == 0;
	return named && a->line == b->line && a->inlined == b->inlined && a->guest == b->guest && !b->left_out;
}

/* Rows that repeat: [from, to), in rounds of `length` rows. */
struct rounds {
	size_t from, to, length; /* length 0: none */
};

/* The first such run among the rows [lo, hi), with the shortest round. */
static struct rounds find_rounds(const struct xc_stack *stack, size_t lo, size_t hi, size_t before)
{
	for (size_t from = lo; from < hi && from - lo <= before; from++)
		for (size_t k = 1; k <= ROUND_MOST && from + k < hi; k++) {
			size_t to = from + k;
			while (to < hi && same_call(&stack->rows[to], &stack->rows[to - k]))
				to++;
			if (to - from >= ROUNDS_LEAST * k && to - from >= ROUND_ROWS)
				return (struct rounds){from, to, k};
		}
	return (struct rounds){.length = 0};
}

/* Show two rounds of a recursion where the stack is deepest, and one where it began. */
static void fold_rounds(const struct xc_stack *stack, struct xc_gap *gap)
{
	bool elided = gap->frames != 0;
	size_t end = elided ? gap->at : stack->row_count;
	struct rounds head = find_rounds(stack, 0, end, BEFORE_MOST);
	size_t at = head.from + 2 * head.length, resume = elided ? gap->resume : head.to - head.length;
	if (!head.length || (elided && head.to != end))
		return;
	if (elided) {
		struct rounds tail = find_rounds(stack, gap->resume, stack->row_count, ROUND_MOST);
		resume = tail.length == head.length ? tail.to - head.length : gap->resume;
	}
	if (resume <= at || (elided && (at >= gap->at || resume < gap->resume)))
		return;
	gap->frames = elided ? gap->frames + (gap->at - at) + (resume - gap->resume) : resume - at;
	gap->at = at;
	gap->resume = resume;
}

struct xc_gap xc_render_gap(const struct xc_stack *stack, bool brief)
{
	struct xc_gap gap = {.at = stack->row_count, .resume = stack->row_count};
	if (stack->elided && stack->elided_at < stack->row_count)
		gap.at = gap.resume = stack->elided_at;
	gap.frames = stack->elided;
	struct xc_gap whole = gap;
	if (brief)
		fold_rounds(stack, &gap);
	bool between = !stack->elided || (gap.at >= BRIEF_HEAD && stack->row_count - gap.at >= BRIEF_TAIL);
	if (!brief || gap.at != whole.at || stack->row_count <= BRIEF_MOST || !between)
		return gap;
	gap.at = BRIEF_HEAD;
	gap.resume = stack->row_count - BRIEF_TAIL;
	gap.frames += gap.resume - gap.at;
	return gap;
}

bool xc_render_is_lost(const struct xc_variable_text *variable)
{
	return variable->why && strcmp(variable->why, "optimized out") == 0;
}

void xc_render_lost(struct xc_text *text, const struct xc_stack_row *row, size_t count)
{
	bool first = true;
	for (size_t i = 0; i < count; i++) {
		if (!xc_render_is_lost(&row->locals[i]))
			continue;
		xc_text_add(text, first ? "optimized out: " : ", ");
		xc_text_name(text, row->locals[i].name ? row->locals[i].name : "?");
		first = false;
	}
}

void xc_render_function(struct xc_text *text, const struct xc_stack_row *row)
{
	if (row->function)
		xc_text_name(text, row->function);
	else if (row->guest && !row->pc)
		xc_text_char(text, '?');
	else
		xc_text_printf(text, "0x%" PRIx64, row->pc);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

void xc_render_place(struct xc_text *text, const struct xc_stack_row *row)
{
	if (row->file) {
		xc_text_name(text, base_name(row->file));
		if (row->line)
			xc_text_printf(text, ":%u", row->line);
	} else if (row->module) {
		xc_text_name(text, base_name(row->module));
		if (!row->function && row->has_offset)
			xc_text_printf(text, "+0x%" PRIx64, row->offset);
	}
}

static void add_mark(struct xc_text *text, size_t start, const char *mark)
{
	if (text->len > start)
		xc_text_add(text, ", ");
	xc_text_add(text, mark);
}

void xc_render_marks(struct xc_text *text, const struct xc_stack_row *row, bool *doubt_out)
{
	size_t start = text->len;
	const char *trust = row->trust ? row->trust : "";
	bool by_fp = !strcmp(trust, "fp"), by_scan = !strcmp(trust, "scan");
	if (row->language) {
		xc_text_name(text, row->language);
		if (row->kind && strcmp(row->kind, "function") != 0) {
			xc_text_char(text, ' ');
			xc_text_name(text, row->kind);
		}
	}
	if (row->inlined)
		add_mark(text, start, "inlined");
	if (row->tail_call)
		add_mark(text, start, row->tail_partial ? "tail call, others are not known" : "tail call");
	if (row->signal)
		add_mark(text, start, "signal handler called");
	if (by_fp)
		add_mark(text, start, "found by frame pointer");
	if (by_scan)
		add_mark(text, start, "guess: found by stack scan");
	if (row->unverified)
		add_mark(text, start, "module unverified");
	bool differs = row->opinion && strcmp(row->opinion, XC_OPINION_SAME) != 0;
	if (differs) {
		add_mark(text, start, "libunwind: ");
		xc_text_name(text, row->opinion);
	}
	*doubt_out = by_fp || by_scan || row->unverified || differs;
}

void xc_render_waits(struct xc_text *text, const struct xc_stack *stack, const struct xc_stack_group *group,
		     bool redact)
{
	const char *waits = redact ? stack->waits_redacted : stack->waits;
	if (stack->role) {
		xc_text_add(text, ", started in ");
		xc_text_name(text, stack->role);
	}
	if (!waits)
		return;
	xc_text_add(text, ", ");
	xc_text_name(text, waits);
	if (group && group->member_count > 1 && !group->alike)
		xc_text_add(text, group->on_descriptors ? " (not all on this descriptor)" : " (not all of them)");
}

void xc_render_thread(struct xc_text *text, const struct xc_stack *stack)
{
	if (stack->detached)
		xc_text_name(text, stack->name ? stack->name : "?");
	else
		xc_threadlabel(text, stack->tid, stack->name);
	if (stack->crashed)
		xc_text_add(text, stack->signalled ? ", took the signal" : ", crashed");
	if (stack->state) {
		xc_text_add(text, ", ");
		xc_text_name(text, stack->state);
	}
	if (stack->how) {
		xc_text_add(text, ", ");
		xc_text_name(text, stack->how);
	}
}

void xc_render_member(struct xc_text *text, const struct xc_stack *stack)
{
	if (stack->detached)
		xc_text_name(text, stack->name ? stack->name : "?");
	else
		xc_text_printf(text, "%d", stack->tid);
}

const char *xc_render_stop(const struct xc_stack *stack)
{
	return stack->stop && strcmp(stack->stop, XC_STOP_OUTERMOST) ? stack->stop : NULL;
}

static size_t pad_to_tab_stop(struct xc_text *text, size_t column)
{
	do
		xc_text_char(text, ' ');
	while (++column % 8);
	return column;
}

void xc_render_lines(struct xc_text *text, const char *lines)
{
	xc_auto(xc_freep) char *copy = xc_strdup(lines);
	size_t column = 0;
	for (char *at = copy; *at;) {
		size_t n = strcspn(at, "\n\t");
		char stopper = at[n];
		at[n] = '\0';
		size_t before = text->len;
		xc_text_name(text, at);
		if (text->len > before)
			column += xc_render_columns(text->bytes + before, text->len - before);
		if (stopper == '\t')
			column = pad_to_tab_stop(text, column);
		if (stopper == '\n') {
			xc_text_char(text, '\n');
			column = 0;
		}
		at += stopper ? n + 1 : n;
	}
}

void xc_render_printed(struct xc_text *text, const char *line, size_t len)
{
	xc_auto(xc_freep) char *copy = xc_alloc(len + 1);
	memcpy(copy, line, len);
	for (size_t i = 0; i < len;) {
		size_t n = strcspn(copy + i, "\n\t");
		char stopper = copy[i + n];
		copy[i + n] = '\0';
		xc_text_name(text, copy + i);
		i += n;
		if (i >= len)
			break;
		if (stopper)
			xc_text_char(text, stopper);
		else
			xc_text_add(text, "\\x00");
		i++;
	}
}

size_t xc_render_columns(const char *string, size_t len)
{
	size_t columns = 0;
	for (size_t i = 0; i < len; i++)
		columns += ((unsigned char)string[i] & 0xc0) != 0x80;
	return columns;
}

size_t xc_render_fit(const char *string, size_t len, size_t columns)
{
	size_t i = 0;
	for (size_t used = 0; i < len; i++) {
		bool starts = ((unsigned char)string[i] & 0xc0) != 0x80;
		if (starts && used++ == columns)
			break;
	}
	return i;
}

void xc_render_time(struct xc_text *text, int64_t seconds)
{
	time_t when = (time_t)seconds;
	struct tm utc;
	char words[64];
	if (gmtime_r(&when, &utc) && strftime(words, sizeof words, "%Y-%m-%d %H:%M:%S UTC", &utc))
		xc_text_add(text, words);
}
