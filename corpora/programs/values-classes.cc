// Dies of SIGSEGV below functions whose arguments and locals are what C++ makes of types: base classes of every
// kind, member pointers, references in classes, bit-fields, enum classes, templates, anonymous and inline namespaces.
#include <cstddef>
#include <cstdint>

#include "crash.h"

struct empty_base {
};
struct first {
	int one = 1;
	virtual ~first()
	{
	}
	virtual int get() const
	{
		return one;
	}
};
struct second {
	long two = 2;
	virtual ~second()
	{
	}
	virtual int other(int x)
	{
		return static_cast<int>(two) + x;
	}
	int plain(int x) const
	{
		return x;
	}
};
struct several : first, private second, empty_base {
	int three = 3;
	int get() const override
	{
		return three;
	}
	second *as_second()
	{
		return this;
	}
};

// A diamond: one `top` reached through the vtables of left and right.
struct top {
	int id = 10;
	virtual ~top()
	{
	}
};
struct left : virtual top {
	int l = 11;
};
struct right : virtual top {
	int r = 12;
};
struct diamond : left, right {
	int d = 13;
};
struct deeper : diamond, virtual first {
	char e = 'e';
};
// The same base twice, not virtual; and a virtual base without members.
struct twice_a : first {
	int a = 21;
};
struct twice_b : first {
	int b = 22;
};
struct twice : twice_a, twice_b {
	int t = 23;
};
struct hollow : virtual empty_base {
	int h = 31;
};

enum class tone : unsigned char { low, mid = 7, high = 255 };
enum class depth : std::int64_t { bottom = INT64_MIN, ground = 0, sky = INT64_MAX };
enum class mask : std::uint64_t { none, a = 1, b = 2, top = UINT64_C(1) << 63 };
enum forward : short;
struct uses_forward {
	forward f;
	forward *pointer;
};
enum forward : short { forward_minus = -2, forward_plus = 2 };
enum empty_enum {};
constexpr mask operator|(mask a, mask b)
{
	return static_cast<mask>(static_cast<std::uint64_t>(a) | static_cast<std::uint64_t>(b));
}

struct bits {
	int small : 3;
	tone t : 8;
	bool yes : 1;
	unsigned long long wide : 50;
	enum forward f : 5;
	signed char negative : 4;
	char : 0;
	unsigned last : 31;
	std::int64_t crossing : 60;
};
union packed_bits {
	unsigned raw;
	struct {
		unsigned a : 4, b : 12, c : 16;
	};
	int low : 5;
};

struct references {
	int &lvalue;
	const second &object;
	int &&rvalue;
	int (&array)[3];
	int (&function)(int);
};
int increment(int x)
{
	return x + 1;
}

struct has_static {
	static int shared;
	static constexpr double constant = 2.5;
	int own = 4;
	struct inner {
		short s = 5;
		union {
			int u;
			char c[4];
		};
		inner() : u(0x41424344)
		{
		}
	} in;
	static has_static instance;
};
int has_static::shared = 44;
has_static has_static::instance;

template <typename T, int N = 3, typename U = char> struct box {
	T items[N];
	U extra;
};
template <auto Value> struct constant {
	decltype(Value) copy = Value;
};
template <typename... Ts> struct pack {
	static constexpr std::size_t count = sizeof...(Ts);
	int dummy = static_cast<int>(sizeof...(Ts));
};
template <template <typename, int, typename> class C> struct wraps {
	C<short, 2, bool> inner;
};
template <int (*F)(int), tone T, bool B, char K> struct values {
	int called = F(1);
};

namespace
{
struct hidden {
	int h = 51;
};
} // namespace
namespace api
{
inline namespace v1
{
struct versioned {
	int v = 61;
};
} // namespace v1
namespace detail
{
struct deep {
	int d = 62;
};
} // namespace detail
using detail::deep;
typedef box<detail::deep, 1> deep_box;
} // namespace api
using api::deep;
namespace alias = api::detail;

struct with_this {
	int field = 71;
	NOINLINE int method(int argument) volatile
	{
		int local = field + argument;
		KEEP(local);
		crash();
		KEEP(argument);
		return local;
	}
	with_this &self()
	{
		return *this;
	}
};

static NOINLINE int dynamic_types(first *base, top &virtual_base, const several object, left *half)
{
	deeper all;
	twice both;
	hollow shell;
	diamond *pointer = &all;
	left &part = all;
	with_this target;
	int result;

	KEEP(all), KEEP(both), KEEP(shell), KEEP(pointer), KEEP(part);
	result = target.method(5);
	KEEP(base), KEEP(virtual_base), KEEP(object), KEEP(half), KEEP(all), KEEP(both), KEEP(shell), KEEP(target);
	return result;
}

static NOINLINE int member_pointers(int second::*none)
{
	int several::*data = &several::three;
	long second::*base_data = &second::two;
	int first::*null_data = nullptr;
	int (second::*plain)(int) const = &second::plain;
	int (second::*virtual_one)(int) = &second::other;
	int (first::*null_function)() const = nullptr;
	int (several::*adjusted)(int) const = reinterpret_cast<int (several::*)(int) const>(&second::plain);
	int (*function)(int) = increment;
	int (*table[2])(int) = {increment, nullptr};
	tone has_tone = tone::mid;
	int several::*const constant_pointer = data;

	several object;
	diamond d;
	int result = dynamic_types(&object, d, object, &d);
	KEEP(none), KEEP(data), KEEP(base_data), KEEP(null_data), KEEP(plain), KEEP(virtual_one), KEEP(null_function);
	KEEP(adjusted), KEEP(function), KEEP(table), KEEP(has_tone), KEEP(constant_pointer);
	return result;
}

static NOINLINE int enums_and_bits(tone t, depth d, mask m, forward f, empty_enum e)
{
	tone unknown = static_cast<tone>(9);
	depth bottom = depth::bottom;
	mask pair = mask::a | mask::top, odd = static_cast<mask>(0x12), nothing = mask::none;
	uses_forward uses = {forward_minus, &f};
	bits b = {-4, tone::high, true, 0x3ffffffffffffULL, forward_minus, -8, 0x7fffffff, -1};
	packed_bits p = {0xdeadbeefU};
	int result = member_pointers(nullptr);

	KEEP(t), KEEP(d), KEEP(m), KEEP(f), KEEP(e), KEEP(unknown), KEEP(bottom), KEEP(pair), KEEP(odd), KEEP(nothing);
	KEEP(uses), KEEP(b), KEEP(p);
	return result;
}

static NOINLINE int templates(box<int> simple, box<unsigned long, 2, const char *> other)
{
	constant<7> seven;
	constant<'x'> letter;
	constant<tone::mid> toned;
	constant<true> truth;
	pack<> none;
	pack<int, const char *, box<char>> three;
	wraps<box> nested = {{{1, 2}, true}};
	values<increment, tone::low, false, 'k'> functions;
	hidden secret;
	api::versioned version;
	api::deep_box deep_one = {{{}}, 'q'};
	deep used;
	alias::deep aliased;
	box<box<short, 1>, 2> doubled = {{{{1}, 'a'}, {{2}, 'b'}}, 'c'};
	struct local {
		int in_function = 81;
	} of_function;
	auto lambda = [&simple, letter](int x) { return x + simple.items[0] + letter.copy; };
	int result = enums_and_bits(tone::high, depth::sky, mask::b, forward_plus, empty_enum());

	result += lambda(1);
	KEEP(simple), KEEP(other), KEEP(seven), KEEP(letter), KEEP(toned), KEEP(truth), KEEP(none), KEEP(three);
	KEEP(nested), KEEP(functions), KEEP(secret), KEEP(version), KEEP(deep_one), KEEP(used), KEEP(aliased);
	KEEP(doubled), KEEP(of_function), KEEP(lambda);
	return result;
}

static NOINLINE int reference_members(const int &lvalue, second &&moved, char8_t c8, char16_t c16, char32_t c32)
{
	int value = 91, array[3] = {1, 2, 3};
	second object;
	references all = {value, object, static_cast<int &&>(value), array, increment};
	has_static holder;
	const volatile has_static *watched = &holder;
	std::nullptr_t nothing = nullptr;
	const char8_t *text8 = u8"text\u00e9";
	const char16_t text16[] = u"sixteen";
	const char32_t *text32 = U"thirty-two";
	int(&array_reference)[3] = array;
	int(*array_pointer)[3] = &array;
	int result = templates({{1, 2, 3}, 'x'}, {{4, 5}, "extra"});

	KEEP(lvalue), KEEP(moved), KEEP(c8), KEEP(c16), KEEP(c32), KEEP(all), KEEP(holder), KEEP(watched);
	KEEP(nothing), KEEP(text8), KEEP(text16), KEEP(text32), KEEP(array_reference), KEEP(array_pointer);
	return result;
}

int main()
{
	return reference_members(17, second(), u8'c', u'\u00e4', U'\U0001F600');
}
