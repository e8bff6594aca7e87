/* heap_complaint: the texts of glibc 2.36, malloc/malloc.c. */
#include "triage/runtime/heap_complaint.h"

#include <string.h>

#include "triage/libc/closed_stream.h"
#include "triage/runtime/free_argument.h"

static bool message_has(const struct xc_crash_context *crash, const char *const *texts)
{
	for (; crash->verdict->message && *texts; texts++)
		if (strstr(crash->verdict->message, *texts))
			return true;
	return false;
}

bool xc_heap_complaint_classify(struct xc_crash_context *crash)
{
	static const char *const twice[] = {"double free", NULL};
	static const char *const overrun[] = {"invalid next size", "corrupted size vs. prev_size", "corrupted top size",
					      NULL};
	static const char *const pointer[] = {"free(): invalid pointer", "munmap_chunk(): invalid pointer",
					      "realloc(): invalid pointer", "mremap_chunk()", NULL};
	static const char *const lists[] = {"corrupted double-linked list",
					    "list corrupted",
					    "chunk detected",
					    "corrupted unsorted",
					    "malloc_consolidate()",
					    "too many chunks detected",
					    "invalid fastbin entry",
					    "break adjusted",
					    "tcache_thread_shutdown()",
					    "free(): invalid size",
					    "malloc(): memory corruption",
					    "invalid old size",
					    "malloc assertion failure",
					    "malloc(): invalid size",
					    NULL};
	const struct {
		const char *const *texts;
		const char *kind, *cause;
	} kinds[] = {
		{twice, "double free",
		 "the C library found that a block was freed a second time, or that its header was overwritten"},
		{overrun, "overrun",
		 "the size of a heap block was overwritten: something wrote past the end of the block before it"},
		{pointer, "bad pointer", "free or realloc was given a pointer that malloc never returned"},
		{lists, "list damage", "the C library found its lists of free blocks damaged"},
	};
	for (size_t i = 0; i < XC_COUNT(kinds); i++)
		if (message_has(crash, kinds[i].texts)) {
			xc_crash_context_classify(crash, "heap-corruption", kinds[i].kind, "high", "certain",
						  kinds[i].cause);
			xc_free_argument_report(crash);
			xc_closed_stream_explain(crash);
			return true;
		}
	return false;
}
