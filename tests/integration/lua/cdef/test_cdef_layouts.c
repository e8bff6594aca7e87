/* layer: lua */
/* Layouts and values of C declarations. tests/property/test_cdef.c compares layouts with gcc's; here are real headers
 * and values: DECLARED gives a declaration to the compiler and to xcore, and an object of it is in memory. */
#include <elf.h>
#include <stdio.h>

#include "core/elf/arch.h"
#include "core/base/text.h"
#include "dwarf/format/format.h"
#include "dwarf/layout/layout_text.h"
#include "dwarf/format/value_json.h"
#include "lua/cdef/cdef.h"
#include "tests/support/opened.h"
#include "tests/integration/lua/cdef/scope.h"

#define DECLARED(name, ...) __VA_ARGS__ static const char name[] = #__VA_ARGS__;

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
		cmocka_unit_test(targets_differ_in_their_integers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
