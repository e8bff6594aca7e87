/* layer: lua */
/* The target: properties, names, memory, symbols, mappings. */
#include "core/process/module.h"
#include "tests/support/scripted.h"

static const char source[] =
	"unsigned char bytes[]={0x80,1,2,3,4,5,6,0xff}; float f=1.5f; double d=-2.25; const char *text=\"some text\"; "
	"int zero;\n"
	"struct in {int x;} in={7}, *sp=&in; static int hidden=4; int twice(int x) {return 2*x;} char end[4096]={1};\n"
	"int (*fun)(int)=twice; static int also(void) {static int counter=9; return counter;} int "
	"(*keep)(void)=also;\n";

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

static void it_says_what_it_is(void **state)
{
	SAYS(*state, "t.live, t.pid, t.arch, t.pointer_size, t.endian, t.signal, t.comm, t.args",
	     "false\tnil\tx86-64\t8\tlittle\tnil\tnil\tnil");
	RAISES(*state, "return t.arhc", "usage", "the target has no 'arhc'");
	RAISES(*state, "return t.vars", "usage", "the target has no 'vars'");
	RUNS(*state, "local _, e = pcall(function() return t.arhc end) print(e.hint)", "did you mean arch?");
	RUNS(*state, "print((select(2, pcall(t.u8, 5)):gsub('^.-: ', '')))",
	     "bad argument #1 to '?' (xcore.Target expected, got number)");
}

static void names_are_found(void **state)
{
	SAYS(*state,
	     "t:var'zero', t:var'hidden', t:var'sp'.x, t:var'also::counter', t:eval'in.x * 2 + hidden', t:eval'&in' == "
	     "t:var'sp'",
	     "0\t4\t7\t9\t18\ttrue");
	SAYS(*state, "t:has_var'in', t:has_var'inn', t:has_var'twice', t:has_symbol'twice', t:has_symbol'thrice'",
	     "true\tfalse\tfalse\ttrue\tfalse");
	RUNS(*state, "local ok, e = pcall(t.var, t, 'hiden') print(e.kind, e.hint)", "not_found\tdid you mean hidden?");
	RAISES(*state, "return t:eval'(in.x + 1).y'", "usage", "`int` has no members");
	SAYS(*state,
	     "t:value('int', xcore.addr(t:ref'hidden')), t:value('struct in', xcore.addr(t:var'sp')).x, t:value('int', "
	     "t:var'sp')",
	     "4\t7\t7");
	RAISES(*state, "return t:eval'(struct in *)16'.x", "fault", "((struct in *)16).x: 0x10 is not mapped");
}

static void numbers_are_read_in_either_order(void **state)
{
	RUNS(*state,
	     "local a = xcore.addr(t:var'bytes') print(t:u8(a), t:i8(a), t:u16(a), t:u16(a, 'big'), t:i16(a, 'big'))",
	     "128\t-128\t384\t32769\t-32767");
	RUNS(*state,
	     "local a = xcore.addr(t:var'bytes') print(xcore.hex(t:u32(a)), xcore.hex(t:u32(a, 'big')), t:i32(a, "
	     "'big'))",
	     "0x3020180\t0x80010203\t-2147417597");
	RUNS(*state,
	     "local a = t:var'bytes' print(xcore.hex(t:u64(a)), xcore.hex(t:u64(a, 'big')), t:i64(a), "
	     "t:i32(xcore.addr(a) + 4))",
	     "0xff06050403020180\t0x80010203040506ff\t-70363229389192832\t-16382716");
	SAYS(*state,
	     "t:f32(xcore.addr(t:ref'f')), t:f64(xcore.addr(t:ref'd')), t:ptr(xcore.addr(t:ref'sp')) == "
	     "xcore.addr(t:var'sp')",
	     "1.5\t-2.25\ttrue");
	RAISES(*state, "return t:u32(0x10)", "fault", "0x10 is not mapped");
	RUNS(*state, "print(pcall(t.u32, t, 16, 'middle'))", "false\tbad argument #3 to '?' (invalid option 'middle')");
}

static void bytes_are_read_whole_or_not_at_all(void **state)
{
	SAYS(*state, "t:read(t:var'bytes', 4):byte(1, -1)", "128\t1\t2\t3");
	SAYS(*state, "#t:read(0x10, 0), #t:read(t:var'end', 4096)", "0\t4096");
	RAISES(*state, "t:read(0x10, 4)", "fault", "0x10 is not mapped");
	RAISES(*state, "t:read(0x10, 1 << 40)", "limit", "t:read of 1099511627776 bytes: at most 67108864 at once");
	RAISES(*state, "t:read(0x10, -1)", "limit", "t:read of -1 bytes: at most 67108864 at once");
	RUNS(*state,
	     "local a, n = xcore.addr(t:var'end'), 0 local max = t:readable(a, 1 << 40) "
	     "print(#t:read(a, max) == max, pcall(t.read, t, a, max + 1), t:readable(a, max - 1) == max - 1)",
	     "true\tfalse\ttrue");
	SAYS(*state,
	     "t:readable(0x10), t:readable(xcore.addr(t:var'in')), t:readable(0x10, 5), "
	     "t:readable(xcore.addr(t:var'in'), -1)",
	     "0\t1\t0\t0");
	RUNS(*state,
	     "local a = xcore.addr(t:var'end') local max = t:readable(a, 1 << 40) local ok, e = pcall(t.read, t, a, "
	     "max + 1) "
	     "print(e.kind, e.addr == a + max)",
	     "fault\ttrue");
}

static void strings_are_bounded(void **state)
{
	SAYS(*state, "t:cstring(t:var'text')", "some text\tfalse");
	SAYS(*state, "t:cstring(xcore.addr(t:var'text'), 4)", "some\ttrue");
	SAYS(*state, "t:cstring(t:var'text', 0)", "\ttrue");
	RAISES(*state, "t:cstring(0x10)", "fault", "0x10 is not mapped");
	RAISES(*state, "t:cstring(0x10, 1 << 40)", "limit", "a string of up to 1099511627776 bytes: at most 67108864");
}

static void symbols_have_places(void **state)
{
	SAYS(*state,
	     "t:symbol'twice'.addr == xcore.addr(t:var'fun'), t:symbol'bytes'.size, t:symbol'in'.module, "
	     "t:symbol'in'.name",
	     "true\t8\tprogram\tin");
	RAISES(*state, "t:symbol'twicee'", "not_found", "no symbol 'twicee'");
	RUNS(*state, "local _, e = pcall(t.symbol, t, 'twicee') print(e.hint)", "did you mean twice?");
	RUNS(*state,
	     "local p = t:symbolize(t:var'fun') print(p.name, p.offset, p.line, p.module, (p.text:gsub('at .*:', 'at "
	     "')))",
	     "twice\t0\t2\tprogram\ttwice at 2");
	RUNS(*state, "local p = t:symbolize(xcore.addr(t:var'bytes') + 2) print(p.text, p.name, p.offset, p.line)",
	     "bytes+0x2\tbytes\t2\tnil");
	SAYS(*state, "t:symbolize(0x10)", "nil");
}

static void modules_and_mappings_are_tables(void **state)
{
	RUNS(*state,
	     "local m = t:modules()[1] print(#t:modules(), m.name, m.kind, m.bias, m.identity, m.file, m.build_id ~= "
	     "nil)",
	     "1\tprogram\texe\t0\tverified\tprogram\tfalse");
	RUNS(*state,
	     "local m = t:modules()[1] print(t:module'program'.lo == m.lo, t:module(m.lo).name, t:module'other', "
	     "t:module(16))",
	     "true\tprogram\tnil\tnil");
	SAYS(*state, "#t:maps(), t:map(16)", "0\tnil");
}

static void mappings_say_what_may_be_done(void **state)
{
	struct xc_mapping maps[2] = {
		{.lo = 0x1000, .hi = 0x1fff, .readable = true, .executable = true, .path = "/bin/x", .offset = 0x400},
		{.lo = 0x8000, .hi = 0x8fff, .readable = true, .writable = true, .shared = true, .label = "[heap]"}};
	struct xc_process *process = bare_process();
	struct scripted *s = script_over(process);
	(void)state;
	xc_space_seal(process->space);
	process->mappings = maps;
	process->mapping_count = 2;
	RUNS(s,
	     "for _, m in ipairs(t:maps()) do print(xcore.hex(m.lo), xcore.hex(m.hi), m.readable, m.writable, "
	     "m.executable, m.shared, "
	     "m.path, m.label, m.offset) end",
	     "0x1000\t0x1fff\ttrue\tfalse\ttrue\tfalse\t/bin/"
	     "x\tnil\t1024\n0x8000\t0x8fff\ttrue\ttrue\tfalse\ttrue\tnil\t[heap]\t0");
	SAYS(s, "t:map(0x8fff).label, t:map(0x9000)", "[heap]\tnil");
	end_script(s);
	process->mappings = NULL;
	process->mapping_count = 0;
	xc_process_close(process);
}

static void a_state_without_target_says_so(void **state)
{
	struct scripted *s = script_over(NULL);
	(void)state;
	RAISES(s, "return t.live", "usage", "there is no target");
	RAISES(s, "return t:var'x'", "usage", "there is no target");
	RAISES(s, "return xcore.sizeof'int'", "usage", "types by name need a target, and there is none");
	RAISES(s, "return xcore.cast(1, 'int *')", "usage", "types by name need a target, and there is none");
	SAYS(s, "xcore.u64(-1), xcore.fmt(5), xcore.symbol(nil)", "18446744073709551615\t5\tnil");
	end_script(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_says_what_it_is),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(numbers_are_read_in_either_order),
		cmocka_unit_test(bytes_are_read_whole_or_not_at_all),
		cmocka_unit_test(strings_are_bounded),
		cmocka_unit_test(symbols_have_places),
		cmocka_unit_test(modules_and_mappings_are_tables),
		cmocka_unit_test(mappings_say_what_may_be_done),
		cmocka_unit_test(a_state_without_target_says_so),
	};
	return cmocka_run_group_tests(tests, open_program, close_program);
}
