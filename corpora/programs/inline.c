/* Dies of SIGSEGV in the innermost of six inlined functions, inside a loop, called twice from one function.
 * Build with -O2 and -O3; every frame but outer() and main() is inlined. */
#include <stdint.h>

#include "crash.h"

#define INLINE static inline __attribute__((always_inline))

struct node {
	struct node *next;
	uint32_t key;
	int value;
};

INLINE int load_value(const struct node *node, int bias)
{
	return node->value + bias;
}

INLINE int weigh(const struct node *node, int factor)
{
	int bias = factor - 1;

	return load_value(node, bias) * factor;
}

INLINE int sum_list(const struct node *head, int factor)
{
	int sum = 0;

	for (const struct node *at = head; sum >= 0; at = at->next)
		sum += weigh(at, factor);
	return sum;
}

INLINE int middle_two(const struct node *head, int factor)
{
	return sum_list(head, factor + 1);
}

INLINE int middle_one(const struct node *head, int factor)
{
	{
		int scaled = factor * 3;

		return middle_two(head, scaled);
	}
}

static int small_helper(const struct node *head, int limit)
{
	return limit > 100 ? middle_one(head, limit) : 0;
}

static NOINLINE int outer(const struct node *head, int limit)
{
	int first = small_helper(head, limit - 1000);
	int second = small_helper(head, limit);

	return first + second;
}

int main(int argc, char **argv)
{
	struct node third = {opaque(NULL), 3, 30}, second = {&third, 2, 20}, first = {&second, 1, 10};

	(void)argv;
	return outer(opaque(&first), argc + 499);
}
