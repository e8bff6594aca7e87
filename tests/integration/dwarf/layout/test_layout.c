/* layer: dwarf */
/* Layouts. Offsets, sizes and holes are those of gdb 13.1's ptype/o and pahole 1.24 of the same programs. */
#include "dwarf/layout/layout_json.h"
#include "tests/support/compile_program.h"

static const char c_source[] =
	"struct in {char c; int i;};\n"
	"struct tuv {int a; char *b; unsigned x:3, y:5; signed z:7; char tail;} tuv;\n"
	"struct anon {int k; union {long l; struct {short s; int t;}; char c[12];}; struct {char q;} arr[3]; struct in "
	"in;} anon;\n"
	"struct bits {unsigned a:3; unsigned :2; unsigned b:9; unsigned long c:40; _Bool d:1;} bits;\n"
	"struct packed {char c; long l; short s;} __attribute__((packed)) packed;\n"
	"struct big {char head[60]; long straddle __attribute__((packed)); char more[60]; int last;} big;\n"
	"struct flex {int n; char d[];} *flex; struct zero {int n; int d[0];} zero; struct empty {} empty;\n"
	"struct opaque *opaque; union un {int i; char c[5]; double d;} un;\n"
	"typedef struct {int only;} named_t; typedef named_t again_t; again_t again; struct holder {named_t n;} "
	"holder;\n"
	"enum color {RED, GREEN=5, LAST=-1} color; enum flags {A=1,B=2,C=4} flags; int (*fn)(int, char*); const int "
	"ci;\n";

static struct xc_layout layout_of(struct compiled *c, const char *name, unsigned expand)
{
	struct xc_layout layout;
	assert_true(xc_layout_read(&layout, type_of(c, name),
				   &(struct xc_layout_options){.expand = expand, .cacheline = XC_CACHELINE}));
	return layout;
}

/* "name@offset[:bit]+size" of each row, "}" for ends. */
static void expect_rows(struct compiled *c, const char *name, unsigned expand, const char *want)
{
	struct xc_text text = {0};
	struct xc_layout l = layout_of(c, name, expand);
	for (size_t i = 0; i < l.row_count; i++) {
		const struct xc_layout_row *r = &l.rows[i];
		if (r->hole.bytes || r->hole.bits)
			xc_text_printf(&text, "(%d.%u)", (int)r->hole.bytes, r->hole.bits);
		if (r->kind == XC_LAYOUT_END)
			xc_text_add(&text, "}");
		else if (r->member->bit_size)
			xc_text_printf(&text, "%s@%d:%u+%ub ", r->member->name, (int)r->offset, r->member->bit_offset,
				       r->member->bit_size);
		else
			xc_text_printf(&text, "%s@%d+%d%s ", r->member->name ? r->member->name : "", (int)r->offset,
				       (int)r->size, r->opens ? "{" : "");
	}
	if (strcmp(xc_text_string(&text), want) != 0)
		fail_msg("%s: got %s, want %s", name, xc_text_string(&text), want);
	xc_text_fini(&text);
	xc_layout_fini(&l);
}

static void places_and_holes_are_the_compilers(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -x c -g", c_source);
	expect_rows(c, "tuv", 0, "a@0+4 (4.0)b@8+8 x@16:0+3b y@16:3+5b z@17:0+7b (0.1)tail@18+1 (5.0)}");
	expect_rows(c, "bits", 0, "a@0:0+3b (0.2)b@0:5+9b c@1:6+40b d@6:6+1b (1.1)}");
	expect_rows(c, "packed", 0, "c@0+1 l@1+8 s@9+2 }");
	expect_rows(c, "zero", 0, "n@0+4 d@4+0 }");
	expect_rows(c, "empty", 0, "}");
	expect_rows(c, "un", 0, "i@0+4 c@0+5 d@0+8 }");
	release(c);
}

static void anonymous_members_are_opened_and_named_ones_on_demand(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -x c -g", c_source);
	const char *inner = "k@0+4 (4.0)@8+16{ l@8+8 @8+8{ s@8+2 (2.0)t@12+4 }c@8+12 (4.0)}arr@24+3{ q@24+1 }";
	char want[256];
	snprintf(want, sizeof want, "%s(1.0)in@28+8 (4.0)}", inner);
	expect_rows(c, "anon", 0, want);
	snprintf(want, sizeof want, "%s(1.0)in@28+8{ c@28+1 (3.0)i@32+4 }(4.0)}", inner);
	expect_rows(c, "anon", 1, want);
	expect_rows(c, "holder", 0, "n@0+4 }");
	expect_rows(c, "holder", 1, "n@0+4{ only@0+4 }}");
	release(c);
}

static void sums_count_the_types_own_members(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -x c -g", c_source);
	struct xc_layout l = layout_of(c, "tuv", 0);
	assert_int_equal(l.size, 24);
	assert_int_equal(l.member_count, 6);
	assert_int_equal(l.member_bytes, 13);
	assert_int_equal(l.member_bits, 15);
	assert_int_equal(l.hole_count, 1);
	assert_int_equal(l.hole_bytes, 4);
	assert_int_equal(l.bit_hole_count, 1);
	assert_int_equal(l.bit_hole_bits, 1);
	assert_int_equal(l.padding.bytes, 5);
	assert_true(l.padding_known);
	xc_layout_fini(&l);
	release(c);
}

static void cache_lines_are_marked_where_they_begin(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -x c -g", c_source);
	struct xc_layout l = layout_of(c, "big", 0);
	assert_int_equal(l.rows[1].cacheline, 0);
	assert_int_equal(l.rows[1].offset, 60);
	assert_int_equal(l.rows[2].cacheline, 1); /* starts inside `straddle` */
	assert_int_equal(l.rows[2].line_began, 4);
	assert_int_equal(l.rows[3].cacheline, 2);
	assert_int_equal(l.rows[3].line_began, 0);
	xc_layout_fini(&l);
	release(c);
}

static char *text_of(struct compiled *c, const char *name, bool methods)
{
	struct xc_text text = {0};
	struct xc_layout_shown shown = {.layout = {.cacheline = XC_CACHELINE}, .methods = methods};
	xc_layout_text(&text, type_of(c, name), &shown);
	return xc_text_take(&text);
}

static void expect_layout_text(struct compiled *c, const char *name, const char *want)
{
	char *have = text_of(c, name, true);
	if (strcmp(have, want) != 0)
		fail_msg("%s: got\n%s\nwant\n%s", name, have, want);
	free(have);
}

static void text_reads_like_a_declaration(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -x c -g", c_source);
	expect_layout_text(c, "anon",
			   "/* offset       size */\n"
			   "                       struct anon {\n"
			   "/*      0          4 */      int k;\n"
			   "                           /* XXX 4-byte hole */\n"
			   "/*      8         16 */      union {\n"
			   "/*      8          8 */          long l;\n"
			   "/*      8          8 */          struct {\n"
			   "/*      8          2 */              short s;\n"
			   "                                   /* XXX 2-byte hole */\n"
			   "/*     12          4 */              int t;\n"
			   "                               };\n"
			   "/*      8         12 */          char c[12];\n"
			   "                               /* XXX 4-byte padding */\n"
			   "                           };\n"
			   "/*     24          3 */      struct {\n"
			   "/*     24          1 */          char q;\n"
			   "                           } arr[3];\n"
			   "                           /* XXX 1-byte hole */\n"
			   "/*     28          8 */      struct in in;\n"
			   "                           /* XXX 4-byte padding */\n"
			   "                           /* size: 40, members: 4, cachelines: 1 */\n"
			   "                           /* sum of members: 31, holes: 2 (5 bytes), padding: 4 */\n"
			   "                       };\n");
	expect_layout_text(c, "again",
			   "typedef named_t again_t; /* 4 bytes */\n"
			   "/* offset       size */\n"
			   "                       typedef struct {\n"
			   "/*      0          4 */      int only;\n"
			   "                           /* size: 4, members: 1, cachelines: 1 */\n"
			   "                       } named_t;\n");
	expect_layout_text(c, "color",
			   "enum color { /* 4 bytes, int */\n"
			   "    RED = 0,\n"
			   "    GREEN = 5,\n"
			   "    LAST = -1,\n"
			   "};\n");
	expect_layout_text(c, "flags",
			   "enum flags { /* 4 bytes, unsigned int */\n"
			   "    A = 0x1,\n"
			   "    B = 0x2,\n"
			   "    C = 0x4,\n"
			   "};\n");
	expect_layout_text(c, "fn", "int (*)(int, char *); /* 8 bytes */\n");
	expect_layout_text(c, "ci", "const int; /* 4 bytes, signed */\n");
	expect_layout_text(c, "flex",
			   "struct flex *; /* 8 bytes */\n"
			   "/* offset       size */\n"
			   "                       struct flex {\n"
			   "/*      0          4 */      int n;\n"
			   "/*      4          0 */      char d[];\n"
			   "                           /* size: 4, members: 2, cachelines: 1 */\n"
			   "                       };\n");
	expect_layout_text(
		c, "opaque",
		"struct opaque *; /* 8 bytes */\n"
		"/* offset       size */\n"
		"                       struct opaque {\n"
		"                           /* incomplete: only declared here, and its definition was not found */\n"
		"                       };\n");
	release(c);
}

static const char cxx_source[] =
	"namespace ns { struct Empty {}; struct Pod {long l; char c;}; struct Base {virtual ~Base() = 0; int b; "
	"static int count;};\n"
	"template <class T, int N> class Derived : Empty, public Pod, public Base {public: Derived(int); T items[N]; "
	"char "
	"d; void f(int) const; static Derived *make(const char *, ...); int operator+(int);};\n"
	"struct V : virtual Base, virtual Pod {char v;}; enum class Color : char {RED, BLUE=3}; }\n"
	"template class ns::Derived<short, 3>; ns::Derived<short, 3> *derived; ns::V *v = new ns::V; ns::Color color; "
	"ns::Pod &pod = *(ns::Pod *)0;\n"
	"union U {int i; static const int k = 3; struct {char c;};} u; int *const **pointers;\n";

static void classes_show_bases_and_what_is_no_part_of_objects(void **state)
{
	(void)state;
	struct compiled *c = compile("g++ -x c++ -g -fno-exceptions -Wl,--unresolved-symbols=ignore-all", cxx_source);
	expect_layout_text(c, "derived",
			   "ns::Derived<short, 3> *; /* 8 bytes */\n"
			   "/* offset       size */\n"
			   "                       class ns::Derived<short, 3> : ns::Empty, ns::Pod, ns::Base {\n"
			   "/*      0          1 */      ns::Empty; /* base class */\n"
			   "/*      0         16 */      ns::Base; /* base class */\n"
			   "/*     16         16 */      ns::Pod; /* base class */\n"
			   "/*     32          6 */      short items[3];\n"
			   "/*     38          1 */      char d;\n"
			   "                           Derived(int);\n"
			   "                           void f(int) const;\n"
			   "                           static ns::Derived<short, 3> *make(const char *, ...);\n"
			   "                           int operator+(int);\n"
			   "                           /* XXX 1-byte padding */\n"
			   "                           /* size: 40, members: 5, cachelines: 1 */\n"
			   "                           /* sum of members: 40, padding: 1 */\n"
			   "                       };\n");
	expect_layout_text(c, "v",
			   "ns::V *; /* 8 bytes */\n"
			   "/* offset       size */\n"
			   "                       struct ns::V : virtual ns::Base, virtual ns::Pod {\n"
			   "/*      0          8 */      int (**_vptr.V)(...);\n"
			   "/*      8          1 */      char v;\n"
			   "/* virtual        16 */      ns::Base; /* virtual base class */\n"
			   "/* virtual        16 */      ns::Pod; /* virtual base class */\n"
			   "                           /* size: 48, members: 4, cachelines: 1 */\n"
			   "                           /* sum of members: 41, padding unknown: virtual bases have no "
			   "fixed offset */\n"
			   "                       };\n");
	expect_layout_text(c, "color",
			   "enum ns::Color { /* 1 byte, char */\n"
			   "    RED = 0,\n"
			   "    BLUE = 3,\n"
			   "};\n");
	expect_layout_text(c, "pod",
			   "ns::Pod &; /* 8 bytes */\n"
			   "/* offset       size */\n"
			   "                       struct ns::Pod {\n"
			   "/*      0          8 */      long l;\n"
			   "/*      8          1 */      char c;\n"
			   "                           /* XXX 7-byte padding */\n"
			   "                           /* size: 16, members: 2, cachelines: 1 */\n"
			   "                           /* sum of members: 9, padding: 7 */\n"
			   "                       };\n");
	expect_layout_text(c, "u",
			   "/* offset       size */\n"
			   "                       union U {\n"
			   "/*      0          4 */      int i;\n"
			   "/*      0          1 */      struct {\n"
			   "/*      0          1 */          char c;\n"
			   "                           };\n"
			   "                           static const int k;\n"
			   "                           /* size: 4, members: 2, cachelines: 1 */\n"
			   "                       };\n");
	release(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_and_holes_are_the_compilers),
		cmocka_unit_test(anonymous_members_are_opened_and_named_ones_on_demand),
		cmocka_unit_test(sums_count_the_types_own_members),
		cmocka_unit_test(cache_lines_are_marked_where_they_begin),
		cmocka_unit_test(text_reads_like_a_declaration),
		cmocka_unit_test(classes_show_bases_and_what_is_no_part_of_objects),
	};
	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
