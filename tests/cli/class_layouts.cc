// The unit that uses the entry, and dies of what it reads in it. class_layouts.bats says which verdict each must get.
#include "class_layouts.h"

#include <cstdlib>
#include <cstring>

namespace {
struct Hidden {
	char a = 1;
};
} // namespace

static void *volatile sink;

__attribute__((noinline)) static void reply(const shop::Entry &e, std::string &out)
{
	out = e.body;
}

__attribute__((noinline)) static void check(const shop::Entry &e, const shop::Opaque *opaque)
{
	struct Local {
		char a = 1;
	};
	Hidden hidden;
	Local local;
	shop::Box<int> box = {1};
	sink = &hidden;
	sink = &local;
	sink = &box;
	if (opaque && (e.rank.level != 7 || e.grade != 5 || e.id == 3))
		std::abort();
}

int main(int argc, char **argv)
{
	std::string out;
	const shop::Entry *e = shop::stored();
	if (argc > 1 && std::strcmp(argv[1], "read") == 0)
		reply(*e, out);
	else
		check(*e, shop::hidden());
	return static_cast<int>(out.size());
}
