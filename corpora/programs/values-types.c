/* Dies of SIGSEGV below functions whose arguments and locals are the odd types of C: variable length arrays, vectors,
 * atomics, complex numbers and floats of every size, bit-fields in unusual places, empty and flexible arrays. */
#include <complex.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>

#include "crash.h"

typedef float vector4f __attribute__((vector_size(16)));
typedef double vector4d __attribute__((vector_size(32)));
typedef unsigned char vector16 __attribute__((vector_size(16)));
typedef long vector2l __attribute__((vector_size(16)));
typedef int aligned_int __attribute__((aligned(16)));

enum big { BIG_MIN = INT64_MIN, BIG_MAX = INT64_MAX };
enum unsigned_big { UBIG = 0xfffffffffffffff0u, USMALL = 1 };
enum negative_flags { NF_ALL = -1, NF_A = 1, NF_B = 2 };
enum flags_with_zero { FZ_NONE = 0, FZ_A = 1, FZ_B = 2, FZ_C = 4 };
enum masks { MASK_LOW = 0xf, MASK_HIGH = 0xf0, MASK_ONE = 0x100 };
enum __attribute__((packed)) byte_enum { BYTE_A = 1, BYTE_B = 200 };

struct bits {
	signed one : 1;
	unsigned all : 32;
	long long wide : 33;
	_Bool yes : 1, no : 1;
	enum byte_enum e : 8;
	enum negative_flags n : 3;
	unsigned __int128 huge : 100;
	char c : 5;
};
struct __attribute__((packed)) tight {
	unsigned a : 3;
	unsigned long b : 62;
	short c : 9;
	int rest;
};
union overlay {
	uint32_t raw;
	struct {
		uint32_t low : 12, mid : 8, high : 12;
	};
	int only : 7;
	_Bool first : 1;
};
struct zero {
	int before;
	int none[0];
	struct {
	} nothing;
	char after;
};
struct flexible {
	uint16_t count;
	struct {
		char key;
		int value;
	} pairs[];
};
struct old_flexible {
	int count;
	long data[1];
};
struct nested {
	union {
		struct {
			union {
				int deep;
				float other;
			};
			short side;
		};
		char bytes[12];
	};
	struct nested *self;
	struct nested *const *const volatile handle;
	int (*(*factory)(const char *, ...))(void);
};
struct bits_of_array {
	int matrix[2][3][2];
	char words[3][8];
	const char *names[2];
	vector4f v[2];
};
typedef int (*callback)(void *, const struct nested *);
typedef struct {
	callback call;
	void *context;
} handler;
typedef struct bits_of_array pair_of[2];

static int handle_nested(void *context, const struct nested *nested)
{
	return context == nested;
}

static NOINLINE void variable_length(int n, int m)
{
	int row[n];
	short grid[n][m];
	char text[n + 4];
	int(*pointer)[n] = &row;
	short(*grid_pointer)[n][m] = &grid;
	double fixed_rows[2][m];
#ifdef __clang__
	struct {
		int head, tail[3];
	} holder;
#else
	struct {
		int head, tail[n];
		short behind;
	} holder;
	holder.behind = 8;
#endif
	int empty[n - n];

	for (int i = 0; i < n; i++) {
		row[i] = i * 3;
		holder.tail[i] = -i;
		for (int j = 0; j < m; j++)
			grid[i][j] = (short)(i * 10 + j);
	}
	for (int j = 0; j < m; j++)
		fixed_rows[0][j] = fixed_rows[1][j] = j + 0.5;
	strcpy(text, "variab");
	holder.head = 7;
	KEEP(row), KEEP(grid), KEEP(text), KEEP(holder), KEEP(fixed_rows), KEEP(empty);
	crash();
	KEEP(pointer), KEEP(grid_pointer), KEEP(row), KEEP(grid), KEEP(text), KEEP(holder), KEEP(fixed_rows);
	KEEP(empty), KEEP(n), KEEP(m);
}

#ifdef __clang__ /* 14 has none of these */
#define _Float16 float
#define _Decimal32 float
#define _Decimal64 double
#define _Decimal128 long double
#define DECIMAL(number, suffix) number
#else
#define DECIMAL(number, suffix) number##suffix
#endif

static NOINLINE void numbers(__int128 smallest, unsigned __int128 largest, _Float16 half, __float128 quad,
			     long double extended)
{
	_Float32 f32 = 0.1f;
	_Float64 f64 = 0.1;
	_Float32x f32x = 0.25;
	_Float64x f64x = 1.0L / 3;
	_Float16 half_max = 65504, half_tiny = 0x1p-24f, half_inf = (_Float16)__builtin_inff();
	__float128 quad_third = 1 / (__float128)3, quad_max = 0x1.ffffffffffffffffffffffffffffp16383Q;
	long double ld_nan = __builtin_nanl("5"), ld_zero = -0.0L, ld_tiny = 0x1p-16445L;
	float complex fc = 1 - 2 * I;
	double complex dc = -0.5 + 1e300 * I;
	long double complex lc = 1.25L + 3 * I;
	int complex ic = 3 + 4i;
	float signalling;
	bool odd_bool;
	unsigned bits = 0x7f800001u;

	memcpy(&signalling, &bits, 4);
	memset(&odd_bool, 0xfe, 1);
	KEEP(f32), KEEP(f64), KEEP(f32x), KEEP(f64x), KEEP(half_max), KEEP(half_tiny), KEEP(half_inf), KEEP(quad_third);
	KEEP(quad_max), KEEP(ld_nan), KEEP(ld_zero), KEEP(ld_tiny), KEEP(fc), KEEP(dc), KEEP(lc), KEEP(ic);
	KEEP(signalling), KEEP(odd_bool);
	variable_length(3, 2);
	KEEP(smallest), KEEP(largest), KEEP(half), KEEP(quad), KEEP(extended), KEEP(f32), KEEP(f64), KEEP(f32x);
	KEEP(f64x), KEEP(half_max), KEEP(half_tiny), KEEP(half_inf), KEEP(quad_third), KEEP(quad_max), KEEP(ld_nan);
	KEEP(ld_zero), KEEP(ld_tiny), KEEP(fc), KEEP(dc), KEEP(lc), KEEP(ic), KEEP(signalling), KEEP(odd_bool);
}

static NOINLINE void decimals(_Decimal32 d32, _Decimal64 d64, _Decimal128 d128)
{
	vector4f v4f = {1, 2.5f, -3, 0};
	vector4d v4d = {1, 2, 3, 4};
	vector16 v16 = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255};
	vector2l v2l = {LONG_MIN, LONG_MAX};
	aligned_int ai = 5;
	_Atomic(struct nested *) atomic_pointer = NULL;
	_Atomic _Bool atomic_bool = true;
	atomic_ulong counter = 99;
	int *restrict restricted = (int *)&ai;
	wchar_t wide[] = L"w\u00efde";
	char16_t sixteen[8] = u"16";
	char32_t thirty_two[] = U"\U0001F600!";

	KEEP(v4f), KEEP(v4d), KEEP(v16), KEEP(v2l), KEEP(ai), KEEP(atomic_pointer), KEEP(atomic_bool), KEEP(counter);
	KEEP(restricted), KEEP(wide), KEEP(sixteen), KEEP(thirty_two);
	numbers((__int128)1 << 127, ~(unsigned __int128)0, 1.5f, -2.75Q, 0.1L);
	KEEP(d32), KEEP(d64), KEEP(d128), KEEP(v4f), KEEP(v4d), KEEP(v16), KEEP(v2l), KEEP(ai), KEEP(atomic_pointer);
	KEEP(atomic_bool), KEEP(counter), KEEP(restricted), KEEP(wide), KEEP(sixteen), KEEP(thirty_two);
}

static NOINLINE void fields(enum big big, enum unsigned_big ubig, enum negative_flags nf, enum flags_with_zero fz,
			    enum masks masks, enum byte_enum byte)
{
	enum flags_with_zero none = FZ_NONE, two = FZ_A | FZ_C, stray = FZ_B | 8;
	enum masks joined = MASK_LOW | MASK_ONE, part = 0x21;
	struct bits bits = {-1, 0xdeadbeef, -0x100000000, 1, 0, BYTE_B, NF_ALL, 0, -16};
	struct tight tight = {5, 0x3000000000000001, -256, 77};
	union overlay overlay = {0xabcdef12};
	enum byte_enum array[3] = {BYTE_A, BYTE_B, 3};

	bits.huge = ((unsigned __int128)1 << 99) | 1;
	KEEP(none), KEEP(two), KEEP(stray), KEEP(joined), KEEP(part), KEEP(bits), KEEP(tight), KEEP(overlay),
		KEEP(array);
	decimals(DECIMAL(1.5, DF), DECIMAL(-0.1, DD), DECIMAL(1e100, DL));
	KEEP(big), KEEP(ubig), KEEP(nf), KEEP(fz), KEEP(masks), KEEP(byte), KEEP(none), KEEP(two), KEEP(stray);
	KEEP(joined), KEEP(part), KEEP(bits), KEEP(tight), KEEP(overlay), KEEP(array);
}

static NOINLINE void records(struct zero zero, struct nested nested, handler handler)
{
	struct flexible *flexible = calloc(1, 64);
	struct old_flexible *old = calloc(1, 64);
	pair_of pair = {{.matrix = {{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}},
			 .words = {"one", "two", "three"},
			 .names = {"name", NULL},
			 .v = {{1, 2, 3, 4}}}};
	static struct flexible in_static = {2, {{'a', 1}, {'b', 2}}};
	int matrix[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
	const int *const volatile *pointers = NULL;
	void (*signal_like(int, void (*)(int)))(int);
	__typeof__(&signal_like) function = NULL;

	flexible->count = 3;
	flexible->pairs[1].value = 9;
	old->count = 2;
	KEEP(*flexible), KEEP(*old), KEEP(pair), KEEP(matrix), KEEP(pointers), KEEP(function), KEEP(in_static);
	fields(BIG_MIN, UBIG, NF_ALL, FZ_A, MASK_HIGH, BYTE_B);
	KEEP(zero), KEEP(nested), KEEP(handler), KEEP(flexible), KEEP(old), KEEP(pair), KEEP(matrix), KEEP(pointers);
	KEEP(function), KEEP(in_static);
}

int main(void)
{
	struct nested nested = {.deep = 0x3f800000, .self = &nested};
	records((struct zero){1, {}, {}, 'z'}, nested, (handler){handle_nested, &nested});
	return 0;
}
