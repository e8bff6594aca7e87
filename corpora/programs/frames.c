/* Dies of SIGSEGV below frames of every shape the CFI has to describe: callee-saved registers in use, a dynamic
 * stack (alloca), a realigned stack, many arguments on the stack, a callback through libc's qsort, a function that
 * never returns (the return address is past its caller's end), recursion. The base case of all linkage variants. */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"

struct item {
	int key;
	const char *name;
};

static __attribute__((noinline, noreturn)) void last_words(const char *why)
{
	KEEP(why);
	crash();
	abort();
}

static NOINLINE int never_returns(int code)
{
	KEEP(code);
	last_words("never_returns calls it last");
}

static NOINLINE int seven_and_more(int a, long b, char c, short d, unsigned e, long long f, int g, double h, int i)
{
	int result = never_returns(g + i);

	return result + a + (int)b + c + d + (int)e + (int)f + (int)h;
}

static NOINLINE int realigned(int value)
{
	char lines[128] __attribute__((aligned(64)));
	int result;

	memset(lines, value, sizeof lines);
	result = seven_and_more(1, 2, 'c', 4, 5, 6, 7, 8.5, 9);
	KEEP(lines);
	return result;
}

static NOINLINE int dynamic(size_t size)
{
	char *buffer = alloca(size);
	int result;

	memset(buffer, 'd', size);
	result = realigned((int)size);
	KEEP(*buffer);
	return result + buffer[size - 1];
}

/* Six values alive over the call: all callee-saved registers are wanted. */
static NOINLINE long busy(long a, long b, long c, long d, long e, long f)
{
	long result = dynamic((size_t)(a + b));

	KEEP_VALUE(a), KEEP_VALUE(b), KEEP_VALUE(c), KEEP_VALUE(d), KEEP_VALUE(e), KEEP_VALUE(f);
	return result + a * b - c * d + e * f;
}

static int compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->key == 3 || b->key == 3)
		return (int)busy(10, 20, 30, 40, 50, 60);
	return a->key - b->key;
}

static NOINLINE void sort_items(struct item *items, size_t count)
{
	qsort(items, count, sizeof items[0], compare);
	KEEP(*items);
}

static NOINLINE int recurse(int depth, struct item *items)
{
	int result;

	if (depth == 0) {
		sort_items(items, 3);
		return 0;
	}
	result = recurse(depth - 1, items) + depth;
	KEEP_VALUE(result);
	return result;
}

int main(void)
{
	struct item items[] = {{1, "one"}, {3, "three"}, {2, "two"}};

	return recurse(4, opaque(items));
}
