// Dies of an exception that nothing catches, because of an object that is of another class, or is not valid; or for a reason of its own, while all objects are as they should be. The name of the death is the argument.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

static volatile size_t sink;
static volatile int zero;

struct Event {
	explicit Event(int kind) : kind(kind) {}
	virtual ~Event() = default;
	int kind;
};
struct Fill : Event {
	Fill(std::string venue) : Event(1), venue(std::move(venue)) {}
	long order = 17;
	std::string venue;
};
struct Cancel : Event {
	Cancel() : Event(1) {}
	long order = 18;
	double open = 101.25, low = 95.5, high = 107.75, mean = 100.5;
};
struct Deep : Fill {
	Deep() : Fill("a venue of some length, deeper") {}
	std::vector<int> marks = {1, 2, 3};
};

/* ---- a wrong cast ---- */

__attribute__((noinline)) static void apply(const Fill &f)
{
	std::string venue = f.venue;
	sink = venue.size() + f.order;
}

__attribute__((noinline)) static void dispatch(const Event &e)
{
	if (e.kind == 1)
		apply(static_cast<const Fill &>(e));
	sink = e.kind;
}

__attribute__((noinline)) static void local(Event *e)
{
	auto *f = static_cast<Fill *>(e);
	std::string venue = f->venue;
	sink = venue.size() + f->order + e->kind;
}

/* ---- not valid ---- */

struct Record {
	int number;
	std::string name;
};

__attribute__((noinline)) static void copy(const Record &r)
{
	std::string name = r.name;
	sink = name.size() + r.number;
}

__attribute__((noinline)) static void text()
{
	static char buffer[] = "line 1 of a text that is no record at all, and long enough for it";
	copy(*reinterpret_cast<Record *>(buffer));
}

/* ---- as it should be ---- */

struct Handler {
	virtual ~Handler() = default;
	virtual size_t handle(const Event &e, std::vector<int> &numbers) = 0;
};
struct Named {
	virtual ~Named() = default;
	std::string title = "a title, which is long enough";
};
struct Resizer : Named, Handler {
	std::string last = "the last one, which is long enough";
	size_t handle(const Event &e, std::vector<int> &numbers) override
	{
		numbers.resize((size_t)(zero - e.kind));
		return last.size();
	}
};
struct Getter : virtual Named, Handler {
	size_t handle(const Event &e, std::vector<int> &numbers) override { return numbers.at(numbers.size() + e.kind) + title.size(); }
};

__attribute__((noinline)) static size_t handle(Handler &h, const Event &e, Named *named)
{
	std::vector<int> numbers = {1, 2, 3};
	size_t n = h.handle(e, numbers);
	return n + numbers.size() + named->title.size();
}

/* The object's memory has what another one left; `name` is not constructed yet. */
struct Base {
	explicit Base(const std::string &text) : first(text.at(text.size() + 1 + zero)) {}
	virtual ~Base() = default;
	char first;
	std::string name = "a name, which is long enough for the heap";
	long numbers[8] = {};
};
struct Derived : Base {
	Derived() : Base("text") {}
	std::string other = "another name, which is long enough for the heap";
};

__attribute__((noinline)) static void construct()
{
	void *room = malloc(sizeof(Derived));
	auto *before = new (room) Cancel;
	memset(before + 1, 0x55, sizeof(Derived) - sizeof(Cancel));
	auto *d = new (room) Derived;
	sink = d->name.size();
}

struct Closing {
	virtual ~Closing() noexcept(false) { sink = numbers.at(7 + zero); }
	std::vector<int> numbers = {1};
};
struct Closed : Closing {
	std::string name = "a name, which is long enough for the heap";
};

__attribute__((noinline)) static void destroy(Closing *closing)
{
	delete closing;
}

__attribute__((noinline)) static size_t moved(std::string &from, std::vector<std::string> &list, Fill fill)
{
	std::string to = std::move(from);
	std::vector<std::string> other = std::move(list);
	std::string venue = std::move(fill.venue);
	return to.size() + other.size() + venue.size() + list.at(zero).size();
}

__attribute__((noinline)) static std::string made(const std::string &from)
{
	return from.substr(from.size() + 1 + zero);
}

/* The declaration is on a line before the call that fails: what it declares is not constructed. */
__attribute__((noinline)) static size_t late()
{
	std::string
		name =
			made("text");
	return name.size();
}

struct Either {
	bool has_text = false;
	union {
		double number;
		std::string text;
	};
	Either() : number(95.5) {}
	~Either() {}
};

__attribute__((noinline)) static size_t either(const Either &e, const Deep &deep, const Fill &fill)
{
	if (e.number > 1)
		throw std::runtime_error("the number is " + fill.venue);
	return deep.marks.size();
}

int main(int argc, char **argv)
{
	const std::string death = argc > 1 ? argv[1] : "";
	auto fill = std::make_unique<Fill>("a venue that is long enough");
	auto cancel = std::make_unique<Cancel>();
	auto deep = std::make_unique<Deep>();
	dispatch(*fill);
	dispatch(*deep);
	if (death == "cast")
		dispatch(*cancel);
	if (death == "cast-on-stack") {
		Cancel on_stack;
		dispatch(on_stack);
	}
	if (death == "cast-local")
		local(cancel.get());
	if (death == "text")
		text();
	Resizer resizer;
	Getter getter;
	if (death == "resize")
		return (int)handle(resizer, *deep, &resizer);
	if (death == "at")
		return (int)handle(getter, *cancel, &getter);
	if (death == "construct")
		construct();
	if (death == "destroy")
		destroy(new Closed);
	std::string from = "text that is long enough for the heap";
	std::vector<std::string> list = {"one", "two"};
	if (death == "moved")
		return (int)moved(from, list, *fill);
	if (death == "late")
		return (int)late();
	Either e;
	if (death == "either")
		return (int)either(e, *deep, *deep);
	return 0;
}
