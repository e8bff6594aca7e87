/* Dies of SIGSEGV below functions whose arguments and locals are every scalar type of C, at their edges. */
#include <complex.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uchar.h>
#include <wchar.h>

#include "crash.h"

enum colour { RED, GREEN = 5, BLUE };
enum sign { MINUS = -1, ZERO, PLUS };
enum flags { FLAG_READ = 1, FLAG_WRITE = 2, FLAG_EXEC = 4, FLAG_ALL = 7, FLAG_TOP = 0x80000000u };
enum wide { WIDE_SMALL = 1, WIDE_BIG = 0x100000000L };
enum { ANONYMOUS_ONE = 1, ANONYMOUS_TWO };

typedef unsigned long size_alias;
typedef size_alias length;
typedef const volatile length watched_length;
typedef enum colour paint;

#ifdef __SIZEOF_INT128__
typedef __int128 widest;
typedef unsigned __int128 unsigned_widest;
#else
typedef long long widest;
typedef unsigned long long unsigned_widest;
#endif

static NOINLINE void integers(bool yes, char c, signed char sc, unsigned char uc, short s, unsigned short us, int i,
			      unsigned u, long l, unsigned long ul, long long ll, unsigned long long ull)
{
	bool no = false;
	char newline = '\n', quote = '\'', backslash = '\\', nul = '\0', high = (char)200;
	int smallest = INT_MIN, largest = INT_MAX;
	long long_min = LONG_MIN;
	unsigned long ulong_max = ULONG_MAX;

	KEEP(no), KEEP(newline), KEEP(quote), KEEP(backslash), KEEP(nul), KEEP(high);
	KEEP(smallest), KEEP(largest), KEEP(long_min), KEEP(ulong_max);
	crash();
	KEEP(yes), KEEP(c), KEEP(sc), KEEP(uc), KEEP(s), KEEP(us), KEEP(i), KEEP(u), KEEP(l), KEEP(ul), KEEP(ll);
	KEEP(ull), KEEP(no), KEEP(newline), KEEP(quote), KEEP(backslash), KEEP(nul), KEEP(high), KEEP(smallest);
	KEEP(largest), KEEP(long_min), KEEP(ulong_max);
}

static NOINLINE void fixed_width(int8_t i8, uint8_t u8, int16_t i16, uint16_t u16, int32_t i32, uint32_t u32,
				 int64_t i64, uint64_t u64)
{
	widest wide = (widest)1 << (sizeof wide * 8 - 28);
	widest negative_wide = -wide;
	unsigned_widest unsigned_wide = ~(unsigned_widest)0;
	wchar_t wide_char = L'\u00e4';
	char16_t char16 = u'x';
	char32_t char32 = U'\U0001F600';
	_Atomic int atomic = 17;
	length alias = 4096;
	watched_length watched = 8192;

	KEEP(wide), KEEP(negative_wide), KEEP(unsigned_wide), KEEP(wide_char), KEEP(char16), KEEP(char32), KEEP(atomic);
	KEEP(alias), KEEP(watched);
	integers(true, 'A', -5, 250, -30000, 60000, -7, 4000000000u, -5000000000L, 10000000000000000000ul, LLONG_MIN,
		 ULLONG_MAX);
	KEEP(i8), KEEP(u8), KEEP(i16), KEEP(u16), KEEP(i32), KEEP(u32), KEEP(i64), KEEP(u64), KEEP(wide);
	KEEP(negative_wide), KEEP(unsigned_wide), KEEP(wide_char), KEEP(char16), KEEP(char32), KEEP(alias);
}

static NOINLINE void floating(float f, double d, long double ld, float complex fc, double complex dc)
{
	double not_a_number = NAN, infinite = INFINITY, minus_infinite = -INFINITY, minus_zero = -0.0;
	double tiny = DBL_TRUE_MIN, huge = DBL_MAX, third = 1.0 / 3, tenth = 0.1, million = 1e6, whole = 100;
	float float_third = 1.0f / 3, float_max = FLT_MAX, float_tiny = FLT_TRUE_MIN;
	long double long_third = 1.0L / 3, long_max = LDBL_MAX;
	long double complex ldc = 1.5L + 2.5L * I;

	KEEP(not_a_number), KEEP(infinite), KEEP(minus_infinite), KEEP(minus_zero), KEEP(tiny), KEEP(huge), KEEP(third);
	KEEP(tenth), KEEP(million), KEEP(whole), KEEP(float_third), KEEP(float_max), KEEP(float_tiny);
	KEEP(long_third), KEEP(long_max), KEEP(ldc);
	fixed_width(INT8_MIN, UINT8_MAX, INT16_MIN, UINT16_MAX, INT32_MIN, UINT32_MAX, INT64_MIN, UINT64_MAX);
	KEEP(f), KEEP(d), KEEP(ld), KEEP(fc), KEEP(dc), KEEP(not_a_number), KEEP(infinite), KEEP(minus_infinite);
	KEEP(minus_zero), KEEP(tiny), KEEP(huge), KEEP(third), KEEP(tenth), KEEP(million), KEEP(whole);
	KEEP(float_third), KEEP(float_max), KEEP(float_tiny), KEEP(long_third), KEEP(long_max), KEEP(ldc);
}

static NOINLINE void enums(enum colour colour, enum sign sign, enum flags flags, enum wide wide, paint paint)
{
	enum colour unknown = 77, between = 3;
	enum flags none = 0, pair = FLAG_READ | FLAG_EXEC, odd = FLAG_WRITE | 0x100, top = FLAG_TOP;
	enum wide wide_unknown = 0x100000001L;
	bool not_quite_bool;

	*(unsigned char *)&not_quite_bool = 3;
	KEEP(unknown), KEEP(between), KEEP(none), KEEP(pair), KEEP(odd), KEEP(top), KEEP(wide_unknown);
	KEEP(not_quite_bool);
	floating(1.5f, -2.25, 3.125L, 1.0f + 2.0f * I, -1.0 - 0.5 * I);
	KEEP(colour), KEEP(sign), KEEP(flags), KEEP(wide), KEEP(paint), KEEP(unknown), KEEP(between), KEEP(none);
	KEEP(pair), KEEP(odd), KEEP(top), KEEP(wide_unknown), KEEP(not_quite_bool);
}

int main(void)
{
	enums(BLUE, MINUS, FLAG_ALL, WIDE_BIG, GREEN);
	return ANONYMOUS_TWO;
}
