/* whatis: describes an address: code, a global, a variable of a frame, a block with its type and field, …
 *
 * Locating an address takes microseconds. The detail depends on what exists: without a heap there are no blocks,
 * and there are types only after they are made (typing.h). */
#ifndef XC_WHATIS_H
#define XC_WHATIS_H

#include "core/report/report.h"
#include "core/base/text.h"
#include "dwarf/format/format.h"
#include "heap/blocks/heap.h"

enum xc_what_kind {
	XC_WHAT_NOTHING, /* nothing is mapped there */
	XC_WHAT_BLOCK,   /* in a block: live, leaked or free */
	XC_WHAT_MANAGED, /* in an allocator's memory, between blocks */
	XC_WHAT_STACK,   /* of a thread */
	XC_WHAT_CODE,    /* of a module, or its constants */
	XC_WHAT_DATA,    /* of a module, writable */
	XC_WHAT_MAPPING, /* other memory */
};

struct xc_what {
	enum xc_what_kind kind;
	xc_addr addr;
	uint32_t block;                   /* BLOCK */
	uint64_t offset;                  /* in the block */
	const struct xc_region *region;   /* BLOCK, MANAGED */
	const struct xc_thread *thread;   /* STACK: the thread whose sp is in the same mapping, nearest below addr */
	const struct xc_module *module;   /* CODE, DATA */
	const struct xc_mapping *mapping; /* NULL if no mapping is known */
};

/* heap may be NULL. */
struct xc_what xc_what(const struct xc_process *process, const struct xc_heap *heap, xc_addr addr);

/* Appends a description in one line: "struct client (heap, live, 352 bytes) .querybuf+3", "server+0x18 .clients
 * (redis-server, data)", "stack of thread 123", "free block (heap, tcache, 40 bytes) +8", "not mapped". */
void xc_what_text(const struct xc_process *process, const struct xc_heap *heap, const struct xc_what *what,
		  struct xc_text *text);

/* Makes formatted values describe the targets of pointers. As text: " → " and the line above, for targets in a
 * block or a thread's stack. In JSON: {"addr", "size", "state", "type", "count", "confidence", "offset", "path"}
 * for a block, {"state": "stack", "thread"} for a stack. The heap must outlive the formatting. */
void xc_what_annotate(struct xc_format_options *format, const struct xc_heap *heap);

/* A table of the words in [addr, addr + len) that point into blocks, stacks, code or data, with their targets.
 * Nothing if there are none. */
void xc_what_words(struct xc_section *section, const struct xc_heap *heap, xc_addr addr, uint64_t len);

/* The fields of `heap whatis`: the full description, with frame and variable for stacks (the stack is unwound), the
 * allocator's metadata, the evidence for the type, and the way the block is reached. Makes graph and types; if they
 * cannot be made, a note says so. */
void xc_whatis(struct xc_section *section, struct xc_heap *heap, xc_addr addr);

/* `heap show`: the block's content by its type, else as bytes. Errors: XC_ERR_NOT_FOUND if addr is in no block. */
XC_MUST_CHECK struct xc_error *xc_whatis_show(struct xc_section *section, struct xc_heap *heap, xc_addr addr);

#endif
