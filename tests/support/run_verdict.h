/* run_verdict: the verdict on a program that is compiled and crashed by the test. */
#ifndef XC_TEST_JUDGED_H
#define XC_TEST_JUDGED_H

#include "tests/support/opened.h"

#include "core/report/report.h"
#include "heap/session/session.h"
#include "triage/cause.h"

struct judged {
	struct xc_process *process;
	struct xc_report *report;
	const struct xc_verdict *verdict;
};

/* The program's argument may be NULL. */
static inline struct judged judge_of(const char *compiler, const char *source, const char *argument, bool with_heap)
{
	struct judged j = {.process = died_of(compiler, source, argument), .report = xc_report_new("analyze")};
	xc_cause(j.report, j.process, with_heap ? xc_heap_of(j.process, NULL) : NULL);
	j.verdict = j.report->verdict;
	assert_non_null(j.verdict);
	return j;
}

static inline struct judged judge(const char *compiler, const char *source, bool with_heap)
{
	return judge_of(compiler, source, NULL, with_heap);
}

static inline void judged_free(struct judged *j)
{
	xc_report_free(j->report);
	xc_heap_forget(j->process);
	close_process(j->process);
}

static inline bool judged_says(const struct judged *j, const char *part)
{
	for (size_t i = 0; i < j->verdict->evidence_count; i++)
		if (strstr(j->verdict->evidence[i], part))
			return true;
	return j->verdict->cause && strstr(j->verdict->cause, part);
}

/* Fail and print the whole verdict. */
static inline void judged_fail(const struct judged *j, const char *compiler, const char *wanted)
{
	const struct xc_verdict *v = j->verdict;
	print_message("%s: %s (%s) in %s:%u, expression %s, cause %s, message %s\n", compiler, v->class_name,
		      v->kind ? v->kind : "-", v->function ? v->function : "-", v->line,
		      v->expression ? v->expression : "-", v->cause ? v->cause : "-", v->message ? v->message : "-");
	for (size_t i = 0; i < v->evidence_count; i++)
		print_message("  %s\n", v->evidence[i]);
	fail_msg("wanted %s", wanted);
}

static inline bool judged_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* NULL: not checked; "" as kind: none. */
struct wanted {
	const char *class_name, *kind, *function, *expression, *message, *says, *also;
	const char *without;  /* must not be said */
	const char *argument; /* of the program */
};

static inline void judged_expect(const char *compiler, const char *source, bool with_heap, const struct wanted *want)
{
	struct judged j = judge_of(compiler, source, want->argument, with_heap);
	const struct xc_verdict *v = j.verdict;
	if (!judged_same(v->class_name, want->class_name))
		judged_fail(&j, compiler, want->class_name);
	if (want->kind && !judged_same(v->kind, *want->kind ? want->kind : NULL))
		judged_fail(&j, compiler, want->kind);
	if (want->function && !judged_same(v->function, want->function))
		judged_fail(&j, compiler, want->function);
	if (want->expression && !judged_same(v->expression, *want->expression ? want->expression : NULL))
		judged_fail(&j, compiler, want->expression);
	if (want->message && (!v->message || !strstr(v->message, want->message)))
		judged_fail(&j, compiler, want->message);
	if (want->says && !judged_says(&j, want->says))
		judged_fail(&j, compiler, want->says);
	if (want->also && !judged_says(&j, want->also))
		judged_fail(&j, compiler, want->also);
	if (want->without && judged_says(&j, want->without))
		judged_fail(&j, compiler, xc_asprintf("no \"%s\"", want->without));
	judged_free(&j);
}

#endif
