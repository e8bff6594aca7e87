// Dies of SIGSEGV through objects of C++'s library: what the source writes is an expression with them, not with what is in them.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "death.h"

volatile long sink;

namespace shop
{

struct price {
	long cents;
	int currency;
};

struct line {
	long count;
	std::unique_ptr<price> each;
	std::shared_ptr<line> next;
};

struct order {
	long number;
	std::vector<line> lines;
	std::vector<std::unique_ptr<line>> gifts;
	std::array<price *, 4> fees;
	std::shared_ptr<line> best;
};

} // namespace shop

using shop::line;
using shop::order;
using shop::price;

template <class T> static T *hidden(T *pointer)
{
	return static_cast<T *>(opaque(pointer));
}

struct parcel {
	parcel *inside;
	long grams, marks[4];
};

static NOINLINE std::string label(long number)
{
	return std::string(static_cast<size_t>(100 + number), 'x');
}

static NOINLINE void note(const std::string &text)
{
	KEEP(text);
}

static NOINLINE long inner_grams(const parcel *parcel)
{
	return parcel->inside->grams + 1; // dies: temporary
}

// The label is freed behind note(), not what is passed on.
static NOINLINE long ship(const parcel *parcel, long number)
{
	note(label(number));
	return inner_grams(parcel) + 2;
}

static NOINLINE void discard(parcel *parcel)
{
	delete parcel;
}

static NOINLINE long each_cents(const order &order, size_t i)
{
	return order.lines[i].each->cents + 1; // dies: element-member
}

static NOINLINE long gift_count(const order *order, size_t i)
{
	return order->gifts[i]->count + 1; // dies: element-null
}

static NOINLINE void set_count(order *order, size_t i)
{
	order->lines[i].count = 7; // dies: element-write
}

static NOINLINE long fee_cents(const order &order, size_t i)
{
	return order.fees[i]->cents + 1; // dies: array-null
}

static NOINLINE long best_next(const order &order)
{
	return order.best->next->count + 1; // dies: chain
}

static NOINLINE long got_cents(const line &line)
{
	return line.each.get()->cents + 1; // dies: get
}

static NOINLINE long referred_cents(const line &line)
{
	return (*line.each).currency + 1; // dies: star
}

static NOINLINE void take_price(price **out)
{
	auto mine = std::make_unique<price>();
	mine.reset();
	*out = mine.get();
	sink = mine->cents; // dies: local
}

static NOINLINE long pointed_count(const std::vector<line> *lines, size_t i)
{
	return (*lines)[i].count + 1; // dies: pointed
}

static order an_order()
{
	order order;
	order.lines.resize(3);
	order.gifts.resize(3);
	order.fees = {nullptr, nullptr, nullptr, nullptr};
	order.best = std::make_shared<line>();
	return order;
}

static void element_member()
{
	order order = an_order();
	sink = each_cents(*hidden(&order), static_cast<size_t>(opaque_long(1)));
}

static void element_null()
{
	order order = an_order();
	sink = gift_count(hidden(&order), static_cast<size_t>(opaque_long(1)));
}

static void element_write()
{
	order order = an_order();
	set_count(hidden(&order), static_cast<size_t>(opaque_long(1L << 38)));
	sink = 1;
}

static void array_null()
{
	order order = an_order();
	sink = fee_cents(*hidden(&order), static_cast<size_t>(opaque_long(2)));
}

static void chain()
{
	order order = an_order();
	sink = best_next(*hidden(&order));
}

static void get()
{
	line line = {3, nullptr, nullptr};
	sink = got_cents(*hidden(&line));
}

static void star()
{
	line line = {3, nullptr, nullptr};
	sink = referred_cents(*hidden(&line));
}

static void local()
{
	price *price = nullptr;
	take_price(hidden(&price));
}

static void pointed()
{
	std::vector<line> lines;
	sink = pointed_count(hidden(&lines), static_cast<size_t>(opaque_long(2)));
}

static void temporary()
{
	parcel *other = new parcel(), *one = new parcel{other, 3, {}};
	discard(hidden(other));
	discard(hidden(one));
	sink = ship(hidden(one), opaque_long(2));
}

DEATHS({"element-member", element_member}, {"element-null", element_null}, {"element-write", element_write},
       {"array-null", array_null}, {"chain", chain}, {"get", get}, {"star", star}, {"local", local},
       {"pointed", pointed}, {"temporary", temporary})
