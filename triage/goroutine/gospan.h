/* gospan: objects in Go's heap. */
#ifndef XC_GOSPAN_H
#define XC_GOSPAN_H

#include "core/base/hashtable.h"
#include "dwarf/unwind/goruntime.h"

/* Begin with {.go = …}; end with xc_gospans_fini(). */
struct xc_gospans {
	const struct xc_goruntime *go;
	bool opened, known;
	xc_addr arenas;            /* the second level of runtime.mheap_.arenas */
	uint64_t spans;            /* the offset of a heapArena's spans */
	struct xc_hashtable pages; /* each page's span, by the place in items; 0: none */
	struct xc_gospan {
		xc_addr from, end;
		uint64_t size; /* of its objects */
		bool has_pointers;
	} * items;
	size_t count, room;
};

struct xc_goobject {
	xc_addr addr;
	uint64_t size;
	bool has_pointers;
};

/* The object of Go's heap that the address is in, perhaps a free one. False when there is none, or the layout of the
 * runtime is not known. O(1). */
bool xc_gospans_object(struct xc_gospans *spans, xc_addr addr, struct xc_goobject *out);

/* Is the layout of the heap known? */
bool xc_gospans_known(struct xc_gospans *spans);

void xc_gospans_fini(struct xc_gospans *spans);

#endif
