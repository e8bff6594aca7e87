/* core_retention: the list for a set of problems, and its text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/render/render.h"
#include "core/base/text.h"
#include "batch/problems/core_retention.h"

/* ---- the list ---- */

static int by_kept(const void *a, const void *b)
{
	const struct xc_core_kept *left = a, *right = b;
	return xc_record_compare(&left->record, &right->record);
}

static int spare_order(const void *a, const void *b)
{
	const struct xc_core_spare *left = a, *right = b;
	if (!left->copy_of != !right->copy_of)
		return left->copy_of ? -1 : 1;
	return xc_record_compare(&left->record, &right->record);
}

/* The member kept for this member's class. A class that has only copies keeps none: they are spare because of their
 * originals. */
static const struct xc_problem_member *kept_for(const struct xc_problem *problem, const struct xc_problem_member *m)
{
	const struct xc_problem_member *best = &problem->members[problem->classes[m->class_at].best];
	return best->copy_of ? xc_problem_shown(problem) : best;
}

/* Why a member other than the representative is kept; NULL: it is not. */
static const char *why_kept(const struct xc_problem *problem, const struct xc_problem_member *m)
{
	const char *doubt = m->copy_of ? NULL : xc_signature_doubt(m->signature);
	return !doubt && kept_for(problem, m) == m ? m->signature->class_name : doubt;
}

static int by_path(const void *path, const void *member)
{
	return strcmp(path, ((const struct xc_problem_member *)member)->record->path);
}

static const struct xc_record *instead_of(const struct xc_problem *problem, const struct xc_problem_member *spare)
{
	const struct xc_problem_member *original =
		!spare->copy_of
			? NULL
			: bsearch(spare->copy_of, problem->members, problem->member_count, sizeof *original, by_path);
	if (original && why_kept(problem, original))
		return original->record;
	return kept_for(problem, original ? original : spare)->record;
}

static void take_problem(struct xc_core_retention *keep, const struct xc_problem *problem)
{
	for (size_t i = 0; i < problem->member_count; i++) {
		const struct xc_problem_member *m = &problem->members[i];
		const bool shown = i == problem->representative;
		const char *why = shown ? NULL : why_kept(problem, m);
		if (shown || why) {
			keep->kept[keep->kept_count++] = (struct xc_core_kept){m->record, problem, why};
			keep->kept_bytes += m->record->stored;
		} else {
			keep->spare[keep->spare_count++] =
				(struct xc_core_spare){m->record, problem, instead_of(problem, m), m->copy_of};
			keep->spare_bytes += m->record->stored;
		}
	}
}

struct xc_core_retention *xc_core_retention_new(const struct xc_problems *problems)
{
	struct xc_core_retention *keep = xc_alloc(sizeof *keep);
	keep->kept = xc_alloc((problems->cores + 1) * sizeof *keep->kept);
	keep->spare = xc_alloc((problems->cores + 1) * sizeof *keep->spare);
	for (size_t i = 0; i < problems->count; i++)
		take_problem(keep, &problems->problems[i]);
	qsort(keep->kept, keep->kept_count, sizeof *keep->kept, by_kept);
	qsort(keep->spare, keep->spare_count, sizeof *keep->spare, spare_order);
	keep->apart = problems->failed;
	keep->apart_count = problems->failed_count;
	return keep;
}

void xc_core_retention_free(struct xc_core_retention *keep)
{
	if (!keep)
		return;
	free(keep->kept);
	free(keep->spare);
	free(keep);
}

/* ---- as text ---- */

static void add_core(struct xc_text *text, const char *word, const char *id, const struct xc_record *record)
{
	xc_text_printf(text, "%-6s%-12s  ", word, id);
	xc_text_name(text, xc_record_shown(record));
}

static void add_spare(struct xc_text *text, const struct xc_core_spare *spare)
{
	add_core(text, "spare", spare->problem->id, spare->record);
	xc_text_add(text, spare->copy_of ? "  copy of " : "  like ");
	xc_text_name(text, spare->copy_of ? spare->copy_of : xc_record_shown(spare->instead));
	xc_text_add(text, ", ");
	xc_text_size(text, spare->record->stored);
	xc_text_char(text, '\n');
}

static void add_kept(struct xc_text *text, const struct xc_core_retention *keep)
{
	for (size_t i = 0; i < keep->kept_count; i++) {
		const struct xc_core_kept *kept = &keep->kept[i];
		add_core(text, "keep", kept->problem->id, kept->record);
		if (kept->why) {
			xc_text_add(text, "  ");
			xc_text_name(text, kept->why);
		}
		xc_text_char(text, '\n');
	}
}

static void add_sum(struct xc_text *text, const struct xc_core_retention *keep)
{
	xc_render_count(text, keep->kept_count);
	xc_text_add(text, " to keep (");
	xc_text_size(text, keep->kept_bytes);
	xc_text_add(text, "), ");
	xc_render_count(text, keep->spare_count);
	xc_text_add(text, " to spare (");
	xc_text_size(text, keep->spare_bytes);
	xc_text_add(text, ")");
	if (keep->apart_count) {
		xc_text_add(text, ", ");
		xc_render_count(text, keep->apart_count);
		xc_text_add(text, " without a verdict");
	}
	xc_text_char(text, '\n');
}

struct xc_error *xc_core_retention_write(const struct xc_core_retention *keep, FILE *out)
{
	struct xc_text text = {0};
	add_kept(&text, keep);
	for (size_t i = 0; i < keep->spare_count; i++)
		add_spare(&text, &keep->spare[i]);
	for (size_t i = 0; i < keep->apart_count; i++) {
		add_core(&text, "apart", xc_record_status_name(keep->apart[i]->status), keep->apart[i]);
		xc_text_char(&text, '\n');
	}
	add_sum(&text, keep);
	size_t written = fwrite(text.bytes, 1, text.len, out);
	bool whole = written == text.len && !fflush(out);
	xc_text_fini(&text);
	return whole ? NULL : xc_error_errno(errno, "writing the keep list");
}
