/* baselined: problems against a baseline. */
#ifndef XC_TEST_BASELINED_H
#define XC_TEST_BASELINED_H

#include "tests/support/problemed.h"

#define HEAD "# xcore baseline 4\n"

static inline struct xc_baseline *read_text(const char *text)
{
	struct xc_baseline *b = NULL;
	CHECK_OK(xc_baseline_read(text, strlen(text), "crashes.baseline", &b));
	return b;
}

static inline struct problemed *against(const char *text, struct problemed *p)
{
	p->options.baseline = read_text(text);
	problemed_find(p);
	return p;
}

static inline void finish(struct problemed *p)
{
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	problemed_free(p);
}

static inline const char *state_of(const struct problemed *p, const char *path)
{
	return xc_problem_state_name(problem_of(p, path)->state);
}

#define THREE "a null-read parse loop run", "b null-write save loop run", "c abort check loop run"

/* A baseline with problem a and these fields. */
static inline char *knows_a(const struct problemed *p, const char *fields)
{
	return xc_asprintf(HEAD "%s %s\n", problem_of(p, "a")->id, fields);
}

/* The sig of the member with this path. */
static inline const char *sig_of(const struct problemed *p, const char *path)
{
	const struct xc_problem *problem = problem_of(p, path);
	for (size_t i = 0; i < problem->member_count; i++)
		if (!strcmp(problem->members[i].record->path, path))
			return problem->members[i].signature->sig;
	fail_msg("no member %s", path);
	return NULL;
}

/* Two stacks of one problem, with a line for each. */
static inline struct problemed *two_lines(const char *first, const char *second)
{
	struct problemed *p =
		PROBLEMED("a null-read f1 f2 f3 f4 f5 f6 f7 f8 f9 main", "b null-read f1 f2 f3 f4 q5 f6 f7 f8 f9 main");
	assert_true(together(p, "a", "b"));
	xc_auto(xc_freep) char *text =
		xc_asprintf(HEAD "%.12s %s\n%.12s %s\n", sig_of(p, "a"), first, sig_of(p, "b"), second);
	return against(text, p);
}

#endif
