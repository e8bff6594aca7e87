/* layer: lua
 *
 * t:find: against a search of every byte of a flat array, on random memory; and queries of scripts, on a core. */
#include "lua/bulk/find.h"
#include "tests/support/property.h"
#include "tests/support/opened.h"
#include "tests/support/scripted.h"

/* ---- against a flat array ---- */

enum { BASE = 0x100000, SIZE = 3000, MAX_HITS = 4096 };

struct flat {
	uint8_t bytes[SIZE];
	bool present[SIZE];
};

/* A backing that stops at arbitrary places. */
static size_t read_flat(void *ctx, uint64_t offset, void *buf, size_t len)
{
	const struct flat *flat = ctx;
	size_t got = 0;
	while (got < len && offset + got < SIZE && flat->present[offset + got])
		got++;
	memcpy(buf, flat->bytes + offset, got);
	return got;
}

static const struct xc_backing backing = {.read = read_flat};

/* Consecutive segments: mapped, read, or missing. Bytes have few values, so that there are many matches. */
static struct xc_space *random_space(struct rng *rng, struct flat *flat)
{
	struct xc_space *space = xc_space_new();
	for (size_t i = 0; i < SIZE; i++) {
		flat->bytes[i] = rng_below(rng, 4) ? 0 : (uint8_t)rng_below(rng, 3);
		flat->present[i] = true;
	}
	for (size_t at = 0; at < SIZE;) {
		size_t most = rng_below(rng, 2) ? 40 : 900, len = 1 + rng_below(rng, most), kind = rng_below(rng, 5);
		len = len < SIZE - at ? len : SIZE - at;
		struct xc_segment segment = {.lo = BASE + at, .hi = BASE + at + len - 1, .provenance = XC_NOT_DUMPED};
		memset(flat->present + at, kind != 0, len);
		if (kind == 1) {
			segment.backing = &backing;
			segment.ctx = flat;
			segment.offset = at;
		} else if (kind > 1) {
			segment.bytes = flat->bytes + at;
		}
		if (kind > 0 || rng_below(rng, 2))
			xc_space_add(space, &segment);
		at += len;
	}
	xc_space_seal(space);
	return space;
}

/* Whether all of it is there, within one range. */
static bool is_whole(const struct xc_find *find, const struct flat *flat, size_t at)
{
	bool inside = false;
	for (size_t r = 0; r < find->range_count; r++)
		inside |= xc_inside(BASE + at, find->size, find->ranges[r].lo, find->ranges[r].hi);
	for (size_t i = 0; i < find->size; i++)
		if (at + i >= SIZE || !flat->present[at + i])
			return false;
	return inside && (BASE + at) % find->align == 0;
}

static uint64_t number(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;
	memcpy(&value, bytes, size);
	return value;
}

/* A struct of 7 bytes: a signed short at 1 and a byte at 6. */
enum { STRUCT_SIZE = 7 };
static const struct xc_find_test tests[] = {
	{.kind = XC_FIND_WORD, .offset = 1, .mask = 0xffff, .lo = (uint64_t)-1, .span = 3}, /* -1 to 2 */
	{.kind = XC_FIND_WORD, .offset = 6, .mask = 0xff, .lo = 1, .span = 1},
};

static bool is_there(const struct xc_find *find, const uint8_t *bytes)
{
	if (find->kind == XC_FIND_BYTES)
		return memcmp(bytes, find->bytes, find->size) == 0;
	if (find->kind == XC_FIND_POINTER)
		return number(bytes, find->size) >= find->aim.lo && number(bytes, find->size) <= find->aim.hi;
	int16_t first = (int16_t)number(bytes + 1, 2);
	return first >= -1 && first <= 2 && (bytes[6] == 1 || bytes[6] == 2);
}

static size_t random_ranges(struct rng *rng, struct xc_range *ranges)
{
	size_t count = 0;
	if (rng_below(rng, 2)) {
		ranges[0] = (struct xc_range){rng_below(rng, 2) ? 0 : BASE, UINT64_MAX};
		return 1;
	}
	for (xc_addr at = BASE - 10 + rng_below(rng, 100); count < 4; count++) {
		ranges[count] = (struct xc_range){at, at + rng_below(rng, 800)};
		at = ranges[count].hi + 2 + rng_below(rng, 400);
	}
	return count;
}

PROPERTY(a_search_finds_what_a_look_at_every_byte_finds, 1000, 6000)
{
	static struct flat flat;
	static const uint64_t aligns[] = {1, 1, 2, 4, 8, 16};
	struct xc_space *space = random_space(rng, &flat);
	struct xc_range ranges[4];
	uint8_t needle[20];
	xc_addr found[MAX_HITS + 1] = {0}, wanted[MAX_HITS];
	size_t count = 0, wanted_count = 0;
	struct xc_find find = {.space = space,
			       .ranges = ranges,
			       .kind = (enum xc_find_kind)rng_below(rng, 3),
			       .align = aligns[rng_below(rng, XC_COUNT(aligns))],
			       .bytes = needle,
			       .tests = tests,
			       .test_count = XC_COUNT(tests)};
	find.range_count = random_ranges(rng, ranges);
	find.size = find.kind == XC_FIND_STRUCT    ? STRUCT_SIZE
		    : find.kind == XC_FIND_POINTER ? (rng_below(rng, 2) ? 8 : 4)
						   : 1 + rng_below(rng, 12);
	find.aim = rng_below(rng, 2) ? (struct xc_range){1, 0x20000} : (struct xc_range){0x100, UINT64_MAX};
	memcpy(needle, flat.bytes + rng_below(rng, SIZE - sizeof needle), sizeof needle);
	for (size_t at = 0; at < SIZE; at++)
		if (is_whole(&find, &flat, at) && is_there(&find, flat.bytes + at))
			wanted[wanted_count++] = BASE + at;
	find.buffer = xc_alloc(xc_find_buffer_size(&find));
	for (unsigned rounds = 0; !find.done && rounds < 100000; rounds++)
		count += xc_find_run(&find, found + count, 1 + rng_below(rng, MAX_HITS - count),
				     1 + rng_below(rng, 2000));
	PROPERTY_CHECK(rng, find.done);
	PROPERTY_CHECK(rng, count == wanted_count && memcmp(found, wanted, count * sizeof *found) == 0);
	free(find.buffer);
	xc_space_free(space);
}

/* ---- scripts ---- */

static const char source[] =
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"enum color { RED = 1, GREEN = 250 };\n"
	"struct thing { unsigned magic; short level; enum color color; unsigned bits : 5; int more : 4; float single;\n"
	"  double weight; _Bool flag; struct thing *next; void *nothing; unsigned long big; };\n"
	"static struct thing things[100] = {{0}}, *pointers[30];\n"
	"char marked[64] = \"xxneedle-in-the-core-needle-in-the-core\";\n"
	"const char constant[] = \"only-in-a-constant\";\n"
	"int main(void) {\n"
	"  for (int i = 0; i < 100; i++)\n"
	"    things[i] = (struct thing){.magic = 0xfeedc0de, .level = i - 50, .color = i % 10 ? RED : GREEN, .bits = i "
	"% 32,\n"
	"      .more = i % 16 - 8, .single = i / 4.f, .weight = i / -8., .flag = i == 77,\n"
	"      .next = i % 5 ? &things[i - 1] : 0, .big = ~0ul - i, .nothing = i == 3 ? (void *)0x41414141 : 0};\n"
	"  for (int i = 0; i < 30; i++) pointers[i] = &things[i * 3];\n"
	"  abort(); }\n";

static const char prelude[] =
	"local things = t:var 'things' local base = xcore.addr(things)\n"
	"local marked = xcore.addr(t:var 'marked')\n"
	"local data = {{lo = marked, hi = marked + 63}, {base, base + xcore.sizeof(things) - 1}}\n"
	/* The numbers of the objects found by a signature. */
	"local function sig(members, more)\n"
	"  local what, found = more or {}, {} what.signature = {'struct thing', members} what.within = what.within or "
	"data\n"
	"  for at in t:find(what) do found[#found + 1] = (at - base) / xcore.sizeof 'struct thing' end\n"
	"  for i, n in ipairs(found) do found[i] = math.tointeger(n) or n end return #found .. ': ' .. "
	"table.concat(found, ' ')\n"
	"end\n";

static struct xc_process *process;
static struct scripted *session;

static int open_group(void **state)
{
	(void)state;
	process = died("gcc -g -x c", source);
	session = script_over(process);
	return 0;
}

static int close_group(void **state)
{
	(void)state;
	end_script(session);
	close_process(process);
	return 0;
}

/* The script prints this. */
static void check_prints(const char *code, const char *wanted)
{
	xc_auto(xc_freep) char *text = xc_asprintf("%s%s", prelude, code);
	RUNS(session, text, wanted);
}

/* The script fails with a message that contains this text. */
static void check_fails(const char *code, const char *why)
{
	const char *said = outcome(session, code);
	if (!strstr(said, why))
		fail_msg("%s: says %s", code, said);
}

static void byte_strings_are_found_at_any_place(void **state)
{
	(void)state;
	check_prints("for at in t:find{bytes = 'needle-in-the-core', within = data} do print(at - xcore.addr(t:var "
		     "'marked')) end",
		     "2\n21");
	check_prints(
		"for at in t:find{bytes = 'needle-in-the-core', within = data, max = 1} do print(at - xcore.addr(t:var "
		"'marked')) end",
		"2");
	check_prints("for at in t:find{bytes = 'needle-in-the-core-n', writable = true} do print(at - marked) end",
		     "2");
	check_prints("print((t:find{bytes = 'only-in-a-constant', within = {t:map(marked)}}()))", "nil");
	check_prints("local n = 0 for at in t:find{bytes = 'only-in-a-constant', writable = false} do n = n + 1 end "
		     "print(n > 0)",
		     "true");
	check_prints("print((t:find{bytes = 'needle', within = {}}()))", "nil");
}

static void pointers_into_a_range_are_found(void **state)
{
	(void)state;
	check_prints("local p, n = t:var 'pointers', 0 local lo = xcore.addr(p)\n"
		     "for at in t:find{pointer_to = {base, base + xcore.sizeof(things) - 1}, within = {{lo, lo + 30 * "
		     "8 - 1}}} do\n"
		     "  assert(at == lo + n * 8) n = n + 1 end print(n)",
		     "30");
	check_prints("local size, n = xcore.sizeof 'struct thing', 0\n"
		     "for at in t:find{pointer_to = {things[3], things[3]}, within = {{base, base + 100 * size - 1}}} "
		     "do n = n + 1\n"
		     "  print(at - xcore.addr(things[4], 'next')) end print(n)",
		     "0\n1");
}

static void structs_are_found_by_what_their_members_hold(void **state)
{
	(void)state;
	check_prints("print((sig{magic = 0xfeedc0de}:gsub(':.*', '')))", "100");
	check_prints("print(sig{magic = 0xfeedc0de, level = {-50, -48}})", "3: 0 1 2");
	check_prints("print(sig{magic = 0xfeedc0de, level = {47, 100000}})", "3: 97 98 99");
	check_prints("print(sig{magic = 0xfeedc0de, level = -7})", "1: 43");
	check_prints("print(sig{magic = 0xfeedc0de, color = 'GREEN'})", "10: 0 10 20 30 40 50 60 70 80 90");
	check_prints("print(sig{magic = 0xfeedc0de, bits = 31})", "3: 31 63 95");
	check_prints("print(sig{magic = 0xfeedc0de, more = {-8, -7}, level = {0, 49}})", "6: 64 65 80 81 96 97");
	check_prints("print(sig{magic = 0xfeedc0de, single = {1, 1.5}})", "3: 4 5 6");
	check_prints("print(sig{magic = 0xfeedc0de, weight = -2.5})", "1: 20");
	check_prints("print(sig{magic = 0xfeedc0de, flag = true})", "1: 77");
	check_prints("print(sig{next = things[7]})", "1: 8");
	check_prints("print((sig{magic = 0xfeedc0de, next = 'pointer'}:gsub(':.*', '')))", "80");
	check_prints("print((sig{magic = 0xfeedc0de, nothing = 'null or pointer'}:gsub(':.*', '')))", "99");
	check_prints("print(sig{magic = 0xfeedc0de, nothing = 0x41414141})", "1: 3");
	check_prints("print(sig{magic = 0xfeedc0de, big = {-3, -1}})", "3: 0 1 2");
	check_prints("print(sig{magic = -1} .. sig{level = {40000, 50000}} .. sig{level = {3, 2}})", "0: 0: 0: ");
	check_prints("print(sig({magic = 0xfeedc0de}, {max = 2}))", "2: 0 1");
}

/* Elements of a flexible array are beyond the size of the struct. */
static void members_behind_the_struct_must_be_there_too(void **state)
{
	(void)state;
	check_prints(
		"xcore.cdef 'struct row {unsigned magic; char data[];};'\n"
		"local function count(member) local n = 0 for _ in t:find{signature = {'struct row', {magic = "
		"0xfeedc0de, [member] = {-128, 127}}}, within = {{base, base + 6399}}} do n = n + 1 end return n "
		"end\n"
		"print(xcore.sizeof(things), count 'data[0]', count 'data[59]', count 'data[60]', count 'data[6000]')",
		"6400\t100\t100\t99\t7");
}

static void wrong_questions_are_refused(void **state)
{
	static const struct {
		const char *code, *why;
	} cases[] = {
		{"t:find{}", "find: expected"},
		{"t:find{bytes = 'a', pointer_to = {1, 2}}", "find: expected"},
		{"t:find{bytes = ''}", "1 to 65536 bytes"},
		{"t:find{bytes = ('x'):rep(65537)}", "1 to 65536 bytes"},
		{"t:find{bytes = 'a', align = 3}", "power of two"},
		{"t:find{bytes = 'a', within = {{5, 4}}}", "ends before it starts"},
		{"t:find{bytes = 'a', within = {7}}", "within: a list of"},
		{"t:find{pointer_to = {5, 4}}", "ends before it starts"},
		{"t:find{signature = {'struct thing', {}}}", "expected members"},
		{"t:find{signature = {'struct thing', {nomember = 1}}}", "nomember"},
		{"t:find{signature = {'struct thing', {magic = 1.5}}}", "magic is not an integer"},
		{"t:find{signature = {'struct thing', {color = 'BLUE'}}}", "nor an enumerator"},
		{"t:find{signature = {'struct thing', {weight = 'x'}}}", "neither"},
		{"t:find{signature = {'struct thing', {next = {}}}}", "next is not an integer"},
		{"xcore.cdef 'struct far {int n; char data[];};' "
		 "t:find{signature = {'struct far', {['data[65536]'] = 1}}}",
		 "more than 65528 bytes into"},
		{"t:find 'x'", "table"},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		check_fails(cases[i].code, cases[i].why);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(a_search_finds_what_a_look_at_every_byte_finds),
		cmocka_unit_test(byte_strings_are_found_at_any_place),
		cmocka_unit_test(pointers_into_a_range_are_found),
		cmocka_unit_test(structs_are_found_by_what_their_members_hold),
		cmocka_unit_test(members_behind_the_struct_must_be_there_too),
		cmocka_unit_test(wrong_questions_are_refused),
	};
	return cmocka_run_group_tests(cases, open_group, close_group);
}
