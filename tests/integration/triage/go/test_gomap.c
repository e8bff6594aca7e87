/* layer: triage tier: long */
/* Fatal errors about maps that several goroutines use; skipped without go. */
#include <stdlib.h>

#include "tests/support/go_program.h"
#include "tests/support/run_verdict.h"

/* The argument selects the map. A goroutine that writes to it waits for its next key, and one that writes to another
 * map. The bit of the runtime (Go 1.19, runtime/map.go, hashWriting) is set as if the former were at it. */
static const char program[] =
	"package main\n"
	"import (\"os\"; \"runtime\"; \"sync\"; \"syscall\"; \"unsafe\")\n"
	"var sink int\nvar cache = map[string]int{\"a\": 1}\nvar names = map[string]int{}\n"
	"func init() { runtime.LockOSThread(); f, _ := os.Create(\"/dev/null\"); syscall.Dup2(int(f.Fd()), 2) }\n"
	"type hub struct { serial int; series map[string]int }\n"
	"func write(m map[string]int) { (*struct{ count int; flags uint8 "
	"})(*(*unsafe.Pointer)(unsafe.Pointer(&m))).flags "
	"|= 4 }\n"
	"//go:noinline\nfunc (h *hub) add(c chan string) { for k := range c { h.series[k]++ } }\n"
	"//go:noinline\nfunc (h *hub) total() int { n := 0; for _, v := range h.series { n += v }; return n }\n"
	"//go:noinline\nfunc (h *hub) put(k string) int { h.series[k] = 5; return len(k) }\n"
	"//go:noinline\nfunc (h *hub) read(c chan string) { for k := range c { sink += h.series[k] } }\n"
	"//go:noinline\nfunc fill(c chan string) { for k := range c { cache[k] = 7 } }\n"
	"//go:noinline\nfunc other(c chan string, m map[string]int) { for k := range c { m[k] = 1; delete(names, k) } "
	"}\n"
	"//go:noinline\nfunc find(k string) int { return cache[k] }\n"
	"type shard struct { mu sync.Mutex; series map[string]int }\ntype registry struct { shards [4]shard }\n"
	"//go:noinline\nfunc (r *registry) of(k string) *shard { return &r.shards[len(k) & 3] }\n"
	"//go:noinline\nfunc (s *shard) lock(c chan string) string { return <-c }\n"
	"//go:noinline\nfunc (r *registry) observe(c chan string) { for { s := r.of(\"ab\"); k := s.lock(c); "
	"s.series[k]++ } }\n"
	"//go:noinline\nfunc (r *registry) sweep() int { n := 0; for i := range r.shards { s := &r.shards[i]\n"
	"	for _, v := range s.series { n += v } }; return n }\n"
	"func begin(f func(chan string)) { c := make(chan string); go f(c)\n"
	"	for i := 0; i < 10; i++ { runtime.Gosched() } }\n"
	"func main() { runtime.GOMAXPROCS(1); h := &hub{3, map[string]int{\"a\": 1}}; own := map[string]int{\"b\": 2}\n"
	"	begin(func(c chan string) { other(c, own) })\n"
	"	switch os.Args[1] {\n"
	"	case \"member\": begin(h.add); write(h.series); sink = h.total()\n"
	"	case \"assign\": begin(h.add); write(h.series); sink = h.put(os.Args[0])\n"
	"	case \"reader\": begin(h.read); write(h.series); sink = h.put(os.Args[0])\n"
	"	case \"shard\": r := &registry{}; r.shards[2].series = map[string]int{\"a\": 1}\n"
	"		begin(r.observe); write(r.shards[2].series); sink = r.sweep()\n"
	"	case \"global\": begin(fill); write(cache); sink = find(os.Args[0]) }\n"
	"	os.Exit(2 + sink) }\n";

static void expect(const struct wanted *want)
{
	char line[300];
	check_needs("go");
	judged_expect(go_compiler(go_flags[GO_UNOPTIMISED], line), program, false, want);
	judged_expect(go_compiler(go_flags[GO_PLAIN], line), program, false, want);
}

static void another_goroutine_that_writes_to_the_map_is_told(void **state)
{
	static const struct wanted cases[] = {
		{.argument = "member",
		 .class_name = "panic",
		 .kind = "concurrent map",
		 .function = "main.(*hub).total",
		 .message = "concurrent map iteration and map write",
		 .says = "and writes to maps in main.(*hub).add",
		 .also = "in main.(*hub).add, program.go:",
		 .without = "in main.other"},
		{.argument = "assign",
		 .class_name = "panic",
		 .kind = "concurrent map",
		 .function = "main.(*hub).put",
		 .message = "concurrent map writes",
		 .says = "likely goroutine",
		 .also = "in main.(*hub).add, program.go:",
		 .without = "in main.other"},
		{.argument = "shard",
		 .class_name = "panic",
		 .kind = "concurrent map",
		 .function = "main.(*registry).sweep",
		 .says = "and writes to maps in main.(*registry).observe",
		 .also = "in main.(*registry).observe, program.go:",
		 .without = "in main.other"},
		{.argument = "global",
		 .class_name = "panic",
		 .kind = "concurrent map",
		 .function = "main.find",
		 .says = "likely goroutine",
		 .also = "in main.fill, program.go:",
		 .without = "in main.other"},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		expect(&cases[i]);
}

/* It only reads; the one that writes has another map. */
static void who_only_reads_the_map_or_writes_to_another_is_not(void **state)
{
	static const struct wanted want = {.argument = "reader",
					   .class_name = "panic",
					   .kind = "concurrent map",
					   .says = "missing: the goroutine that wrote to the map",
					   .without = "likely goroutine"};
	(void)state;
	expect(&want);
}

/* The text is the runtime's own; that the runtime sent SIGABRT follows. */
static void the_headline_has_the_text(void **state)
{
	char line[300];
	(void)state;
	check_needs("go");
	struct judged j = judge_of(go_compiler(go_flags[GO_PLAIN], line), program, "member", false);
	if (!judged_same(j.verdict->headline, "fatal error: concurrent map iteration and map write") ||
	    !judged_says(&j, "SIGABRT: aborted"))
		judged_fail(&j, line, "the headline");
	judged_free(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_goroutine_that_writes_to_the_map_is_told),
		cmocka_unit_test(who_only_reads_the_map_or_writes_to_another_is_not),
		cmocka_unit_test(the_headline_has_the_text),
	};
	setenv("GOTRACEBACK", "crash", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
