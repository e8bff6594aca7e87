/* layer: triage */
/* What was accessed, in source terms, and where the bad value came from: programs that die of it, whose source says the truth. */
#include "opened.h"

#include "../../core/report.h"
#include "../../triage/cause.h"

#define NOINLINE "__attribute__((noinline)) "
#define HEAD                                                                                                           \
	"#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n"                                               \
	"struct str { size_t len; char *data; };\n"                                                                    \
	"struct headers { struct str *location; long count; };\n"                                                      \
	"struct request { long id; struct request *next; struct headers headers_out; struct str uri; int codes[8]; "   \
	"};\n"                                                                                                         \
	"struct ops { int (*open)(int); int (*close)(int); };\n"                                                       \
	"struct object { const struct ops *ops; long refs; };\n"                                                       \
	"struct cell { char *name; long value; int tag; };\n"                                                          \
	"volatile long zero, sink; struct request *volatile none; struct cell *table; struct request the_request;\n"

struct example {
	const char *source, *expression, *origin; /* origin: a part of it; NULL: not asked */
	const char *bad;                          /* "`r` is NULL": a part of the cause; NULL: not asked */
};

static const struct example examples[] = {
	{HEAD NOINLINE "struct request *find_request(long id) { return id ? NULL : &the_request; }\n" NOINLINE
		       "void work(long id) { struct request *r = find_request(id);\n"
		       " r->headers_out.location = &the_request.uri; }\n"
		       "int main(void) { work(1 + zero); return 0; }\n",
	 "r->headers_out.location", "returned by find_request() at", "`r` is NULL"},
	{HEAD NOINLINE "long work(struct request *r) { return r->next->uri.len + r->id; }\n"
		       "int main(void) { sink = work(&the_request); return 0; }\n",
	 "r->next->uri.len", NULL, "`r->next` is NULL"},
	{HEAD NOINLINE "long work(long i) { return table[i].value; }\n"
		       "int main(void) { sink = work(3 + zero); return 0; }\n",
	 "table[i].value", NULL, "`table` is NULL"},
	{HEAD NOINLINE "void work(long *p) { *p = 7; sink = 3; }\n"
		       "int main(void) { work((long *)none); return 0; }\n",
	 "*p", "passed by main() at", "`p` is NULL"},
	{HEAD NOINLINE "long inner(struct cell *c) { sink++; return c->value; }\n" NOINLINE
		       "long outer(struct cell *c) { return inner(c) + zero; }\n"
		       "int main(void) { sink = outer(NULL) + 1; return 0; }\n",
	 "c->value", "NULL by main() at", "`c` is NULL"},
	{HEAD "static const struct ops empty; struct object one = {&empty, 1};\n" NOINLINE
	      "int work(struct object *o) { return o->ops->close(3) + (int)zero; }\n"
	      "int main(void) { sink = work(&one); return 0; }\n",
	 "(*o->ops->close)()", NULL, "`o->ops->close` is NULL"},
	{HEAD "void (*callbacks[8])(int);\n" NOINLINE "void work(long i) { callbacks[i](3); sink++; }\n"
	      "int main(void) { work(3 + zero); return 0; }\n",
	 "(*callbacks[i])()", NULL, "is NULL"},
	{HEAD NOINLINE "long work(struct cell *c) { return (long)strlen(c->name) + zero; }\n"
		       "int main(void) { struct cell c = {0}; sink = work(&c); return 0; }\n",
	 "c->name", NULL, "`c->name` is NULL"},
	{HEAD NOINLINE "long work(long a) { return a / zero; }\n"
		       "int main(void) { sink = work(3); return 0; }\n",
	 "zero", NULL, "`zero` is 0"},
	{HEAD NOINLINE "int work(struct request *r, int i) { return r->codes[i] + 1; }\n"
		       "int main(void) { sink = work(none, 3 + (int)zero); return 0; }\n",
	 "r->codes[i]", NULL, "`r` is NULL"},
	{HEAD NOINLINE
	 "struct cell *make(long n) { return n ? (struct cell *)none : calloc(1, sizeof(struct cell)); }\n"
	 "int main(void) { make(1 + zero)->value = 3; return 0; }\n",
	 "make()->value", "returned by make() at", "is NULL"},
	{HEAD NOINLINE "char work(const char *s, unsigned i) { return s[i]; }\n"
		       "int main(void) { sink = work((const char *)none, 5 + (unsigned)zero); return 0; }\n",
	 "s[i]", NULL, "`s` is NULL"},
};

static const char *const compilers[] = {"gcc -g -O0 -x c",   "gcc -g -O2 -x c",   "gcc -g -O3 -x c",
					"clang -g -O0 -x c", "clang -g -O2 -x c", "clang -g -O3 -x c"};

static unsigned judge(const struct example *e, const char *compiler)
{
	struct xc_process *process = died(compiler, e->source);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, NULL);
	const struct xc_verdict *v = report->verdict;
	unsigned wrong = 0;
	wrong |= !v->expression || strcmp(v->expression, e->expression) != 0;
	wrong |= (e->origin && (!v->origin || !strstr(v->origin, e->origin))) ? 2U : 0;
	wrong |= (e->bad && (!v->cause || !strstr(v->cause, e->bad))) ? 4U : 0;
	if (wrong || getenv("SHOW"))
		print_message("%s%s: %s (%s)\n   origin %s\n   cause %s\n", wrong ? "WRONG " : "", compiler,
			      v->expression ? v->expression : "-", e->expression, v->origin ? v->origin : "-",
			      v->cause ? v->cause : "-");
	xc_report_free(report);
	close_process(process);
	return wrong;
}

static void faults_are_told_as_the_source_writes_them(void **state)
{
	(void)state;
	unsigned wrong = 0;
	for (size_t i = 0; i < XC_COUNT(examples); i++)
		for (size_t c = 0; c < XC_COUNT(compilers); c++)
			wrong += judge(&examples[i], compilers[c]) != 0;
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_are_told_as_the_source_writes_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
