/* sampler: an event for each thread and each processor. The first event of a processor has its ring, and the others are
 * redirected into it. An event with `inherit` must name a processor to have a ring (perf_mmap, kernel/events/core.c of
 * Linux 6.1), so there are threads × processors of them.
 *
 * Threads that begin while the list is read have no event, if their creator had none yet: so the list is read again
 * until it has no new thread. */
#include "core/perf/sampler.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/base/hashtable.h"
#include "core/live/live_proc.h"
#include "core/perf/perf_ring.h"
#include "core/perf/sample_weight.h"

enum { MAX_THREADS = 1 << 16, LISTINGS = 64 };
enum { FEW = 4, SWITCHES_HZ = 4000 }; /* samples for which a ring has room; switches of a processor, in a second */
enum { LEAST_RING = 64 << 10, MOST_RING = 16 << 20 };
enum { STACK_SLOW = 16 << 10, STACK_FAST = 8 << 10, FAST_HZ = 2000 };
enum { SPIN_NS = 60000 };                /* around a sample that is due */
enum { LOOK_US = 5000, BLIND_US = 200 }; /* between looks at rings: how full they are; that do not tell of samples */
enum { SPARE_FILES = 256, COUNT_US = 50000 };
enum { RECORD_HEAD = 1 << 10 }; /* more than what a sample has besides its stack */

struct processor {
	int number;          /* -1: there is none */
	int fd;              /* the event that has the ring; -1: none yet */
	bool ended;          /* and its thread */
	uint64_t sampled_ns; /* the time of the last sample that was read; 0: none yet */
	struct xc_perf_ring ring;
	bool has_next; /* the next record, taken from the ring but not handed out: */
	struct xc_perf_record next;
	size_t next_len;
};

struct xc_sampler {
	struct xc_perf_setup setup;
	size_t ring_size;
	struct processor *processors;
	size_t processor_count;
	int most_fds; /* the first descriptor that is not for events */
	int *fds;     /* all events */
	size_t fd_count, fd_capacity;
	struct pollfd *polls;        /* of the processors with rings */
	struct xc_hashtable threads; /* those with events, by tid */
	struct xc_sampler_counts counts;
	uint64_t lost_records, skipped_lost;
	struct xc_sample_weight weight; /* of a counter whose samples have no period */
	uint64_t counted_before;        /* events, when samples began */
	bool stopped;
};

/* ---- opening ---- */

/* Room for two drains at the full rate: a drain is due when half of it is used, or after a tenth of a second. */
static size_t ring_size(const struct xc_sampler_options *o, uint32_t stack)
{
	const unsigned hz = (o->no_cpu ? 0 : o->hz) + (o->waits ? SWITCHES_HZ : 0);
	const uint64_t need = (o->few ? FEW : hz / 5 + 1) * (uint64_t)(stack + RECORD_HEAD);
	size_t size = LEAST_RING;
	while (size < need && size < MOST_RING)
		size *= 2;
	return 2 * size;
}

static struct xc_perf_setup wanted_setup(const struct xc_sampler_options *o)
{
	return (struct xc_perf_setup){
		.events = {[XC_PERF_CPU_TIME] = !o->no_cpu, [XC_PERF_SWITCHES] = o->waits},
		.period_ns = UINT64_C(1000000000) / o->hz,
		.counter = o->counter,
		.hz = o->hz,
		.every = UINT64_C(1) << 40, /* none, until it is chosen */
		.stack = o->stack                       ? o->stack
			 : o->hz >= FAST_HZ || o->waits ? STACK_FAST
							: STACK_SLOW,
		.kernel = !o->no_kernel,
		.children = o->children,
	};
}

/* As many descriptors as this process may have, less those that the rest of the command needs: for the sandbox, and for
 * the files of modules. */
static int raise_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return INT_MAX;
	if (limit.rlim_cur < limit.rlim_max) {
		const struct rlimit raised = {limit.rlim_max, limit.rlim_max};
		limit.rlim_cur = setrlimit(RLIMIT_NOFILE, &raised) ? limit.rlim_cur : limit.rlim_max;
	}
	const rlim_t most = limit.rlim_cur < INT_MAX ? limit.rlim_cur : INT_MAX;
	return (int)(most - (most > 2 * SPARE_FILES ? SPARE_FILES : most / 2));
}

static void keep(struct xc_sampler *s, int fd)
{
	s->fds = xc_grow(s->fds, s->fd_count, &s->fd_capacity, sizeof *s->fds);
	s->fds[s->fd_count++] = fd;
}

/* Give an event its ring: its own, or that of its processor. */
static struct xc_error *connect_ring(struct xc_sampler *s, struct processor *p, int fd)
{
	if (p->fd >= 0)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, p->fd)
			       ? xc_error_errno(errno, "the ring of processor %d", p->number)
			       : NULL;
	struct xc_error *err = xc_perf_ring_map(&p->ring, fd, s->ring_size);
	if (!err)
		p->fd = fd;
	return err;
}

/* Returns 0 or an errno that says why there is no event. */
static int open_event(struct xc_sampler *s, enum xc_perf_event event, struct processor *p, pid_t tid,
		      struct xc_error **err)
{
	int fd = xc_perf_open(&s->setup, event, tid, p->number);
	if (fd >= s->most_fds) {
		close(fd);
		return EMFILE;
	}
	if (fd == -ENODEV)
		p->number = -1;
	if (fd < 0)
		return -fd;
	keep(s, fd);
	*err = connect_ring(s, p, fd);
	return 0;
}

static int open_on(struct xc_sampler *s, struct processor *p, pid_t tid, struct xc_error **err)
{
	int error = 0;
	for (enum xc_perf_event event = 0; event < XC_PERF_EVENTS && !error && !*err; event++)
		if (s->setup.events[event])
			error = open_event(s, event, p, tid, err);
	return error;
}

static struct xc_error *open_thread(struct xc_sampler *s, pid_t tid)
{
	struct xc_error *err = NULL;
	int error = 0;
	for (size_t i = 0; i < s->processor_count && !err && (!error || error == ENODEV); i++)
		if (s->processors[i].number >= 0)
			error = open_on(s, &s->processors[i], tid, &err);
	s->counts.threads += !error || error == ENODEV;
	s->counts.threads_missing += error && error != ENODEV && error != ESRCH;
	return err;
}

/* Open events for the threads that have none. *found_out: there was one. */
static struct xc_error *open_new(struct xc_sampler *s, int task_dir, bool *found_out)
{
	size_t count;
	xc_auto(xc_freep) pid_t *tids = xc_live_proc_tids(task_dir, MAX_THREADS, &count);
	struct xc_error *err = NULL;
	*found_out = false;
	for (size_t i = 0; i < count && !err; i++) {
		union xc_hashtable_value *seen = xc_hashtable_at(&s->threads, NULL, (uint64_t)tids[i], 1);
		if (seen->number)
			continue;
		seen->number = 1;
		*found_out = true;
		err = open_thread(s, tids[i]);
	}
	return err;
}

static struct xc_error *open_all(struct xc_sampler *s, int task_dir, const struct xc_sampler_options *options)
{
	bool found = !options->tids;
	struct xc_error *err = NULL;
	for (size_t i = 0; i < options->tid_count && !err; i++)
		err = open_thread(s, options->tids[i]);
	for (unsigned i = 0; i < LISTINGS && found && !err; i++)
		err = open_new(s, task_dir, &found);
	if (!err && !s->fd_count)
		return xc_error_new(XC_ERR_NOT_FOUND, "the process has ended");
	return err;
}

static void list_processors(struct xc_sampler *s)
{
	const long count = sysconf(_SC_NPROCESSORS_CONF);
	s->processor_count = count > 0 ? (size_t)count : 1;
	s->processors = xc_alloc(s->processor_count * sizeof *s->processors);
	s->polls = xc_alloc(s->processor_count * sizeof *s->polls);
	for (size_t i = 0; i < s->processor_count; i++)
		s->processors[i] = (struct processor){.number = (int)i, .fd = -1};
}

/* By the first thread that has not ended: that with the number of the process may have. */
static struct xc_error *choose(int task_dir, const struct xc_perf_setup *wanted, struct xc_perf_setup *setup_out)
{
	size_t count;
	xc_auto(xc_freep) pid_t *tids = xc_live_proc_tids(task_dir, MAX_THREADS, &count);
	struct xc_error *err = xc_error_new(XC_ERR_NOT_FOUND, "the process has ended");
	for (size_t i = 0; i < count && err && err->code == XC_ERR_NOT_FOUND; i++) {
		xc_error_free(err);
		err = xc_perf_choose(tids[i], wanted, setup_out);
	}
	return err;
}

/* The count of an event and its heirs; with PERF_FORMAT_LOST, also the number of records that they lost. */
static void read_counts(const struct xc_sampler *s, struct xc_sampler_counts *counts)
{
	uint64_t words[2], lost = 0;
	for (size_t i = 0; i < s->fd_count; i++) {
		const ssize_t got = read(s->fds[i], words, sizeof words);
		counts->events += s->setup.counter && got >= (ssize_t)sizeof *words ? words[0] : 0;
		lost += got == (ssize_t)sizeof words ? words[1] : 0;
	}
	counts->lost = s->setup.own_lost ? lost : s->lost_records;
}

static void set_weight(struct xc_sampler *s, uint64_t events)
{
	xc_sample_weight_set(&s->weight, events, xc_now_ns());
	for (size_t i = 0; i < s->fd_count; i++)
		(void)ioctl(s->fds[i], PERF_EVENT_IOC_PERIOD, &s->weight.period);
}

/* Count for a moment, before samples are taken. */
static void choose_weight(struct xc_sampler *s)
{
	struct xc_sampler_counts counts = {0};
	if (xc_perf_has_period(&s->setup))
		return;
	usleep(COUNT_US);
	read_counts(s, &counts);
	s->counted_before = counts.events;
	set_weight(s, counts.events * (1000000 / COUNT_US) / s->setup.hz + 1);
}

static struct xc_error *start(const struct xc_perf_setup *setup, size_t ring, int task_dir,
			      const struct xc_sampler_options *options, struct xc_sampler **sampler_out)
{
	struct xc_sampler *s = xc_alloc(sizeof *s);
	s->setup = *setup;
	s->ring_size = ring;
	s->setup.wakeup = (uint32_t)ring / 2;
	list_processors(s);
	s->most_fds = raise_limit();
	struct xc_error *err = open_all(s, task_dir, options);
	if (err)
		xc_sampler_free(s);
	else
		choose_weight(s);
	*sampler_out = err ? NULL : s;
	return err;
}

struct xc_error *xc_sampler_start(int task_dir, const struct xc_sampler_options *options,
				  struct xc_sampler **sampler_out)
{
	const struct xc_perf_setup wanted = wanted_setup(options);
	struct xc_perf_setup setup;
	struct xc_error *err = choose(task_dir, &wanted, &setup);
	if (err)
		return err;
	for (size_t ring = ring_size(options, setup.stack);; ring /= 2) {
		err = start(&setup, ring, task_dir, options, sampler_out);
		if (!err || err->code != XC_ERR_LIMIT || ring <= LEAST_RING)
			return err;
		xc_error_free(err); /* rings of all processors must fit */
	}
}
const struct xc_perf_setup *xc_sampler_setup(const struct xc_sampler *s)
{
	return &s->setup;
}

/* ---- reading ---- */

static bool is_half_full(const struct xc_sampler *s)
{
	for (size_t i = 0; i < s->processor_count; i++)
		if (s->processors[i].fd >= 0 && xc_perf_ring_used(&s->processors[i].ring) > s->ring_size / 2)
			return true;
	return false;
}

static struct timespec of_us(uint64_t us)
{
	return (struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
}

/* Each sample would end a poll. */
void xc_sampler_wait(struct xc_sampler *s, uint64_t us)
{
	for (uint64_t left = us; left && !is_half_full(s);) {
		const struct timespec pause = of_us(left < LOOK_US ? left : LOOK_US);
		if (nanosleep(&pause, NULL))
			return;
		left -= left < LOOK_US ? left : LOOK_US;
	}
}

/* A processor's event whose thread has ended would end every wait at once. Its ring, which others fill, is then only
 * looked at when the time is over, which is soon. */
static void wait_for_samples(struct xc_sampler *s, uint64_t us)
{
	nfds_t count = 0;
	for (size_t i = 0; i < s->processor_count; i++) {
		if (s->processors[i].fd >= 0 && !s->processors[i].ended)
			s->polls[count++] = (struct pollfd){.fd = s->processors[i].fd, .events = POLLIN};
		if (s->processors[i].ended && us > BLIND_US)
			us = BLIND_US;
	}
	const struct timespec timeout = of_us(us);
	if (ppoll(s->polls, count, &timeout, NULL) <= 0)
		return;
	for (size_t i = 0, at = 0; i < s->processor_count; i++)
		if (s->processors[i].fd >= 0 && !s->processors[i].ended)
			s->processors[i].ended = (s->polls[at++].revents & POLLHUP) != 0;
}

/* When the next sample is due, of a thread that goes on running: it is sampled again after a period. */
static uint64_t next_due(const struct xc_sampler *s, uint64_t now, uint64_t until)
{
	uint64_t due = until;
	for (size_t i = 0; i < s->processor_count; i++) {
		const uint64_t next = s->processors[i].sampled_ns + s->setup.period_ns;
		if (s->processors[i].sampled_ns && next + SPIN_NS > now && next < due)
			due = next;
	}
	return due;
}

static bool has_record(const struct xc_sampler *s)
{
	for (size_t i = 0; i < s->processor_count; i++)
		if (s->processors[i].fd >= 0 &&
		    (s->processors[i].has_next || xc_perf_ring_used(&s->processors[i].ring)))
			return true;
	return false;
}

/* A sleeping processor takes as long to wake up as a deep stack may last. */
void xc_sampler_wait_next(struct xc_sampler *s, uint64_t us, bool spins)
{
	const uint64_t now = xc_now_ns(), until = now + us * 1000, due = spins ? next_due(s, now, until) : until;
	const uint64_t early = due < until ? SPIN_NS : 0;
	if (due > now + early && !has_record(s))
		wait_for_samples(s, (due - early - now) / 1000);
	while (early && !has_record(s) && xc_now_ns() < due + SPIN_NS)
		;
}

static void count_record(struct xc_sampler *s, const struct xc_perf_record *r)
{
	s->counts.samples += r->kind == XC_PERF_SAMPLE;
	s->counts.throttled += r->kind == XC_PERF_THROTTLE;
	s->counts.execed |= r->kind == XC_PERF_COMM && r->exec;
	if (r->kind == XC_PERF_LOST)
		s->lost_records += r->count;
}

static bool has_next(struct xc_sampler *s, struct processor *p)
{
	const uint8_t *bytes;
	size_t len;
	while (p->fd >= 0 && !p->has_next && (bytes = xc_perf_ring_next(&p->ring, &len))) {
		p->has_next = xc_perf_record_read(bytes, len, xc_perf_has_period(&s->setup), &p->next);
		p->next.at_switch &= s->setup.events[XC_PERF_SWITCHES];
		p->next_len = len;
		s->counts.malformed += !p->has_next;
	}
	return p->has_next;
}

/* The processor with the earliest record. NULL: no record is left. */
static struct processor *earliest(struct xc_sampler *s)
{
	struct processor *first = NULL;
	for (size_t i = 0; i < s->processor_count; i++)
		if (has_next(s, &s->processors[i]) && (!first || s->processors[i].next.time_ns < first->next.time_ns))
			first = &s->processors[i];
	return first;
}

static size_t room_of_rings(const struct xc_sampler *s)
{
	size_t room = 0;
	for (size_t i = 0; i < s->processor_count; i++)
		room += s->processors[i].ring.size;
	return room;
}

/* Later records wait for the next time: an earlier one may just be written by another processor. */
void xc_sampler_drain(struct xc_sampler *s, xc_sampler_take *take, void *ctx)
{
	const uint64_t until = s->stopped ? UINT64_MAX : xc_now_ns();
	size_t left = room_of_rings(s);
	for (struct processor *p; left && (p = earliest(s)) && p->next.time_ns <= until;) {
		p->has_next = false;
		p->sampled_ns = p->next.kind == XC_PERF_SAMPLE ? p->next.time_ns : p->sampled_ns;
		left -= p->next_len < left ? p->next_len : left;
		count_record(s, &p->next);
		if (s->weight.period)
			xc_sample_weight_take(&s->weight, &p->next);
		take(ctx, &p->next);
	}
	const uint64_t better = s->weight.period ? xc_sample_weight_better(&s->weight, s->setup.hz, xc_now_ns()) : 0;
	if (better)
		set_weight(s, better);
}

void xc_sampler_stop(struct xc_sampler *s)
{
	for (size_t i = 0; i < s->fd_count; i++)
		(void)ioctl(s->fds[i], PERF_EVENT_IOC_DISABLE, 0);
	s->stopped = true;
}

struct xc_sampler_counts xc_sampler_counts(const struct xc_sampler *s)
{
	struct xc_sampler_counts counts = s->counts;
	read_counts(s, &counts);
	counts.events -= counts.events ? s->counted_before : 0;
	counts.lost -= s->skipped_lost;
	return counts;
}

static void drop(void *ctx, const struct xc_perf_record *record)
{
	(void)ctx;
	(void)record;
}

void xc_sampler_skip(struct xc_sampler *s)
{
	xc_sampler_drain(s, drop, NULL);
	const struct xc_sampler_counts counts = xc_sampler_counts(s);
	s->skipped_lost += counts.lost;
	s->counted_before += counts.events;
	s->counts.samples = s->counts.throttled = 0;
}

void xc_sampler_free(struct xc_sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->processor_count; i++)
		xc_perf_ring_unmap(&s->processors[i].ring);
	for (size_t i = 0; i < s->fd_count; i++)
		close(s->fds[i]);
	xc_hashtable_fini(&s->threads);
	xc_sample_weight_fini(&s->weight);
	free(s->fds);
	free(s->polls);
	free(s->processors);
	free(s);
}
