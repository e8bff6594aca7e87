/* layer: lua */
/* Machine code as instructions: encodings from the architecture's manual. */
#include "tests/support/scripted.h"

static const char source[] =
	"unsigned char code[] = {0x48, 0x89, 0xd8, 0x0f, 0x84, 0x05, 0, 0, 0, 0x06, 0xc3, 0x48};\n";

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

static void jumps_have_targets(void **state)
{
	RUNS(*state,
	     "local l, at = t:disassemble(t:var'code', 11), xcore.addr(t:var'code') print(#l, l[1].text, l[1].length, "
	     "l[1].target) print(l[2].target - at, l[2].length, l[3].valid, l[4].text, l[4].addr - at)",
	     "4\tmov rax, rbx\t3\tnil\n14\t6\tfalse\tret\t10");
}

static void an_end_may_cut(void **state)
{
	SAYS(*state, "#t:disassemble(t:var'code', 0), t:disassemble(t:var'code', 2)[1].valid", "0\tfalse");
}

static void what_cannot_be_read_raises(void **state)
{
	RAISES(*state, "return t:disassemble(16, 4)", "fault", "0x10 is not mapped");
	RAISES(*state, "return t:disassemble(t:var'code', 1 << 21)", "limit",
	       "t:disassemble of 2097152 bytes: at most 1048576 at once");
	RAISES(*state, "return t:disassemble(t:var'code', -1)", "limit",
	       "t:disassemble of -1 bytes: at most 1048576 at once");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps_have_targets),
		cmocka_unit_test(an_end_may_cut),
		cmocka_unit_test(what_cannot_be_read_raises),
	};
	return cmocka_run_group_tests(tests, open_program, close_program);
}
