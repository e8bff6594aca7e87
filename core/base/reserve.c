#include "core/base/reserve.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORTH_HUGE_PAGES = 16 << 20 };

struct xc_reserve xc_reserve_new(size_t count, size_t size)
{
	struct xc_reserve reserve = {0};
	if (count == 0)
		return reserve;
	if (!__builtin_mul_overflow(count, size, &reserve.size))
		reserve.items = mmap(NULL, reserve.size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!reserve.items || reserve.items == MAP_FAILED) {
		fprintf(stderr, "xcore: out of memory: %zu items of %zu bytes\n", count, size);
		exit(5);
	}
	if (reserve.size >= WORTH_HUGE_PAGES)
		(void)madvise(reserve.items, reserve.size, MADV_HUGEPAGE); /* only an optimisation */
	return reserve;
}

void xc_reserve_free(struct xc_reserve *reserve)
{
	if (reserve->items)
		munmap(reserve->items, reserve->size);
	*reserve = (struct xc_reserve){0};
}

void xc_reserve_trim(struct xc_reserve *reserve, size_t count, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t keep = (count * size + page - 1) & ~(page - 1), whole = (reserve->size + page - 1) & ~(page - 1);
	if (keep >= whole)
		return;
	if (keep == 0) {
		xc_reserve_free(reserve);
		return;
	}
	munmap((uint8_t *)reserve->items + keep, whole - keep);
	reserve->size = keep;
}

void xc_reserve_drop(const struct xc_reserve *reserve, size_t from, size_t to, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t begin = (from * size + page - 1) & ~(page - 1), end = to * size & ~(page - 1);
	if (end > begin)
		(void)madvise((uint8_t *)reserve->items + begin, end - begin, MADV_DONTNEED);
}
