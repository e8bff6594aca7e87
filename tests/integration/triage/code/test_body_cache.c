/* layer: triage */
/* Functions are decoded once, and callees are resolved once; the source's names identify the targets. */
#include "tests/support/opened.h"

#include "dwarf/elf/symbol.h"
#include "triage/code/body_cache.h"

static const char source[] =
	"#include <string.h>\n#include <stdlib.h>\n"
	"__attribute__((noinline)) void other(char *p) { *(volatile char *)p = 1; }\n"
	"__attribute__((noinline)) void work(char *p) { if (strlen(p) == 99) exit(3); other(0); }\n"
	"int main(int c, char **v) { work(v[c - 1]); return 0; }\n";

struct read {
	struct xc_process *process;
	struct xc_arena arena;
	struct xc_body_cache *bodies;
};

static void open_bodies(struct read *r)
{
	*r = (struct read){.process = died("gcc -O0 -fno-builtin -no-pie -x c", source)};
	r->bodies = xc_body_cache_new(r->process, &r->arena);
}

static void done(struct read *r)
{
	xc_arena_fini(&r->arena);
	close_process(r->process);
}

static xc_addr address_of(const struct read *r, const char *name)
{
	xc_addr addr;
	assert_non_null(xc_symbol_find(r->process, name, NULL, &addr));
	return addr;
}

static void a_function_is_decoded_once(void **state)
{
	(void)state;
	struct read r;
	open_bodies(&r);
	xc_addr work = address_of(&r, "work"), other = address_of(&r, "other");
	struct xc_body *body = xc_body_cache_get(r.bodies, work);
	assert_non_null(body);
	assert_true(body->count > 5);
	for (size_t i = 0; i < body->count; i++) /* also in the middle of an instruction */
		assert_ptr_equal(xc_body_cache_get(r.bodies, body->insns[i].addr + body->insns[i].length - 1), body);
	assert_ptr_not_equal(xc_body_cache_get(r.bodies, other), body);
	assert_ptr_equal(xc_body_cache_get(r.bodies, other), xc_body_cache_get(r.bodies, other + 1));
	done(&r);
}

static void what_is_no_code_is_none_again(void **state)
{
	(void)state;
	struct read r;
	open_bodies(&r);
	for (int i = 0; i < 3000; i++) /* above the cache's capacity */
		assert_null(xc_body_cache_get(r.bodies, (xc_addr)(16 + 8 * i)));
	assert_null(
		xc_body_cache_get(r.bodies, address_of(&r, "work"))); /* a stack with arbitrary targets gets no more */
	done(&r);
}

/* exit was never called: its slot still leads to the linker, and its name is only in the file's relocations. */
static void who_is_called_is_told_again_as_at_first(void **state)
{
	(void)state;
	static const char *const callees[] = {"strlen", "exit", "other"};
	struct read r;
	open_bodies(&r);
	const struct xc_body *body = xc_body_cache_get(r.bodies, address_of(&r, "work"));
	for (int again = 0; again < 2; again++) {
		size_t found = 0;
		for (size_t i = 0; i < body->count; i++) {
			xc_addr addr = 1;
			if (body->insns[i].kind != XC_INSN_CALL)
				continue;
			const char *name = xc_body_callee(body, &body->insns[i], &addr);
			assert_true(found < XC_COUNT(callees));
			assert_non_null(name);
			assert_non_null(strstr(name, callees[found]));
			if (++found == XC_COUNT(callees))
				assert_int_equal(addr, address_of(&r, "other"));
		}
		assert_int_equal(found, XC_COUNT(callees));
	}
	done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_decoded_once),
		cmocka_unit_test(what_is_no_code_is_none_again),
		cmocka_unit_test(who_is_called_is_told_again_as_at_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
