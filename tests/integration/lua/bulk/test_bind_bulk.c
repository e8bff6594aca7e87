/* layer: lua
 *
 * xcore.columns and xcore.follow on a core with computed numbers; and the walk alone against a naive one on random
 * graphs. */
#include "lua/bulk/list_walk.h"
#include "tests/support/property.h"
#include "tests/support/opened.h"
#include "tests/support/scripted.h"

static const char source[] =
	"#include <stdlib.h>\n"
	"enum color { RED = 1, BLUE = -7 };\n"
	"struct inner { short b[3]; };\n"
	"struct node { signed char tiny; unsigned short half; int low : 5; unsigned high : 11; float single; double "
	"weight;\n"
	"  _Bool flag; enum color color; unsigned long big; long double wide; struct inner in; char name[4];\n"
	"  struct node *next; union { int i; float f; } u; struct { int anon; }; void *any; };\n"
	"struct head { struct head *next, *prev; };\n"
	"struct item { int id; struct head link; };\n"
	"enum { N = 3000 };\n"
	"struct node nodes[N], ring[4], late[20], bad[20];\n"
	"struct node *list = nodes, *none;\n"
	"struct item items[50];\n"
	"struct head items_head, empty_head;\n"
	"int plain[3] = {4, 5, 6};\n"
	"static void fill(struct node *n, int i) {\n"
	"  *n = (struct node){.tiny = -i % 100, .half = 60000 + i, .low = i % 32 - 16, .high = i % 2048, .single = i * "
	".25f,\n"
	"    .weight = i * -.5, .flag = i % 3 == 0, .color = i % 2 ? BLUE : RED, .big = ~0ul - i, .wide = i * 2.5L,\n"
	"    .in.b = {i, -i, i + 1}, .u.i = i, .anon = i * 3, .any = nodes }; }\n"
	"int main(void) {\n"
	"  for (int i = 0; i < N; i++) fill(&nodes[i], i);\n"
	"  for (int i = 0; i + 1 < N; i++) nodes[i * 7l % N].next = &nodes[(i + 1) * 7l % N];\n"
	"  for (int i = 0; i < 4; i++) ring[i].next = &ring[(i + 1) % 4];\n"
	"  for (int i = 0; i < 20; i++) { late[i].next = &late[i < 19 ? i + 1 : 4]; bad[i].next = &bad[i + 1]; }\n"
	"  bad[11].next = (struct node *)0x41414141;\n"
	"  struct head *last = &items_head;\n"
	"  for (int i = 0; i < 50; i++) { items[i].id = i * i; last->next = &items[i].link; items[i].link.prev = "
	"last;\n"
	"    last = last->next; }\n"
	"  last->next = &items_head; items_head.prev = last; empty_head.next = empty_head.prev = &empty_head;\n"
	"  abort(); }\n";

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
	RUNS(session, code, wanted);
}

/* The script fails with a message that contains this text. */
static void check_fails(const char *code, const char *why)
{
	const char *said = outcome(session, code);
	if (!strstr(said, why))
		fail_msg("%s: says %s", code, said);
}

/* Each formula is that of fill() in the program. */
#define CHECK_ROW                                                                                                      \
	"local function check(c, row, i)\n"                                                                            \
	"  local function is(name, value)\n"                                                                           \
	"    if c[name][row] ~= value or math.type(c[name][row]) ~= math.type(value) then\n"                           \
	"      error(name .. ' of ' .. i .. ': ' .. tostring(c[name][row]) .. ', not ' .. tostring(value)) end end\n"  \
	"  is('tiny', -math.fmod(i, 100)) is('half', (60000 + i) & 0xffff) is('low', i % 32 - 16) is('high', i % "     \
	"2048)\n"                                                                                                      \
	"  is('single', i * .25) is('weight', i * -.5) is('flag', i % 3 == 0) is('color', i % 2 == 1 and -7 or 1)\n"   \
	"  is('big', -1 - i) is('wide', i * 2.5) is('in.b[1]', -i) is('in.b[2]', i + 1) is('u.i', i) is('anon', i * "  \
	"3)\n"                                                                                                         \
	"  is('any', xcore.addr(t:var 'nodes')) end\n"                                                                 \
	"local fields = {'tiny', 'half', 'low', 'high', 'single', 'weight', 'flag', 'color', 'big', 'wide', "          \
	"'in.b[1]',\n"                                                                                                 \
	"  'in.b[2]', 'u.i', 'anon', 'any', 'next'}\n"

static void columns_have_every_kind_of_number(void **state)
{
	(void)state;
	check_prints(CHECK_ROW "local c, n = xcore.columns(t:var 'nodes', nil, fields)\n"
			       "for i = 0, n - 1 do check(c, i + 1, i) end\n"
			       "print(n, #c.tiny, c.next[1] == xcore.addr(t:var 'nodes'[7]))\n",
		     "3000\t3000\ttrue");
	check_prints("local c, n = xcore.columns(t:var 'list' + 5, 2, {'u.i', 'next'}) print(n, c['u.i'][1], "
		     "c['u.i'][2], #c.next)",
		     "2\t5\t6\t2");
	check_prints("local c, n = xcore.columns(t:var 'nodes', 0, {'u.i'}) print(n, #c['u.i'])", "0\t0");
	check_prints("local c, n = xcore.columns(t:var 'nodes', nil, {}) print(n, next(c))", "3000\tnil");
	check_prints(
		"local c = xcore.columns(t:var 'late', nil, {'next'}) print(c.next[20] == xcore.addr(t:var 'late'[4]))",
		"true");
}

static void follow_reads_nodes_in_the_order_of_the_list(void **state)
{
	(void)state;
	check_prints(CHECK_ROW "local c, n, why = xcore.follow(t:var 'list', 'next', fields)\n"
			       "for i = 1, n do check(c, i, (i - 1) * 7 % 3000) end\n"
			       "print(n, why, c.next[n], c[1])\n",
		     "3000\tnil\t0\tnil");
	check_prints("local c, n = xcore.follow(t:var 'list', 'next')\n"
		     "print(n, #c[1], c[1][2] == xcore.addr(t:var 'nodes'[7]))",
		     "3000\t3000\ttrue");
	check_prints("local c, n = xcore.follow(t:var 'list', 'next', {'u.i'}, {addresses = true}) print(n, #c[1], "
		     "#c['u.i'])",
		     "3000\t3000\t3000");
	check_prints("local c, n = xcore.follow(t:var 'none', 'next', {'u.i'}) print(n, #c['u.i'], #c[1])", "0\t0\t0");
}

static void follow_ends_where_it_is_told(void **state)
{
	(void)state;
	check_prints("local r = t:var 'ring' print(select(2, xcore.follow(r[0], 'next')), select(2, xcore.follow(r[0], "
		     "'next', {}, "
		     "{stop = r[3]})), select(2, xcore.follow(r[0], 'next', {}, {stop = xcore.addr(r[0])})))",
		     "4\t3\t0\tnil");
	check_prints("local c, n, why = xcore.follow(t:var 'list', 'next', {'u.i'}, {max = 10, partial = true}) "
		     "print(n, #c['u.i'], why)",
		     "10\t10\tmore than 10 nodes");
	check_prints("print(select(2, xcore.follow(t:var 'list', 'next', {}, {max = 3000})))", "3000\tnil");
	check_prints("print(select(2, pcall(xcore.follow, t:var 'list', 'next', {}, {max = 2999})).kind)", "limit");
}

static void follow_finds_the_struct_around_the_pointer(void **state)
{
	(void)state;
	const char *code =
		"local h = t:var 'items_head'\n"
		"local c, n = xcore.follow(h.next, 'next', {'id'}, {stop = h, container = {'struct item', 'link'}, "
		"addresses = true})\n"
		"local sum = 0 for i = 1, n do sum = sum + c.id[i] end\n"
		"print(n, sum, c[1][50] == xcore.addr(t:var 'items'[49]))\n"
		"h = t:var 'empty_head' print(select(2, xcore.follow(h.next, 'next', {'id'}, {stop = h, container = "
		"{'struct item', 'link'}})))\n";
	check_prints(code, "50\t40425\ttrue\n0\tnil");
	check_prints("print(select(2, pcall(xcore.follow, t:var 'items'[0], 'link.next', {'id'})).message)",
		     "link.next of struct item points to struct head: follow it from there, and name the "
		     "containing struct by container");
}

static void what_is_wrong_is_named(void **state)
{
	(void)state;
	check_prints("local ok, e = pcall(xcore.follow, t:var 'late'[0], 'next', {'u.i'})\n"
		     "local last = xcore.hex(xcore.addr(t:var 'late'[19]))\n"
		     "print(e.kind, (e.message:gsub(last, 'LAST')))\n"
		     "local c, n, why = xcore.follow(t:var 'late'[0], 'next', {'u.i'}, {partial = true})\n"
		     "print(n, #c['u.i'], (why:gsub(last, 'LAST')))\n",
		     "format\tlate[…].next.next…: cycle: node 20 (LAST) leads back to node 5\n"
		     "20\t20\tcycle: node 20 (LAST) leads back to node 5");
	check_prints(
		"local ok, e = pcall(xcore.follow, t:var 'bad'[0], 'next', {'u.i'})\n"
		"print(e.kind, e.message, xcore.hex(e.addr), e.path)\n"
		"local c, n, why = xcore.follow(t:var 'bad'[0], 'next', {'u.i'}, {partial = true}) print(n, "
		"#c['u.i'], why)\n",
		"fault\tbad[…].next.next….next: node 13: 0x41414191: not mapped\t0x41414191\tbad[…].next.next….next\n"
		"12\t12\tnode 13: 0x41414191: not mapped");
}

/* Lists of 3,000, 1, 0 and 10 nodes at once, with a flag in one of the pointers. */
static void many_lists_are_followed_at_once(void **state)
{
	(void)state;
	check_prints("local items = t:var 'nodes'\n"
		     "local list, sum = xcore.follow(t:var 'list', 'next', {'u.i', 'in.b[1]'}), 0\n"
		     "local heads = {xcore.addr(t:var 'list') + 1, xcore.addr(items[42]), 0}\n"
		     "local tail = xcore.follow(items[42], 'next', {'u.i'})\n"
		     "local c, n, why, levels = xcore.chains('struct node', heads, 'next', {'u.i', 'in.b[1]'}, {mask = "
		     "~1})\n"
		     "for _, i in ipairs(c['u.i']) do sum = sum + i end\n"
		     "for _, i in ipairs(list['u.i']) do sum = sum - i end\n"
		     "for _, i in ipairs(tail['u.i']) do sum = sum - i end\n"
		     "print(n - 3000 - #tail['u.i'], why, sum, #levels, levels[1], levels[#levels], c[1])",
		     "0\tnil\t0\t3000\t2\t1\tnil");
	check_prints("local c, n = xcore.chains(t:type 'struct node', {xcore.addr(t:var 'list')}, 'next')\n"
		     "print(n, #c[1], c[1][1] == xcore.addr(t:var 'list'))",
		     "3000\t3000\ttrue");
	check_prints("local c, n, why, levels = xcore.chains('struct node', {}, 'next', {'u.i'}) print(n, #c['u.i'], "
		     "#levels)",
		     "0\t0\t0");
	check_prints("local l = xcore.addr(t:var 'list')\n"
		     "local ok, e = pcall(xcore.chains, 'struct node', {l, l}, 'next', nil, {max = 5999}) "
		     "print(e.kind, e.message)",
		     "limit\tmore than 5999 nodes");
	check_prints("local l = xcore.addr(t:var 'list')\n"
		     "local _, n, why = xcore.chains('struct node', {l, l}, 'next', nil, {max = 5999, partial = true}) "
		     "print(n, why)",
		     "5999\tmore than 5999 nodes");
	check_prints("local items, heads, told = t:var 'nodes', {}, {}\n"
		     "for i = 1, 20 do heads[i] = xcore.addr(items[40 + i]) end\n"
		     "for _, part in ipairs {{}, {1}, {7}, {7, 3}, {20, 9}, {21, 1}, {99}, {1, 0}} do\n"
		     "	local first, count = part[1], part[2]\n"
		     "	local mine = table.move(heads, first or 1, math.min((first or 1) + (count or 20) - 1, 20), 1, "
		     "{})\n"
		     "	local a, n = xcore.chains('struct node', heads, 'next', {'u.i'}, {first = first, count = "
		     "count})\n"
		     "	local b, m = xcore.chains('struct node', mine, 'next', {'u.i'})\n"
		     "	told[#told + 1] = n == m and table.concat(a['u.i'], ' ') == table.concat(b['u.i'], ' ')\n"
		     "end\n"
		     "for i, it in ipairs(told) do told[i] = tostring(it) end print(table.concat(told, ' '))",
		     "true true true true true true true true");
	check_prints("print(select(2, pcall(xcore.chains, 'struct node', {}, 'next', nil, {first = 0})):match 'first "
		     "starts at 1')",
		     "first starts at 1");
	check_prints("local l, told = xcore.addr(t:var 'list'), {}\n"
		     "for _, max in ipairs {5999, 10, 8, 7, 2, 0} do\n"
		     "	local _, n, why, levels = xcore.chains('struct node', {l, l, l, l}, 'next', nil, {max = max, "
		     "partial = "
		     "true})\n"
		     "	local sum = 0 for _, one in ipairs(levels) do sum = sum + one end\n"
		     "	told[#told + 1] = n - sum told[#told + 1] = #levels\n"
		     "end print(table.concat(told, ' '))",
		     "0 1500 0 3 0 2 0 2 0 1 0 0");
}

static void a_damaged_list_spares_the_others(void **state)
{
	(void)state;
	check_prints("local heads = {xcore.addr(t:var 'bad'[0]), xcore.addr(t:var 'late'[10]), xcore.addr(t:var "
		     "'list'), 16}\n"
		     "local c, n, why, levels = xcore.chains('struct node', heads, 'next', {'tiny'}, {partial = true, "
		     "addresses = true})\n"
		     "local seen = {} for _, a in ipairs(c[1]) do seen[a] = true end\n"
		     "local all = 0 for _ in pairs(seen) do all = all + 1 end\n"
		     "print(all, #c.tiny == n, levels[1], levels[13], why)",
		     "3028\ttrue\t3\t2\tnode 0x10: 0x60: not mapped");
	check_prints("print(select(2, pcall(xcore.chains, 'struct node', {xcore.addr(t:var 'late'[0])}, 'next')).kind)",
		     "format");
	check_prints("print(select(2, pcall(xcore.chains, 'struct node', {16}, 'next')).kind)", "fault");
}

/* Under ASan this also checks that the row's error is freed. */
static void fields_are_asked_for_once(void **state)
{
	(void)state;
	check_prints("local asked, list = 0, {}\n"
		     "setmetatable(list, {__len = function() return 1 end, __index = function() asked = asked + 1\n"
		     "  if asked > 1 then error 'again' end return 'u.i' end})\n"
		     "local lo = t:maps()[1].lo - xcore.sizeof 'struct node'\n"
		     "local ok, e = pcall(xcore.columns, xcore.cast(lo, 'struct node *'), 2, list)\n"
		     "print(ok, e.kind, asked, e.message:match 'u.i')",
		     "false\tfault\t1\tu.i");
}

static void wrong_questions_are_refused(void **state)
{
	static const struct {
		const char *code, *why;
	} cases[] = {
		{"xcore.follow(t:var 'list', 'u.i')", "u.i of struct node is not a pointer"},
		{"xcore.follow(t:var 'list', 'nxt')", "nxt"},
		{"xcore.follow(t:var 'list', 'next', {'name'})", "name is a char [4], not a number of at most 64 bits"},
		{"xcore.follow(t:var 'list', 'next', {'next.next'})",
		 "next.next: the target of a pointer is not in the struct"},
		{"xcore.follow(t:var 'list', 'next', {7})", "a field is named by a string"},
		{"xcore.follow(t:var 'list', 'next', {}, {container = {'struct item', 'nolink'}})", "nolink"},
		{"xcore.follow(7, 'next')", "value of the target"},
		{"xcore.follow(t:var 'plain', 'next')", "not a struct"},
		{"xcore.columns(t:var 'list', nil, {'u.i'})", "the count is missing"},
		{"xcore.columns(t:var 'list', 1 << 40, {'u.i'})", "too many"},
		{"xcore.columns(t:var 'list', 1 << 29, {'u.i'})", "row 536870911: 0x"},
		{"xcore.columns(xcore.cast(-16, 'struct node *'), 3, {'u.i'})", "exceed the address space"},
		{"xcore.columns(t:var 'list', -1, {'u.i'})", "the count is negative"},
		{"xcore.columns(t:var 'nodes'[0], 1, {'u.i'})", "neither an array in memory nor a pointer"},
		{"xcore.columns(t:var 'plain', nil, {'x'})", "int has no members"},
		{"xcore.columns(t:var 'nodes', nil, {'in.b[7]'})", "7"},
		{"xcore.columns(xcore.cast(0x1000, 'struct node *'), 3, {'u.i'})", "0x"},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		check_fails(cases[i].code, cases[i].why);
}

/* ---- the walk ---- */

enum { SLOTS = 64, SLOT = 16, BASE = 0x10000 };

struct naive {
	xc_addr nodes[SLOTS + 1];
	size_t count, back;
	enum xc_list_walk_end end;
};

/* Remembers every node. */
static struct naive naive_chase(const uint64_t *memory, xc_addr head, xc_addr stop)
{
	struct naive n = {.end = XC_LIST_WALK_GOES_ON};
	for (xc_addr at = head; n.end == XC_LIST_WALK_GOES_ON;) {
		size_t seen = 0;
		while (seen < n.count && n.nodes[seen] != at)
			seen++;
		if (at == 0 || at == stop || (at == head && n.count))
			n.end = XC_LIST_WALK_DONE;
		else if (seen < n.count)
			n.end = XC_LIST_WALK_CYCLE;
		else if (at < BASE || at - BASE >= SLOTS * SLOT)
			n.end = XC_LIST_WALK_FAULT;
		n.back = seen;
		if (n.end != XC_LIST_WALK_GOES_ON)
			break;
		n.nodes[n.count++] = at;
		at = memory[(at - BASE) / 8 + 1];
	}
	return n;
}

/* Nodes of 16 bytes with a second word that leads to another node, to nothing, or to unmapped memory. */
PROPERTY(a_chase_gives_what_remembering_every_node_gives, 4000, 20000)
{
	uint64_t memory[SLOTS * SLOT / 8 + 1] = {0};
	for (size_t i = 0; i < SLOTS; i++)
		memory[2 * i + 1] = rng_below(rng, 40) == 0   ? 0
				    : rng_below(rng, 60) == 0 ? 0x41414141
							      : BASE + rng_below(rng, SLOTS) * SLOT;
	struct xc_process *made = xc_process_new("made", false);
	size_t cut = SLOT * (1 + rng_below(rng, SLOTS - 1)); /* in two segments */
	xc_space_add(made->space, &(struct xc_segment){.lo = BASE, .hi = BASE + cut - 1, .bytes = (uint8_t *)memory});
	xc_space_add(made->space, &(struct xc_segment){.lo = BASE + cut,
						       .hi = BASE + SLOTS * SLOT - 1,
						       .bytes = (uint8_t *)memory + cut});
	xc_space_seal(made->space);
	struct xc_host host = {.process = made, .window.lo = 1, .views.process = made};
	struct xc_list_walk walk = {.host = &host, .offset = 8, .size = 8};
	xc_addr stop = rng_below(rng, 3) ? 0 : BASE + rng_below(rng, SLOTS) * SLOT, nodes[4 * SLOTS];
	xc_addr head = BASE + rng_below(rng, SLOTS) * SLOT;
	struct naive wanted = naive_chase(memory, head, stop);
	size_t count = 0;
	xc_list_walk_begin(&walk, head, stop);
	while (walk.end == XC_LIST_WALK_GOES_ON && count < 4 * SLOTS)
		count += xc_list_walk_run(&walk, nodes + count, 1 + rng_below(rng, 4 * SLOTS - count));
	PROPERTY_CHECK(rng, walk.end == wanted.end);
	if (walk.end == XC_LIST_WALK_CYCLE) {
		struct xc_list_walk_cycle cycle = xc_list_walk_cycle(&walk, nodes, count);
		PROPERTY_CHECK(rng, cycle.back == wanted.back);
		count = cycle.count;
	}
	PROPERTY_CHECK(rng, count == wanted.count && memcmp(nodes, wanted.nodes, count * sizeof *nodes) == 0);
	xc_process_close(made);
}

/* ---- prefetching ---- */

enum { MANY = 30000, WIDE = 48 };

struct many {
	uint8_t bytes[MANY * WIDE + 8];
};

/* Lists through all nodes in random order, with the pointer at 24; some memory holds numbers and arbitrary pointers. It
 * has at most one fault. Returns the head of the longest list. */
static xc_addr make_many(struct rng *rng, struct many *many)
{
	static uint32_t order[MANY];
	size_t lists = 1 + rng_below(rng, 3), used = MANY - rng_below(rng, MANY / 2), wrong = rng_below(rng, 6);
	for (size_t i = 0; i < MANY * WIDE / 8; i++) {
		uint64_t word = rng_below(rng, 3) ? rng_below(rng, 1000) : BASE + rng_below(rng, MANY * WIDE);
		memcpy(many->bytes + i * 8, &word, 8);
	}
	for (uint32_t i = 0; i < MANY; i++)
		order[i] = i;
	for (size_t i = MANY - 1; i > 0; i--) {
		size_t other = rng_below(rng, i + 1);
		uint32_t kept = order[i];
		order[i] = order[other];
		order[other] = kept;
	}
	for (size_t i = 0; i < used; i++) {
		uint64_t next = i + lists < used ? BASE + (uint64_t)order[i + lists] * WIDE : 0;
		if (next == 0 && wrong == 0)
			next = BASE + (uint64_t)order[rng_below(rng, used)] * WIDE; /* a cycle, or another list's end */
		if (next == 0 && wrong == 1)
			next = 0x41414141;
		memcpy(many->bytes + (size_t)order[i] * WIDE + 24, &next, 8);
	}
	return BASE + (uint64_t)order[0] * WIDE;
}

/* Segments like those of an allocator with small arenas; the gaps between them fault. */
static void lay_in_pieces(struct rng *rng, struct xc_space *space, const struct many *many)
{
	size_t most = rng_below(rng, 2) ? sizeof *many : 100000, gap = rng_below(rng, 4) ? 0 : 4096;
	for (size_t at = 0, size; at < sizeof *many; at += size + gap) {
		size = rng_below(rng, 2) ? most : 1 + rng_below(rng, most);
		size = size < sizeof *many - at ? size : sizeof *many - at;
		xc_space_add(space, &(struct xc_segment){
					    .lo = BASE + at, .hi = BASE + at + size - 1, .bytes = many->bytes + at});
	}
}

static size_t walk_all(struct xc_list_walk *walk, struct rng *rng, xc_addr *nodes, size_t most, bool prefetches)
{
	size_t count = 0;
	while (walk->end == XC_LIST_WALK_GOES_ON && count < most) {
		size_t room = 1 + rng_below(rng, 5000);
		count += xc_list_walk_run(walk, nodes + count, room < most - count ? room : most - count);
		if (prefetches)
			xc_list_walk_look_ahead(walk, nodes, count);
	}
	xc_list_walk_end(walk);
	return count;
}

PROPERTY(scouts_give_what_going_alone_gives, 30, 150)
{
	static struct many many;
	static xc_addr alone[4 * MANY], helped[4 * MANY];
	struct xc_process *made = xc_process_new("made", false);
	xc_addr head = make_many(rng, &many);
	lay_in_pieces(rng, made->space, &many);
	xc_space_seal(made->space);
	struct xc_host host = {.process = made, .window.lo = 1, .views.process = made};
	struct xc_list_walk first = {.host = &host, .offset = 24, .size = 8}, second = first;
	xc_addr stop = rng_below(rng, 4) ? 0 : BASE + rng_below(rng, MANY) * WIDE;
	size_t most = rng_below(rng, 3) ? 4 * MANY : rng_below(rng, MANY);
	xc_list_walk_begin(&first, head, stop);
	xc_list_walk_begin(&second, head, stop);
	size_t count = walk_all(&first, rng, alone, most, false);
	PROPERTY_CHECK(rng, walk_all(&second, rng, helped, most, true) == count);
	PROPERTY_CHECK(rng, first.end == second.end && first.at == second.at && first.since == second.since);
	PROPERTY_CHECK(rng, memcmp(alone, helped, count * sizeof *alone) == 0);
	xc_process_close(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_have_every_kind_of_number),
		cmocka_unit_test(follow_reads_nodes_in_the_order_of_the_list),
		cmocka_unit_test(follow_ends_where_it_is_told),
		cmocka_unit_test(follow_finds_the_struct_around_the_pointer),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(many_lists_are_followed_at_once),
		cmocka_unit_test(a_damaged_list_spares_the_others),
		cmocka_unit_test(fields_are_asked_for_once),
		cmocka_unit_test(wrong_questions_are_refused),
		cmocka_unit_test(a_chase_gives_what_remembering_every_node_gives),
		cmocka_unit_test(scouts_give_what_going_alone_gives),
	};
	return cmocka_run_group_tests(tests, open_group, close_group);
}
