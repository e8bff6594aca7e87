/* layer: triage tier: long */
/* The accessed expression, in source terms, and the origin of the bad value: programs that crash from it, with the
 * truth in their source. */
#include "tests/support/grid.h"
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "triage/cause.h"
#include "triage/explain/expression.h"

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
	const char *source, *expression, *origin; /* origin: a part of it; NULL: not checked */
	const char *bad;                          /* "`r` is NULL": a part of the cause; NULL: not checked */
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
	{HEAD NOINLINE "void work(unsigned char *to, int value) { *(int *)(to + 8) = value; sink++; }\n"
		       "int main(void) { work((unsigned char *)none, 3 + (int)zero); return 0; }\n",
	 "to[8]", NULL, "`to` is NULL"},
	{HEAD NOINLINE "int work(struct request *r, int i) { return r->codes[i] + 1; }\n"
		       "int main(void) { sink = work(none, 3 + (int)zero); return 0; }\n",
	 "r->codes[i]", NULL, "`r` is NULL"},
	{HEAD NOINLINE
	 "struct cell *make(long n) { return n ? (struct cell *)none : calloc(1, sizeof(struct cell)); }\n"
	 "int main(void) { make(1 + zero)->value = 3; return 0; }\n",
	 "make()->value", "returned by make() at", "`make()` returned NULL"},
	{HEAD NOINLINE "char work(const char *s, unsigned i) { return s[i]; }\n"
		       "int main(void) { sink = work((const char *)none, 5 + (unsigned)zero); return 0; }\n",
	 "s[i]", NULL, "`s` is NULL"},
};

/* Programs for which a wrong answer is tempting. */
static const struct example hard[] = {
	{HEAD NOINLINE
	 "long work(void) { struct request *r; if (zero) r = &the_request; return r->next->id; }\n" NOINLINE
	 "void fill(void) { volatile long a[64]; for (int i = 0; i < 64; i++) a[i] = 0x10; }\n"
	 "int main(void) { fill(); sink = work(); return 0; }\n",
	 "r->next|r->next->id|the_request.next->id|-", NULL, NULL},
	{HEAD NOINLINE "struct request *find(long i) { return i ? (struct request *)none : &the_request; }\n" NOINLINE
		       "long work(long i) { struct request *r = NULL; if (i > 2) r = find(i); return r->id; }\n"
		       "int main(void) { sink = work(3 + zero); return 0; }\n",
	 "r->id", NULL, "`r` is NULL"},
	{HEAD "struct node { struct node *next; long value; } c = {(struct node *)0x10, 3}, b = {&c, 2}, a = {&b, "
	      "1};\n" NOINLINE
	      "long work(struct node *n) { long s = 0; for (; n; n = n->next) s += n->value; return s; }\n"
	      "int main(void) { sink = work(&a); return 0; }\n",
	 "n->value|n->next", NULL, "`n` is 0x10"},
	{HEAD "long grid[4][8]; long *rows[4];\n" NOINLINE
	      "long work(long i, long j) { return rows[i][j] + grid[1][j]; }\n"
	      "int main(void) { sink = work(1 + zero, 2 + zero); return 0; }\n",
	 "rows[i][j]", NULL, "`rows[i]` is NULL"},
	{HEAD NOINLINE "long work(struct request **rr) { return (*rr)->id; }\n"
		       "int main(void) { sink = work((struct request **)&none); return 0; }\n",
	 "(*rr)->id", NULL, "`*rr` is NULL"},
	{HEAD NOINLINE "void work(char *to, const char *from) { while ((*to++ = *from++)) ; }\n"
		       "int main(void) { work((char *)none, \"hello\"); return 0; }\n",
	 "*to|to[-1]|to[]|-", NULL, NULL},
	{HEAD NOINLINE "int get(struct cell **out) { *out = (struct cell *)none; return (int)zero; }\n" NOINLINE
		       "long work(void) { struct cell *c = (struct cell *)&sink; get(&c); return c->value; }\n"
		       "int main(void) { sink = work(); return 0; }\n",
	 "c->value", "get()", "`c` is NULL"},
	{HEAD "static __thread struct cell *mine;\n" NOINLINE "long work(void) { return mine->value; }\n"
	      "int main(void) { if (zero) mine = table; sink = work(); return 0; }\n",
	 "mine->value|-", NULL, NULL},
	{HEAD NOINLINE "long work(int i) { return the_request.codes[i]; }\n"
		       "int main(void) { sink = work(100000000 + (int)zero); return 0; }\n",
	 "the_request.codes[i]", NULL, "the index `i` leads to unmapped memory"},
	{HEAD NOINLINE "long work(long *v, long i, long k) { return v[i + k]; }\n"
		       "int main(void) { static long v[9]; sink = work(v, (1L << 44) + zero, 2 + zero); return 0; }\n",
	 "v[i + k]|v[k + i]|v[]", NULL, "the index leads to unmapped memory"},
	{HEAD NOINLINE "long work(long *v, long i, long k) { return v[2 * i + k]; }\n"
		       "int main(void) { static long v[9]; sink = work(v, (1L << 30) + zero, 2 + zero); return 0; }\n",
	 "v[2 * i + k]|v[k + 2 * i]|v[]", NULL, "the index leads to unmapped memory"},
	{HEAD NOINLINE
	 "long work(struct cell *v, long i, long k) { return v[i - k].value; }\n"
	 "int main(void) { static struct cell v[9]; sink = work(v, (1L << 30) + zero, 2 + zero); return 0; "
	 "}\n",
	 "v[i - k].value|v[].value", NULL, "the index leads to unmapped memory"},
	{HEAD "struct row { int n; struct cell cols[3]; }; struct sheet { long id; struct row rows[4]; };\n" NOINLINE
	      "long work(struct sheet *s, long i, long j) { return s->rows[i].cols[j].value; }\n"
	      "int main(void) { sink = work((struct sheet *)none, 1 + zero, 2 + zero); return 0; }\n",
	 "s->rows[i].cols[j].value", NULL, "`s` is NULL"},
	{HEAD "static inline long deep(struct request *q) { return q->next->headers_out.location->len; }\n" NOINLINE
	      "long work(struct request *r) { return deep(r->next) + zero; }\n"
	      "int main(void) { struct request b = {0}, a = {.next = &b}; a.headers_out.location = &the_request.uri; "
	      "sink = work(&a); return 0; }\n",
	 "q->next->headers_out.location|r->next->next->headers_out.location", NULL, "next` is NULL"},
	{HEAD NOINLINE
	 "int compare(const void *a, const void *b) { const struct request *const *x = a, *const *y = b;\n"
	 " return (*x)->id < (*y)->id ? -1 : 1; }\n"
	 "int main(void) { struct request *all[3] = {&the_request, NULL, NULL};\n"
	 " qsort(all, 3, sizeof *all, compare); return 0; }\n",
	 "(*x)->id|(*y)->id|-", NULL, NULL},
	{HEAD NOINLINE "void work(double *p, long n) { for (long i = 0; i < n; i++) p[i] = p[i] * 2.5; }\n"
		       "int main(void) { work((double *)none, 100 + zero); return 0; }\n",
	 "p[i]|*p|p[]|-", NULL, NULL},
	{HEAD NOINLINE "void work(char *to, const char *from) { memcpy(to, from, 300 + zero); sink++; }\n"
		       "int main(void) { static char buf[400]; work(buf, (char *)none); return 0; }\n",
	 "from|-", NULL, NULL},
	{HEAD NOINLINE "void work(struct request *r, const char *name) { strcpy(r->uri.data, name); sink++; }\n"
		       "int main(void) { work(&the_request, \"a name of some length\"); return 0; }\n",
	 "r->uri.data|-", NULL, NULL},
	{HEAD NOINLINE
	 "long work(int what, struct cell *c) { long r = 0; switch (what) { case 0: r = 3; break;\n"
	 " case 1: r = c->value; break; case 2: r = c->tag; break; case 3: c = table; case 4: r = c->tag + 5;\n"
	 " break; case 5: r = 77; break; case 6: r = c->value * 3; break; } return r; }\n"
	 "int main(void) { sink = work(3 + (int)zero, (struct cell *)&sink); return 0; }\n",
	 "c->tag|table->tag", NULL, "is NULL"},
	{HEAD NOINLINE "long call(int (*cb)(int), int n) { return cb(n) + zero; }\n"
		       "int main(void) { sink = call((int (*)(int))none, 3); return 0; }\n",
	 "(*cb)()", "passed by main() at", "`cb` is NULL"},
	{HEAD NOINLINE "int sum(int a, int b, int c, int d, int e, int f, struct cell *g) { return a + b + c + d + e + "
		       "f + g->tag; }\n"
		       "int main(void) { sink = sum(1, 2, 3, 4, 5, 6, (struct cell *)none); return 0; }\n",
	 "g->tag", NULL, "`g` is NULL"},
	{HEAD NOINLINE "long work(struct str s) { return s.data[s.len]; }\n"
		       "int main(void) { sink = work(the_request.uri); return 0; }\n",
	 "s.data[s.len]|*s.data|s.data[]", NULL, NULL},
	{HEAD NOINLINE "long work(long n) { struct cell *c = n > 5 ? &table[1] : NULL; return c->value; }\n"
		       "int main(void) { sink = work(zero); return 0; }\n",
	 "c->value|table[1].value|-", NULL, NULL},
	{HEAD NOINLINE
	 "long work(struct cell *c) { long s = 0; for (int i = 0; i < 3; i++) { s += c[i].value; c = table; }\n"
	 " return s; }\n"
	 "int main(void) { static struct cell cs[3]; sink = work(cs); return 0; }\n",
	 "c[i].value|c->value|c[1].value|table[1].value|-", NULL, NULL},
	{HEAD NOINLINE "long work(void) { static struct cell *last; if (zero) last = table; return last->value; }\n"
		       "int main(void) { sink = work(); return 0; }\n",
	 "last->value", NULL, "`last` is NULL"},
	{HEAD NOINLINE "long work(unsigned i) { char **names = (char **)none; return names[i][2]; }\n"
		       "int main(void) { sink = work(2 + (unsigned)zero); return 0; }\n",
	 "names[i]", NULL, "`names` is NULL"},
};

static const char *const compilers[] = {"gcc -g -O0 -x c",       "gcc -g -O2 -x c",        "gcc -g -O3 -x c",
					"gcc -g -O2 -fPIC -x c", "clang -g -O0 -x c",      "clang -g -O2 -x c",
					"clang -g -O3 -x c",     "gcc -g -Og -no-pie -x c"};

/* Programs without library headers compile in a quarter of the time. */
#define CXX_WITH(include, name)                                                                                        \
	include "volatile long zero, sink; void *volatile none;\n"                                                     \
		"struct Item { int id; " name " name; long price; };\n"
#define CXX                                                                                                            \
	CXX_WITH("", "const char *")                                                                                   \
	"struct Shape { virtual ~Shape() {} virtual long area(int n) = 0; long w = 3; };\n"                            \
	"struct Square : Shape { long side = 2; Item *item = nullptr; long area(int n) override; };\n"                 \
	"namespace shop { struct Cart { Item *items_; Item *last_; long total(); Item *find(int id); }; }\n"

static const struct example cxx[] = {
	{CXX NOINLINE "long shop::Cart::total() { return last_->price + zero; }\n"
		      "int main() { shop::Cart c{}; sink = c.total(); return 0; }\n",
	 "this->last_->price", NULL, "`this->last_` is NULL"},
	{CXX NOINLINE "long read(const Item &item) { return item.price; }\n"
		      "int main() { sink = read(*(Item *)none); return 0; }\n",
	 "item.price", "passed by main() at", "`item` is NULL"},
	{CXX NOINLINE "long Square::area(int n) { return side * n + zero; }\n" NOINLINE
		      "long call(Shape *s) { return s->area(3) + 1; }\n"
		      "int main() { if (zero) { Square q; sink = call(&q); } sink = call((Shape *)none); return 0; }\n",
	 "s->_vptr.Shape|s->_vptr$Shape", "passed by main() at", "`s` is NULL"},
	{CXX NOINLINE "long Square::area(int n) { return item->price * n; }\n" NOINLINE
		      "long call(Shape *s) { return s->area(3) + 1; }\n"
		      "int main() { Square q; sink = call(&q); return 0; }\n",
	 "this->item->price", NULL, "`this->item` is NULL"},
	{CXX NOINLINE "Item *shop::Cart::find(int id) { return id ? (Item *)none : last_; }\n" NOINLINE
		      "long work(shop::Cart &c) { Item *i = c.find(3); return i->price; }\n"
		      "int main() { shop::Cart c{}; sink = work(c); return 0; }\n",
	 "i->price", "returned by shop::Cart::find() at", "`i` is NULL"},
	{CXX_WITH("#include <memory>\n", "const char *") NOINLINE
	 "long work(std::unique_ptr<Item> &p) { return p->price; }\n"
	 "int main() { std::unique_ptr<Item> p; sink = work(p); return 0; }\n",
	 "p->price|*|-", NULL, NULL},
	{CXX_WITH("#include <vector>\n", "const char *") NOINLINE
	 "long work(std::vector<Item> &v, unsigned long i) { return v[i].price; }\n"
	 "int main() { std::vector<Item> v; sink = work(v, 2 + (unsigned long)zero); return 0; }\n",
	 "v[i].price|*|-", NULL, NULL},
	{CXX_WITH("#include <string>\n", "std::string") NOINLINE
	 "long work(Item *i) { return (long)i->name.size(); }\n"
	 "int main() { sink = work((Item *)none); return 0; }\n",
	 "*|-", NULL, NULL},
};

static const char *const cxx_compilers[] = {"g++ -g -O0 -x c++", "g++ -g -O2 -x c++", "clang++ -g -O0 -x c++",
					    "clang++ -g -O2 -x c++"};

/* Whether the word is in a list separated by '|'. */
static bool is_among(const char *list, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = list; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
		if (*at == '*' && (at[1] == '|' || !at[1]))
			return true;
		else if (strncmp(at, word, len) == 0 && (at[len] == '|' || !at[len]))
			return true;
	return false;
}

static unsigned judge(const struct example *e, const char *compiler)
{
	struct xc_process *process = died(compiler, e->source);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, NULL);
	const struct xc_verdict *v = report->verdict;
	unsigned wrong = !is_among(e->expression, v->expression ? v->expression : "-");
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
		GRID(c, XC_COUNT(compilers))
			wrong += judge(&examples[i], compilers[c]) != 0;
	assert_int_equal(wrong, 0);
}

static void nothing_wrong_is_said(void **state)
{
	(void)state;
	unsigned wrong = 0;
	for (size_t i = 0; i < XC_COUNT(hard); i++)
		GRID(c, XC_COUNT(compilers))
			wrong += judge(&hard[i], compilers[c]) != 0;
	assert_int_equal(wrong, 0);
}

static void members_and_references_are_named_in_cxx(void **state)
{
	(void)state;
	unsigned wrong = 0;
	for (size_t i = 0; i < XC_COUNT(cxx); i++)
		GRID(c, XC_COUNT(cxx_compilers))
			wrong += judge(&cxx[i], cxx_compilers[c]) != 0;
	assert_int_equal(wrong, 0);
}

/* The slot of memcpy() in the import table was overwritten: its arguments are valid. */
static void arguments_of_calls_that_went_astray_are_not_blamed(void **state)
{
	(void)state;
	static const char source[] =
		"#include <string.h>\nchar to[64], from[64]; volatile int n = 5; extern char _GLOBAL_OFFSET_TABLE_[];\n"
		"__attribute__((noinline)) int copy(char *a, const char *b) { memcpy(a, b, n); return a[0]; }\n"
		"int main(void) { ((long *)_GLOBAL_OFFSET_TABLE_)[3] = 0x4141000000;\nreturn copy(to, from); }\n";
	struct xc_process *process =
		died("gcc -g -O2 -fno-builtin -fcf-protection=none -fno-omit-frame-pointer -no-pie -Wl,-z,lazy -x c",
		     source);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, NULL);
	assert_string_equal(report->verdict->class_name, "pc-control");
	assert_null(report->verdict->expression);
	xc_report_free(report);
	close_process(process);
}

/* The reading function has no name, as in a C library without symbols: the program's argument is reported, but not as
 * the program's own access, and not as certain.
 * not as certain. */
static void an_access_in_a_function_without_a_name_is_no_access_of_the_programs(void **state)
{
	(void)state;
	static const char source[] =
		"__asm__(\".text\\n.p2align 4\\n.globl nameless\\n.type before,@function\\nbefore: ret\\n.size "
		"before,.-before\\nnameless: .cfi_startproc\\nmov (%rdi),%rax\\nret\\n"
		".cfi_endproc\\n.p2align 4\\n\");\n"
		"struct node { long id; } *volatile head; long nameless(struct node *);\n"
		"__attribute__((noinline)) long work(struct node *n) { return nameless(n) + 1; }\n"
		"int main(void) { return (int)work(head); }\n";
	struct xc_process *process =
		died("sh -c 'gcc -g -O0 -x c -o \"$3\" - && objcopy --strip-symbol=nameless \"$3\"' sh", source);
	struct xc_report *report = xc_report_new("analyze");
	struct xc_crash_context q;
	assert_true(xc_crash_context_init(&q, report, process, NULL));
	xc_crash_context_classify(&q, "null-read", NULL, "low", "likely", NULL);
	xc_crash_context_blame(&q, 1); /* as for a library's function */
	xc_expression_report(&q);
	assert_non_null(report->verdict->expression);
	assert_string_equal(report->verdict->expression, "n");
	assert_non_null(
		strstr(report->verdict->cause, "likely reading what `n` points to, in a function without a name"));
	assert_string_equal(report->verdict->confidence, "likely");
	xc_crash_context_fini(&q);
	xc_report_free(report);
	close_process(process);
}

/* An offset that no type explains: the place has no name, but the pointer has. */
static void the_bad_pointer_is_told_where_the_place_cannot_be(void **state)
{
	(void)state;
	static const char source[] = HEAD NOINLINE "long step(void) { return 33 + zero; }\n" NOINLINE
						   "long work(struct request *r) { long by = step(); r->id++;\n"
						   " return *(long *)((char *)r->next + by); }\n"
						   "int main(void) { sink = work(&the_request); return 0; }\n";
	static const char *const levels[] = {"gcc -g -O2 -x c", "clang -g -O2 -x c"};
	for (size_t i = 0; i < XC_COUNT(levels); i++) {
		struct xc_process *process = died(levels[i], source);
		struct xc_report *report = xc_report_new("analyze");
		xc_cause(report, process, NULL);
		assert_string_equal(report->verdict->class_name, "null-read");
		assert_null(report->verdict->expression);
		assert_non_null(strstr(report->verdict->cause, "at an offset from `r->next`: `r->next` is NULL"));
		xc_report_free(report);
		close_process(process);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_are_told_as_the_source_writes_them),
		cmocka_unit_test(nothing_wrong_is_said),
		cmocka_unit_test(members_and_references_are_named_in_cxx),
		cmocka_unit_test(arguments_of_calls_that_went_astray_are_not_blamed),
		cmocka_unit_test(an_access_in_a_function_without_a_name_is_no_access_of_the_programs),
		cmocka_unit_test(the_bad_pointer_is_told_where_the_place_cannot_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
