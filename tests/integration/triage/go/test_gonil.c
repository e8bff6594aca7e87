/* layer: triage tier: long */
/* Where a nil of Go came from: through callers, results of calls and lookups in maps; skipped without go. */
#include <stdlib.h>

#include "tests/support/go_program.h"
#include "tests/support/run_verdict.h"

static const char program[] =
	"package main\n"
	"import (\"os\"; \"runtime\"; \"syscall\")\n"
	"var sink int\n"
	"func init() { runtime.LockOSThread(); f, _ := os.Create(\"/dev/null\"); syscall.Dup2(int(f.Fd()), 2) }\n"
	"type conn struct { name string; sent int }\n"
	"type hub struct { serial int; main *conn; conns map[string]*conn; ids map[int]*conn }\n"
	"//go:noinline\nfunc send(c *conn, n int) int { for i := 0; i < 3; i++ { n += c.sent + len(c.name); sink += n "
	"}; "
	"return n }\n"
	"//go:noinline\nfunc (h *hub) find(name string) *conn { return h.conns[name] }\n"
	"//go:noinline\nfunc (h *hub) known(id int) *conn { if c, ok := h.ids[id]; ok { return c }; return nil }\n"
	"//go:noinline\nfunc (h *hub) pick(n int) *conn { if n > 9 { return &conn{\"big\", n} }; return nil }\n"
	"//go:noinline\nfunc (h *hub) either(n int, c *conn) *conn { if n > 9 { return h.ids[n] }; return c }\n"
	"//go:noinline\nfunc (h *hub) any() *conn { sink++; return h.main }\n"
	"//go:noinline\nfunc pair(n int, c *conn) (int, *conn) { if n > 9 { return n, c }; return n + 1, nil }\n"
	"//go:noinline\nfunc (h *hub) run(how string, n int) int { switch how {\n"
	"	case \"found\": return send(h.find(how), n)\n"
	"	case \"direct\": return send(h.conns[how], n)\n"
	"	case \"number\": return send(h.ids[n], n)\n"
	"	case \"set\": return send(h.pick(n), n)\n"
	"	case \"either\": return send(h.either(n, h.main), n)\n"
	"	case \"member\": return send(h.main, n)\n"
	"	case \"known\": return send(h.known(n), n)\n"
	"	case \"second\": m, c := pair(n, h.any()); return send(c, m)\n"
	"	}; return 0 }\n"
	"func main() { h := &hub{3, nil, map[string]*conn{\"a\": {\"a\", 1}}, map[int]*conn{77: {\"b\", 2}}}\n"
	"	sink = h.run(os.Args[1], len(os.Args)); os.Exit(2 + sink) }\n";

static void expect(const struct wanted *want)
{
	char line[300];
	check_needs("go");
	judged_expect(go_compiler(go_flags[GO_UNOPTIMISED], line), program, false, want);
	judged_expect(go_compiler(go_flags[GO_PLAIN], line), program, false, want);
}

static void expect_origin(const char *argument, const char *says, const char *without)
{
	expect(&(struct wanted){.argument = argument,
				.class_name = "panic",
				.kind = "nil",
				.function = "main.send",
				.says = "`c` was nil; passed by main.(*hub).run() at program.go:",
				.also = says,
				.without = without});
}

static void a_key_that_a_map_does_not_have_is_likely(void **state)
{
	(void)state;
	expect_origin("found", "returned by main.(*hub).find() at program.go:", "set it to nil");
	expect_origin("found", ", likely for a key that its map does not have, at program.go:", NULL);
	expect_origin("direct", "looked up in a map at program.go:", "returned by");
	expect_origin("number", ", likely for a key that it does not have", "returned by");
}

static void a_nil_that_a_function_set_is_told_with_its_line(void **state)
{
	(void)state;
	expect_origin("set", "returned by main.(*hub).pick() at program.go:", "a key that");
	expect_origin("set", ", which likely set it to nil at program.go:", NULL);
}

/* It may have been passed, or be a member. */
static void of_several_ways_none_is_chosen(void **state)
{
	(void)state;
	expect_origin("either", "returned by main.(*hub).either() at program.go:", "a key that");
	expect_origin("either", NULL, "set it to nil");
	expect_origin("known", "returned by main.(*hub).known() at program.go:", "a key that");
	expect_origin("member", "as `h.main`", "a key that");
}

/* The second result is in the register that the second argument was in; a C function would have kept that. */
static void a_register_does_not_outlive_a_call(void **state)
{
	(void)state;
	expect_origin("second", NULL, "main.(*hub).any");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_that_a_map_does_not_have_is_likely),
		cmocka_unit_test(a_nil_that_a_function_set_is_told_with_its_line),
		cmocka_unit_test(of_several_ways_none_is_chosen),
		cmocka_unit_test(a_register_does_not_outlive_a_call),
	};
	setenv("GOTRACEBACK", "crash", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
