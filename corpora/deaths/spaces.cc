// Dies of SIGSEGV in namespaces that are called like crates of Rust's library.
#include "death.h"

volatile long sink;

namespace core
{

struct message {
	long id;
	const char *text;
};

NOINLINE long reply(const message *asked)
{
	return asked->id + 1; // dies: core
}

} // namespace core

namespace alloc
{

class pool
{
      public:
	NOINLINE void give(long count)
	{
		left_ = count; // dies: alloc
	}

      private:
	long left_ = 0;
};

} // namespace alloc

static void die_core()
{
	sink = core::reply(static_cast<core::message *>(opaque(nullptr)));
	sink = 0;
}

static void die_alloc()
{
	static_cast<alloc::pool *>(opaque(nullptr))->give(1);
	sink = 0;
}

DEATHS({"core", die_core}, {"alloc", die_alloc})
