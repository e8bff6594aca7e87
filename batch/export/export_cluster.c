/* export_cluster: texts that the exports share. */
#include "batch/export/export_cluster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/render/render.h"
#include "core/base/text.h"

void xc_export_name(struct xc_text *text, const char *string)
{
	struct xc_text name = {0};
	xc_text_name(&name, string);
	for (const char *at = xc_text_string(&name); *at; at++) {
		bool begins = at == name.bytes || at[-1] == ' ';
		if ((begins && at[0] == ':' && at[1] == ':') || (at[0] == '#' && at[1] == '#'))
			xc_text_printf(text, "\\x%02x", *at);
		else
			xc_text_char(text, *at);
	}
	xc_text_fini(&name);
}

static void find_place(struct xc_export_cluster *c, const struct xc_export_options *options)
{
	const struct xc_record *record = c->record;
	size_t at = xc_signature_place(record, c->signature);
	const char *file = record->file;
	if (c->signature->lost)
		return; /* where the stack ended is no place to look at */
	c->function = record->function;
	c->line = record->line;
	if (at < record->frame_count) {
		c->function = record->frames[at].function;
		c->line = record->frames[at].line;
		file = record->frames[at].file;
	}
	c->file = xc_export_path(options, file);
	c->inside = c->line && xc_export_inside(options, file);
}

struct xc_export_cluster xc_export_cluster(const struct xc_problem *problem, const struct xc_export_options *options)
{
	const struct xc_problem_member *shown = xc_problem_shown(problem);
	struct xc_export_cluster c = {
		.problem = problem,
		.class_name = "unknown",
		.rank = xc_severity_rank(problem->severity),
		.state = problem->expired ? "expired" : xc_problem_state_name(problem->state),
	};
	c.severity = xc_severity_name(c.rank);
	if (!shown)
		return c;
	c.record = shown->record;
	c.signature = shown->signature;
	if (c.signature->class_name && *c.signature->class_name)
		c.class_name = c.signature->class_name;
	find_place(&c, options);
	return c;
}

void xc_export_cluster_fini(struct xc_export_cluster *cluster)
{
	xc_freep(&cluster->file);
}

bool xc_export_is_open(const struct xc_problem *problem)
{
	return problem->state == XC_PROBLEM_NEW || problem->state == XC_PROBLEM_OPEN || problem->expired;
}

char *xc_export_source(const struct xc_export_cluster *cluster, const struct xc_export_options *options,
		       unsigned *line_out)
{
	const struct xc_signature *s = cluster->signature;
	*line_out = cluster->line;
	if (!s || cluster->inside)
		return s ? xc_strdup(cluster->file) : NULL;
	for (size_t i = 0; i < s->kept_count; i++) {
		const struct xc_record_frame *frame = &cluster->record->frames[s->kept[i]];
		*line_out = frame->line;
		if (xc_export_is_own(cluster, s->kept[i], options))
			return xc_export_path(options, frame->file);
	}
	*line_out = 1;
	return options->manifest ? xc_strdup(options->manifest) : NULL;
}

bool xc_export_is_own(const struct xc_export_cluster *cluster, size_t index, const struct xc_export_options *options)
{
	const struct xc_signature_frame *judged = &cluster->signature->frames[index];
	const struct xc_record_frame *frame = &cluster->record->frames[index];
	bool known = options->source_root || (judged->fate == XC_FRAME_KEPT && !judged->foreign);
	return known && frame->line && xc_export_inside(options, frame->file);
}

const char *xc_export_signature(const struct xc_export_cluster *cluster)
{
	if (cluster->signature)
		return cluster->signature->told;
	return cluster->problem->text ? cluster->problem->text : cluster->problem->id;
}

const char *xc_export_names(const struct xc_export_cluster *cluster)
{
	const char *text = xc_export_signature(cluster);
	size_t len = strlen(cluster->class_name);
	return strncmp(text, cluster->class_name, len) == 0 && strncmp(text + len, " | ", 3) == 0 ? text + len + 3
												  : text;
}

static void add_place(struct xc_text *text, const char *file, unsigned line, const char *module)
{
	if (file)
		xc_export_name(text, file);
	else if (module)
		xc_export_name(text, module);
	if (file && line)
		xc_text_printf(text, ":%u", line);
}

void xc_export_place(struct xc_text *text, const struct xc_export_cluster *cluster)
{
	const struct xc_signature *s = cluster->signature;
	add_place(text, cluster->file, cluster->line,
		  s && s->kept_count ? cluster->record->frames[s->kept[0]].module : NULL);
}

void xc_export_frame_place(struct xc_text *text, const struct xc_record_frame *frame,
			   const struct xc_export_options *options)
{
	xc_auto(xc_freep) char *file = xc_export_path(options, frame->file);
	add_place(text, file, frame->line, frame->module);
}

void xc_export_class(struct xc_text *text, const struct xc_export_cluster *cluster)
{
	const struct xc_record *r = cluster->record;
	xc_export_name(text, cluster->class_name);
	if (!r || !r->kind || strcmp(r->class_name, cluster->class_name) != 0)
		return; /* a policy has renamed the class, so the kind belongs to another one */
	xc_text_add(text, " (");
	xc_export_name(text, r->kind);
	xc_text_char(text, ')');
}

void xc_export_title(struct xc_text *text, const struct xc_export_cluster *cluster)
{
	const struct xc_signature *s = cluster->signature;
	xc_export_name(text, cluster->class_name);
	if (s && s->kept_count) {
		xc_text_add(text, " in ");
		xc_export_name(text, s->frames[s->kept[0]].shown);
	}
}

static void add_line(struct xc_text *text, const char *before, const char *words)
{
	if (!words)
		return;
	xc_text_add(text, before);
	xc_export_name(text, words);
	xc_text_char(text, '\n');
}

static void add_counted(struct xc_text *text, size_t count, const char *thing)
{
	xc_render_count(text, count);
	xc_text_printf(text, " %s%s", thing, count == 1 ? "" : "s");
}

const char *xc_export_origin(const struct xc_record *record)
{
	const bool said = record->origin && record->cause && strstr(record->cause, record->origin);
	return said ? NULL : record->origin;
}

void xc_export_other_classes(struct xc_text *text, const struct xc_export_cluster *cluster)
{
	const struct xc_problem *problem = cluster->problem;
	const struct xc_problem_member *shown = xc_problem_shown(problem);
	const char *between = "";
	for (size_t i = 0; i < problem->class_count; i++) {
		if (i == shown->class_at || !problem->classes[i].certain)
			continue;
		xc_text_add(text, between);
		xc_export_name(text, problem->classes[i].name);
		xc_text_add(text, " in ");
		add_counted(text, problem->classes[i].count, "core");
		between = ", ";
	}
}

void xc_export_standing(struct xc_text *text, const struct xc_export_cluster *cluster)
{
	struct xc_text others = {0};
	xc_export_other_classes(&others, cluster);
	if (others.len)
		xc_text_printf(text, "also: %s\n", others.bytes);
	xc_text_fini(&others);
	add_line(text, "baseline: ", cluster->problem->note);
	if (cluster->problem->why)
		xc_text_printf(text, "%s: ", cluster->state);
	add_line(text, "", cluster->problem->why);
	add_line(text, cluster->problem->expired ? "expired: " : "expires: ", cluster->problem->expires);
}

void xc_export_words(struct xc_text *text, const struct xc_export_cluster *cluster)
{
	const struct xc_record *record = cluster->record;
	if (record) {
		add_line(text, "", record->headline);
		add_line(text, "", record->cause);
		add_line(text, "value: ", xc_export_origin(record));
	}
	add_counted(text, cluster->problem->member_count, "core");
	if (record && record->program) {
		xc_text_add(text, " of ");
		xc_export_name(text, record->program);
	}
	xc_text_char(text, '\n');
	add_line(text, "", cluster->signature ? xc_signature_doubt(cluster->signature) : NULL);
	if (cluster->problem->guessed) {
		add_counted(text, cluster->problem->guessed, "core");
		xc_text_add(text, " of these by first frames alone: a guess\n");
	}
	xc_export_standing(text, cluster);
}

const char *xc_export_thread(const struct xc_export_cluster *cluster, size_t row)
{
	const size_t *shown = cluster->signature->shown;
	const char *thread = xc_record_thread(cluster->record, shown[row]);
	return row && xc_record_thread(cluster->record, shown[row - 1]) == thread ? NULL : thread;
}

size_t xc_export_rows(const struct xc_export_cluster *cluster, size_t limit, size_t *rows_out)
{
	const struct xc_signature *s = cluster->signature;
	size_t threads = 1, count = 0, of_thread = 0;
	for (size_t i = 1; i < s->shown_count; i++)
		threads += xc_export_thread(cluster, i) != NULL;
	const size_t share = threads < limit ? limit / threads : 1;
	for (size_t i = 0; i < s->shown_count && count < limit; i++) {
		of_thread = xc_export_thread(cluster, i) ? 0 : of_thread;
		if (of_thread++ < share)
			rows_out[count++] = i;
	}
	return count;
}

static void add_row(struct xc_text *text, const struct xc_export_cluster *cluster,
		    const struct xc_export_options *options, size_t row)
{
	const size_t index = cluster->signature->shown[row];
	const char *thread = xc_export_thread(cluster, row);
	if (thread) {
		xc_export_name(text, thread);
		xc_text_char(text, '\n');
	}
	xc_text_printf(text, "#%zu ", index);
	xc_export_name(text, cluster->signature->frames[index].shown);
	xc_text_char(text, ' ');
	xc_export_frame_place(text, &cluster->record->frames[index], options);
	xc_text_char(text, '\n');
}

void xc_export_stack(struct xc_text *text, const struct xc_export_cluster *cluster,
		     const struct xc_export_options *options, size_t limit)
{
	size_t rows[XC_RECORD_FRAMES], count;
	if (!cluster->signature)
		return;
	count = xc_export_rows(cluster, limit < XC_COUNT(rows) ? limit : XC_COUNT(rows), rows);
	for (size_t i = 0; i < count; i++)
		add_row(text, cluster, options, rows[i]);
	if (cluster->signature->shown_count > count)
		xc_text_printf(text, "and %zu more\n", cluster->signature->shown_count - count);
}

void xc_export_failures(struct xc_text *text, const struct xc_problems *problems)
{
	static const char *const words[] = {
		[XC_RECORD_UNREADABLE] = "unreadable",
		[XC_RECORD_TIMEOUT] = "timed out",
		[XC_RECORD_LIMIT] = "over a limit",
		[XC_RECORD_DIED] = "that made xcore itself crash",
	};
	size_t counts[XC_COUNT(words)] = {0};
	const char *between = "";
	for (size_t i = 0; i < problems->failed_count; i++)
		counts[problems->failed[i]->status]++;
	for (size_t i = XC_RECORD_OK + 1; i < XC_COUNT(words); i++) {
		if (!counts[i])
			continue;
		xc_text_add(text, between);
		xc_render_count(text, counts[i]);
		xc_text_printf(text, " %s", words[i]);
		between = ", ";
	}
}

/* The counts without expired problems, which are no longer known and are counted separately. */
static size_t take_expired(const struct xc_problems *problems, size_t counts[XC_PROBLEM_STATES])
{
	size_t expired = 0;
	memcpy(counts, problems->counts, sizeof problems->counts);
	for (size_t i = 0; i < problems->count; i++) {
		if (!problems->problems[i].expired)
			continue;
		counts[problems->problems[i].state]--;
		expired++;
	}
	return expired;
}

static void add_state(struct xc_text *text, const char **between, size_t count, const char *name)
{
	if (!count)
		return;
	xc_text_add(text, *between);
	xc_render_count(text, count);
	xc_text_printf(text, " %s", name);
	*between = ", ";
}

void xc_export_totals(struct xc_text *text, const struct xc_problems *problems)
{
	const char *between = " (";
	add_counted(text, problems->cores, "core");
	xc_text_add(text, " → ");
	add_counted(text, problems->count, "cluster");
	size_t counts[XC_PROBLEM_STATES], expired = take_expired(problems, counts);
	for (enum xc_problem_state state = XC_PROBLEM_NEW; state < XC_PROBLEM_STATES; state++) {
		add_state(text, &between, counts[state], xc_problem_state_name(state));
		if (state == XC_PROBLEM_NEW)
			add_state(text, &between, expired, "expired");
	}
	if (*between == ',')
		xc_text_char(text, ')');
}

size_t xc_export_shown(const struct xc_problems *problems, const struct xc_export_options *options)
{
	return options->limit && options->limit < problems->count ? options->limit : problems->count;
}

void xc_export_trim(struct xc_text *text)
{
	while (text->len && text->bytes[text->len - 1] == '\n')
		text->bytes[--text->len] = '\0';
}

struct xc_error *xc_export_end(FILE *out, const char *what)
{
	errno = 0;
	if (fflush(out) == 0 && !ferror(out))
		return NULL;
	return xc_error_errno(errno ? errno : EIO, "writing %s", what);
}

const char *xc_export_fate(enum xc_frame_fate fate)
{
	static const char *const words[] = {
		[XC_FRAME_KEPT] = "kept",     [XC_FRAME_ABOVE] = "above",       [XC_FRAME_LEAF] = "leaf",
		[XC_FRAME_BELOW] = "below",   [XC_FRAME_REPEATED] = "repeated", [XC_FRAME_HANDLER] = "handler",
		[XC_FRAME_POLICY] = "policy",
	};
	return words[fate];
}
