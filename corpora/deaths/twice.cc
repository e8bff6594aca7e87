// Dies because something was given back twice, or used after it was given back: streams, objects with two owners.
// flags: -fno-optimize-sibling-calls
#include <memory>
#include <string>
#include <vector>

#include <stdio.h>
#include <stdlib.h>

#include "death.h"

namespace
{

struct texture {
	long width = 3;
	std::string name = "a texture with a rather long name";
	virtual ~texture() = default;
	virtual long area() const
	{
		return width * width;
	}
};

struct sprite {
	std::shared_ptr<texture> look;
	long x = 0;
};

} // namespace

volatile long sink;

template <typename T> static T *hidden(T *pointer)
{
	return static_cast<T *>(opaque(pointer));
}

static NOINLINE void close_log(FILE *log)
{
	fclose(log); // dies: stream-closed
	sink++;
}

static void stream_closed()
{
	FILE *log = fopen("/dev/null", "w");
	close_log(hidden(log));
	close_log(hidden(log));
}

static NOINLINE void write_log(FILE *log)
{
	fprintf(log, "%ld lines\n", sink); // dies: stream-written
	sink++;
}

static void stream_written()
{
	FILE *log = fopen("/dev/null", "w");
	fclose(hidden(log));
	std::vector<long> other(59, 0x0123456700000000);
	KEEP(other);
	write_log(hidden(log));
}

/* Two owners of one object, made from its address. */
static NOINLINE void own(texture *one)
{
	std::shared_ptr<texture> owner(one);
	sink = owner->width;
}

static void owners()
{
	texture *one = new texture;
	own(hidden(one));
	own(hidden(one));
}

static NOINLINE long area_of(const sprite *of)
{
	return of->look->area(); // dies: bytes-copied released
}

/* The memory of the next object of that size. */
static NOINLINE long *use_again()
{
	size_t count = (16 + sizeof(texture)) / sizeof(long);
	long *numbers = static_cast<long *>(malloc(count * sizeof(long)));
	for (size_t i = 0; i < count; i++)
		numbers[i] = 0x0123456700000000 + (long)i;
	return hidden(numbers);
}

/* A copy that the count knows nothing of. */
static void bytes_copied()
{
	sprite *one = new sprite;
	sprite *two = static_cast<sprite *>(calloc(1, sizeof *two));
	one->look = std::make_shared<texture>();
	memcpy(hidden((void *)two), one, sizeof *one);
	delete hidden(one);
	long *numbers = use_again();
	sink = area_of(hidden(two)) + numbers[1];
}

/* Released once more than it was taken. */
static void released()
{
	sprite *one = new sprite;
	one->look = std::make_shared<texture>();
	hidden(&one->look)->~shared_ptr();
	long *numbers = use_again();
	sink = area_of(hidden(one)) + numbers[1];
}

static NOINLINE void check_area(const sprite *of)
{
	if (of->look->width != 3)
		abort(); // dies: count-checked
	sink = of->x;
}

static void count_checked()
{
	sprite *one = new sprite;
	one->look = std::make_shared<texture>();
	std::weak_ptr<texture> seen = one->look;
	hidden(&one->look)->~shared_ptr();
	KEEP(seen);
	one->look->width = 4;
	check_area(hidden(one));
}

DEATHS({"stream-closed", stream_closed}, {"stream-written", stream_written}, {"owners", owners},
       {"bytes-copied", bytes_copied}, {"released", released}, {"count-checked", count_checked})
