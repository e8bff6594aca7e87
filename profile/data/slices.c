#include "profile/data/slices.h"

#include <stdlib.h>
#include <string.h>

#include "profile/data/profile_data.h"

enum { FIRST_NS = 1000000 };

void xc_slices_init(struct xc_slices *s, uint64_t start_ns)
{
	*s = (struct xc_slices){.start_ns = start_ns, .length_ns = FIRST_NS, .most = XC_SLICES_ENTRIES};
}

void xc_slices_fini(struct xc_slices *s)
{
	free(s->entries);
	free(s->last);
	*s = (struct xc_slices){0};
}

static int by_count(const void *a, const void *b)
{
	const struct xc_slice_entry *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return x->slice < y->slice ? -1 : x->slice > y->slice;
}

void xc_slices_merge(struct xc_slices *s)
{
	size_t kept = 0;
	if (!s->entry_count)
		return;
	qsort(s->entries, s->entry_count, sizeof *s->entries, by_count);
	for (size_t i = 0; i < s->entry_count; i++) {
		const struct xc_slice_entry one = s->entries[i];
		struct xc_slice_entry *before = kept ? &s->entries[kept - 1] : NULL;
		if (before && by_count(before, &one) == 0 && before->samples <= UINT32_MAX - one.samples)
			before->samples += one.samples;
		else
			s->entries[kept++] = one;
		s->last[one.count] = (uint32_t)kept;
	}
	s->entry_count = kept;
}

static void join_slices(struct xc_slices *s)
{
	s->length_ns *= 2;
	for (size_t i = 0; i < s->entry_count; i++)
		s->entries[i].slice /= 2;
	xc_slices_merge(s);
}

static uint64_t slice_of(const struct xc_slices *s, uint64_t ns)
{
	return ns > s->start_ns ? (ns - s->start_ns) / s->length_ns : 0;
}

static void make_room(struct xc_slices *s, uint32_t count)
{
	const size_t before = s->last_room;
	if (count < before)
		return;
	s->last_room = (size_t)count * 2 + 64;
	s->last = xc_realloc(s->last, s->last_room * sizeof *s->last);
	memset(s->last + before, 0, (s->last_room - before) * sizeof *s->last);
}

static void add_in(struct xc_slices *s, uint32_t count, uint32_t slice, uint32_t samples)
{
	struct xc_slice_entry *last = s->last[count] ? &s->entries[s->last[count] - 1] : NULL;
	if (last && last->slice == slice && last->samples <= UINT32_MAX - samples) {
		last->samples += samples;
		return;
	}
	s->entries = xc_grow(s->entries, s->entry_count, &s->entry_room, sizeof *s->entries);
	s->entries[s->entry_count++] = (struct xc_slice_entry){count, samples, slice};
	s->last[count] = (uint32_t)s->entry_count;
}

/* Of `samples` that are spread over slices evenly, those before `part` of `whole` nanoseconds. */
static uint64_t before(uint64_t samples, uint64_t part, uint64_t whole)
{
	return part >= whole ? samples : (uint64_t)((double)samples * ((double)part / (double)whole));
}

void xc_slices_add(struct xc_slices *s, uint32_t count, uint64_t from_ns, uint64_t to_ns, uint64_t samples)
{
	const uint64_t from = from_ns > s->start_ns ? from_ns - s->start_ns : 0;
	const uint64_t to = to_ns > s->start_ns + from ? to_ns - s->start_ns : from;
	make_room(s, count);
	while (to / s->length_ns >= XC_PROFILE_SLICES)
		join_slices(s);
	if (s->entry_count >= s->most && slice_of(s, to_ns) > 0)
		join_slices(s);
	samples = samples < UINT32_MAX ? samples : UINT32_MAX;
	uint64_t done = 0;
	for (uint64_t slice = from / s->length_ns; slice <= to / s->length_ns; slice++) {
		const uint64_t end = (slice + 1) * s->length_ns;
		const uint64_t upto = before(samples, end - from, to - from);
		if (upto > done)
			add_in(s, count, (uint32_t)slice, (uint32_t)(upto - done));
		done = upto > done ? upto : done;
	}
}
