// Dies of a pointer, reference or iterator into a vector that has grown since.
// flags: -fno-optimize-sibling-calls
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <stdio.h>
#include <stdlib.h>

#include "death.h"

namespace
{

struct task {
	int id;
	std::function<long()> run;
	std::string name;
};

struct queue {
	std::vector<task> tasks;
	std::vector<std::string> names;
};

struct cell {
	long value;
	cell *next;
};

} // namespace

volatile long sink;

template <typename T> static T *hidden(T *pointer)
{
	return static_cast<T *>(opaque(pointer));
}

static NOINLINE void fill(queue *to, int count)
{
	for (int i = 0; i < count; i++)
		to->tasks.push_back({i, [i] { return i + 1L; }, "a task with a long name " + std::to_string(i)});
}

static NOINLINE long run_task(const task *one)
{
	return one->run(); // dies: function
}

/* The function object of the old element was moved out of: it is empty. */
static void function()
{
	queue one;
	fill(hidden(&one), 4);
	const task *first = hidden(&one.tasks.front());
	fill(hidden(&one), 40);
	sink = run_task(first);
}

/* Written, too: a list of the allocator is damaged. */
static NOINLINE void rename_task(task *one)
{
	one->id = 7;
	one->name.assign("x");
	sink = one->run(); // dies: function-written
}

static void function_written()
{
	queue one;
	fill(hidden(&one), 4);
	task *first = hidden(&one.tasks.front());
	fill(hidden(&one), 40);
	rename_task(first);
}

static NOINLINE void check(const cell *one)
{
	if (one->value != 5)
		abort(); // dies: aborted aborted-written
	sink = one->value;
}

static void aborted()
{
	std::vector<cell> cells(4, cell{5, nullptr});
	const cell *first = hidden(&cells[1]);
	for (int i = 0; i < 100; i++)
		cells.push_back(cell{i, nullptr});
	std::vector<long> other(8, 3);
	KEEP(other);
	check(first - 1);
}

static void aborted_written()
{
	std::vector<cell> cells(4, cell{5, nullptr});
	cell *first = hidden(&cells[0]);
	for (int i = 0; i < 100; i++)
		cells.push_back(cell{i, nullptr});
	first->value = 6;
	check(first);
}

static NOINLINE long next_value(const cell *one)
{
	return one->next->value; // dies: read
}

static void read_next()
{
	static cell leaf = {7, nullptr};
	std::vector<cell> cells(4, cell{5, &leaf});
	const cell *first = hidden(&cells[0]);
	for (int i = 0; i < 100; i++)
		cells.push_back(cell{i, &leaf});
	sink = next_value(first);
}

DEATHS({"function", function}, {"function-written", function_written}, {"aborted", aborted},
       {"aborted-written", aborted_written}, {"read", read_next})
