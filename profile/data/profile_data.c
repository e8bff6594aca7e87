#include "profile/data/profile_data.h"

#include <stdlib.h>

/* Rows are found by what they hold: kinds keep the keys of different tables apart. */
enum { FUNCTION = 1, FRAME, NODE, THREAD, WAIT, SUM };

struct xc_profile_data *xc_profile_data_new(void)
{
	struct xc_profile_data *d = xc_alloc(sizeof *d);
	d->head = xc_alloc(sizeof *d->head);
	d->head_count = 1;
	(void)xc_intern(&d->texts, "");
	d->nodes = xc_grow(d->nodes, 0, &d->node_room, sizeof *d->nodes);
	d->nodes[d->node_count++] = (struct xc_profile_node){0};
	d->waits = xc_grow(d->waits, 0, &d->wait_room, sizeof *d->waits);
	d->waits[d->wait_count++] = (struct xc_profile_wait){0};
	return d;
}

void xc_profile_data_free(struct xc_profile_data *d)
{
	if (!d)
		return;
	xc_intern_fini(&d->texts);
	xc_hashtable_fini(&d->numbers);
	free(d->head);
	free(d->target.rows);
	free(d->account.rows);
	free(d->functions);
	free(d->frames);
	free(d->nodes);
	free(d->threads);
	free(d->waits);
	free(d->sums);
	free(d->parts);
	free(d);
}

uint32_t xc_profile_data_add_text(struct xc_profile_data *d, const char *text)
{
	return text ? xc_intern(&d->texts, text) : 0;
}

/* The place for the number, plus one, of a row that holds these three and has this kind. Words of 32 bits, so pairs of
 * them are keys; the third and the kind share a word. */
static union xc_hashtable_value *number_at(struct xc_profile_data *d, uint32_t a, uint32_t b, uint32_t c, unsigned kind)
{
	return xc_hashtable_at(&d->numbers, NULL, (uint64_t)a << 32 | b, (uint64_t)c << 8 | kind);
}

uint32_t xc_profile_data_add_function(struct xc_profile_data *d, const char *name, const char *module,
				      const char *language)
{
	const struct xc_profile_function function = {xc_profile_data_add_text(d, name),
						     xc_profile_data_add_text(d, module),
						     xc_profile_data_add_text(d, language)};
	union xc_hashtable_value *found = number_at(d, function.name, function.module, function.language, FUNCTION);
	if (!found->number) {
		d->functions = xc_grow(d->functions, d->function_count, &d->function_room, sizeof *d->functions);
		d->functions[d->function_count++] = function;
		found->number = d->function_count;
	}
	return (uint32_t)found->number - 1;
}

uint32_t xc_profile_data_add_frame(struct xc_profile_data *d, uint32_t function, const char *file, unsigned line,
				   enum xc_profile_frame_kind kind)
{
	const struct xc_profile_frame frame = {function, xc_profile_data_add_text(d, file), line, kind};
	union xc_hashtable_value *found = xc_hashtable_at(&d->numbers, NULL, (uint64_t)frame.file << 32 | frame.line,
							  ((uint64_t)function << 8 | kind) << 8 | FRAME);
	if (!found->number) {
		d->frames = xc_grow(d->frames, d->frame_count, &d->frame_room, sizeof *d->frames);
		d->frames[d->frame_count++] = frame;
		found->number = d->frame_count;
	}
	return (uint32_t)found->number - 1;
}

uint32_t xc_profile_data_add_node(struct xc_profile_data *d, uint32_t parent, uint32_t frame)
{
	union xc_hashtable_value *found = number_at(d, parent, frame, 0, NODE);
	if (!found->number) {
		d->nodes = xc_grow(d->nodes, d->node_count, &d->node_room, sizeof *d->nodes);
		d->nodes[d->node_count] = (struct xc_profile_node){parent, frame};
		found->number = d->node_count++;
	}
	return (uint32_t)found->number;
}

uint32_t xc_profile_data_add_thread(struct xc_profile_data *d, pid_t pid, pid_t tid, const char *name)
{
	const uint32_t text = xc_profile_data_add_text(d, name);
	union xc_hashtable_value *found = number_at(d, (uint32_t)pid, (uint32_t)tid, text, THREAD);
	if (!found->number) {
		d->threads = xc_grow(d->threads, d->thread_count, &d->thread_room, sizeof *d->threads);
		d->threads[d->thread_count++] = (struct xc_profile_thread){(uint64_t)pid, (uint64_t)tid, text};
		found->number = d->thread_count;
	}
	return (uint32_t)found->number - 1;
}

uint32_t xc_profile_data_add_wait(struct xc_profile_data *d, const char *text, bool event_loop)
{
	const struct xc_profile_wait wait = {xc_profile_data_add_text(d, text), event_loop};
	union xc_hashtable_value *found = number_at(d, wait.text, wait.event_loop, 0, WAIT);
	if (!found->number) {
		d->waits = xc_grow(d->waits, d->wait_count, &d->wait_room, sizeof *d->waits);
		d->waits[d->wait_count] = wait;
		found->number = d->wait_count++;
	}
	return (uint32_t)found->number;
}

uint32_t xc_profile_data_add_sum(struct xc_profile_data *d, const struct xc_profile_sum *sum)
{
	union xc_hashtable_value *found =
		xc_hashtable_at(&d->numbers, NULL, (uint64_t)sum->stack << 32 | sum->wait,
				(uint64_t)sum->value << 40 | (uint64_t)sum->thread << 8 | SUM);
	if (!found->number) {
		d->sums = xc_grow(d->sums, d->sum_count, &d->sum_room, sizeof *d->sums);
		d->sums[d->sum_count++] = (struct xc_profile_sum){sum->stack, sum->wait, sum->thread, sum->value, 0, 0};
		found->number = d->sum_count;
	}
	struct xc_profile_sum *to = &d->sums[found->number - 1];
	to->samples += sum->samples;
	if (__builtin_add_overflow(to->squares, sum->squares, &to->squares))
		to->squares = UINT64_MAX;
	return (uint32_t)found->number - 1;
}

void xc_profile_data_add_part(struct xc_profile_data *d, const struct xc_profile_part *part)
{
	d->parts = xc_grow(d->parts, d->part_count, &d->part_room, sizeof *d->parts);
	d->parts[d->part_count++] = *part;
}

static int by_sum(const void *a, const void *b)
{
	const struct xc_profile_part *x = a, *y = b;
	if (x->sum != y->sum)
		return x->sum < y->sum ? -1 : 1;
	return x->slice < y->slice ? -1 : x->slice > y->slice;
}

void xc_profile_data_sort(struct xc_profile_data *d)
{
	size_t kept = 0;
	if (d->part_count)
		qsort(d->parts, d->part_count, sizeof *d->parts, by_sum);
	for (size_t i = 0; i < d->part_count; i++) {
		if (kept && by_sum(&d->parts[kept - 1], &d->parts[i]) == 0)
			d->parts[kept - 1].samples += d->parts[i].samples;
		else
			d->parts[kept++] = d->parts[i];
	}
	d->part_count = kept;
}

uint64_t xc_profile_data_samples(const struct xc_profile_data *d)
{
	uint64_t samples = 0;
	for (size_t i = 0; i < d->sum_count; i++)
		samples += d->sums[i].samples;
	return samples;
}

uint64_t xc_profile_data_waiting(const struct xc_profile_data *d)
{
	uint64_t samples = 0;
	for (size_t i = 0; i < d->sum_count; i++)
		samples += d->sums[i].wait ? d->sums[i].samples : 0;
	return samples;
}
