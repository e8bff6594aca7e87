/* layer: triage tier: long */
/* Destructors that run on an object whose block has been freed. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <vector>\n"                                                                                          \
	"struct Page { Page *next = nullptr; long uses = 1; ~Page() { if (next) next->uses--; } };\n"                  \
	"struct Owner { Page *page; ~Owner() { delete page; } };\n"                                                    \
	"__attribute__((noinline)) static void clear(std::vector<Page *> &all) { for (Page *p : all) delete p; }\n"

static void expect(const char *source, const struct wanted *want)
{
	static const char *const compilers[] = {"g++ -x c++ -g -O0", "g++ -x c++ -g -O1", "clang++ -x c++ -g -O0"};
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true, want);
}

static void a_second_destruction_is_told(void **state)
{
	(void)state;
	const struct wanted want = {.class_name = "use-after-free",
				    .says = "likely the object is destroyed a second time, or its destructor has freed "
					    "it itself: Page::~Page runs on"};
	expect(HEAD "int main() { Page *p = new Page; std::vector<Page *> all{new Page, p, p}; clear(all); }\n", &want);
	expect(HEAD "int main() { Page *first = new Page, *p = new Page; Owner *a = new Owner{p}, *b = new Owner{p}; "
		    "delete first; delete a; delete b; }\n",
	       &want);
}

/* What is used after it was freed by a method, or is not the object of the destructor, is not destroyed again. */
static void a_use_by_no_destructor_is_not(void **state)
{
	(void)state;
	const struct wanted want = {.class_name = "use-after-free", .without = "destroyed a second time"};
	expect(HEAD
	       "__attribute__((noinline)) static long last(Page *p) { return p->next->uses; } int main() { Page *first "
	       "= new Page, *p = new Page; delete first; delete p; return last(p); }\n",
	       &want);
	expect(HEAD
	       "struct User { Page *page; ~User() { page->next->uses--; } }; int main() { Page *first = new Page, *p = "
	       "new Page; User *u = new User{p}; delete first; delete p; delete u; }\n",
	       &want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_destruction_is_told),
		cmocka_unit_test(a_use_by_no_destructor_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
