/* layer: dwarf */
/* Names that C++ imports: namespace aliases, using-declarations and `using namespace`. The compiler is the oracle: the
 * function keeps what each expression is there. */
#include "dwarf/cexpr/cexpr.h"
#include "tests/support/opened.h"

/* Each line of NAMES is an expression of `run`, in this order. */
#define NAMES                                                                                                          \
	"ALL(fs::level)\n"                                                                                             \
	"ALL(fs::place.b)\n"                                                                                           \
	"ALL(place.a)\n"                                                                                               \
	"ALL(shared)\n"                                                                                                \
	"ALL(d::level)\n"                                                                                              \
	"ALL(version)\n"                                                                                               \
	"ALL(lib::version)\n"                                                                                          \
	"ALL(in2::deep::level)\n"                                                                                      \
	"ALL(app::in2::deep::level)\n"                                                                                 \
	"ALL(::app::in2::deep::level)\n"                                                                               \
	"ALL(::fs::level)\n"                                                                                           \
	"ALL(only)\n"                                                                                                  \
	"ALL(app::only)\n"                                                                                             \
	"ALL(user::shared)\n"                                                                                          \
	"ALL(user::mine)\n"                                                                                            \
	"ALL(hidden)\n"                                                                                                \
	"ALL(nearer)\n"                                                                                                \
	"ALL(outer)\n"                                                                                                 \
	"ALL(level)\n"                                                                                                 \
	"ALL(there)\n"                                                                                                 \
	"ALL(through)\n"                                                                                               \
	"ALL((int)sizeof(fs::box))\n"                                                                                  \
	"ALL((int)sizeof(d::box))\n"                                                                                   \
	"ALL((int)(long)(d::box *)7)\n"                                                                                \
	"ALL((int)sizeof(box))\n"                                                                                      \
	"ALL((int)BLUE)\n"                                                                                             \
	"ALL(fs::held<int>::size)\n"

static const char source[] =
	"namespace inner { namespace deep { int level = 7; struct box { int a, b; }; box place = {1, 2};\n"
	"  template <typename T> struct held { static int size; }; template <typename T> int held<T>::size = 40;\n"
	"  template struct held<int>; } }\n"
	"namespace other { int shared = 5, only = 11, hidden = 17, nearer = 18, outer = 19; }\n"
	"namespace far { int through = 31; } namespace near { using namespace far; }\n"
	"namespace fs = inner::deep; namespace user { using namespace other; int mine = 3; }\n"
	"using inner::deep::place; int level = 77; int there = 23;\n"
	"namespace lib { inline namespace v1 { int version = 9; } namespace { int anonymous = 13; } }\n"
	"namespace paint { struct box { char c[3]; } used; enum colour { RED, BLUE = 6 } first; }\n"
	"volatile int *none; int hidden = 27;\n"
	"namespace app { int nearer = 28; namespace in2 = inner; using other::only;\n"
	"namespace part { using namespace other; }\n"
	"__attribute__((always_inline)) static inline int run(int n) {\n"
	"  using namespace part; using namespace near; namespace d = inner::deep; using lib::version;\n"
	"  using namespace paint; using ::hidden;\n"
	"  { using inner::deep::level;\n"
	"    int results[] = {\n"
	"#define ALL(x) x,\n" NAMES "0 };\n"
	"    volatile int kept[40]; for (int i = 0; i < (int)(sizeof results / sizeof *results); i++)\n"
	"      kept[i] = results[i];\n"
	"    *none = n + kept[0]; }\n"
	"  return n + lib::anonymous + user::mine + app::nearer; } \n"
	"int __attribute__((noinline)) call(int n) { return run(n) + 1; } }\n"
	"int main(int argc, char **) { return app::call(argc); }\n";

struct scene {
	struct xc_process *process;
	struct xc_frame_scope at;
	struct xc_arena arena;
};

static void enter(struct scene *s, const char *compiler)
{
	*s = (struct scene){.process = died(compiler, source)};
	CHECK_OK(xc_frame_scope_open(&s->at, s->process, NULL, 0));
}

static void leave(struct scene *s)
{
	xc_frame_scope_fini(&s->at);
	xc_arena_fini(&s->arena);
	close_process(s->process);
}

static int number_of(struct scene *s, const char *text)
{
	struct xc_value value;
	uint64_t bits = 0;
	struct xc_error *err = xc_cexpr_value(&s->at, text, &s->arena, &value);
	if (err)
		fail_msg("%s: %s", text, err->message);
	assert_true(xc_value_load(&value, &bits));
	return (int)bits;
}

/* The next expression of NAMES; NULL at the end. */
static const char *next_name(struct scene *s, const char **at)
{
	const char *from = *at + strlen("ALL("), *end = strchr(*at, '\n');
	if (!**at)
		return NULL;
	*at = end + 1;
	return xc_arena_strndup(&s->arena, from, (size_t)(end - 1 - from));
}

static void imported_names_are_what_the_compiler_found(void **state)
{
	(void)state;
	static const char *const compilers[] = {"g++ -g -O0 -x c++", "g++ -g -O2 -x c++", "clang++ -g -O0 -x c++",
						"clang++ -g -O1 -x c++"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct scene s;
		const char *at = NAMES, *name;
		enter(&s, compilers[i]);
		for (int n = 0; (name = next_name(&s, &at)); n++) {
			int want = number_of(&s, xc_arena_printf(&s.arena, "kept[%d]", n));
			int have = number_of(&s, name);
			if (have != want)
				fail_msg("%s: %s is %d, not %d", compilers[i], name, have, want);
		}
		leave(&s);
	}
}

static void names_that_are_not_imported_here_are_not_found(void **state)
{
	(void)state;
	static const char *const unknown[] = {"app::d::level", "shared",   "::shared",    "version",
					      "anonymous",     "d::level", "fs::nothing", "through"};
	struct scene s;
	enter(&s, "g++ -g -O0 -x c++");
	xc_frame_scope_fini(&s.at);
	CHECK_OK(xc_frame_scope_open(&s.at, s.process, NULL, 2));
	assert_string_equal(xc_frame_scope_function(&s.at), "main");
	assert_int_equal(number_of(&s, "fs::level"), 7); /* what the unit imports is known there */
	assert_int_equal(number_of(&s, "level"), 77);
	for (size_t i = 0; i < XC_COUNT(unknown); i++) {
		struct xc_value value;
		struct xc_error *err = xc_cexpr_value(&s.at, unknown[i], &s.arena, &value);
		if (!err)
			fail_msg("%s was found", unknown[i]);
		xc_error_free(err);
	}
	leave(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(imported_names_are_what_the_compiler_found),
		cmocka_unit_test(names_that_are_not_imported_here_are_not_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
