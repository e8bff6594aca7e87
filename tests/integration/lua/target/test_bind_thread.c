/* layer: lua */
/* Threads and frames of programs that crash now: the core must show the facts in the source. */
#include "tests/support/opened.h"
#include "tests/support/scripted.h"

static const char source[] =
	"struct pair {long a, b;}; static __thread int local_id = 1; static volatile int *nowhere;\n"
	"__attribute__((noinline)) int innermost(int depth, const char *word, struct pair *pair)\n"
	"{ int twice = depth * 2; { char twice[4] = \"in\"; twice[2] = 0; *nowhere = twice[0]; } return twice + "
	"(int)pair->a + word[0]; }\n"
	"static inline __attribute__((always_inline)) int inlined(int x, struct pair *pair)\n"
	"{ int y = x + 1; return innermost(y, \"a word\", pair) + y; }\n"
	"__attribute__((noinline)) int outer(struct pair pair) { return inlined(41, &pair) + 1; }\n"
	"int main(void) { struct pair pair = {7, 8}; local_id = 2; return outer(pair); }\n";

/* Frames by function name. */
#define FRAMES                                                                                                         \
	"local frames, why = t:thread():frames() local by = {} for _, f in ipairs(frames) do by[f.name or '?'] = f "   \
	"end "

static int die(void **state)
{
	*state = script_over(died("gcc -x c -g -O0", source));
	return 0;
}

static int bury(void **state)
{
	struct scripted *s = *state;
	struct xc_process *process = s->process;
	end_script(s);
	close_process(process);
	return 0;
}

static void a_thread_says_what_is_known_of_it(void **state)
{
	RUNS(*state,
	     "local a = t:threads() print(#a, a[1].crashed, a[1].signal, t:thread() == a[1], t:thread(a[1].tid) == "
	     "a[1], a[1] == t)",
	     "1\ttrue\t11\ttrue\ttrue\tfalse");
	SAYS(*state,
	     "t.signal.name, t.signal.number, t.signal.code, t.signal.addr, t.live, t:thread().syscall, "
	     "t:thread().state",
	     "SIGSEGV\t11\t1\t0\tfalse\tnil\tnil");
	RAISES(*state, "t:thread(1)", "not_found", "no thread 1");
	RAISES(*state, "t:thread(1 << 40)", "not_found", "no thread 1099511627776");
	RAISES(*state, "return t:thread().tdi", "usage", "a thread has no 'tdi'");
	RUNS(*state,
	     "local r = t:thread():registers() local f = t:thread():frames()[1] print(r.rip == f.pc, r.rsp == f.sp, "
	     "r.nothing)",
	     "true\ttrue\tnil");
}

static void frames_are_those_of_the_calls(void **state)
{
	RUNS(*state,
	     FRAMES "for i = 1, 4 do local f = frames[i] print(f.index, f.name, f.inlined, f.line, f.signal) end",
	     "0\tinnermost\tfalse\t3\tfalse\n1\tinlined\ttrue\t5\tfalse\n2\touter\tfalse\t6\tfalse\n3\tmain\tfalse\t7\t"
	     "false");
	RUNS(*state,
	     FRAMES "print(frames[1].trust, frames[2].trust, frames[2].pc == frames[3].pc, frames[1].cfa == "
		    "frames[2].sp, why)",
	     "context\tcfi\ttrue\ttrue\toutermost frame");
	RUNS(*state, "local f, why = t:thread():frames(2) print(#f, why) print(#t:thread():frames(0))",
	     "2\tthe requested number of frames was reached\n0");
	RUNS(*state,
	     FRAMES "local f = frames[1] print(f.module == t.exe, f.offset == f.pc - t:modules()[1].bias, "
		    "t:symbolize(f.pc).name, f:register'rip' == f.pc, f:register'rax' ~= nil, by.main:register'rax')",
	     "true\ttrue\tinnermost\ttrue\ttrue\tnil");
	RAISES(*state, "t:thread():frames(-1)", "limit", "-1 frames: at most 1048576");
	RAISES(*state, "return t:thread():frames()[1]:register'eflagz'", "not_found",
	       "x86-64 has no register 'eflagz'");
}

static void variables_are_those_of_the_frame(void **state)
{
	RUNS(*state,
	     FRAMES "for _, v in ipairs(by.innermost:args()) do print(v.name, v.type, "
		    "v.name == 'word' and xcore.str(v.value) or v.name == 'pair' and v.value.b or v.value, v.why, "
		    "v.guessed) end",
	     "depth\tint\t42\tnil\tfalse\nword\tconst char *\ta word\tnil\tfalse\npair\tstruct pair *\t8\tnil\tfalse");
	RUNS(*state, FRAMES "for _, v in ipairs(by.innermost:locals()) do print(v.name, v.type, v.value) end",
	     "twice\tchar [4]\t\"in\"\ntwice\tint\t84");
	RUNS(*state,
	     FRAMES "local f = by.innermost print(f:var'depth', xcore.str(f:var'word'), f:var'pair'.a, f:var'twice', "
		    "by.inlined:var'y', "
		    "by.outer:var'pair'.b, by.main:var'pair' == by.outer:var'pair')",
	     "42\ta word\t7\t\"in\"\t42\t8\tfalse");
	RAISES(*state, FRAMES "by.innermost:var'pear'", "not_found",
	       "no argument or local 'pear' in frame 0, innermost");
	RUNS(*state, FRAMES "local _, e = pcall(by.innermost.var, by.innermost, 'pairr') print(e.hint)",
	     "did you mean pair?");
	RAISES(*state, FRAMES "return by.innermost:args()[3].value.c", "not_found", "pair: no member c in struct pair");
	RAISES(*state, FRAMES "return by.innermost:var'pair'.c", "not_found", "pair: no member c in struct pair");
}

static void expressions_see_the_frame_and_its_thread(void **state)
{
	RUNS(*state,
	     FRAMES
	     "print(by.innermost:eval'pair->a + depth', by.outer:eval'pair.b * 2', by.inlined:eval'x', t:eval'depth', "
	     "by.innermost:eval'$rip' == by.innermost:eval'$pc')",
	     "49\t16\t41\t42\ttrue");
	SAYS(*state, "t:thread():frames()[1]:eval'local_id', t:var'local_id', t:eval'local_id + 1'", "2\t2\t3");
	RAISES(*state, FRAMES "return by.inlined:eval'depth'", "not_found", "no `depth` here (frame 1, inlined)");
}

/* ---- optimised code ---- */

static const char optimised[] =
	"struct four {int a, b, c, d;}; static volatile int *nowhere; volatile int sink;\n"
	"__attribute__((noipa)) int last(int gone, long kept) { sink = gone; asm volatile(\"\" ::: \"rdi\"); *nowhere "
	"= 1; return (int)kept; }\n"
	"__attribute__((noipa)) int pieces(int seed) { struct four four = {seed, 2, 3, 4}; int dead = seed * 5; "
	"(void)dead;\n"
	"  int result = last(seed, 4); asm volatile(\"\" :: \"r\"(seed)); return result + four.b; }\n"
	"int main(void) { return pieces(9); }\n";

static void values_that_are_not_in_memory_are_values_too(void **state)
{
	struct scripted *s = script_over(died("gcc -x c -g -O2 -fno-optimize-sibling-calls", optimised));
	struct xc_process *process = s->process;
	(void)state;
	RUNS(s,
	     FRAMES "local four = by.pieces:var'four' collectgarbage() local b, d = four.b, four.d print(b, d, "
		    "tostring(four))",
	     "2\t4\t{a = 9, b = 2, c = 3, d = 4}");
	RAISES(s, FRAMES "return xcore.addr(by.pieces:var'four')", "absent", "struct four is not in memory");
	RUNS(s, FRAMES "local ok, e = pcall(by.pieces.var, by.pieces, 'result') print(ok, e.kind, e.message)",
	     "false\tabsent\tresult: optimized out");
	RUNS(s, FRAMES "for _, v in ipairs(by.last:args()) do print(v.name, v.value, v.why, v.guessed) end",
	     "gone\t9\tnil\tfalse\nkept\t4\tnil\tfalse");
	RUNS(s,
	     FRAMES "local f = by.pieces local v = {} for i = 1, 200 do v[i] = f:var'four' end collectgarbage() "
		    "local sum = 0 for i = 1, 200 do sum = sum + v[i].c end print(sum, xcore.ref(v[1], 'b') ~= nil, "
		    "xcore.fmt(v[1], 'c'))",
	     "600\ttrue\t3");
	end_script(s);
	close_process(process);
}

static const char classes[] =
	"#include <map>\n#include <string>\n#include <vector>\n"
	"struct A { int a = 1; int same = 10; virtual ~A() {} }; struct B : virtual A { int b = 2; }; struct D { int d "
	"= 4; };\n"
	"struct C : B, D { int c = 3; int same = 30; }; static volatile int *nowhere;\n"
	"int main() { C c; A &r = c; B *p = &c; std::map<std::string, int> ages{{\"ann\", 30}, {\"bob\", 40}};\n"
	"  std::map<int *, int> by_pointer{{nullptr, 1}, {&c.c, 2}}; std::vector<C *> all{&c, nullptr, &c}; int &n = "
	"c.d;\n"
	"  return (*nowhere = r.a + p->b + n + (int)ages.size() + (int)by_pointer.size() + (int)all.size()); }\n";

static void classes_have_bases_and_containers_content(void **state)
{
	struct scripted *s = script_over(died("g++ -x c++ -g -O0", classes));
	struct xc_process *process = s->process;
	(void)state;
	RUNS(s,
	     FRAMES "local f = by.main local c = f:var'c' print(c.a, c.b, c.c, c.d, c.same, f:var'r'.a, f:var'r'.same, "
		    "f:var'p'.a, f:var'n')",
	     "1\t2\t3\t4\t30\t1\t10\t1\t4");
	RUNS(s,
	     FRAMES
	     "local c = by.main:var'c' print(xcore.has(c, 'a'), xcore.has(c, 'x'), xcore.deref(xcore.ref(c, 'a')), "
	     "xcore.addr(by.main:var'r') - xcore.addr(c) == xcore.addr(c, 'a') - xcore.addr(by.main:var'r', 'a') + "
	     "xcore.addr(by.main:var'r') - xcore.addr(c))",
	     "true\tfalse\t1\ttrue");
	RAISES(s, "return xcore.offsetof('B', 'a')", "usage", "the offset of 'a' in B depends on the object");
	RUNS(s, FRAMES "for k, v in xcore.each(by.main:var'ages') do print(xcore.str(k), v) end", "ann\t30\nbob\t40");
	RUNS(s,
	     FRAMES "for k, v in xcore.each(by.main:var'by_pointer') do print(xcore.fmt(k):match' 0x0$' ~= nil, v) end",
	     "true\t1\nfalse\t2");
	RUNS(s,
	     FRAMES "for i, v in xcore.each(by.main:var'all') do print(i, v and v.same) end print(#by.main:var'all')",
	     "0\t30\n1\tnil\n2\t30\n3");
	end_script(s);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_says_what_is_known_of_it),
		cmocka_unit_test(frames_are_those_of_the_calls),
		cmocka_unit_test(variables_are_those_of_the_frame),
		cmocka_unit_test(expressions_see_the_frame_and_its_thread),
		cmocka_unit_test(values_that_are_not_in_memory_are_values_too),
		cmocka_unit_test(classes_have_bases_and_containers_content),
	};
	return cmocka_run_group_tests(tests, die, bury);
}
