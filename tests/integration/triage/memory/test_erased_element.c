/* layer: triage tier: long */
/* Iterators of C++ containers whose element was erased in the loop that used them. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <list>\n#include <map>\n#include <memory>\n#include <set>\n#include <string>\n#include "             \
	"<unordered_map>\n"                                                                                            \
	"struct item { std::string name; long until; std::unique_ptr<int> more; virtual ~item() {} virtual long "      \
	"poll() { "                                                                                                    \
	"return until; } };\n"                                                                                         \
	"static volatile long zero; static const char *const text = \"a name that is longer than a short one\";\n"

static void expect(const char *source, const struct wanted *want)
{
	static const char *const compilers[] = {"g++ -g -O0 -x c++", "g++ -g -O2 -x c++", "clang++ -g -O0 -x c++"};
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true, want);
}

static void the_iterator_that_lost_its_element_is_told(void **state)
{
	(void)state;
	expect(HEAD "__attribute__((noinline)) long expire(std::map<int, item> &all) { long n = 0; for (auto it = "
		    "all.begin(); it "
		    "!= all.end(); ++it) if (it->second.until < 25) all.erase(it); else n++; return n; }\n"
		    "int main() { std::map<int, item> all; for (int i = 0; i < 200; i++) { all[i].until = i * 7 % 50; "
		    "all[i].name = "
		    "text; } zero = expire(all); }\n",
	       &(struct wanted){.class_name = "use-after-free",
				.says = "likely the element that the iterator `it` pointed to had been erased",
				.also = "`it` is an iterator of a std::map or std::set"});
	expect(HEAD "__attribute__((noinline)) long turn(std::list<std::unique_ptr<item>> &all) { long n = 0; for "
		    "(auto it = "
		    "all.begin(); it != all.end(); ++it) { n += (*it)->poll(); if ((*it)->until++ > 2) all.erase(it); "
		    "} return n; "
		    "}\n"
		    "int main() { std::list<std::unique_ptr<item>> all; for (int i = 0; i < 50; i++) { "
		    "all.push_back(std::make_unique<item>()); all.back()->until = i % 4; all.back()->name = text; } "
		    "for (int i = 0; i "
		    "< 10; i++) zero = turn(all); }\n",
	       &(struct wanted){.class_name = "use-after-free",
				.says = "likely the element that the iterator `it` pointed to had been erased",
				.also = "of a std::list"});
}

static void an_iterator_that_is_good_is_not_blamed(void **state)
{
	(void)state;
	expect(HEAD "struct node { node *next; long v[8]; }; static node *volatile first;\n"
		    "__attribute__((noinline)) long sum(std::map<int, item> &all) { long n = 0; for (auto it = "
		    "all.begin(); it != "
		    "all.end(); ++it) { n += it->second.until; for (node *x = first; x; x = x->next) n += x->v[0]; } "
		    "return n; }\n"
		    "int main() { std::map<int, item> all; all[1].until = 2; node *a = new node(), *b = new node(); "
		    "a->next = b; "
		    "b->next = nullptr; first = a; delete b; delete a; zero = sum(all); }\n",
	       &(struct wanted){.class_name = "use-after-free", .without = "erased"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_iterator_that_lost_its_element_is_told),
		cmocka_unit_test(an_iterator_that_is_good_is_not_blamed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
