/* layer: lua */
/* Values of the target in scripts: scalars, pointers, arrays, members, operators. The expected values are the programs'
 * own initialisers. */
#include "tests/support/scripted.h"

static const char source[] =
	"#include <stdint.h>\n#include <stdbool.h>\n"
	"enum color {RED, GREEN = 5, BLUE = -2}; enum flags {A = 1, B = 2, C = 4};\n"
	"struct in {int x; union {int i; float f;}; struct {short s1, s2;}; struct {int q;} named;};\n"
	"struct in st={1,{2},{3,4},{5}}, *sp=&st, **spp=&sp, many[3]={[1]={7},[2]={8}}; struct in *bad=(void*)0x10;\n"
	"struct bits {unsigned a:3; int b:5; unsigned long long e:40; bool yes:1, no:1; enum color c:4; signed char "
	"n:1;}\n"
	"bits={5,-3,0x123456789aULL,1,0,BLUE,-1};\n"
	"struct __attribute__((packed)) odd {char pad; unsigned long long w:63; unsigned long long v:62;}\n"
	"odd={1,0x5555555555555555ULL,0x3eadbeefdeadbeefULL};\n"
	"int8_t i8=-1; uint8_t u8=255; int16_t i16=-2; uint16_t u16=65535; int32_t i32=-3; uint32_t u32=4294967295u;\n"
	"int64_t i64=-4; uint64_t u64=18446744073709551615ull; __int128 wide=(__int128)1<<100, narrow=-7;\n"
	"unsigned __int128 most=~(unsigned __int128)0; long double ld=0.5L; double d=2.5, nan_=0.0/0.0; float "
	"f=-0.25f;\n"
	"_Complex double z=1.5; bool yes=true, no=false; enum color col=GREEN, odd_col=77; enum flags fl=A|C;\n"
	"char text[8]=\"hey\", full[3]={'a','b','c'}; char *cs=\"a string\", *nothing=0; signed char letter='x';\n"
	"int seq[4]={10,20,30,40}, *ip=&seq[2], grid[2][3]={{1,2,3},{4,5,6}}, (*row)[3]=&grid[1]; int "
	"*ptrs[3]={seq,0,seq+1};\n"
	"struct flex {int count; struct {short a, b;} items[];} flex={2,{{1,2},{3,4}}}; struct flex *fp=&flex;\n"
	"int zero_length[0]; int twice(int x) {return 2*x;} int (*fun)(int)=twice, (*table[2])(int)={twice,0};\n"
	"struct node {struct node *next; int fd; char name[4];} n3={(void*)0x41414141,3,\"c\"}, n2={&n3,2,\"b\"}, "
	"n1={&n2,1,\"a\"};\n"
	"struct list {struct {struct node *head;} clients;} server={{&n1}}; void *vp=&st; volatile const int cv=9;\n"
	"static int hidden=11; struct opaque; struct opaque *op=(void*)&st; typedef struct in in_t; in_t alias={6};\n";

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

static void integers_of_every_width_keep_their_sign(void **state)
{
	SAYS(*state, "t:var'i8', t:var'u8', t:var'i16', t:var'u16', t:var'i32', t:var'u32', t:var'i64', t:var'letter'",
	     "-1\t255\t-2\t65535\t-3\t4294967295\t-4\t120");
	SAYS(*state, "t:var'u64', xcore.u64(t:var'u64'), math.ult(1, t:var'u64'), math.type(t:var'u64')",
	     "-1\t18446744073709551615\ttrue\tinteger");
	SAYS(*state, "t:var'cv', t:var'hidden', t:var'yes', t:var'no', t:var'col', t:var'odd_col'",
	     "9\t11\ttrue\tfalse\t5\t77");
}

static void integers_of_128_bits_are_numbers_when_they_fit(void **state)
{
	SAYS(*state, "t:var'narrow', t:var'wide', t:var'most'",
	     "-7\t1267650600228229401496703205376\t340282366920938463463374607431768211455");
	SAYS(*state, "t:var'wide' == t:var'wide', t:var'wide' == t:var'most', type(t:var'wide')",
	     "true\tfalse\tuserdata");
}

static void floats_are_lua_numbers(void **state)
{
	SAYS(*state, "t:var'd', t:var'f', t:var'ld', t:var'nan_' ~= t:var'nan_', math.type(t:var'd')",
	     "2.5\t-0.25\t0.5\ttrue\tfloat");
	SAYS(*state, "t:var'z'", "1.5 + 0i");
}

static void bit_fields_read_at_any_offset(void **state)
{
	SAYS(*state, "t:var'bits'.a, t:var'bits'.b, xcore.hex(t:var'bits'.e), t:var'bits'.yes, t:var'bits'.no",
	     "5\t-3\t0x123456789a\ttrue\tfalse");
	SAYS(*state, "t:var'bits'.c, xcore.enum(t:var'bits', 'c'), t:var'bits'.n", "-2\tBLUE\t-1");
	SAYS(*state, "xcore.hex(t:var'odd'.w), xcore.hex(t:var'odd'.v), t:var'odd'.pad",
	     "0x5555555555555555\t0x3eadbeefdeadbeef\t1");
	RAISES(*state, "xcore.addr(t:var'bits', 'a')", "usage", "a is a bit-field: it has no address");
	SAYS(*state, "xcore.deref(xcore.ref(t:var'bits', 'b')), xcore.fmt(t:var'bits', 'b')", "-3\t-3");
}

static void members_are_found_through_pointers_and_anonymous_parts(void **state)
{
	SAYS(*state, "t:var'st'.x, t:var'sp'.x, t:var'sp'.i, t:var'sp'.s2, t:var'sp'.named.q, t:var'alias'.x",
	     "1\t1\t2\t4\t5\t6");
	SAYS(*state, "t:var'spp'[0].x, xcore.deref(t:var'spp').s1, xcore.deref(xcore.deref(t:var'spp')).x", "1\t3\t1");
	RAISES(*state, "return t:var'sp'.nam", "not_found", "sp: no member nam in struct in");
	RAISES(*state, "return t:var'sp'.named.qq", "not_found", "sp.named: no member qq in struct {...}");
	RAISES(*state, "return t:var'spp'.x", "usage", "spp: struct in ** has no members");
	RUNS(*state, "local _, e = pcall(function() return t:var'sp'.name end) print(e.hint, e.where)",
	     "did you mean named?\tscript:1");
}

static void null_is_nil(void **state)
{
	SAYS(*state, "t:var'nothing', t:var'ptrs'[1], t:var'ptrs'[0][0], t:var'ptrs'[2][0], t:var'table'[1]",
	     "nil\tnil\t10\t20\tnil");
	SAYS(*state,
	     "xcore.str(nil), xcore.symbol(nil), xcore.cast(nil, 'int *'), xcore.container_of(nil, 'struct in', 'x')",
	     "nil\tnil\tnil\tnil");
	SAYS(*state, "xcore.cast(0, 'int *'), xcore.cast(8, 'int *') - 2, xcore.deref(t:ref'nothing')",
	     "nil\tnil\tnil");
}

static void arrays_are_indexed_from_0_and_bounded(void **state)
{
	SAYS(*state, "#t:var'seq', t:var'seq'[0], t:var'seq'[3], t:var'ip'[-1], t:var'ip'[1]", "4\t10\t40\t20\t40");
	SAYS(*state, "#t:var'grid', #t:var'grid'[1], t:var'grid'[1][2], t:var'row'[0][1], #t:var'row'",
	     "2\t3\t6\t5\t3");
	RAISES(*state, "return t:var'seq'[4]", "limit", "seq: index 4 of int [4]");
	RAISES(*state, "return t:var'seq'[-1]", "limit", "seq: index -1 of int [4]");
	RAISES(*state, "return xcore.ref(t:var'seq')[4]", "limit", "seq: index 4 of int [4]");
	RAISES(*state, "return t:var'grid'[1][3]", "limit", "grid[…]: index 3 of int [3]");
	SAYS(*state, "t:var'fp'.items[1].b, t:var'fp'.items[2] ~= nil, t:var'flex'.items[0].a, #t:var'zero_length'",
	     "4\ttrue\t1\t0");
	RAISES(*state, "return #t:var'flex'.items", "usage", "the length of struct {...} [] is not known");
	RAISES(*state, "return t:var'seq'[1.5]", "usage",
	       "a number does not name a member: give a string or an integer");
	SAYS(*state, "t:var'seq'[1.0], t:var'many'[2].x", "20\t8");
}

static void pointers_add_and_compare_in_elements(void **state)
{
	SAYS(*state, "(t:var'ip' + 1)[0], (1 + t:var'ip')[0], (t:var'ip' - 2)[0], (t:var'ip' + 1) - t:var'ptrs'[0]",
	     "40\t40\t10\t3");
	SAYS(*state,
	     "t:var'ip' == t:var'ptrs'[0] + 2, t:var'ip' == t:var'ptrs'[0], t:var'ip' > t:var'ptrs'[0], t:var'ip' <= "
	     "t:var'ip'",
	     "true\tfalse\ttrue\ttrue");
	SAYS(*state, "t:var'sp' == t:var'st', xcore.addr(t:var'sp') == xcore.addr(t:var'st'), t:var'st' == t:var'st'",
	     "false\ttrue\ttrue");
	SAYS(*state, "xcore.addr(t:var'vp' + 4) - xcore.addr(t:var'vp')", "4");
	RAISES(*state, "return t:var'st' + 1", "usage",
	       "arithmetic needs a pointer to something whose size is known, not struct in");
	RAISES(*state, "return t:var'op' + 1", "usage",
	       "arithmetic needs a pointer to something whose size is known, not struct opaque *");
	RAISES(*state,
	       "local huge = t:type'char':array(3):array(6148914691236517205):pointer()\n"
	       "return xcore.cast(math.mininteger + 1, huge) - xcore.cast(1, huge)",
	       "usage",
	       "arithmetic needs a pointer to something whose size is known, not char "
	       "(*)[6148914691236517205][3]");
	RAISES(*state, "return t:var'ip' - t:var'cs'", "usage", "int * and char * cannot be subtracted");
}

static void nothing_writes_to_the_target(void **state)
{
	RAISES(*state, "t:var'st'.x = 1", "usage", "the target is read-only");
	RAISES(*state, "t:var'seq'[0] = 1", "usage", "the target is read-only");
	RAISES(*state, "t.live = 1", "usage", "the target cannot be changed");
	SAYS(*state, "getmetatable(t:var'st'), getmetatable(t), getmetatable(t:type'int')",
	     "xcore.Value\txcore.Target\txcore.Type");
}

static void faults_name_the_way_the_address_and_the_line(void **state)
{
	RAISES(*state, "return t:var'server'.clients.head.next.next.next.fd", "fault",
	       "server.clients.head.next.next….fd: 0x41414149 is not mapped");
	RAISES(*state, "return t:var'bad'.x", "fault", "bad.x: 0x10 is not mapped");
	RAISES(*state, "return t:value('struct node', 0x20).fd", "fault",
	       "((struct node *) 0x20).fd: 0x28 is not mapped");
	RAISES(*state, "return t:value('int', 0x20)", "fault", "0x20 is not mapped");
	RAISES(*state, "return xcore.cast(0x100, 'int *')[2]", "fault", "((int *) 0x100)[2]: 0x108 is not mapped");
	RUNS(*state,
	     "local _, e = pcall(function()\n return t:var'bad'.x end) print(e.kind, e.path, xcore.hex(e.addr), "
	     "e.where, tostring(e))",
	     "fault\tbad.x\t0x10\tscript:2\tscript:2: bad.x: 0x10 is not mapped");
}

static void values_below_null_are_reached_by_ref(void **state)
{
	SAYS(*state,
	     "xcore.hex(xcore.addr(xcore.ref(t:var'bad', 'named.q'))), xcore.typeof(xcore.ref(t:var'bad', 'x'))",
	     "0x1c\tint");
	RAISES(*state, "return xcore.deref(xcore.ref(t:var'bad', 'x'))", "fault", "bad.x: 0x10 is not mapped");
	SAYS(*state, "xcore.deref(t:ref'i32'), xcore.sizeof(t:ref'i64'), xcore.typeof(t:ref'u8').name",
	     "-3\t8\tuint8_t");
	SAYS(*state, "xcore.deref(xcore.ref(t:var'sp', 'x')), xcore.ref(t:var'spp') ~= nil, t:ref'sp'.x, t:ref'seq'[2]",
	     "1\ttrue\t1\t30");
}

static void values_are_written_as_print_does(void **state)
{
	SAYS(*state, "t:var'st'", "{x = 1, {i = 2, f = 2.80259693e-45}, {s1 = 3, s2 = 4}, named = {q = 5}}");
	SAYS(*state, "t:var'seq', t:var'text', t:var'full', xcore.fmt(t:var'bits', {letter='x', field='e'})",
	     "{10, 20, 30, 40}\t\"hey\"\t\"abc\"\t0x123456789a");
	SAYS(*state, "(tostring(t:var'sp'):gsub('0x%x+', 'A')), (tostring(t:var'fun'):gsub('0x%x+', 'A'))",
	     "(struct in *) A <st>\t(int (*)(int)) A <twice>");
	SAYS(*state,
	     "'<' .. t:var'text' .. '>', xcore.fmt(255, {letter='x'}), xcore.fmt(-1, {letter='u'}), xcore.fmt('s')",
	     "<\"hey\">\t0xff\t18446744073709551615\ts");
	SAYS(*state, "xcore.fmt(t:var'n1', {depth=1, elements=1}):gsub('0x%x+', 'A')",
	     "{next = A <n2>, fd = 1, name = \"a\"}\t1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_of_every_width_keep_their_sign),
		cmocka_unit_test(integers_of_128_bits_are_numbers_when_they_fit),
		cmocka_unit_test(floats_are_lua_numbers),
		cmocka_unit_test(bit_fields_read_at_any_offset),
		cmocka_unit_test(members_are_found_through_pointers_and_anonymous_parts),
		cmocka_unit_test(null_is_nil),
		cmocka_unit_test(arrays_are_indexed_from_0_and_bounded),
		cmocka_unit_test(pointers_add_and_compare_in_elements),
		cmocka_unit_test(nothing_writes_to_the_target),
		cmocka_unit_test(faults_name_the_way_the_address_and_the_line),
		cmocka_unit_test(values_below_null_are_reached_by_ref),
		cmocka_unit_test(values_are_written_as_print_does),
	};
	return cmocka_run_group_tests(tests, open_program, close_program);
}
