/* layer: dwarf
 *
 * A stack walk over hostile frames: 2 bytes size of .eh_frame, 1 byte pc, 1 byte sp, 1 byte rbp, .eh_frame, stack. */
#include "tests/fuzz/frame_info.h"

#include "dwarf/unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 5, MAX_STEPS = 3000, MAX_STACK = 8192, RBP = 6, RSP = 7, RIP = 16 };

static void walk(struct target *t, const struct xc_thread *thread)
{
	struct xc_unwinder *u = xc_unwinder_new(t->process);
	struct xc_frame frame;
	const char *stop = NULL;
	bool more = xc_unwind_first(u, thread, &frame);
	for (unsigned i = 0; more && i < MAX_STEPS; i++) {
		uint64_t pc;
		if (frame.index != i || !xc_regs_get(&frame.regs, RIP, &pc) || pc != frame.pc)
			abort();
		more = xc_unwind_step(u, &frame, &frame, &stop);
		if (!more && !stop)
			abort();
	}
	xc_unwinder_free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < HEAD)
		return 0;
	size_t frames = data[0] | (size_t)data[1] << 8;
	frames = frames < size - HEAD ? frames : size - HEAD;
	const uint8_t *stack = data + HEAD + frames;
	size_t stack_size = size - HEAD - frames;
	stack_size = stack_size < MAX_STACK ? stack_size : MAX_STACK;
	struct target t = make_target(data + HEAD, frames, stack, stack_size);
	struct xc_thread thread = {.tid = 1, .has_regs = true};
	for (int i = 0; i < RIP; i++)
		xc_regs_set(&thread.regs, i, STACK + 64 * (uint64_t)i);
	xc_regs_set(&thread.regs, RSP, STACK + 8 * (uint64_t)data[3]);
	xc_regs_set(&thread.regs, RBP, STACK + 8 * (uint64_t)data[4]);
	xc_regs_set(&thread.regs, RIP, data[2] == 255 ? 0 : CODE + (uint64_t)data[2]);
	walk(&t, &thread);
	end_target(&t);
	return 0;
}
