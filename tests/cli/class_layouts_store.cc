// The unit that makes the entry.
#include "class_layouts.h"

namespace {
struct Hidden {
	long a = 1, b = 2, c = 3;
};
} // namespace

namespace shop {

struct Opaque {
	int a = 1;
};

const Entry *stored()
{
	struct Local {
		long a[4] = {1, 2, 3, 4};
	};
	static Hidden hidden;
	static Local local;
	static Box<long> box;
	Entry *e = new Entry;
	e->flags = e->state = 2;
	e->body = "a text that is too long for the object itself, so that it is elsewhere";
	e->etag = "another text that is too long for the object itself";
	box.value = hidden.a + local.a[0];
	return e;
}

const Opaque *hidden()
{
	static Opaque opaque;
	return &opaque;
}

} // namespace shop
