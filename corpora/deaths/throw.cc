// Dies of SIGABRT through the C++ runtime.
// flags: -fno-optimize-sibling-calls
// flags gcc: -D_GLIBCXX_ASSERTIONS
// build clang-libcxx: -O1
#include <any>
#include <functional>
#include <future>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <vector>

#include "death.h"

volatile long sink;

namespace shop
{

class bad_order : public std::runtime_error
{
      public:
	bad_order(int id, const std::string &why)
	    : std::runtime_error("order " + std::to_string(id) + ": " + why), id_(id)
	{
	}

      private:
	int id_;
};

struct plain_error {
	int code;
};

class order
{
      public:
	explicit order(int id) : id_(id)
	{
	}
	NOINLINE void validate(const std::string &currency) const
	{
		if (currency.size() != 3)
			throw std::runtime_error("bad currency " + currency); // dies: runtime noexcept thread
		sink = id_;
	}
	NOINLINE void check(int limit) const
	{
		if (id_ > limit)
			throw bad_order(id_, "too large"); // dies: own
		sink = id_;
	}

      private:
	int id_;
};

struct base;
static NOINLINE void use(base *b);

struct base {
	base()
	{
		use(this);
	}
	virtual ~base()
	{
	}
	virtual int price() const = 0;
};

struct derived : base {
	int price() const override
	{
		return 3;
	}
};

static NOINLINE void use(base *b)
{
	sink = static_cast<base *>(opaque(b))->price() + 1; // dies: pure
}

struct other : base {
	int price() const override
	{
		return 4;
	}
};

} // namespace shop

static NOINLINE void throw_number(int code)
{
	if (code)
		throw code + 1; // dies: number
	sink = code;
}

static NOINLINE void throw_plain(int code)
{
	if (code)
		throw shop::plain_error{code}; // dies: plain
	sink = code;
}

static NOINLINE void throw_text(const char *text)
{
	if (text)
		throw text; // dies: text
	sink = 1;
}

static NOINLINE long look_up(const std::map<std::string, long> &map, const std::string &key)
{
	return map.at(key) + 1; // dies: map-at
}

static NOINLINE long element(const std::vector<long> &numbers, size_t i)
{
	return numbers.at(i) + 1; // dies: vector-at
}

static NOINLINE long checked(const std::vector<long> &numbers, size_t i)
{
	return numbers[i] + 1; // dies: vector-checked
}

static NOINLINE long call(const std::function<long(long)> &function)
{
	return function(3) + 1; // dies: function
}

static NOINLINE int parse(const std::string &text)
{
	return std::stoi(text) + 1; // dies: stoi
}

static NOINLINE void allocate(size_t count)
{
	sink = reinterpret_cast<long>(opaque(new char[count])); // dies: bad-alloc
}

static NOINLINE void give_up()
{
	std::terminate(); // dies: terminate
}

static NOINLINE long value_of(const std::optional<long> &number)
{
	return number.value() + 1; // dies: optional
}

static NOINLINE void quiet(const shop::order &order) noexcept
{
	order.validate("EURO"); // dies: noexcept
	sink = 2;
}

static NOINLINE void again(const shop::order &order)
{
	try {
		order.validate("DOLLAR");
	} catch (const std::exception &) {
		sink = 3;
		throw; // dies: rethrow
	}
}

struct holder {
	~holder()
	{
		throw_number(7); // leaves a destructor, which may not throw
		sink = 4;
	}
};

static NOINLINE void leave_scope()
{
	holder one;
	KEEP(one);
}

static void runtime()
{
	shop::order(1001).validate("EURO");
}

static void own()
{
	shop::order(1001).check(static_cast<int>(opaque_long(1000)));
}

static void number()
{
	throw_number(static_cast<int>(opaque_long(4)));
}

static void plain()
{
	throw_plain(static_cast<int>(opaque_long(4)));
}

static void text()
{
	throw_text(static_cast<const char *>(opaque("no such order")));
}

static void not_except()
{
	quiet(shop::order(1));
}

static void rethrow()
{
	again(shop::order(1));
}

static void destructor()
{
	leave_scope();
}

static void pure()
{
	shop::derived one;
	sink = one.price();
}

static void map_at()
{
	std::map<std::string, long> map = {{"pear", 3}};
	sink = look_up(map, "apple");
}

static void vector_at()
{
	std::vector<long> numbers(5);
	sink = element(numbers, static_cast<size_t>(opaque_long(9)));
}

static void vector_checked()
{
	std::vector<long> numbers(5);
	sink = checked(numbers, static_cast<size_t>(opaque_long(9)));
}

static void function()
{
	std::function<long(long)> none;
	sink = call(none);
}

static void stoi()
{
	sink = parse("twelve");
}

static void bad_alloc()
{
	allocate(static_cast<size_t>(opaque_long(1L << 50)));
}

static void terminate()
{
	give_up();
}

static void optional()
{
	std::optional<long> none;
	sink = value_of(*static_cast<std::optional<long> *>(opaque(&none)));
}

// The thread was neither joined nor detached.
static NOINLINE void forget()
{
	std::thread thread([] { sink = 5; });
	KEEP(thread);
}

// A handler waits for the exception, but its way there destroys a thread that runs.
static NOINLINE void start_and_parse(const char *text)
{
	std::thread thread([] { sink = 5; });
	KEEP(thread);
	sink = parse(text);
	thread.join();
}

static void joinable_unwound()
{
	try {
		start_and_parse("twelve");
	} catch (const std::exception &) {
		sink = 6;
	}
}

static NOINLINE void again_nothing()
{
	throw; // dies: nothing-again
}

static NOINLINE void give_up_handled()
{
	try {
		sink = parse("twelve");
	} catch (const std::exception &) {
		give_up();
	}
}

static void in_thread()
{
	std::thread thread([] { shop::order(3).validate("POUND"); });
	thread.join();
}

DEATHS({"runtime", runtime}, {"own", own}, {"number", number}, {"plain", plain}, {"text", text},
       {"noexcept", not_except}, {"rethrow", rethrow}, {"destructor", destructor}, {"pure", pure}, {"map-at", map_at},
       {"vector-at", vector_at}, {"vector-checked", vector_checked}, {"function", function}, {"stoi", stoi},
       {"bad-alloc", bad_alloc}, {"terminate", terminate}, {"optional", optional}, {"joinable", forget},
       {"joinable-unwound", joinable_unwound}, {"nothing-again", again_nothing},
       {"give-up-handled", give_up_handled}, {"thread", in_thread})
