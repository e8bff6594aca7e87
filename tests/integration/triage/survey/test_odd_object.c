/* layer: triage tier: long */
/* Programs that end themselves because an object is no longer what it should be. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <memory>\n#include <vector>\n#include <stdexcept>\n#include <cstdlib>\n#include <cstring>\n"         \
	"#define NOINLINE __attribute__((noinline))\nvolatile long sink; void *volatile way;\n"                        \
	"template <typename T> T *hidden(T *p) { way = (void *)p; return (T *)way; }\n"

static const char *const compilers[] = {"g++ -g -O0 -x c++", "clang++ -g -O0 -x c++", "g++ -g -O2 -x c++"};

#define CELLS                                                                                                          \
	HEAD "struct cell { long value; cell *next; };\n"                                                              \
	     "NOINLINE void check(const cell *one) { if (one->value != 5) abort(); sink = one->value; }\n"             \
	     "NOINLINE void grow(std::vector<cell> *cells) { for (int i = 0; i < 100; i++) cells->push_back({i, 0}); " \
	     "}\n"

static void an_argument_in_freed_memory_is_told(void **state)
{
	(void)state;
	static const char source[] = CELLS "int main() { std::vector<cell> cells(4, cell{5, 0}); cell *first = "
					   "hidden(&cells[0]); grow(&cells); check(first); return 0; }\n";
	GRID(i, XC_COUNT(compilers)) {
		struct judged j = judge(compilers[i], source, true);
		if (strcmp(j.verdict->severity, "medium") != 0 ||
		    !judged_says(&j, "perhaps because `one` leads into freed memory"))
			judged_fail(&j, compilers[i], "medium, `one` leads into freed memory");
		judged_free(&j);
	}
}

/* A reference to the pointer is the same pointer; a key that is a number is one. */
static void a_pointer_by_two_names_is_told_once(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "#include <map>\nstruct cell { long value; };\nstruct cache { std::map<int, cell *> cells;\n"
		     " NOINLINE void check() { for (auto &[key, one] : cells) if (one->value != 5) abort(); } };\n"
		     "int main() { cache all; all.cells[17] = hidden(new cell{5}); all.cells[40] = new cell{5};\n"
		     " delete hidden(all.cells[17]); all.check(); return 0; }\n";
	judged_expect("g++ -g -O0 -x c++", source, true,
		      &(struct wanted){.class_name = "abort",
				       .says = "`this->cells[17]` leads into freed memory",
				       .without = "both lead into freed memory"});
}

/* Of an empty vector, whose elements begin nowhere. */
static void the_last_element_of_nothing_is_told(void **state)
{
	(void)state;
#define QUEUE(use)                                                                                                     \
	HEAD "#include <string>\nlong error = -40; struct job { std::string name; long rank; };\n"                     \
	     "struct queue { std::vector<job> jobs;\n"                                                                 \
	     " NOINLINE long pop() { long n = " use "; sink = n; jobs.pop_back(); return n; } };\n"                    \
	     "int main() { queue q; hidden(&q); return (int)q.pop(); }\n"
	static const struct wanted told = {.class_name = "wild-read",
					   .says = "likely element -1 of `this->jobs` was used, which is empty"};
	static const struct wanted other = {.class_name = "wild-read", .without = "which is empty"};
	judged_expect("g++ -g -O0 -x c++", QUEUE("jobs.back().rank"), true, &told);
	judged_expect("g++ -g -O0 -x c++", QUEUE("jobs[jobs.size() - 1].rank"), true, &told);
	/* a result of a function that failed is no element, and a vector that has some is not empty */
	judged_expect("g++ -g -O0 -x c++", QUEUE("((job *)(error - 24))->rank"), true, &other);
	judged_expect("g++ -g -O0 -x c++", QUEUE("(jobs.push_back(job{}), ((job *)error)->rank)"), true, &other);
}

static void an_argument_whose_memory_is_used_again_is_told(void **state)
{
	(void)state;
	static const char source[] = CELLS
		"int main() { std::vector<cell> cells(4, cell{5, 0}); cell *first = hidden(&cells[0]); grow(&cells); "
		"std::vector<long> other(8, 3); hidden(&other); check(first); return (int)other[1]; }\n";
	GRID(i, 2) /* optimized, the argument is gone */
		judged_expect(
			compilers[i], source, true,
			&(struct wanted){.class_name = "abort",
					 .says = "perhaps because `one` is stale",
					 .also = "`cells` (std::vector of length 104, capacity 128) has its elements"});
}

/* Nothing of this: what is wrong is the value. */
/* Of two counts in an object only that beside the room is compared with it. */
static void a_count_is_compared_with_its_own_room(void **state)
{
	(void)state;
#define LIST(length, members)                                                                                          \
	HEAD "struct list { char *image; size_t length, pos; int *members; int nmembers, cap; };\n"                    \
	     "NOINLINE void check(const list *one) { if (one->pos != 5) abort(); sink = one->cap; }\n"                 \
	     "int main() { list *l = hidden(new list{nullptr, " #length ", 0, new int[4], " #members                   \
	     ", 4}); check(l); "                                                                                       \
	     "return 0; }\n"
	static const struct wanted sound = {.class_name = "abort", .without = "more than `cap`"};
	static const struct wanted over = {.class_name = "abort", .says = "`one->nmembers` is 5, more than `cap`, 4"};
	judged_expect("g++ -g -O0 -x c++", LIST(4096, 3), true, &sound);
	judged_expect("g++ -g -O0 -x c++", LIST(4096, 5), true, &over);
}

static void a_living_object_is_not(void **state)
{
	(void)state;
	static const char source[] =
		CELLS "int main() { std::vector<cell> cells(4, cell{5, 0}); grow(&cells); cell *last "
		      "= hidden(&cells.back()); check(last); return 0; }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "abort", .function = "check", .without = "perhaps"});
}

/* An exception, too, is a symptom of it: the link of a free block was overwritten. */
static void damage_of_the_heap_raises_an_exception(void **state)
{
	(void)state;
	static const char source[] = CELLS
		"NOINLINE void demand(cell *one) { one->value = 6; throw std::runtime_error(\"bad cell\"); }\n"
		"int main() { std::vector<cell> cells(4, cell{5, 0}); cell *first = hidden(&cells[0]); grow(&cells); "
		"demand(first); return 0; }\n";
	GRID(i, XC_COUNT(compilers)) {
		struct judged j = judge(compilers[i], source, true);
		if (strcmp(j.verdict->class_name, "uncaught-exception") != 0 ||
		    strcmp(j.verdict->severity, "high") != 0 ||
		    !judged_says(&j, "a block was written to after it was freed"))
			judged_fail(&j, compilers[i], "high, a block was written to after it was freed");
		judged_free(&j);
	}
}

#define OWNERS                                                                                                         \
	HEAD "struct part { long weight = 3; }; struct holder { std::shared_ptr<part> own; };\n"                       \
	     "NOINLINE void check(const holder *of) { if (of->own->weight != 3) abort(); sink = 1; }\n"

static void owners_that_are_none_any_more_are_told(void **state)
{
	(void)state;
	static const char source[] = OWNERS
		"int main() { holder *one = new holder; one->own = std::make_shared<part>(); std::weak_ptr<part> seen "
		"= "
		"one->own; hidden(&one->own)->~shared_ptr(); one->own->weight = 4; check(hidden(one)); return 0; }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(
			compilers[i], source, true,
			&(struct wanted){.class_name = "abort", .says = "is a std::shared_ptr whose use count is 0"});
}

static void a_weak_pointer_whose_object_is_gone_is_told(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"struct part { std::weak_ptr<part> parent; long weight = 3; };\n"
		"NOINLINE long up(const part *of) { auto p = of->parent.lock(); if (!p) abort(); return p->weight; }\n"
		"int main() { auto leaf = std::make_shared<part>(); { auto root = std::make_shared<part>(); "
		"leaf->parent = "
		"root; sink = up(hidden(leaf.get())); } return (int)up(hidden(leaf.get())); }\n";
	GRID(i, 2)
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "abort",
					       .function = "up",
					       .says = "`of->parent` is a std::weak_ptr whose object is gone"});
}

static void a_shared_object_is_not(void **state)
{
	(void)state;
	static const char source[] = OWNERS "int main() { holder *one = new holder; one->own = "
					    "std::make_shared<part>(); std::shared_ptr<part> other = "
					    "one->own; other->weight = 4; check(hidden(one)); return 0; }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "abort", .without = "shared_ptr"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_argument_in_freed_memory_is_told),
		cmocka_unit_test(a_pointer_by_two_names_is_told_once),
		cmocka_unit_test(the_last_element_of_nothing_is_told),
		cmocka_unit_test(an_argument_whose_memory_is_used_again_is_told),
		cmocka_unit_test(a_count_is_compared_with_its_own_room),
		cmocka_unit_test(a_living_object_is_not),
		cmocka_unit_test(damage_of_the_heap_raises_an_exception),
		cmocka_unit_test(owners_that_are_none_any_more_are_told),
		cmocka_unit_test(a_weak_pointer_whose_object_is_gone_is_told),
		cmocka_unit_test(a_shared_object_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
