/* layer: lua */
/* The functions of the module that take values: cast, ref, offsetof, container_of, str, enum, each. */
#include "tests/support/containers.h"
#include "tests/support/scripted.h"

static const char source[] =
	"#include <stdint.h>\n#include <stddef.h>\n"
	"enum color {RED, GREEN = 5, BLUE = -2}; enum flags {A = 1, B = 2, C = 4};\n"
	"struct link {struct link *next, **prev;}; struct in {int x; struct {short s[3];} a[4]; struct link link; int "
	"b:3;\n"
	"  union {long l; struct {char c; int deep;};}; char name[4]; char tail[];};\n"
	"struct in one={7,{{{1,2,3}},{{4,5,6}}},{0,0},1,{9},\"abc\"}, two={8}; struct link *to=&two.link;\n"
	"struct named {int refs; char *key; const char text[6]; unsigned char raw[3]; enum color color; enum flags "
	"flags; } \n"
	"named={3,\"the key\",\"word\",{1,2,255},GREEN,A|C}, *np=&named; enum color past=9; enum flags none=0, "
	"odd=8|1;\n"
	"char *bad=(char *)0x10; const char long_text[]=\"0123456789\"; void *vp=\"void text\"; int "
	"wide_text[2]={'a'};\n"
	"long numbers[3]={1,2,3}; long *lp=numbers, *lnull=0; struct in many[2]={{1},{2}}; float fl=1.5f; uint32_t "
	"bits=0x3fc00000;\n"
	"int twice(int x) {return 2*x;} int (*fun)(int)=twice; struct flex {int count; long items[];} flex={2,{5,6}};\n"
	"size_t offsets[]={offsetof(struct in,a[1].s[2]),offsetof(struct in,link.prev),offsetof(struct in,deep),\n"
	"  offsetof(struct in,tail),sizeof(struct in),sizeof(struct named),offsetof(struct named,flags)};\n"
	"struct ptrs {struct ptrs *next; char *name; int id;} ptrs={&ptrs,(void*)0xdead,1};\n";

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

static void offsets_and_sizes_are_the_compilers(void **state)
{
	RUNS(*state,
	     "local o = t:var'offsets' local want = {} for i, v in xcore.each(o) do want[i + 1] = v end "
	     "local got = {xcore.offsetof('struct in', 'a[1].s[2]'), xcore.offsetof('struct in', 'link.prev'), "
	     "xcore.offsetof(t:type'struct in', 'deep'), xcore.offsetof('struct in', 'tail'), xcore.sizeof('struct "
	     "in'), "
	     "xcore.sizeof(t:var'named'), xcore.offsetof(xcore.typeof(t:var'named'), 'flags')} "
	     "for i = 1, 7 do if got[i] ~= want[i] then print(i, got[i], want[i]) end end print(#want)",
	     "7");
	RAISES(*state, "xcore.offsetof('struct in', 'b')", "usage", "b of struct in is a bit-field");
	RAISES(*state, "xcore.offsetof('struct in', 'link.next.prev')", "usage",
	       "'link.next.prev' goes through struct link *, which is not a struct");
	RAISES(*state, "xcore.offsetof('struct in', 'nothing')", "not_found", "no member nothing in struct in");
	RAISES(*state, "xcore.offsetof('struct in', 'a[9]')", "limit", "index 9 of struct {...} [4]");
	RAISES(*state, "xcore.offsetof('struct in', 'a..s')", "usage", "'.s' is not a member");
	SAYS(*state,
	     "xcore.sizeof(t:var'lp'), xcore.sizeof(t:var'np', 'text'), xcore.sizeof'long [5]', "
	     "xcore.sizeof(t:type'int')",
	     "8\t6\t40\t4");
}

static void container_of_goes_back_to_the_whole(void **state)
{
	SAYS(*state,
	     "xcore.container_of(t:var'to', 'struct in', 'link').x, xcore.container_of(t:var'to', t:type'struct in', "
	     "'link') "
	     "== xcore.cast(t:var'two', 'struct in *')",
	     "8\ttrue");
	SAYS(*state, "xcore.container_of(xcore.addr(t:var'one', 'a[1].s'), 'struct in', 'a[1].s').x", "7");
	RAISES(*state, "xcore.container_of(t:var'to', 'struct in', 'lnik')", "not_found",
	       "no member lnik in struct in");
}

static void casts_keep_the_bits(void **state)
{
	SAYS(*state, "xcore.cast(t:ref'fl', 'unsigned int') == t:var'bits', xcore.cast(t:ref'bits', 'float')",
	     "true\t1.5");
	SAYS(*state,
	     "xcore.cast(-1, 'unsigned char'), xcore.cast(200, 'signed char'), xcore.cast(3, '_Bool'), xcore.cast(2.9, "
	     "'int')",
	     "255\t-56\ttrue\t2");
	SAYS(*state,
	     "xcore.cast(t:var'vp', 'char *')[0], xcore.cast(t:var'one', 'int *')[0], xcore.cast(t:var'numbers', 'long "
	     "*')[2]",
	     "118\t7\t3");
	SAYS(*state,
	     "xcore.cast(t:ref'lp', 'char *') == t:var'lp', xcore.addr(xcore.cast(t:ref'lp', 'char *')) == "
	     "xcore.addr(t:var'numbers')",
	     "true\ttrue");
	RAISES(*state, "xcore.cast(4096, 'struct in')", "usage",
	       "a number cannot be cast to struct in: to read one there, use t:value");
	RAISES(*state, "xcore.cast(t:var'lp', 'struct in')", "usage",
	       "a pointer cannot be read as struct in: deref it, or cast to struct in *");
	RAISES(*state, "xcore.deref(t:var'vp')", "usage", "the target of a void pointer has no type: cast it");
	SAYS(*state,
	     "xcore.deref(t:var'np').refs, xcore.deref(t:var'lp'), xcore.deref(t:var'numbers'), "
	     "xcore.deref(t:var'one').x",
	     "3\t1\t1\t7");
}

static void members_may_be_paths(void **state)
{
	SAYS(*state,
	     "xcore.deref(xcore.ref(t:var'one', 'a[1].s[2]')), xcore.fmt(t:var'one', 'a[1].s'), "
	     "xcore.typeof(t:var'one', 'l')",
	     "6\t{4, 5, 6}\tlong");
	SAYS(*state, "xcore.addr(t:var'one', 'link') - xcore.addr(t:var'one') == xcore.offsetof('struct in', 'link')",
	     "true");
	RAISES(*state, "xcore.ref(t:var'one', 'a[x]')", "usage", "'[x]' is not an index");
	RAISES(*state, "xcore.ref(t:var'one', 'a[1].q')", "not_found", "a[1].q: no member q in struct {...}");
	SAYS(*state,
	     "xcore.has(t:var'np', 'key'), xcore.has('struct in', 'deep'), xcore.has(t:type'struct in', 'shallow'), "
	     "xcore.has('int', 'x')",
	     "true\ttrue\tfalse\tfalse");
}

static void strings_end_where_they_end(void **state)
{
	SAYS(*state, "xcore.str(t:var'named'.key)", "the key");
	SAYS(*state, "xcore.str(t:var'np'.text)", "word");
	SAYS(*state, "#xcore.str(t:var'np'.raw), xcore.str(t:var'np'.raw):byte(3), xcore.str(t:var'vp')",
	     "3\t255\tvoid text");
	SAYS(*state, "xcore.str(t:var'long_text', 4)", "0123");
	SAYS(*state, "xcore.str(t:var'named'.key, 7)", "the key");
	SAYS(*state, "xcore.str(t:ref'bad' == nil and nil or xcore.ref(t:var'named', 'key'))", "the key");
	SAYS(*state, "xcore.str(t:var'one'.name), xcore.str(t:var'one'.tail, 0)", "abc\t");
	RAISES(*state, "xcore.str(t:var'bad')", "fault", "bad: 0x10 is not mapped");
	RAISES(*state, "xcore.str(t:var'ptrs'.next.name)", "fault", "ptrs.next.name: 0xdead is not mapped");
	RAISES(*state, "xcore.str(t:var'wide_text')", "usage", "int [2] is not a string");
	RAISES(*state, "xcore.str(t:var'np')", "usage", "struct named is not a string");
}

static void enums_have_names(void **state)
{
	SAYS(*state,
	     "xcore.enum(t:var'np', 'color'), xcore.enum(t:type'enum color', -2), xcore.enum(t:ref'past'), "
	     "xcore.enum(xcore.ref(t:var'np', 'color'))",
	     "GREEN\tBLUE\tnil\tGREEN");
	SAYS(*state,
	     "xcore.enum(t:var'named', 'flags'), xcore.enum(t:ref'none'), xcore.enum(t:ref'odd'), "
	     "xcore.enum(t:type'enum flags', 7)",
	     "A | C\tnil\tnil\tA | B | C");
	RAISES(*state, "xcore.enum(t:var'np', 'refs')", "usage", "int is no enum");
	RAISES(*state, "xcore.enum(t:type'int', 1)", "usage", "int is no enum");
}

static void each_walks_arrays_and_counted_pointers(void **state)
{
	RUNS(*state, "local s = 0 for i, v in xcore.each(t:var'numbers') do s = s * 10 + i * 3 + v end print(s)",
	     "159");
	RUNS(*state, "local s = 0 for i, v in xcore.each(t:var'lp', 2) do s = s + v end print(s)", "3");
	RUNS(*state,
	     "local s = 0 for i, v in xcore.each(t:var'flex'.items, t:var'flex'.count) do s = s + v end print(s)",
	     "11");
	RUNS(*state, "for i, v in xcore.each(t:var'many') do print(i, v.x) end", "0\t1\n1\t2");
	RUNS(*state,
	     "for i in xcore.each(t:var'lnull') do print(i) end for i in xcore.each(nil, 0) do print(i) end print "
	     "'none'",
	     "none");
	RAISES(*state, "xcore.each(t:var'lnull', 3)", "fault", "3 elements behind a NULL pointer");
	RAISES(*state, "xcore.each(t:var'lp')", "usage", "the count is missing: each(long *, count)");
	RAISES(*state, "xcore.each(t:var'flex'.items)", "usage", "the count is missing: each(long [], count)");
	RAISES(*state, "for _ in xcore.each(t:var'numbers', 4) do end", "limit", "numbers: index 3 of long [3]");
	RAISES(*state, "xcore.each(t:var'one')", "usage", "struct in has no elements");
	RAISES(*state, "xcore.each(t:var'lp', -2)", "usage", "-2 elements");
}

static void functions_have_names(void **state)
{
	SAYS(*state,
	     "xcore.symbol(t:var'fun'), xcore.symbol(xcore.addr(t:var'numbers') + 8), xcore.symbol(4), "
	     "xcore.symbol(t:var'to')",
	     "twice\tnumbers+0x8\tnil\ttwo+0x20");
	SAYS(*state, "xcore.u64(-1), xcore.hex(-1), xcore.hex(16), xcore.u64(5)",
	     "18446744073709551615\t0xffffffffffffffff\t0x10\t5");
}

/* ---- containers ---- */

static void containers_are_walked_by_their_content(void **state)
{
	struct scripted *s = script("g++ -x c++ -std=c++17 -g -O0 -fpermissive", *state);
	SAYS(s, "#t:var'good', t:var'good'[2], #t:var'ring', #t:var'tree', #t:var'none'", "3\t3\t2\t3\t0");
	RUNS(s, "for i, v in xcore.each(t:var'good') do print(i, v) end", "0\t1\n1\t2\n2\t3");
	RUNS(s, "for i, v in xcore.each(t:var'ring') do print(i, v) end", "0\t7\n1\t8");
	RUNS(s, "for i, v in xcore.each(t:var'tree') do print(i, v) end", "0\t1\n1\t2\n2\t3");
	RUNS(s, "for i, v in xcore.each(t:var'chain') do print(i, v) end", "0\t1\n1\t2\n2\t3");
	SAYS(s, "xcore.str(t:var'local'), xcore.str(t:var'text')", "hi\tlong");
	SAYS(s, "xcore.str(t:var'text', 2)", "lo");
	SAYS(s, "xcore.str(xcore.cast(t:var'text', xcore.typeof(t:var'text'):pointer()))", "long");
	RAISES(s, "return t:var'good'[3]", "limit", "good: index 3 of 3 elements");
	RAISES(s, "return t:var'ring'[0]", "usage",
	       "ring: std::__cxx11::list<int> has no elements to index: walk it with xcore.each");
	RUNS(s,
	     "for i, v in xcore.each(t:var'some') do print(i, v) end for i in xcore.each(t:var'empty') do print(i) end",
	     "[contained value]\t5");
	end_script(s);
}

static void damaged_containers_say_what_is_wrong(void **state)
{
	struct scripted *s = script("g++ -x c++ -std=c++17 -g -O0 -fpermissive", *state);
	RUNS(s,
	     "for _, name in ipairs{'swapped', 'beyond', 'far', 'odd', 'no_ring', 'loop', 'circle', 'tree_torn', "
	     "'tree_loop', "
	     "'hash_circle', 'stray', 'too_long', 'gone'} do local ok, e = pcall(function() local v = t:var(name) "
	     "local n = 0 "
	     "if xcore.has(v, '_M_string_length') then xcore.str(v) else for i, x in xcore.each(v) do n = n + 1 "
	     "assert(n < 1000) end end end) "
	     "print(name, ok, ok or e.kind) end",
	     "swapped\tfalse\tformat\nbeyond\tfalse\tformat\nfar\tfalse\tformat\nodd\tfalse\tformat\nno_"
	     "ring\ttrue\ttrue\n"
	     "loop\tfalse\tformat\ncircle\tfalse\tformat\ntree_torn\tfalse\tformat\ntree_loop\tfalse\tformat\n"
	     "hash_circle\tfalse\tformat\nstray\tfalse\tformat\ntoo_long\tfalse\tformat\ngone\tfalse\tformat");
	end_script(s);
}

static int make_containers(void **state)
{
	*state = xc_asprintf("%s%s%s%s", containers_source, containers_nodes, containers_trees, containers_holders);
	return 0;
}

static int drop_containers(void **state)
{
	free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest plain[] = {
		cmocka_unit_test(offsets_and_sizes_are_the_compilers),
		cmocka_unit_test(container_of_goes_back_to_the_whole),
		cmocka_unit_test(casts_keep_the_bits),
		cmocka_unit_test(members_may_be_paths),
		cmocka_unit_test(strings_end_where_they_end),
		cmocka_unit_test(enums_have_names),
		cmocka_unit_test(each_walks_arrays_and_counted_pointers),
		cmocka_unit_test(functions_have_names),
	};
	const struct CMUnitTest containers[] = {
		cmocka_unit_test(containers_are_walked_by_their_content),
		cmocka_unit_test(damaged_containers_say_what_is_wrong),
	};
	int failed = cmocka_run_group_tests(plain, open_program, close_program);
	return failed + cmocka_run_group_tests(containers, make_containers, drop_containers);
}
