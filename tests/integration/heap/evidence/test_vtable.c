/* layer: heap */
/* vtables: the program's own report of its objects' classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/elf/name.h"
#include "heap/evidence/vtable.h"
#include "tests/support/grid.h"
#include "tests/support/allocation_log.h"

static const char source[] =
	"struct base { virtual ~base() {} virtual int f() { return 1; } long a; };\n"
	"struct derived : base { int f() override { return 2; } long b[3]; };\n"
	"struct other { virtual ~other() {} virtual void g() {} int o; };\n"
	"struct multiple : base, other { long m; int f() override { return 3; } void g() override {} };\n"
	"struct left : virtual base { long l; };\n"
	"struct right : virtual base { long r; };\n"
	"struct diamond : left, right { long d; };\n"
	"namespace outer { namespace { struct hidden : base { char c[100]; }; }\n"
	"  template <class T, int N> struct box : base { T t[N]; int f() override { return N; } };\n"
	"  base *make_hidden() { return note(new hidden, \"outer::(anonymous namespace)::hidden\"); } }\n"
	"struct plain { void *p; long n; };\n"
	"struct late { long n; virtual ~late() {} };\n"
	"static const void *const constants[] = {&constants, (void *)\"text\"};\n"
	"void *kept[64]; int k;\n"
	"int main() {\n"
	"  struct local : other { long x; };\n"
	"  kept[k++] = note(new base, \"base\");\n"
	"  for (int i = 0; i < 9; i++) kept[k++] = note(new derived, \"derived\");\n"
	"  kept[k++] = note(new multiple, \"multiple\");\n"
	"  kept[k++] = note(new left, \"left\");\n"
	"  kept[k++] = note(new diamond, \"diamond\");\n"
	"  kept[k++] = outer::make_hidden();\n"
	"  kept[k++] = note(new outer::box<unsigned long, 3>, \"outer::box<unsigned long, 3>\");\n"
	"  kept[k++] = note(new outer::box<outer::box<int, 2>, 2>, \"outer::box<outer::box<int, 2>, 2>\");\n"
	"  kept[k++] = note(new local, \"main::local\");\n"
	"  kept[k++] = note(new late, \"late\");\n"
	"  kept[k++] = note((char *)new derived[5] - 8, \"derived\", 5);\n"
	"  plain *p = note(new plain, \"\"); p->p = (void *)constants; kept[k++] = p;\n"
	"  p = note(new plain, \"\"); p->p = (void *)&main; kept[k++] = p;\n"
	"  p = note(new plain, \"\"); p->p = *(char **)kept[0] + 8; kept[k++] = p;\n" /* inside a vtable */
	"  p = note(new plain, \"\"); p->p = (void *)((void **)*(void **)kept[0])[-1]; kept[k++] = p;\n"
	"  abort(); }\n";

/* -fno-rtti omits type info, so the last one is not an address */
static const char without_rtti[] =
	"struct base { virtual ~base() {} virtual int f() { return 1; } long a; };\n"
	"struct derived : base { int f() override { return 2; } long b[3]; };\n"
	"void *kept[8];\n"
	"int main() { kept[0] = note(new base, \"base\"); kept[1] = note(new derived, \"derived\"); abort(); }\n";

struct told {
	const struct booked *b;
	struct booking *bookings;
	uint64_t *said; /* by allocation log: the number of times */
	bool described;
};

/* "main::local" is "local" in debug information, and compilers write template arguments in several ways. */
static bool names_class(const char *want, const char *have)
{
	size_t len = strlen(have), all = strlen(want);
	return len <= all && xc_name_equal(want + all - len, len, have, len);
}

static void compare(void *context, uint32_t block, uint64_t offset, struct xc_vtable *vtable)
{
	struct told *t = context;
	xc_addr addr = xc_block_addr(&t->b->heap->blocks, block);
	for (uint64_t i = 0; i < t->b->count; i++) {
		const struct booking *b = &t->bookings[i];
		if (b->block != addr)
			continue;
		t->said[i]++;
		if (!xc_name_equal(b->type, strlen(b->type), vtable->name, strlen(vtable->name)))
			fail_msg("0x%lx: want %s, got %s", (unsigned long)addr, b->type, vtable->name);
		assert_int_equal(offset, b->count > 1 ? 8 : 0);
		assert_int_equal(vtable->to_top, 0);
		if (!t->described)
			assert_null(vtable->type);
		else if (!vtable->type)
			fail_msg("%s has no type", b->type);
		else if (!strstr(b->type, "hidden") && !names_class(b->type, vtable->type->name))
			fail_msg("%s has the type %s", b->type, vtable->type->name);
	}
}

static void check(const char *compiler, const char *program, bool described)
{
	struct booked b = booked_open(compiler, program);
	struct told t = {.b = &b, .described = described};
	t.bookings = xc_alloc(b.count * sizeof *t.bookings);
	t.said = xc_alloc(b.count * sizeof *t.said);
	for (uint64_t i = 0; i < b.count; i++)
		t.bookings[i] = booked_get(&b, i);
	struct xc_vtables *tables = xc_vtables_new(b.process);
	xc_vtables_scan(tables, b.heap, compare, &t);
	for (uint64_t i = 0; i < b.count; i++) {
		bool array = t.bookings[i].count > 1; /* unknown size without debug information */
		if (t.said[i] != (*t.bookings[i].type && (described || !array)))
			fail_msg("%s: %s at 0x%lx was told %lu times", compiler, t.bookings[i].type,
				 (unsigned long)t.bookings[i].block, (unsigned long)t.said[i]);
	}
	xc_vtables_free(tables);
	free(t.bookings);
	free(t.said);
	booked_close(&b);
}

static void objects_are_told_by_gcc(void **state)
{
	(void)state;
	GRID(i, 2)
		check(i ? "g++ -g -O2 -x c++" : "g++ -g -O0 -x c++", source, true);
}

static void objects_are_told_by_clang(void **state)
{
	(void)state;
	GRID(i, 2)
		check(i ? "clang++ -g -O2 -x c++" : "clang++ -g -O0 -x c++", source, true);
}

static void type_info_in_memory_names_them_without_symbols(void **state)
{
	(void)state;
	static const char *const compilers[] = {"g++ -s -rdynamic -O2 -x c++", "clang++ -s -rdynamic -O0 -x c++",
						"g++ -s -rdynamic -no-pie -O2 -x c++"};
	GRID(i, XC_COUNT(compilers))
		check(compilers[i], source, false);
}

static void symbols_name_them_without_type_info(void **state)
{
	(void)state;
	check("g++ -g -fno-rtti -O0 -x c++", without_rtti, true);
	check("g++ -fno-rtti -O2 -x c++", without_rtti, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_told_by_gcc),
		cmocka_unit_test(objects_are_told_by_clang),
		cmocka_unit_test(type_info_in_memory_names_them_without_symbols),
		cmocka_unit_test(symbols_name_them_without_type_info),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
