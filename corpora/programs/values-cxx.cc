// Dies of SIGSEGV below C++ functions: methods (this), references, inheritance, namespaces, templates, lambdas,
// operators, constructors and destructors, containers of the standard library.
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crash.h"

namespace outer {
namespace {

enum class state : unsigned char { idle, busy = 4 };
enum plain { plain_one = 1, plain_two };

struct position {
	int x = 1, y = 2;
	bool operator==(const position &other) const { return x == other.x && y == other.y; }
};

template <typename T, int N> struct buffer {
	T items[N];
	static inline int instances = 3;
	NOINLINE T at(int index) const
	{
		T copy = items[index];
		KEEP(copy);
		crash();
		KEEP(index);
		return copy;
	}
};

class shape {
public:
	explicit shape(std::string name) : name_(std::move(name)) {}
	virtual ~shape() {}
	virtual double area(double scale) const = 0;

protected:
	std::string name_;
	state state_ = state::busy;
};

class counted {
public:
	long count = 12;
	virtual ~counted() {}
};

class square : public shape, public counted {
public:
	explicit square(double side) : shape("square"), side_(side) {}
	double area(double scale) const override;

private:
	double side_;
	int calls_ = 5;
};

inline namespace v2 {
template <typename A, typename B> NOINLINE int combine(const A &a, B &&b, buffer<int, 3> &buffer)
{
	int index = static_cast<int>(a) + static_cast<int>(b);
	int result = buffer.at(index);
	KEEP(a), KEEP(b), KEEP(index);
	return result;
}
} // namespace v2

double square::area(double scale) const
{
	buffer<int, 3> ints{{7, 8, 9}};
	const square &self = *this;
	int square::*unused = nullptr;
	double (shape::*method)(double) const = &shape::area;
	auto by_value = [scale, this](int extra) NOINLINE { return side_ * scale + extra; };
	auto by_reference = [&](short offset) NOINLINE {
		int value = combine(plain_one, offset, ints);
		KEEP(value);
		return value + calls_;
	};
	double result = by_value(1) + by_reference(1);

	KEEP(self), KEEP(unused), KEEP(method), KEEP(by_value), KEEP(result);
	return result;
}

struct holder {
	const shape &shape_;
	explicit holder(const shape &s) : shape_(s) {}
	~holder()
	{
		double area = shape_.area(2.0);
		KEEP(area);
	}
	NOINLINE int operator()(position p, state s) const
	{
		KEEP(p), KEEP(s);
		return p == position{} ? 1 : 0;
	}
};

NOINLINE int containers(const std::string &text, std::vector<int> &numbers, position &&temporary)
{
	std::map<std::string, int> ages{{"ann", 30}, {"bob", 40}};
	auto owner = std::make_unique<position>();
	auto shared = std::make_shared<square>(4.0);
	std::string small = "short", large(100, 'L');
	const std::nullptr_t nothing = nullptr;
	int &first = numbers.front();
	int result = 0;

	{
		holder hold(*shared);
		result = hold(temporary, state::idle);
	}
	KEEP(text), KEEP(ages), KEEP(owner), KEEP(small), KEEP(large), KEEP(nothing), KEEP(first), KEEP(result);
	return result;
}

} // namespace
} // namespace outer

int main()
{
	std::vector<int> numbers{1, 2, 3};
	std::string text = "a string argument";

	return outer::containers(text, numbers, outer::position{3, 4});
}
