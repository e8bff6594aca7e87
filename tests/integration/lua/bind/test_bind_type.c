/* layer: lua */
/* Types as objects: names, kinds, sizes, members, derived types, and types by name. */
#include "tests/support/scripted.h"

static const char source[] =
	"enum color {RED, GREEN = 5, BLUE = -2}; struct opaque; union u {int i; float f;};\n"
	"struct in {int x; union {int l; float f;}; unsigned b:3, c:7; struct opaque *op; char tail[];} in;\n"
	"typedef const struct in *handle; handle h; volatile int v; int grid[2][3]; int (*fun)(int, char *); enum "
	"color col;\n"
	"union u un; double d; _Bool yes; char c; unsigned char uc; long double ld; void *p; long "
	"long_name_that_is_far_too_long_to_keep;\n";

static int open_program(void **state)
{
	*state = script("gcc -g -x c", source);
	return 0;
}

static int close_program(void **state)
{
	end_script(*state);
	return 0;
}

static void types_say_what_they_are(void **state)
{
	RUNS(*state,
	     "for _, n in ipairs{'struct in', 'union u', 'enum color', 'handle', 'int [2][3]', 'double', '_Bool', "
	     "'char', "
	     "'unsigned char', 'void *', 'const int', 'struct opaque', 'int (*)(int, char *)'} do local y = t:type(n) "
	     "print(y.name, y.kind, y.size, y.signed, y.incomplete) end",
	     "struct in\tstruct\t24\tfalse\tfalse\nunion u\tunion\t4\tfalse\tfalse\nenum color\tenum\t4\ttrue\tfalse\n"
	     "handle\ttypedef\t8\tfalse\tfalse\nint [2][3]\tarray\t24\tfalse\tfalse\ndouble\tfloat\t8\tfalse\tfalse\n"
	     "bool\tbool\t1\tfalse\tfalse\nchar\tchar\t1\ttrue\tfalse\nunsigned char\tchar\t1\tfalse\tfalse\n"
	     "void *\tpointer\t8\tfalse\tfalse\nconst int\tconst\t4\ttrue\tfalse\nstruct "
	     "opaque\tstruct\tnil\tfalse\ttrue\n"
	     "int (*)(int, char *)\tpointer\t8\tfalse\tfalse");
	SAYS(*state,
	     "t:type'handle'.target.target.target, t:type'handle':strip(), t:type'int [2][3]'.count, t:type'int "
	     "[2][3]'.target",
	     "struct in\tconst struct in *\t2\tint [3]");
	SAYS(*state, "t:type'enum color'.target, t:type'int'.target, t:type'int (*)(int, char *)'.target.kind",
	     "int\tnil\tfunction");
}

static void members_and_enumerators_are_listed(void **state)
{
	RUNS(*state,
	     "for _, m in ipairs(t:type'struct in':members()) do print(m.name, m.type, m.offset, m.bit_offset, "
	     "m.bit_size, m.base) end",
	     "x\tint\t0\tnil\tnil\tfalse\nnil\tunion {...}\t4\tnil\tnil\tfalse\nb\tunsigned int\t8\t0\t3\tfalse\n"
	     "c\tunsigned int\t8\t3\t7\tfalse\nop\tstruct opaque *\t16\tnil\tnil\tfalse\ntail\tchar "
	     "[]\t24\tnil\tnil\tfalse");
	RUNS(*state, "for _, e in ipairs(t:type'enum color':enumerators()) do print(e.name, e.value) end",
	     "RED\t0\nGREEN\t5\nBLUE\t-2");
	SAYS(*state, "#t:type'int':members(), #t:type'struct in':enumerators(), #t:type'handle':members()", "0\t0\t0");
}

static void types_are_made_of_types(void **state)
{
	SAYS(*state,
	     "t:type'struct in':pointer(), t:type'int':array(3), t:type'int':array(3):pointer(), "
	     "t:type'int':array(0).size",
	     "struct in *\tint [3]\tint (*)[3]\t0");
	RAISES(*state, "for i = 1, 1e6 do t:type'int':array(i) end", "limit",
	       "more than 65536 types were made: keep them in variables");
}

static void types_of_one_name_are_equal(void **state)
{
	struct scripted *s = script("gcc -g -x c", source); /* the limit is per state */
	(void)state;
	SAYS(s,
	     "t:type'int' == t:type'int', t:type'int' == t:type'long', t:type'struct in':pointer() == t:type'struct in "
	     "*', "
	     "xcore.typeof(t:var'in') == t:type'struct in', t:type'int' == 5",
	     "true\tfalse\ttrue\ttrue\tfalse");
	RUNS(s, "local k = {[t:type'int'] = 1} print(k[t:type'int'])", "1");
	end_script(s);
}

static void wrong_names_say_what_may_be_meant(void **state)
{
	struct scripted *s = script("gcc -g -x c", source);
	(void)state;
	RUNS(s,
	     "for _, n in ipairs{'struct inn', 'int [', '1 + 1', '', 'in'} do local ok, e = pcall(t.type, t, n) "
	     "print(ok, e.kind) end",
	     "false\tnot_found\nfalse\tnot_found\nfalse\tnot_found\nfalse\tnot_found\nfalse\tnot_found");
	SAYS(s,
	     "t:has_type'struct in', t:has_type'struct inn', t:has_type'handle', t:has_type'in', t:has_type'int *[4]'",
	     "true\tfalse\ttrue\tfalse\ttrue");
	RAISES(s, "return t:type'int'.nmae", "usage", "a type has no 'nmae'");
	RUNS(s, "local _, e = pcall(function() return t:type'int'.nmae end) print(e.hint)", "did you mean name?");
	RAISES(s, "return t:type'int'[1]", "usage", "a type has only named members, not a number");
	end_script(s);
}

static void declarations_complete_what_is_only_declared(void **state)
{
	struct scripted *s = script("gcc -g -x c", source);
	(void)state;
	SAYS(s, "t:type'struct opaque'.size, t:type'struct opaque *'.target.size", "nil\tnil");
	RUNS(s,
	     "xcore.cdef[[struct opaque { char c; long l; }; struct in { char other; }; struct mine { struct opaque o; "
	     "};]] "
	     "print(t:type'struct opaque'.size, t:type'struct opaque *'.target.size, t:type'struct mine'.size, "
	     "t:type'struct in'.size)",
	     "16\t16\t16\t24");
	SAYS(s, "xcore.cast(t:var'in', 'struct opaque *').c, xcore.offsetof('struct mine', 'o.l')", "0\t8");
	end_script(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_say_what_they_are),
		cmocka_unit_test(members_and_enumerators_are_listed),
		cmocka_unit_test(types_are_made_of_types),
		cmocka_unit_test(types_of_one_name_are_equal),
		cmocka_unit_test(wrong_names_say_what_may_be_meant),
		cmocka_unit_test(declarations_complete_what_is_only_declared),
	};
	return cmocka_run_group_tests(tests, open_program, close_program);
}
