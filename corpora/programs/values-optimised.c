/* Dies of SIGSEGV below functions whose values the optimiser has moved about (build with -O2): constants, values that
 * only the call site knows (entry values), structs in pieces, pointers to what has no address (implicit pointers),
 * arithmetic on what is left (stack values), floats in registers, and what is truly optimised out. */
#include <stdint.h>

#include "crash.h"

struct pair {
	long first, second;
};
struct rgb {
	uint8_t red, green, blue;
};

static NOINLINE long last(long argument_gone, int argument_kept)
{
	(void)argument_gone;
	crash();
	return *(int *)opaque(&argument_kept);
}

/* size and base are dead after the call: only entry values can tell them. */
static NOINLINE long entry_values(long size, const char *base)
{
	long doubled = size * 2, plus = size + 5;
	const char *end = base + size;
	long below = last(size, 3);

	(void)doubled, (void)plus, (void)end;
	return below + 1;
}

/* The struct never lives in memory: each half has a place of its own, one of them a constant. */
static NOINLINE long pieces(long seed)
{
	struct pair pair = {seed, 77};
	struct rgb colour = {1, (uint8_t)seed, 3};
	long result = entry_values(seed + 1, "base");

	pair.first += result;
	KEEP_VALUE(pair.first);
	return pair.first + pair.second + colour.green;
}

static inline __attribute__((always_inline)) long through(const struct pair *pointer, const long *number)
{
	return pieces(pointer->first) + *number;
}

/* through() is inlined, pair and number have no address: its arguments are implicit pointers. */
static NOINLINE long implicit(long value)
{
	struct pair pair = {value * 3, 5};
	long number = value + 9, result = through(&pair, &number);

	KEEP_VALUE(number);
	return result + pair.first;
}

static NOINLINE double floats(double x, float y, long count)
{
	double product = x * y, unused = x + 1;
	long constant = 12345, result = implicit(count);

	(void)unused, (void)constant;
	__asm__ volatile("" : : FLOAT_REGISTER(product), FLOAT_REGISTER(y));
	return product + (double)result;
}

/* The loop counter is strength-reduced away; index must be computed from what is left, or be optimised out. */
static NOINLINE long loop(const long *numbers, int count)
{
	long sum = 0;

	for (int index = 0; index < count; index++) {
		long scaled = numbers[index] * 4;

		sum += scaled + (long)floats(1.5, 2.5f, scaled);
	}
	return sum;
}

int main(void)
{
	static const long numbers[] = {10, 20, 30};
	int unused_entirely = 6;

	(void)unused_entirely;
	return (int)loop(opaque(numbers), 3);
}
