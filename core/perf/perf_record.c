/* perf_record: layouts: PERF_RECORD_… of include/uapi/linux/perf_event.h, Linux 6.1. */
#include "core/perf/perf_record.h"

#include <linux/perf_event.h>
#include <string.h>

#include "core/perf/perf_regs.h"

/* The words of a record, taken from the front. */
struct words {
	const uint64_t *at;
	size_t left;
};

static bool take(struct words *w, uint64_t *value_out)
{
	if (!w->left)
		return false;
	*value_out = *w->at++;
	w->left--;
	return true;
}

static const uint64_t *take_many(struct words *w, uint64_t count)
{
	const uint64_t *from = w->at;
	if (count > w->left)
		return NULL;
	w->at += count;
	w->left -= count;
	return from;
}

static bool take_ids(struct words *w, struct xc_perf_record *r)
{
	uint64_t word;
	if (!take(w, &word))
		return false;
	r->pid = (pid_t)(uint32_t)word;
	r->tid = (pid_t)(uint32_t)(word >> 32);
	return true;
}

/* Addresses above this are marks: PERF_CONTEXT_KERNEL and the like, which are not frames. */
static const uint64_t FIRST_MARK = (uint64_t)-4095;

static bool take_chain(struct words *w, struct xc_perf_record *r)
{
	uint64_t count;
	if (!take(w, &count) || !(r->kernel = take_many(w, count)))
		return false;
	r->kernel_count = (size_t)count;
	while (r->kernel_count && r->kernel[0] >= FIRST_MARK) {
		r->kernel++;
		r->kernel_count--;
	}
	size_t frames = 0;
	while (frames < r->kernel_count && r->kernel[frames] < FIRST_MARK)
		frames++;
	r->kernel_count = frames;
	return true;
}

static bool take_registers(struct words *w, struct xc_perf_record *r)
{
	uint64_t abi;
	if (!take(w, &abi))
		return false;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	r->regs = take_many(w, (uint64_t)__builtin_popcountll(xc_perf_regs_mask()));
	return r->regs != NULL;
}

/* The room of a stack is constant; the word behind it tells how much was copied. */
static bool take_stack(struct words *w, struct xc_perf_record *r)
{
	uint64_t room, copied;
	if (!take(w, &room))
		return false;
	if (!room)
		return true;
	const uint64_t *stack = take_many(w, room / 8);
	if (!stack || room % 8 || !take(w, &copied) || copied > room)
		return false;
	r->stack = (const uint8_t *)stack;
	r->stack_len = (size_t)copied;
	return true;
}

static bool read_sample(struct words *w, bool has_period, struct xc_perf_record *r)
{
	uint64_t cpu;
	if (!take_ids(w, r) || !take(w, &r->time_ns) || !take(w, &cpu) || (has_period && !take(w, &r->period)) ||
	    !take_chain(w, r) || !take_registers(w, r))
		return false;
	r->cpu = (uint32_t)cpu;
	r->at_switch = r->period == 1;
	return take_stack(w, r);
}

/* FORK and EXIT: pid and that of the parent, tid and that of the parent. */
static bool read_task(struct words *w, struct xc_perf_record *r)
{
	uint64_t pids, tids;
	if (!take(w, &pids) || !take(w, &tids))
		return false;
	r->pid = (pid_t)(uint32_t)pids;
	r->tid = (pid_t)(uint32_t)tids;
	r->parent = (pid_t)(uint32_t)(tids >> 32);
	return true;
}

/* What follows every record but samples (sample_id_all): pid and tid, time, processor. */
static bool read_trailer(const struct words *w, struct xc_perf_record *r)
{
	enum { TRAILER = 3 };
	if (w->left < TRAILER)
		return false;
	struct words trailer = {w->at + w->left - TRAILER, TRAILER};
	return take_ids(&trailer, r) && take(&trailer, &r->time_ns);
}

/* pid and tid, and the name, which ends in a zero. */
static bool read_name(struct words *w, struct xc_perf_record *r)
{
	if (!take_ids(w, r) || !memchr(w->at, '\0', w->left * sizeof *w->at))
		return false;
	r->name = (const char *)w->at;
	return true;
}

static bool read_switch(struct words *w, uint16_t misc, struct xc_perf_record *r)
{
	r->kind = XC_PERF_SWITCH;
	r->out = (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
	r->preempted = r->out && (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
	return read_trailer(w, r);
}

bool xc_perf_record_read(const uint8_t *bytes, size_t len, bool has_period, struct xc_perf_record *record_out)
{
	struct perf_event_header head;
	uint64_t id;
	if (len < sizeof head || len % 8)
		return false;
	memcpy(&head, bytes, sizeof head);
	struct words w = {(const uint64_t *)(const void *)(bytes + sizeof head), (len - sizeof head) / 8};
	struct xc_perf_record *r = record_out;
	*r = (struct xc_perf_record){.kind = XC_PERF_OTHER};
	if (head.type != PERF_RECORD_SAMPLE)
		(void)read_trailer(&w, r);
	switch (head.type) {
	case PERF_RECORD_SAMPLE:
		r->kind = XC_PERF_SAMPLE;
		r->in_kernel = (head.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
		return read_sample(&w, has_period, r);
	case PERF_RECORD_SWITCH:
		return read_switch(&w, head.misc, r);
	case PERF_RECORD_LOST:
		r->kind = XC_PERF_LOST;
		return take(&w, &id) && take(&w, &r->count);
	case PERF_RECORD_THROTTLE:
		r->kind = XC_PERF_THROTTLE;
		return true;
	case PERF_RECORD_FORK:
		r->kind = XC_PERF_FORK;
		return read_task(&w, r);
	case PERF_RECORD_EXIT:
		r->kind = XC_PERF_EXIT;
		return read_task(&w, r);
	case PERF_RECORD_COMM:
		r->kind = XC_PERF_COMM;
		r->exec = (head.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
		return read_name(&w, r);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		r->kind = XC_PERF_MMAP;
		return take_ids(&w, r);
	default:
		return true;
	}
}
