/* Dies because the stack is used up, in C++: the language's library runs between the program's functions. */
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sys/resource.h>
#include <vector>

#include "death.h"

volatile long sink;
static volatile long bottom = -1; /* never reached */

struct link {
	explicit link(long number);
	~link();
	long number;
	std::unique_ptr<link> next;
};

NOINLINE link::link(long given) : number(given)
{
}

NOINLINE link::~link()
{
	number = -1;
}

class expression
{
      public:
	virtual ~expression() = default;
	virtual long value(long depth) const = 0;
};

class negated : public expression
{
      public:
	const expression *of = nullptr;
	NOINLINE long value(long depth) const override
	{
		return depth == bottom ? depth : -of->value(depth + 1);
	}
};

class doubled : public expression
{
      public:
	const expression *of = nullptr;
	NOINLINE long value(long depth) const override
	{
		return depth == bottom ? depth : 2 * of->value(depth + 1);
	}
};

static void limit_stack()
{
	struct rlimit limit = {256 * 1024, 8 << 20};
	if (setrlimit(RLIMIT_STACK, &limit))
		exit(2);
}

/* A list whose nodes own each other is freed by recursion. */
static void free_list()
{
	limit_stack();
	std::unique_ptr<link> head;
	for (long i = 0; i < 50000; i++) {
		std::unique_ptr<link> node(new link(i));
		node->next = std::move(head);
		head = std::move(node);
	}
	head.reset();
}

static void evaluate()
{
	limit_stack();
	negated first;
	doubled second;
	first.of = &second;
	second.of = &first;
	const expression *start = static_cast<const expression *>(opaque(static_cast<const expression *>(&first)));
	sink = start->value(1);
}

/* Sorting in the comparison of a sort. */
static NOINLINE bool less(long a, long b)
{
	std::vector<long> numbers = {3, a, b};
	if (a == bottom)
		return false;
	std::sort(numbers.begin(), numbers.end(), less);
	KEEP(numbers);
	return numbers[0] < numbers[1];
}

static void sort_in_sort()
{
	limit_stack();
	sink = less(1, 2);
}

DEATHS({"free-list", free_list}, {"evaluate", evaluate}, {"sort", sort_in_sort})
