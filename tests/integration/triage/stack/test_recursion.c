/* layer: triage tier: long */
/* Stack overflows by recursion: distinguished from wild pointers, with their cause. */
#include <signal.h>

#include "tests/integration/triage/stack/overflow_program.h"

#include "dwarf/elf/symbol.h"

#define DOWN                                                                                                           \
	"NO long down(long depth) { char room[32]; KEEP(room); return depth == never ? 0 : down(depth + 1) + 1; }\n"

static const char *const optimised[] = {"gcc -g -O2 -x c"};
static const char *const plain[] = {"gcc -g -O0 -x c", "clang -g -O0 -x c"};

static void a_function_that_calls_itself_is_counted_and_its_argument_told(void **state)
{
	(void)state;
	static const char source[] = HEAD DOWN "int main(void) { limit(); return (int)down(1); }\n";
	EXPECT(both, source, .class_name = "stack-overflow", .kind = "recursion", .function = "down",
	       .says = "it was entered from main");
	EXPECT(plain, source, .class_name = "stack-overflow", .says = "depth grows by 1 each round: 1 → ");
	EXPECT(optimised, source, .class_name = "stack-overflow", .says = "depth grows by 1 each round: 1 → ");
}

/* The program counts its rounds in memory that is in the core. */
static void rounds_are_as_many_as_the_program_counted(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "volatile long rounds;\n"
		     "NO long c(long n); NO long a(long n); NO long b(long n) { return n == never ? 0 : c(n) + 1; }\n"
		     "NO long c(long n) { return n == never ? 0 : a(n) + 2; }\n"
		     "NO long a(long n) { char x[24]; KEEP(x); rounds++; return n == never ? 0 : b(n) + 3; }\n"
		     "int main(void) { limit(); return (int)a(1); }\n";
	GRID(i, XC_COUNT(both)) {
		struct judged j = judge(both[i], source, false);
		uint64_t counted;
		char wanted[100];
		xc_addr at;
		assert_non_null(xc_symbol_find(j.process, "rounds", NULL, &at));
		assert_true(xc_space_peek_uint(j.process->space, at, 8, &counted));
		for (uint64_t n = counted - 1; n <= counted; n++) { /* the last round may be incomplete */
			snprintf(wanted, sizeof wanted, "recursion: %lu × [a → b → c]", (unsigned long)n);
			if (judged_says(&j, wanted))
				break;
		}
		if (!judged_says(&j, wanted))
			judged_fail(&j, both[i], wanted);
		judged_free(&j);
	}
}

static void recursion_through_the_c_library_is_the_programs(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"NO int compare(const void *a, const void *b) { long n[4] = {3, *(long *)a, *(long *)b, 1}; KEEP(n);\n"
		" qsort(n, 4, sizeof *n, compare); KEEP(n); return (int)n[0]; }\n"
		"int main(void) { limit(); long x = 1, y = 2; return compare(&x, &y); }\n";
	EXPECT(both, source, .class_name = "stack-overflow", .kind = "recursion", .function = "compare",
	       .says = "[compare → ", .also = "it was entered from main");
}

static void functions_that_left_by_tail_calls_are_in_the_round(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "NO long outer(long n); NO long middle(long n) { sink = n; return outer(n + 1); }\n"
		     "NO long outer(long n) { char x[24]; KEEP(x); return n == never ? 0 : middle(n) + 3; }\n"
		     "int main(void) { limit(); return (int)outer(1); }\n";
	EXPECT(optimised, source, .class_name = "stack-overflow", .kind = "recursion", .function = "middle",
	       .says = "[middle → outer]");
}

/* A graph with a cycle, which was entered from outside of it; the innermost rounds have left it for a leaf. */
static void the_ring_of_a_graph_is_told(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"struct package { const char *name; int needs[2]; } all[] = {{\"app\", {1, 1}}, {\"tool\", {2, 2}},\n"
		" {\"gen\", {3, 3}}, {\"schema\", {1, 1}}, {\"leaf\", {-1, -1}}};\n"
		"NO long cost(int id, long depth) { struct package *p = &all[id]; long sum = 1; KEEP(sum); KEEP(p);\n"
		" for (int i = 0; i < 2; i++) { int need = p->needs[i]; KEEP(need); if (need >= 0) sum += cost(need, "
		"depth "
		"+ 1); } return sum; }\n"
		"int main(void) { limit(); return (int)cost(0, 0); }\n";
	EXPECT(plain, source, .class_name = "stack-overflow", .kind = "recursion",
	       .says = "id goes round 3 values: 1 → 2 → 3",
	       .also = "p goes round 3 values: name \"tool\" → name \"gen\" → name \"schema\"");
	static const char alternates[] = HEAD "NO long flip(int side, long n) { char room[24]; KEEP(room); return n == "
					      "never ? 0 : flip(!side, n + 1) + 1; "
					      "}\n int main(void) { limit(); return (int)flip(0, 0); }\n";
	EXPECT(plain, alternates, .class_name = "stack-overflow", .says = "side goes round 2 values: 0 → 1",
	       .also = "n grows by 1 each round");
}

/* A reference leads to an object of the caller's: its address falls with the stack. */
static void what_a_reference_leads_to_is_told_by_its_length(void **state)
{
	(void)state;
	static const char *const cxx[] = {"g++ -g -O0 -x c++"}; /* clang leaves std::string to the library */
	static const char source[] =
		"#include <string>\n#include <vector>\n#include <sys/resource.h>\nvolatile long never = -1;\n"
		"long page(const std::string &dir, const std::vector<int> &left, const long &level) { char "
		"room[2000];\n"
		" room[0] = 0; long next = level + 1; if (level == never) return room[0];\n"
		" return page(dir + \"../accounts/\", left, next) + 1; }\n"
		"int main() { struct rlimit l = {1 << 20, 1 << 23}; setrlimit(RLIMIT_STACK, &l);\n"
		" std::vector<int> all(10); return (int)page(\"help/\", all, 0); }\n";
	EXPECT(cxx, source, .class_name = "stack-overflow", .kind = "recursion",
	       .says = "dir has more and more characters: ", .also = "the same in every round: left",
	       .without = "bytes each");
}

static void libraries_between_are_passed_through(void **state)
{
	(void)state;
	static const char *const cxx[] = {"g++ -g -O0 -x c++", "clang++ -g -O0 -x c++"};
	static const char *const inlined[] = {"g++ -g -O2 -x c++", "clang++ -g -O2 -x c++"};
	static const char source[] =
		"#include <memory>\n#include <sys/resource.h>\n"
		"struct node { long value = 0; std::unique_ptr<node> next; ~node(); }; node::~node() { value = -1; }\n"
		"int main() { struct rlimit l = {262144, 1 << 23}; setrlimit(RLIMIT_STACK, &l); std::unique_ptr<node> "
		"head;\n"
		" for (int i = 0; i < 20000; i++) { auto n = std::make_unique<node>(); n->next = std::move(head);\n"
		"  head = std::move(n); } head.reset(); return 0; }\n";
	EXPECT(cxx, source, .class_name = "stack-overflow", .kind = "recursion", .function = "node::~node",
	       .says = "node::~node called itself, through std::", .also = "this advances by ->next each round");
	EXPECT(inlined, source, .class_name = "stack-overflow", .kind = "recursion", .function = "node::~node",
	       .says = "node::~node called itself", .also = "it was entered from main");
}

/* The program notes who calls the library. The stacks begin at different places, so that each of the two is the last
 * one in some run. */
static void a_library_function_is_said_to_be_called_by_its_caller(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"#include <stdio.h>\nvolatile long caller;\n"
		"NO long b(long n); NO long a(long n) { char text[64]; caller = 'a'; snprintf(text, 64, \"%ld\", n);\n"
		" KEEP(text); return n == never ? 0 : b(n) + 1; }\n"
		"NO long b(long n) { char text[64]; caller = 'b'; snprintf(text, 64, \"%ld\", n); KEEP(text);\n"
		" return n == never ? 0 : a(n) + 2; }\n"
		"int main(int c, char **v) { limit(); char *room = alloca(atoi(v[1])); KEEP(*room);\n"
		" return (int)a(1); }\n";
	static const char *const starts[] = {"16", "96", "176", "256"};
	for (size_t i = 0; i < XC_COUNT(starts); i++) {
		struct judged j = judge_of("gcc -g -O0 -x c", source, starts[i], false);
		uint64_t caller;
		xc_addr at;
		assert_non_null(xc_symbol_find(j.process, "caller", NULL, &at));
		assert_true(xc_space_peek_uint(j.process->space, at, 8, &caller));
		bool there = (uint64_t)*j.verdict->function == caller;
		const char *wanted = there ? "called from there" : caller == 'a' ? ", called by a" : ", called by b";
		if (!judged_same(j.verdict->class_name, "stack-overflow") || !judged_says(&j, wanted))
			judged_fail(&j, starts[i], wanted);
		judged_free(&j);
	}
}

static void calls_in_no_fixed_order_are_recursion_as_well(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "NO long sum(unsigned n); NO long product(unsigned n) { char x[24]; KEEP(x); n = n * 1103515245 + "
		     "12345;\n"
		     " return n >> 16 & 1 ? sum(n) + 1 : product(n) + 2; }\n"
		     "NO long sum(unsigned n) { char x[24]; KEEP(x); n = n * 1664525 + 1013904223;\n"
		     " return n >> 16 & 1 ? sum(n) + 1 : product(n) + 2; }\n"
		     "int main(void) { limit(); return (int)sum(1); }\n";
	EXPECT(gcc, source, .class_name = "stack-overflow", .kind = "recursion",
	       .says = "called each other in no fixed order");
}

static void arguments_that_never_change_are_named(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "NO long again(long a, const char *b) { return a == never ? 0 : again(a, b) + *b; }\n"
		     "int main(void) { limit(); return (int)again(5, \"text\"); }\n";
	EXPECT(plain, source, .class_name = "stack-overflow", .function = "again",
	       .says = "no argument changes from round to round: a, b");
}

static void what_is_walked_in_a_ring_is_told(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "struct node { long value; struct node *up, *next; };\n"
		     "NO long count(const struct node *node, long *total) { *total += node->value;\n"
		     " return node->next ? count(node->next, total) + node->value : 0; }\n"
		     "int main(void) { struct node *n = calloc(3, sizeof *n); long total = 0; limit();\n"
		     " for (int i = 0; i < 3; i++) n[i].next = &n[(i + 1) % 3];\n return (int)count(n, &total); }\n";
	EXPECT(plain, source, .class_name = "stack-overflow", .function = "count",
	       .says = "node advances by ->next and returns to the same 3 objects: they form a ring",
	       .also = "the same in every round: total");
}

static void coroutines_have_stacks_as_well(void **state)
{
	(void)state;
	static const char source[] =
		HEAD DOWN "static ucontext_t back, there; static void run(void) { sink = down(1); }\n"
			  "int main(void) { char *m = mmap(0, 36864, PROT_READ | PROT_WRITE, MAP_PRIVATE | "
			  "MAP_ANONYMOUS, -1, 0);\n"
			  " mprotect(m, 4096, PROT_NONE); getcontext(&there); there.uc_stack.ss_sp = m + 4096;\n"
			  " there.uc_stack.ss_size = 32768; there.uc_link = &back; makecontext(&there, run, 0);\n"
			  " swapcontext(&back, &there); return 0; }\n";
	EXPECT(both, source, .class_name = "stack-overflow", .kind = "recursion", .function = "down",
	       .says = "below them a guard of 4.00 KiB");
}

/* A destructor that the compiler inlines into itself: a frame has several of its calls. */
static void calls_that_are_inlined_are_no_frames(void **state)
{
	(void)state;
	static const char *const inlining[] = {"g++ -g -O2 -x c++"};
	static const char source[] =
		"#include <memory>\n#include <string>\n#include <sys/resource.h>\nlong freed;\n"
		"struct Edit { long line = 1; std::string before; std::unique_ptr<Edit> older; ~Edit() { freed++; } "
		"};\n"
		"int main() { struct rlimit r = {1 << 20, 1 << 20}; setrlimit(RLIMIT_STACK, &r); std::unique_ptr<Edit> "
		"top;\n"
		" for (int i = 0; i < 400000; i++) { auto e = std::make_unique<Edit>(); e->older = std::move(top); top "
		"= std::move(e); }\n"
		" top.reset(); return (int)freed; }\n";
	EXPECT(inlining, source, .class_name = "stack-overflow", .kind = "recursion", .function = "Edit::~Edit",
	       .says = "Edit::~Edit called itself, 2 times in each of ");
}

static void the_overflow_is_seen_through_a_handler_with_its_own_stack(void **state)
{
	(void)state;
	static const char source[] = HEAD DOWN
		"static void caught(int n) { (void)n; abort(); }\n"
		"int main(void) { static char s[65536]; stack_t k = {.ss_sp = s, .ss_size = sizeof s}; sigaltstack(&k, "
		"0);\n"
		" struct sigaction a = {.sa_handler = caught, .sa_flags = SA_ONSTACK}; sigaction(SIGSEGV, &a, 0);\n"
		" limit(); return (int)down(1); }\n";
	EXPECT(both, source, .class_name = "stack-overflow", .kind = "recursion", .function = "down",
	       .says = "× [down], ", .also = "seen through a signal handler");
}

static void a_handlers_own_stack_may_be_used_up(void **state)
{
	(void)state;
	static const char source[] = HEAD DOWN
		"static void caught(int n) { sink = down(n); }\n"
		"int main(void) { char *m = mmap(0, 36864, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, "
		"0);\n"
		" mprotect(m, 4096, PROT_NONE); stack_t k = {.ss_sp = m + 4096, .ss_size = 32768}; sigaltstack(&k, "
		"0);\n"
		" struct sigaction a = {.sa_handler = caught, .sa_flags = SA_ONSTACK}; sigaction(SIGUSR1, &a, 0);\n"
		" raise(SIGUSR1); return 0; }\n";
	EXPECT(gcc, source, .class_name = "stack-overflow", .kind = "recursion", .function = "down",
	       .says = "it was entered from caught");
}

static void without_debug_information_the_cycle_is_told_by_symbols(void **state)
{
	(void)state;
	static const char *const bare[] = {"gcc -O2 -x c"}, *const stripped[] = {"gcc -O2 -s -x c"};
	static const char source[] = HEAD DOWN "int main(void) { limit(); return (int)down(1); }\n";
	EXPECT(bare, source, .class_name = "stack-overflow", .kind = "recursion", .function = "down",
	       .says = "× [down], ");
	EXPECT(stripped, source, .class_name = "stack-overflow", .kind = "recursion", .says = "× [program+0x");
}

/* The kernel gives no address then; these notes are made from those of the plain fault. */
static void a_handler_without_a_stack_of_its_own_cannot_hide_it(void **state)
{
	(void)state;
	static const char source[] = HEAD DOWN "int main(void) { limit(); return (int)down(1); }\n";
	GRID(i, XC_COUNT(both)) {
		struct judged j = {.process = died(both[i], source), .report = xc_report_new("analyze")};
		j.process->signal.code = SI_KERNEL;
		j.process->signal.addr_known = false;
		xc_cause(j.report, j.process, NULL);
		j.verdict = j.report->verdict;
		if (!judged_same(j.verdict->class_name, "stack-overflow") ||
		    !judged_says(&j, "no room to call the signal handler"))
			judged_fail(&j, both[i], "stack-overflow");
		judged_free(&j);
	}
}

static void wild_pointers_below_a_stack_are_no_overflow(void **state)
{
	(void)state;
	static const char below[] =
		HEAD "NO void work(char *p) { *p = 1; }\n"
		     "int main(void) { limit(); work((char *)__builtin_frame_address(0) - (512 << 10)); return 0; }\n";
	static const char guard[] = HEAD
		"static ucontext_t back, there; static char *m; NO void work(char *p) { *p = 1; }\n"
		"static void run(void) { work(m + 4000); }\n"
		"int main(void) { m = mmap(0, 36864, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
		" mprotect(m, 4096, PROT_NONE); getcontext(&there); there.uc_stack.ss_sp = m + 4096;\n"
		" there.uc_stack.ss_size = 32768; there.uc_link = &back; makecontext(&there, run, 0);\n"
		" swapcontext(&back, &there); return 0; }\n";
	EXPECT(gcc, below, .class_name = "wild-write", .function = "work");
	EXPECT(gcc, guard, .class_name = "protected-access", .function = "work");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_that_calls_itself_is_counted_and_its_argument_told),
		cmocka_unit_test(rounds_are_as_many_as_the_program_counted),
		cmocka_unit_test(recursion_through_the_c_library_is_the_programs),
		cmocka_unit_test(functions_that_left_by_tail_calls_are_in_the_round),
		cmocka_unit_test(the_ring_of_a_graph_is_told),
		cmocka_unit_test(what_a_reference_leads_to_is_told_by_its_length),
		cmocka_unit_test(libraries_between_are_passed_through),
		cmocka_unit_test(a_library_function_is_said_to_be_called_by_its_caller),
		cmocka_unit_test(calls_in_no_fixed_order_are_recursion_as_well),
		cmocka_unit_test(arguments_that_never_change_are_named),
		cmocka_unit_test(what_is_walked_in_a_ring_is_told),
		cmocka_unit_test(coroutines_have_stacks_as_well),
		cmocka_unit_test(calls_that_are_inlined_are_no_frames),
		cmocka_unit_test(the_overflow_is_seen_through_a_handler_with_its_own_stack),
		cmocka_unit_test(a_handlers_own_stack_may_be_used_up),
		cmocka_unit_test(without_debug_information_the_cycle_is_told_by_symbols),
		cmocka_unit_test(a_handler_without_a_stack_of_its_own_cannot_hide_it),
		cmocka_unit_test(wild_pointers_below_a_stack_are_no_overflow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
