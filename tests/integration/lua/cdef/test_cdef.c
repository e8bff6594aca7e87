/* layer: lua */
/* C declarations of every form, and errors. tests/property/test_cdef.c compares layouts with gcc's; here are real
 * headers and values: DECLARED gives a declaration to the compiler and to xcore, and an object of it is in memory. */
#include <elf.h>
#include <stdio.h>
#include <sys/types.h>

#include "core/elf/arch.h"
#include "core/base/text.h"
#include "dwarf/format/format.h"
#include "dwarf/layout/layout_text.h"
#include "dwarf/format/value_json.h"
#include "lua/cdef/cdef.h"
#include "tests/support/opened.h"

#define DECLARED(name, ...) __VA_ARGS__ static const char name[] = #__VA_ARGS__;

enum { MEMORY = 0x1000 };

struct scope {
	struct xc_process *process;
	struct xc_cdef *cdef;
};

static struct scope open_with(const void *bytes, size_t size)
{
	struct scope s = {.process = xc_process_new("cdef", false)};
	s.process->arch = xc_arch_find(EM_X86_64, ELFCLASS64, false);
	struct xc_segment segment = {.lo = MEMORY, .hi = MEMORY + size - 1, .provenance = XC_FROM_CORE, .bytes = bytes};
	if (size)
		xc_space_add(s.process->space, &segment);
	xc_space_seal(s.process->space);
	s.cdef = xc_cdef_new(s.process);
	return s;
}

static struct scope open_scope(void)
{
	return open_with(NULL, 0);
}

static void close_scope(struct scope *s)
{
	xc_cdef_free(s->cdef);
	xc_process_close(s->process);
}

static const struct xc_type *type_of(struct scope *s, const char *name)
{
	const struct xc_type *type = NULL;
	CHECK_OK(xc_cdef_type(s->cdef, name, &type));
	return type;
}

static int64_t constant_of(struct scope *s, const char *name)
{
	int64_t value = 0;
	CHECK_OK(xc_cdef_constant(s->cdef, name, &value));
	return value;
}

static uint64_t size_of(struct scope *s, const char *name)
{
	uint64_t size = 0;
	if (!xc_type_size(type_of(s, name), &size))
		fail_msg("%s has no size", name);
	return size;
}

/* offsetof(type, member) by a macro, as in a script. */
static int64_t offset_of(struct scope *s, const char *type, const char *member)
{
	static unsigned number;
	char text[256], name[16];
	snprintf(name, sizeof name, "OFFSET_%u", number++);
	snprintf(text, sizeof text, "#define %s offsetof(%s, %s)", name, type, member);
	CHECK_OK(xc_cdef_declare(s->cdef, text));
	return constant_of(s, name);
}

#define SAME_OFFSET(scope, type, member) assert_int_equal(offset_of(scope, #type, #member), offsetof(type, member))

/* ---- real headers ---- */

DECLARED(
	nginx_text, typedef unsigned char u_char_; typedef intptr_t ngx_int_t; typedef uintptr_t ngx_uint_t;
	typedef struct ngx_pool_s ngx_pool_t; typedef struct {
		size_t len;
		u_char_ *data;
	} ngx_str_t;
	typedef struct {
		void *elts;
		ngx_uint_t nelts;
		size_t size;
		ngx_uint_t nalloc;
		ngx_pool_t *pool;
	} ngx_array_t;
	typedef struct ngx_buf_s ngx_buf_t; struct ngx_buf_s {
		u_char_ *pos, *last;
		int64_t file_pos;
		void *tag;
		ngx_buf_t *shadow;
		unsigned temporary : 1;
		unsigned memory : 1;
		unsigned mmap : 1;
		unsigned recycled : 1;
		int num;
	};
	struct ngx_pool_s {
		struct {
			u_char_ *last;
			u_char_ *end;
			ngx_pool_t *next;
			ngx_uint_t failed;
		} d;
		size_t max;
		ngx_pool_t *current;
		void (*cleanup)(void *data);
	};)

static void nginx_structs_lie_as_the_compiler_lays_them(void **state)
{
	(void)state;
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef, nginx_text));
	assert_int_equal(size_of(&s, "ngx_str_t"), sizeof(ngx_str_t));
	assert_int_equal(size_of(&s, "ngx_array_t"), sizeof(ngx_array_t));
	SAME_OFFSET(&s, ngx_array_t, pool);
	SAME_OFFSET(&s, struct ngx_buf_s, num);
	SAME_OFFSET(&s, struct ngx_pool_s, d.failed);
	SAME_OFFSET(&s, ngx_pool_t, current);
	assert_int_equal(size_of(&s, "struct ngx_pool_s"), sizeof(ngx_pool_t));
	close_scope(&s);
}

DECLARED(
	redis_text, typedef struct dictEntry dictEntry; typedef struct dict dict; typedef struct dictType {
		uint64_t (*hashFunction)(const void *key);
		void *(*keyDup)(dict * d, const void *key);
		int (*keyCompare)(dict * d, const void *key1, const void *key2);
		unsigned int no_value : 1;
		unsigned int keys_are_odd : 1;
	} dictType;
	struct dict {
		dictType *type;
		dictEntry **ht_table[2];
		unsigned long ht_used[2];
		long rehashidx;
		int16_t pauserehash;
		signed char ht_size_exp[2];
		void *metadata[];
	};
	struct __attribute__((__packed__)) sdshdr16 {
		uint16_t len;
		uint16_t alloc;
		unsigned char flags;
		char buf[];
	};
	typedef struct redisObject {
		unsigned type : 4;
		unsigned encoding : 4;
		unsigned lru : 24;
		int refcount;
		void *ptr;
	} robj;
	struct dictEntry {
		void *key;
		union {
			void *val;
			uint64_t u64;
			int64_t s64;
			double d;
		} v;
		struct dictEntry *next;
	};)

static void redis_structs_lie_as_the_compiler_lays_them(void **state)
{
	(void)state;
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef, redis_text));
	assert_int_equal(size_of(&s, "dict"), sizeof(dict));
	SAME_OFFSET(&s, struct dict, ht_size_exp[1]);
	SAME_OFFSET(&s, struct dict, metadata);
	SAME_OFFSET(&s, struct sdshdr16, buf);
	SAME_OFFSET(&s, robj, ptr);
	SAME_OFFSET(&s, struct dictEntry, next);
	assert_int_equal(size_of(&s, "struct sdshdr16"), 5);
	assert_int_equal(size_of(&s, "dictEntry *[4]"), 32);
	close_scope(&s);
}

/* LuaJIT 2.1, lj_obj.h, with LJ_GC64: the offsets printed by its gdb scripts. */
static void macros_that_stand_for_members_are_expanded(void **state)
{
	(void)state;
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef,
				 "typedef struct GCRef { uint64_t gcptr64; } GCRef;\n"
				 "#define GCHeader GCRef nextgc; uint8_t marked; uint8_t gct /* and so on */\n"
				 "typedef struct GChead { GCHeader; uint8_t unused1, unused2; GCRef env; } GChead;\n"
				 "typedef struct GCstr { GCHeader; uint8_t reserved; uint8_t hashalg; uint32_t sid; "
				 "uint32_t hash; uint32_t len; } GCstr;\n"
				 "typedef union GCobj { GChead gch; GCstr str; } GCobj;\n"
				 "#define LJ_ALIGN(n) __attribute__((aligned(n)))\n"
				 "#define strdata(s) ((const char *)((s)+1))\n"
				 "union GCobj *next(union GCobj *o);"));
	assert_int_equal(offset_of(&s, "GCobj", "str.len"), 20);
	assert_int_equal(size_of(&s, "GCstr"), 24);
	assert_int_equal(offset_of(&s, "GChead", "env"), 16);
	close_scope(&s);
}

/* ---- values ---- */

DECLARED(
	shape_text, enum shape_kind{CIRCLE = 1, SQUARE = 4, NEITHER = -2}; struct shape {
		const char *name;
		enum shape_kind kind;
		unsigned low : 3;
		signed int middle : 7;
		unsigned long wide : 40;
		union {
			double radius;
			struct {
				int width, height;
			};
		};
		short grid[2][3];
		struct shape *next;
		void (*draw)(struct shape * self, int, ...);
		_Bool filled;
		uint8_t bytes[4];
	} __attribute__((aligned(32)));)

static struct shape circle = {.kind = SQUARE,
			      .low = 5,
			      .middle = -33,
			      .wide = 0x123456789a,
			      .radius = 10,
			      .grid = {{1, 2, 3}, {4, 5, 6}},
			      .filled = 1,
			      .bytes = "abc"};

static void values_of_declared_types_read_as_the_compiler_wrote_them(void **state)
{
	(void)state;
	struct scope s = open_with(&circle, sizeof circle);
	CHECK_OK(xc_cdef_declare(s.cdef, shape_text));
	struct xc_value value = xc_value_memory(s.process, type_of(&s, "struct shape"), MEMORY);
	struct xc_format_options options = xc_format_defaults();
	struct xc_text text = {0};
	xc_format_value(&text, &value, &options);
	assert_string_equal(text.bytes,
			    "{name = 0x0, kind = SQUARE, low = 5, middle = -33, wide = 78187493530, {radius = "
			    "10, {width = 0, height = 1076101120}}, grid = {{1, 2, 3}, {4, 5, 6}}, "
			    "next = 0x0, draw = 0x0, filled = true, bytes = \"abc\"}");
	struct xc_json_result result;
	xc_value_json(&value, &(struct xc_json_options){.depth = 5, .elements = 10}, &result);
	assert_int_equal(json_integer_value(json_object_get(result.value, "middle")), -33);
	assert_null(result.unknown);
	json_decref(result.value);
	xc_text_fini(&text);
	close_scope(&s);
}

/* As ptype of the compiled struct. */
static void layouts_of_declared_types_are_shown_like_any(void **state)
{
	(void)state;
	struct scope s = open_scope();
	struct xc_text text = {0};
	CHECK_OK(xc_cdef_declare(s.cdef, shape_text));
	CHECK_OK(xc_cdef_declare(s.cdef, "struct opaque; typedef struct opaque *handle; struct empty {};"));
	const struct xc_layout_shown shown = {.layout = {.cacheline = XC_CACHELINE}, .methods = true};
	xc_layout_text(&text, type_of(&s, "struct shape"), &shown);
	assert_non_null(strstr(text.bytes, "unsigned long wide : 40;"));
	assert_non_null(strstr(text.bytes, "void (*draw)(struct shape *, int, ...);"));
	assert_non_null(strstr(text.bytes, "alignas: 32"));
	assert_non_null(strstr(text.bytes, "uint8_t bytes[4];"));
	text.len = 0;
	xc_layout_text(&text, type_of(&s, "handle"), &shown);
	xc_layout_text(&text, type_of(&s, "enum shape_kind"), &shown);
	xc_layout_text(&text, type_of(&s, "struct empty"), &shown);
	assert_non_null(strstr(text.bytes, "NEITHER = -2"));
	xc_text_fini(&text);
	close_scope(&s);
}

static void what_is_never_defined_is_the_programs(void **state)
{
	(void)state;
	struct scope s = {.process = died("gcc -g -x c", "struct in_program { int a, b, c; } global; int main(void) "
							 "{ __builtin_trap(); return global.a; }")};
	s.cdef = xc_cdef_new(s.process);
	CHECK_OK(xc_cdef_declare(s.cdef, "struct ours { struct in_program *p; struct nowhere *q; };"));
	size_t count;
	const struct xc_member *members = xc_type_members(type_of(&s, "struct ours"), &count);
	assert_int_equal(xc_type_complete(members[0].type->target)->size, 12);
	assert_true(xc_type_complete(members[1].type->target)->is_declaration);
	CHECK_OK(xc_cdef_declare(s.cdef, "struct nowhere { char c; };"));
	assert_int_equal(xc_type_complete(members[1].type->target)->size, 1);
	xc_cdef_free(s.cdef);
	close_process(s.process);
}

/* ---- names of types ---- */

static void type_names_are_written_as_they_were_read(void **state)
{
	(void)state;
	static const char *const names[][2] = {
		{"unsigned", "unsigned int"},
		{"long unsigned int", "unsigned long"},
		{"long long", "long long"},
		{"signed char *const *", "signed char * const *"},
		{"const struct foo *", "const struct foo *"},
		{"struct foo const volatile", "const volatile struct foo"},
		{"foo_t [4][2]", "foo_t [4][2]"},
		{"foo_t[2 + SIX]", "foo_t [8]"},
		{"char []", "char []"},
		{"void (*)(int)", "void (*)(int)"},
		{"int (int, char *, ...)", "int (int, char *, ...)"},
		{"int (*(*)(void))[5]", "int (*(*)(void))[5]"},
		{"int (*[3])(foo_t (*)(int))", "int (*[3])(foo_t (*)(int))"},
		{"int (*)(int argv[], foo_t f(void))", "int (*)(int *, foo_t (*)(void))"},
		{"enum e", "enum e"},
		{"uint32_t", "uint32_t"},
		{"size_t *", "size_t *"},
		{"_Bool", "bool"},
		{"bool", "bool"},
		{"__int128", "__int128"},
		{"_Atomic(int) *", "_Atomic int *"},
		{"struct { int a; }", "struct {...}"},
	};
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef,
				 "struct foo { int x; }; typedef struct foo foo_t; enum e { A }; enum { SIX = 6 };"));
	for (size_t i = 0; i < XC_COUNT(names); i++)
		assert_string_equal(xc_type_name(type_of(&s, names[i][0])), names[i][1]);
	assert_ptr_equal(type_of(&s, "foo_t *"), type_of(&s, "foo_t *"));
	close_scope(&s);
}

static void type_names_that_name_nothing_are_not_found(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum xc_error_code code;
		const char *part;
	} wrong[] = {
		{"struct bar", XC_ERR_NOT_FOUND, "no struct `bar` is declared"},
		{"bar_t *", XC_ERR_NOT_FOUND, "no type `bar_t` is declared"},
		{"union foo", XC_ERR_FORMAT, "`foo` is a struct on line 1"},
		{"enum nothing", XC_ERR_NOT_FOUND, "no enum `nothing`"},
		{"foo_t[NOPE]", XC_ERR_NOT_FOUND, "no constant `NOPE`"},
		{"int x", XC_ERR_FORMAT, "a type name must not declare another name"},
		{"int *)", XC_ERR_FORMAT, "`)` where the end should stand"},
		{"", XC_ERR_FORMAT, "the text ends where a type should stand"},
		{"unsigned double", XC_ERR_FORMAT, "these words do not form a type"},
		{"_Complex double", XC_ERR_FORMAT, "complex types"},
		{"u32", XC_ERR_NOT_FOUND, "no type `u32`"}, /* Rust's */
	};
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef, "typedef struct foo { int x; } foo_t;"));
	for (size_t i = 0; i < XC_COUNT(wrong); i++) {
		const struct xc_type *type;
		CHECK_ERROR(xc_cdef_type(s.cdef, wrong[i].name, &type), wrong[i].code, wrong[i].part);
	}
	CHECK_OK(xc_cdef_declare(s.cdef, "struct bar { int x; };")); /* the query left no trace */
	assert_int_equal(size_of(&s, "struct bar"), 4);
	close_scope(&s);
}

/* ---- constants ---- */

static void constants_are_those_of_macros_and_enumerators(void **state)
{
	(void)state;
	struct scope s = open_scope();
	int64_t value;
	CHECK_OK(xc_cdef_declare(s.cdef, "#define LATE (BASE \\\n + 1) // a comment \\\n that goes on\n"
					 "#define BASE 0x10\n#define TWICE BASE * 2 + BASE\n#define SELF SELF\n"
					 "#define U_CHAR unsigned char\n#define EMPTY\n  #  define SPACED 'x'\n"
					 "enum { RED, GREEN = 7, BLUE, BIG = 1ull << 63, LAST = ~0u, };\n"
					 "EMPTY U_CHAR EMPTY *text;"));
	assert_int_equal(constant_of(&s, "LATE"), 17);
	assert_int_equal(constant_of(&s, "TWICE"), 48);
	assert_int_equal(constant_of(&s, "SPACED"), 'x');
	assert_int_equal(constant_of(&s, "BLUE"), 8);
	assert_int_equal(constant_of(&s, "BIG"), INT64_MIN);
	assert_int_equal(constant_of(&s, "LAST"), UINT32_MAX);
	CHECK_ERROR(xc_cdef_constant(s.cdef, "PINK", &value), XC_ERR_NOT_FOUND, "PINK");
	CHECK_ERROR(xc_cdef_constant(s.cdef, "1 + 1", &value), XC_ERR_NOT_FOUND, "1 + 1");
	CHECK_ERROR(xc_cdef_constant(s.cdef, "U_CHAR", &value), XC_ERR_FORMAT,
		    "`unsigned` where a constant should stand");
	CHECK_ERROR(xc_cdef_constant(s.cdef, "SELF", &value), XC_ERR_NOT_FOUND, "macro `SELF`: no constant `SELF`");
	CHECK_OK(xc_cdef_declare(s.cdef, "#undef BASE\n#define BASE 1"));
	assert_int_equal(constant_of(&s, "LATE"), 2);
	close_scope(&s);
}

/* ---- several declarations ---- */

static void the_same_declaration_may_come_again(void **state)
{
	(void)state;
	static const char text[] =
		"#define N 3\nstruct a; typedef struct a *ap; struct a { ap next; struct { int x : N; } in; "
		"void (*f)(struct a *, int[2]); }; enum { E = N }; enum g { G }; typedef int (*fn)(ap);"
		"typedef struct { char c; } anon; typedef int (paren)[2]; typedef unsigned long size_t; union u { int "
		"i; };";
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef, text));
	const struct xc_type *before = type_of(&s, "struct a"), *anon = type_of(&s, "anon");
	CHECK_OK(xc_cdef_declare(s.cdef, text));
	assert_ptr_equal(type_of(&s, "struct a"), before);
	assert_ptr_equal(type_of(&s, "anon"), anon);
	close_scope(&s);
}

static void other_declarations_of_a_name_are_refused(void **state)
{
	(void)state;
	static const char *const wrong[][2] = {
		{"\n\nstruct a { int x; };",
		 "line 3, column 8: `a` is defined differently on line 2 of an earlier text"},
		{"struct a { long y; };", "defined differently"},
		{"#pragma pack(1)\nstruct a { char c; long x; };", "defined differently"},
		{"typedef long t;", "`t` is another type on line 3 of an earlier text"},
		{"struct b { int x; };\nstruct b { int y; };",
		 "line 2, column 8: `b` is defined differently on line 1"},
		{"union a;", "`a` is a struct"},
		{"enum { t };", "`t` is a type"},
		{"enum { E = 2 };", "`E` is an enumerator of another value on line 4"},
		{"typedef int E;", "`E` is an enumerator"},
		{"#define M 2", "`M` is another macro on line 5"},
		{"#define M(x) 1", "`M` is another macro"},
		{"typedef int t __attribute__((aligned(8)));", "another type"},
	};
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef,
				 "\nstruct a { char c; long x; };\ntypedef int t;\nenum { E = 1 };\n#define M 1\n"));
	for (size_t i = 0; i < XC_COUNT(wrong); i++)
		CHECK_ERROR(xc_cdef_declare(s.cdef, wrong[i][0]), XC_ERR_FORMAT, wrong[i][1]);
	close_scope(&s);
}

static void a_text_with_an_error_declares_nothing(void **state)
{
	(void)state;
	struct scope s = open_scope();
	const struct xc_type *type;
	int64_t value;
	CHECK_OK(xc_cdef_declare(s.cdef, "struct later; struct has { struct later *p; };\n#define KEPT 1"));
	CHECK_ERROR(xc_cdef_declare(s.cdef, "#define NEW 1\n#undef KEPT\nenum { MADE }; struct later { int x, y; };\n"
					    "typedef int new_t; struct fresh { struct later l; }; oops"),
		    XC_ERR_FORMAT, "line 4, column 54: no type `oops` is declared");
	CHECK_ERROR(xc_cdef_type(s.cdef, "new_t", &type), XC_ERR_NOT_FOUND, "new_t");
	CHECK_ERROR(xc_cdef_type(s.cdef, "struct fresh", &type), XC_ERR_NOT_FOUND, "fresh");
	CHECK_ERROR(xc_cdef_constant(s.cdef, "NEW", &value), XC_ERR_NOT_FOUND, "NEW");
	CHECK_ERROR(xc_cdef_constant(s.cdef, "MADE", &value), XC_ERR_NOT_FOUND, "MADE");
	assert_int_equal(constant_of(&s, "KEPT"), 1);
	assert_true(type_of(&s, "struct later")->is_declaration);
	CHECK_OK(xc_cdef_declare(s.cdef, "struct later { char c; };"));
	assert_int_equal(size_of(&s, "struct later"), 1);
	close_scope(&s);
}

/* ---- ignored parts ---- */

static void functions_and_variables_are_read_past(void **state)
{
	(void)state;
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef,
				 "extern int errno_, *pointer, table[16];\n"
				 "int printf(const char *restrict format, ...) __attribute__((format(printf, 1, 2)));\n"
				 "extern void *memcpy(void *, const void *, size_t) __asm__(\"copy\" \"_it\");\n"
				 "static inline int twice(int x) { return x * 2; /* } */ }\n"
				 "__extension__ extern _Thread_local volatile int tls; void (*signal(int sig, void "
				 "(*func)(int)))(int);\n"
				 "_Noreturn void stop(void); int main(); ;;\n"
				 "_Static_assert(sizeof(long) == 8 && sizeof 1 == 4, \"LP64\"); static_assert(1);\n"
				 "struct with { static_assert(1, \"\"); int x;; struct inner { int y; } in; struct "
				 "only_a_tag { int z; }; };\n"
				 "typedef int first, *second, third[2];"));
	assert_int_equal(size_of(&s, "struct with"), 8);
	assert_int_equal(size_of(&s, "struct only_a_tag"), 4);
	assert_int_equal(size_of(&s, "third"), 8);
	close_scope(&s);
}

/* ---- errors ---- */

static void wrong_declarations_say_where_and_why(void **state)
{
	(void)state;
	static const char *const wrong[][2] = {
		{"struct a { int x }", "line 1, column 18: `}` where a semicolon should stand"},
		{"struct a { int x; ", "the text ends where } should stand"},
		{"struct a { int x; }", "the text ends where a name should stand"},
		{"int x[", "the text ends where a constant should stand"},
		{"struct a { struct a x; };", "column 21: a member of type `struct a`, which is not complete"},
		{"struct a { void v; };", "not complete"},
		{"struct a { int f(void); };", "a member that is a function"},
		{"struct a { int x; char x; };", "two members `x`"},
		{"struct a { int x; struct { int y; union { int x; }; }; };", "two members `x`"},
		{"struct a { int n; int f[]; int x; };",
		 "column 23: only the last member may be an array without a count"},
		{"struct a { int x : 33; };", "a bit-field wider than `int`"},
		{"struct a { _Bool x : 2; };", "wider than `bool`"},
		{"struct a { int x : 0; };", "a bit-field of 0 bits has no name"},
		{"struct a { double x : 3; };", "a bit-field of type `double`"},
		{"struct a { int x : -1; };", "the width of the bit-field is negative"},
		{"struct a { static int x; };", "a member has no storage class"},
		{"int x[-1];", "the number of elements is negative"},
		{"int x[1ull << 60];", "too large"},
		{"typedef int t[1ull << 40]; t x[1 << 20];", "larger than any object"},
		{"struct a { char x[1ull << 55], y[1ull << 55], z; };", "larger than any object"},
		{"int x[1 / 0];", "column 9: a division by zero"},
		{"int x[1 << 32];", "a shift by more bits than there are"},
		{"int x[1.5];", "only integers are constants here"},
		{"int x[08];", "not an octal number"},
		{"int x[n];", "no constant `n` is declared"},
		{"int x[sizeof(struct nothing)];", "`struct nothing` is not complete"},
		{"struct a { int b : 3; }; int x[offsetof(struct a, b)];", "`b` is a bit-field"},
		{"int x[offsetof(struct a { int b; }, c)];", "no member `c`"},
		{"int f(void)[3];", "a function cannot return `int [3]`"},
		{"int f[3](void);", "an array of functions"},
		{"enum e { A, A };", "`A` is an enumerator of another value on line 1"},
		{"enum e { };", "an enum without enumerators"},
		{"enum e { A = 1ull << 63, B = -1 };", "no integer holds all values"},
		{"enum e { A = ~0ull, B };", "no integer holds the value of this enumerator"},
		{"typedef int t __attribute__((aligned(3)));", "an alignment must be a power of two"},
		{"typedef int t __attribute__((mode(DI)));", "the attribute `mode` is not supported"},
		{"typedef int t __attribute__((aligned(8))); t x[2];", "some elements would not be aligned"},
		{"int *__attribute__((aligned(16))) x;", "not supported in this place"},
		{"static_assert(sizeof(int) == 8, \"wide\");", "static_assert does not hold: \"wide\""},
		{"#include <stdio.h>", "line 1, column 2: #include is not supported here"},
		{"\n#ifdef X\n#endif", "line 2, column 2: #ifdef is not supported here"},
		{"#pragma GCC poison x", "the only supported pragma is pack"},
		{"#pragma pack(3)", "a number of bytes should stand here"},
		{"#pragma pack(pop)", "nothing was pushed"},
		{"#define", "the name of a macro should stand here"},
		{"#define F(x) x\nint a[F(1)];", "`F` is a macro with parameters"},
		{"#define BAD 1 +\nint a[BAD];", "line 2, column 10: `]` where a constant should stand"},
		{"#define BAD 1 / 0\nint a[BAD];", "line 2, column 7: macro `BAD`: a division by zero"},
		{"#define S \"abc\nint x;", "is not C"},
		{"int x; /* no end", "line 1, column 8: unterminated comment"},
		{"int a = 5;", "only declarations are supported"},
		{"class X { };", "no type `class` is declared"},
		{"struct X : Y { };", "`:` where"},
		{"template<int> x;", "no type `template`"},
		{"int x # 1;", "`#` where"},
		{"unsigned struct a { int x; } b;", "`struct` where"},
		{"int int x;", "these words do not form a type"},
		{"int x\x1b[31m;", "`\\x1b` where"},
		{"typedef static int x;", "conflicting"},
		{"struct { int x; } __attribute__((packed", "the text ends where an attribute should stand"},
		{"int f(int x) { if (x) { ", "`{` is not closed"},
	};
	for (size_t i = 0; i < XC_COUNT(wrong); i++) {
		struct scope s = open_scope();
		struct xc_error *err = xc_cdef_declare(s.cdef, wrong[i][0]);
		if (!err || !strstr(err->message, wrong[i][1]))
			fail_msg("%s: %s, not %s", wrong[i][0], err ? err->message : "no error", wrong[i][1]);
		assert_non_null(err->lines);
		xc_error_free(err);
		close_scope(&s);
	}
}

static void errors_point_at_the_spot(void **state)
{
	(void)state;
	struct scope s = open_scope();
	struct xc_error *err = xc_cdef_declare(s.cdef, "int a;\nstruct b { foo_t *x; };\nint c;");
	assert_string_equal(err->message, "line 2, column 12: no type `foo_t` is declared");
	assert_string_equal(err->lines, "struct b { foo_t *x; };\n           ^~~~~");
	xc_error_free(err);
	close_scope(&s);
}

/* ---- limits ---- */

static char *repeated(const char *before, const char *unit, size_t count, const char *behind)
{
	struct xc_text text = {0};
	xc_text_add(&text, before);
	for (size_t i = 0; i < count; i++)
		xc_text_add(&text, unit);
	xc_text_add(&text, behind);
	return xc_text_take(&text);
}

static void what_has_no_end_is_bounded(void **state)
{
	(void)state;
	static const struct {
		const char *before, *unit, *behind, *part;
		size_t count;
	} endless[] = {
		{"", "struct {", "", "nested more than", 10000},
		{"int x[", "(", "1", "nested more than", 10000},
		{"int x[", "~", "1]", "nested more than", 10000},
		{"int x[", "1?1:", "1]", "nested more than", 10000},
		{"int ", "(", "x", "nested more than", 10000},
		{"int ", "*", "x;", "more than 64 stars", 10000},
		{"int x", "[1]", ";", "more than 64 parts", 10000},
		{"void f(", "int,", "int);", "more than 128 parameters", 10000},
		{"void f", "(int (*)", "", "nested more than", 10000},
		{"typedef ", "unsigned ", "x;", "too many words", 10000},
		{"struct a { int ", "x,", "y; };", "more than 65536 members", 70000},
		{"enum { A", " = 1, A", "};", "more than 65536 enumerators", 70000},
		{"", "#pragma pack(push)\n", "", "more than 64 nested #pragma pack", 100},
		{"", "         ", "", "more than 1048576 bytes", 200000},
	};
	for (size_t i = 0; i < XC_COUNT(endless); i++) {
		struct scope s = open_scope();
		char *text = repeated(endless[i].before, endless[i].unit, endless[i].count, endless[i].behind);
		struct xc_error *err = xc_cdef_declare(s.cdef, text);
		if (!err || !strstr(err->message, endless[i].part))
			fail_msg("%s%s…: %s, not %s", endless[i].before, endless[i].unit,
				 err ? err->message : "no error", endless[i].part);
		xc_error_free(err);
		free(text);
		close_scope(&s);
	}
}

static void macros_that_grow_end_at_a_limit(void **state)
{
	(void)state;
	struct scope s = open_scope();
	struct xc_text text = {0}, chain = {0};
	xc_text_add(&text, "#define A0 1+1\n");
	for (int i = 1; i < 40; i++)
		xc_text_printf(&text, "#define A%d A%d+A%d\n", i, i - 1, i - 1);
	xc_text_add(&text, "int x[A39];");
	CHECK_ERROR(xc_cdef_declare(s.cdef, text.bytes), XC_ERR_LIMIT, "more than 4194304 tokens");
	xc_text_add(&chain, "#define B0 1\n");
	for (int i = 1; i < 100; i++)
		xc_text_printf(&chain, "#define B%d B%d\n", i, i - 1);
	xc_text_add(&chain, "int y[B62]; int x[B99];");
	CHECK_ERROR(xc_cdef_declare(s.cdef, chain.bytes), XC_ERR_LIMIT, "macros in macros, more than 64 deep");
	xc_text_fini(&text);
	xc_text_fini(&chain);
	close_scope(&s);
}

static void targets_differ_in_their_integers(void **state)
{
	(void)state;
	struct scope s = open_scope();
	s.process->arch = xc_arch_find(EM_386, ELFCLASS32, false);
	CHECK_OK(xc_cdef_declare(s.cdef, "struct a { char c; long long l; size_t s; long double d; };"));
	assert_int_equal(size_of(&s, "struct a"), 4 + 8 + 4 + 12);
	assert_int_equal(size_of(&s, "void *[2]"), 8);
	CHECK_ERROR(xc_cdef_declare(s.cdef, "__int128 x;"), XC_ERR_UNSUPPORTED, "there is no `__int128` on i386");
	CHECK_ERROR(xc_cdef_declare(s.cdef, "char x[1u << 31];"), XC_ERR_FORMAT, "too large");
	close_scope(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nginx_structs_lie_as_the_compiler_lays_them),
		cmocka_unit_test(redis_structs_lie_as_the_compiler_lays_them),
		cmocka_unit_test(macros_that_stand_for_members_are_expanded),
		cmocka_unit_test(values_of_declared_types_read_as_the_compiler_wrote_them),
		cmocka_unit_test(layouts_of_declared_types_are_shown_like_any),
		cmocka_unit_test(what_is_never_defined_is_the_programs),
		cmocka_unit_test(type_names_are_written_as_they_were_read),
		cmocka_unit_test(type_names_that_name_nothing_are_not_found),
		cmocka_unit_test(constants_are_those_of_macros_and_enumerators),
		cmocka_unit_test(the_same_declaration_may_come_again),
		cmocka_unit_test(other_declarations_of_a_name_are_refused),
		cmocka_unit_test(a_text_with_an_error_declares_nothing),
		cmocka_unit_test(functions_and_variables_are_read_past),
		cmocka_unit_test(wrong_declarations_say_where_and_why),
		cmocka_unit_test(errors_point_at_the_spot),
		cmocka_unit_test(what_has_no_end_is_bounded),
		cmocka_unit_test(macros_that_grow_end_at_a_limit),
		cmocka_unit_test(targets_differ_in_their_integers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
