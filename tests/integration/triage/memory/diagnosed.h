/* diagnosed: the diagnosis of a bad pointer, on programs that crash from it while the test runs. */
#ifndef XC_TEST_DIAGNOSED_H
#define XC_TEST_DIAGNOSED_H

#include "core/report/report.h"
#include "heap/session/session.h"
#include "tests/support/grid.h"
#include "tests/support/opened.h"
#include "triage/cause.h"

struct told {
	const char *source, *verdict; /* "use-after-free (read), high" */
	const char *cause, *evidence; /* parts of them */
};

static const char *const compilers[] = {"gcc -g -O0", "gcc -g -O2", "gcc -g -O3", "clang -g -O0", "clang -g -O2"};

static inline bool has_evidence(const struct xc_verdict *v, const char *part)
{
	for (size_t i = 0; i < v->evidence_count; i++)
		if (strstr(v->evidence[i], part))
			return true;
	return false;
}

static inline void print(const struct xc_verdict *v)
{
	print_message("%s (%s), %s, %s: %s\n%s\n", v->class_name, v->kind ? v->kind : "-", v->severity, v->confidence,
		      v->cause ? v->cause : "", v->headline);
	for (size_t i = 0; i < v->evidence_count; i++)
		print_message("  %s\n", v->evidence[i]);
}

static inline void expect_of(const char *compiler, const char *language, const struct told *told)
{
	char command[200], verdict[200];
	snprintf(command, sizeof command, "%s -x %s", compiler, language);
	struct xc_process *process = died(command, told->source);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, xc_heap_of(process, NULL));
	const struct xc_verdict *v = report->verdict;
	assert_non_null(v);
	snprintf(verdict, sizeof verdict, v->kind ? "%s (%s), %s" : "%s%s, %s", v->class_name, v->kind ? v->kind : "",
		 v->severity);
	bool good = strcmp(verdict, told->verdict) == 0 && v->cause && strstr(v->cause, told->cause) &&
		    has_evidence(v, told->evidence);
	if (!good || getenv("STORY"))
		print(v);
	if (!good)
		fail_msg("%s\n%s", command, told->source);
	xc_report_free(report);
	xc_heap_forget(process);
	close_process(process);
}

static inline void expect(const struct told *told)
{
	GRID(i, XC_COUNT(compilers))
		expect_of(compilers[i], "c", told);
}

/* By one of two, because optimisation levels differ. */
static inline void expect_of_two(const char *one, const char *other, const struct told *told)
{
	GRID(i, 2)
		expect_of(i ? other : one, "c", told);
}

#define HEAD                                                                                                           \
	"#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n"                          \
	"struct node { struct node *next; struct node *back; long id; void (*on)(void); char name[24]; };\n"           \
	"struct node *volatile head, *volatile other; volatile long sum; struct { long key; struct node *n; } "        \
	"*volatile "                                                                                                   \
	"table;\n"                                                                                                     \
	"__attribute__((noinline)) struct node *make(void) { struct node *n = calloc(1, sizeof *n); n->next = "        \
	"n->back = "                                                                                                   \
	"n; return n; }\n"
#define MAIN(body)                                                                                                     \
	HEAD "static void *hide(void *p) { __asm__ volatile(\"\" : \"+r\"(p) : : \"memory\"); return p; }\n"           \
	     "struct entry { long id; char key[16]; struct entry *next; struct entry *more; }; char *volatile "        \
	     "other_line;\n"                                                                                           \
	     "__attribute__((noinline)) long next_of(struct entry *e) { return e->next->id; }\n"                       \
	     "__attribute__((noinline)) long back_of(struct node *n) { return n->back->id; }\n"                        \
	     "int main(void) { head = make(); other = make(); " body " return 0; }\n"

#define FIELDS(death)                                                                                                  \
	HEAD "#include <string.h>\nstruct user { int id; char name[12]; struct { char city[8]; char *street; } at;\n"  \
	     " struct user *boss; }; struct user all[3];\n"                                                            \
	     "struct shape { double v[4]; struct shape *next; int n; int i[3]; int *ids; };\n"                         \
	     "__attribute__((noinline)) void call(struct user *u, const char *n) { strcpy(u->name, n); }\n"            \
	     "__attribute__((noinline)) int boss(struct user *u) { return u->boss->id; }\n"                            \
	     "__attribute__((noinline)) void fill(double *v, int n) { for (int i = 0; i < n; i++) v[i] = i * 0.5; }\n" \
	     "__attribute__((noinline)) void count(int *v, int n) { for (int i = 0; i < n; i++) v[i] = i; }\n"         \
	     "__attribute__((noinline)) double next(struct shape *s) { return s->next->v[0]; }\n"                      \
	     "__attribute__((noinline)) int ids(struct shape *s) { return *s->ids; }\n"                                \
	     "int main(int argc, char **argv) { const char *n = argc ? \"Maximilian von Habsburg-Lothringen\" : "      \
	     "*argv;\n"                                                                                                \
	     " struct shape *s = calloc(1, sizeof *s); struct user *u = calloc(4, sizeof *u), me = {0};\n" death       \
	     " sum = u->id + me.id + s->n; return 0; }\n"

#endif
