// classes: objects with virtual functions, several and virtual bases, templates; held by pointers to their bases, by members, by each other,
// by void pointers, and some by nobody.
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>
#include "account.h"

template <class T, class... A> T *made(A &&...arguments)
{
	T *one = new T(std::forward<A>(arguments)...);
	account_is(one, typeid(T).name(), 1);
	return one;
}

class Shape
{
      public:
	virtual ~Shape() = default;
	virtual double area() const = 0;
	Shape *next = nullptr;
	int id = 0;
};

class Circle : public Shape
{
      public:
	double area() const override
	{
		return 3 * radius * radius;
	}
	double radius = 1;
};

class Polygon : public Shape
{
      public:
	double area() const override
	{
		return corners ? corners[0] : 0;
	}
	double *corners = nullptr;
	unsigned count = 0;
};

class Named
{
      public:
	virtual ~Named() = default;
	virtual const char *name() const
	{
		return label;
	}
	char *label = nullptr;
	Named *peer = nullptr;
};

// Pointers to the second base point into the middle of the object.
class NamedCircle : public Circle, public Named
{
      public:
	double area() const override
	{
		return 1;
	}
	int extra[4] = {1, 2, 3, 4};
};

class Device
{
      public:
	virtual ~Device() = default;
	virtual void reset()
	{
	}
	int irq = 0;
	Device *bus = nullptr;
};

class Reader : public virtual Device
{
      public:
	virtual int read()
	{
		return irq;
	}
	char *input = nullptr;
};

class Writer : public virtual Device
{
      public:
	virtual void write(int value)
	{
		irq = value;
	}
	char *output = nullptr;
};

class Terminal : public Reader, public Writer
{
      public:
	void reset() override
	{
		irq = 0;
	}
	int width = 80;
};

template <class T, int N> class Pool
{
      public:
	T *slots[N] = {};
	Pool *more = nullptr;
	int used = 0;
};

class Plain
{
      public:
	Plain *left = nullptr, *right = nullptr;
	void *cookie = nullptr;
	Shape *shape = nullptr;
};

class Owner
{
      public:
	std::vector<Shape *> shapes;
	std::unique_ptr<Plain> plain;
	std::shared_ptr<Named> named;
	Device *devices[8] = {};
};

namespace inner
{
struct Detail {
	enum class Mode { off, on } mode = Mode::on;
	Detail *link = nullptr;
	const std::type_info *type = nullptr;
};
} // namespace inner

HELD Shape *shapes;
HELD Named *named[120];
HELD Device *devices[120];
HELD Reader *readers[60];
HELD Pool<Circle, 12> *circles;
HELD Pool<inner::Detail, 3> *details;
HELD Plain *tree;
HELD void *cookies[60];
HELD Owner *owner;

static PART char *label(unsigned size)
{
	char *text = static_cast<char *>(account_is(malloc(size), "char", size));
	for (unsigned i = 0; i < size; i++)
		text[i] = i + 1 < size ? char('a' + i % 26) : 0;
	return text;
}

static PART Shape *make_shape(int i)
{
	Shape *shape;
	if (i % 3 == 0) {
		shape = made<Circle>();
	} else if (i % 3 == 1) {
		Polygon *polygon = made<Polygon>();
		polygon->count = unsigned(3 + i % 5);
		polygon->corners = NEWS(double, 2 * polygon->count);
		shape = polygon;
	} else {
		NamedCircle *both = made<NamedCircle>();
		both->label = label(40);
		shape = both;
	}
	shape->id = i;
	return shape;
}

static PART void make_shapes()
{
	for (int i = 0; i < 300; i++) {
		Shape *shape = make_shape(i);
		shape->next = shapes;
		shapes = shape;
	}
	for (int i = 0; i < 120; i++) {
		if (i % 2) {
			NamedCircle *both = made<NamedCircle>();
			named[i] = both;
		} else {
			named[i] = made<Named>();
		}
		named[i]->label = label(unsigned(10 + i));
		named[i]->peer = i ? named[i - 1] : nullptr;
	}
}

static PART void make_devices()
{
	for (int i = 0; i < 120; i++) {
		if (i % 2) {
			Terminal *terminal = made<Terminal>();
			terminal->input = label(33);
			terminal->output = label(65);
			devices[i] = terminal;
			readers[i / 2] = terminal;
		} else {
			devices[i] = made<Device>();
		}
		devices[i]->bus = i ? devices[account_random(unsigned(i))] : nullptr;
	}
	Writer *only = made<Writer>();
	only->output = label(20);
	devices[7]->bus = only;
}

static PART Plain *grow(int depth)
{
	if (!depth)
		return nullptr;
	Plain *plain = made<Plain>();
	plain->left = grow(depth - 1);
	plain->right = grow(depth - 1);
	plain->shape = make_shape(depth);
	return plain;
}

static PART void make_pools()
{
	for (int i = 0; i < 20; i++) {
		auto *pool = made<Pool<Circle, 12>>();
		for (int k = 0; k < 12; k++)
			pool->slots[k] = made<Circle>();
		pool->more = circles;
		circles = pool;
		auto *other = made<Pool<inner::Detail, 3>>();
		for (int k = 0; k < 3; k++) {
			other->slots[k] = made<inner::Detail>();
			other->slots[k]->link = k ? other->slots[k - 1] : nullptr;
		}
		other->more = details;
		details = other;
	}
}

static PART void make_owner()
{
	owner = made<Owner>();
	for (int i = 0; i < 50; i++)
		owner->shapes.push_back(make_shape(i));
	owner->plain.reset(made<Plain>());
	owner->named = std::make_shared<NamedCircle>();
	for (int i = 0; i < 60; i++)
		cookies[i] = made<Circle>(); // nothing but its vtable says what it is
	for (int i = 0; i < 60; i++) {
		Shape *lost = made<Circle>();
		account_leaked(lost);
		Plain *also = made<Plain>();
		also->shape = static_cast<Shape *>(account_leaked(made<Circle>()));
		account_leaked(also);
		delete make_shape(3 * i);
	}
}

int main()
{
	make_shapes();
	make_devices();
	make_pools();
	tree = grow(7);
	make_owner();
	account_die();
}
