// Dies of SIGABRT through std::terminate. Arguments: throw (an exception nobody catches), noexcept (one that leaves
// a noexcept function), rethrow (caught once, thrown again), pure (a pure virtual function is called).
#include <cstring>
#include <stdexcept>
#include <string>

#define NOINLINE __attribute__((noinline))

namespace shop {

struct guard {
	int *count;
	explicit guard(int *c) : count(c) { ++*count; }
	~guard() { --*count; }
};

class order {
public:
	explicit order(int id) : id_(id) {}
	NOINLINE void validate(const std::string &currency) const
	{
		if (currency.size() != 3)
			throw std::runtime_error("order " + std::to_string(id_) + ": bad currency");
	}

private:
	int id_;
};

static NOINLINE void submit(const order &o, const char *currency)
{
	int depth = 0;
	guard g(&depth);
	o.validate(currency);
}

static NOINLINE void submit_noexcept(const order &o) noexcept
{
	submit(o, "EURO");
}

static NOINLINE void submit_again(const order &o)
{
	try {
		submit(o, "DOLLAR");
	} catch (const std::exception &) {
		throw;
	}
}

struct base;
static NOINLINE void use(base *b);

struct base {
	base() { use(this); }
	virtual ~base() {}
	virtual int price() const = 0;
};

struct derived : base {
	int price() const override { return 3; }
};

static NOINLINE void use(base *b)
{
	__asm__ volatile("" : "+r"(b) : : "memory");
	b->price();
}

} // namespace shop

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";
	shop::order o(1001);

	if (std::strcmp(how, "throw") == 0)
		shop::submit(o, "EURO");
	if (std::strcmp(how, "noexcept") == 0)
		shop::submit_noexcept(o);
	if (std::strcmp(how, "rethrow") == 0)
		shop::submit_again(o);
	if (std::strcmp(how, "pure") == 0)
		shop::derived d;
	return 2;
}
