/* layer: core
 *
 * Records of perf_event_open(2): byte 0 says whether samples have a period, the rest is read as records that follow each
 * other, each of the size that its header tells. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "core/perf/perf_record.h"
#include "core/perf/perf_regs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

/* Every byte that the record claims to have is one of its own. */
static void look(const struct xc_perf_record *r, const uint8_t *bytes, size_t len)
{
	const size_t registers = (size_t)__builtin_popcountll(xc_perf_regs_mask());
	uint64_t sum = 0;
	for (size_t i = 0; i < r->kernel_count; i++)
		sum += r->kernel[i];
	for (size_t i = 0; r->regs && i < registers; i++)
		sum += r->regs[i];
	for (size_t i = 0; i < r->stack_len; i++)
		sum += r->stack[i];
	if (r->name && (r->name < (const char *)bytes || strlen(r->name) >= len))
		abort();
	if (r->stack_len > len || r->kernel_count > len)
		abort();
	sink += sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_event_header head;
	struct xc_perf_record r;
	for (size_t at = 1; at < size && size - at >= sizeof head; at += head.size) {
		memcpy(&head, data + at, sizeof head);
		const size_t left = size - at, len = head.size < left ? head.size : left;
		uint64_t *copy = malloc(len ? len : 1); /* aligned, and of its size: what is read beyond it is seen */
		memcpy(copy, data + at, len);
		if (xc_perf_record_read((const uint8_t *)copy, len, data[0] & 1, &r))
			look(&r, (const uint8_t *)copy, len);
		free(copy);
		if (head.size < sizeof head)
			break;
	}
	return 0;
}
