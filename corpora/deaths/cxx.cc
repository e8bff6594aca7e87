// Dies of SIGSEGV in C++: members of no object, virtual calls, objects that were destroyed, containers.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "death.h"

volatile long sink;

namespace shop
{

struct price {
	long cents;
	int currency;
};

class shape
{
      public:
	explicit shape(long weight) : weight_(weight)
	{
	}
	virtual ~shape()
	{
	}
	virtual long area() const
	{
		return weight_;
	}
	virtual void scale(long by)
	{
		weight_ *= by;
	}
	NOINLINE long weight() const
	{
		return weight_ + 1; // dies: this-read
	}
	NOINLINE void set_weight(long weight)
	{
		weight_ = weight; // dies: this-write
	}

      protected:
	long weight_;
	price price_ = {100, 2};
};

class square : public shape
{
      public:
	explicit square(long side) : shape(side), side_(side)
	{
	}
	long area() const override
	{
		return side_ * side_;
	}

      private:
	long side_;
};

class basket
{
      public:
	NOINLINE const price *price_of(const std::string &name) const
	{
		auto found = prices_.find(name);
		return found == prices_.end() ? nullptr : &found->second;
	}
	NOINLINE long total(const std::string &name) const
	{
		const price *found = price_of(name);
		return found->cents + 1; // dies: found-read
	}
	std::vector<shape *> shapes;
	std::unique_ptr<price> own;
	std::function<long(long)> rebate;
	basket *next = nullptr;

      private:
	std::map<std::string, price> prices_;
};

} // namespace shop

using shop::basket;
using shop::shape;
using shop::square;

template <class T> static T *hidden(T *pointer)
{
	return static_cast<T *>(opaque(pointer));
}

static NOINLINE long virtual_area(const shape *shape)
{
	return shape->area() + 1; // dies: virtual-null virtual-deleted virtual-damaged
}

static NOINLINE long mean_weight(const basket &basket)
{
	return 100 / static_cast<long>(basket.shapes.size()); // dies: size-zero
}

static NOINLINE char letter_of(std::string_view text, size_t i)
{
	return text[i]; // dies: view-letter
}

static NOINLINE long first_weight(const basket &basket, size_t i)
{
	return basket.shapes[i]->weight() + 1; // dies: vector-index
}

static NOINLINE long own_cents(const basket *basket)
{
	return basket->own->cents + 1; // dies: unique-null
}

static NOINLINE size_t name_size(const std::string *name)
{
	return name->size() + 1; // dies: string-null
}

static NOINLINE long shared_cents(const std::shared_ptr<shop::price> &price)
{
	return price->cents + 1; // dies: shared-null
}

static NOINLINE long next_size(const basket *basket)
{
	return static_cast<long>(basket->next->shapes.size()) + 1; // dies: next-size
}

static NOINLINE void destroy(shape *shape)
{
	delete shape;
}

static void this_read()
{
	sink = hidden<shape>(nullptr)->weight();
}

static void this_write()
{
	hidden<shape>(nullptr)->set_weight(5);
	sink = 1;
}

static void found_read()
{
	basket basket;
	sink = hidden(&basket)->total("apple");
}

static void virtual_null()
{
	sink = virtual_area(hidden<shape>(nullptr));
}

static void virtual_deleted()
{
	shape *one = new square(4);
	destroy(hidden(one));
	sink = virtual_area(hidden(one));
}

// Something wrote over the object.
static void virtual_damaged()
{
	shape *one = new square(4);
	memset(opaque(one), 'z', 12);
	sink = virtual_area(hidden(one));
}

static void vector_index()
{
	basket basket;
	basket.shapes.reserve(2);
	basket.shapes.push_back(new square(3));
	sink = first_weight(*hidden(&basket), static_cast<size_t>(opaque_long(1L << 40)));
}

static void unique_null()
{
	basket basket;
	sink = own_cents(hidden(&basket));
}

static void string_null()
{
	sink = static_cast<long>(name_size(hidden<std::string>(nullptr)));
}

static void shared_null()
{
	std::shared_ptr<shop::price> price;
	sink = shared_cents(*hidden(&price));
}

static void next_null()
{
	basket basket;
	sink = next_size(hidden(&basket));
}

static void size_zero()
{
	basket basket;
	sink = mean_weight(*hidden(&basket));
}

static void view_letter()
{
	const char *gone = static_cast<const char *>(opaque(reinterpret_cast<void *>(0x7e0123456000)));
	sink = letter_of(std::string_view(gone, 40), static_cast<size_t>(opaque_long(3)));
}

DEATHS({"this-read", this_read}, {"this-write", this_write}, {"found-read", found_read}, {"virtual-null", virtual_null},
       {"virtual-deleted", virtual_deleted}, {"virtual-damaged", virtual_damaged}, {"vector-index", vector_index},
       {"unique-null", unique_null}, {"string-null", string_null}, {"shared-null", shared_null},
       {"next-size", next_null}, {"size-zero", size_zero}, {"view-letter", view_letter})
