// A journey enters one unit after the other, as long as it has steps, and ends in last().
#pragma once
#include <functional>

struct Journey {
	int steps;
	std::function<int()> last;
};
