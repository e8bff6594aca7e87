/* plan: longest processing time first (Graham 1969): no bin is more than a third above the optimum. The time for a core
 * is estimated from its size, plus a fixed cost. */
#include "batch/shard/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/jsonvalue.h"
#include "batch/record/json_lines.h"
#include "batch/record/record.h"
#include "batch/run/records.h"

/* The fixed cost of a core, in bytes: starting a worker, reading modules. Ten thousand small cores are work, too. */
#define CORE_COST (UINT64_C(16) << 20)

/* ---- writing ---- */

static json_t *head_of(const struct xc_inputs *inputs)
{
	struct xc_arena arena = {0};
	uint64_t bytes = 0;
	json_t *head = json_object();
	for (size_t i = 0; i < inputs->count; i++)
		bytes += inputs->inputs[i].size;
	xc_jsonvalue_set(head, "schema", xc_jsonvalue_text(XC_PLAN_SCHEMA));
	xc_jsonvalue_set(head, "manifest",
			 xc_jsonvalue_text(xc_records_manifest(inputs->inputs, inputs->count, &arena)));
	xc_jsonvalue_set(head, "cores", xc_jsonvalue_count(inputs->count));
	xc_jsonvalue_set(head, "bytes", xc_jsonvalue_count(bytes));
	xc_arena_fini(&arena);
	return head;
}

static json_t *core_of(const struct xc_input *input)
{
	json_t *core = json_object();
	xc_jsonvalue_set(core, "path", xc_jsonvalue_text(input->path));
	xc_jsonvalue_set(core, "size", xc_jsonvalue_count(input->size));
	return core;
}

struct xc_error *xc_plan_write(const struct xc_inputs *inputs, FILE *out)
{
	bool good = xc_json_lines_write(head_of(inputs), out);
	for (size_t i = 0; good && i < inputs->count; i++)
		good = xc_json_lines_write(core_of(&inputs->inputs[i]), out);
	return good ? NULL : xc_error_errno(errno, "writing a plan");
}

/* ---- reading ---- */

static struct xc_error *read_head(struct xc_json_lines *lines, struct xc_arena *arena, struct xc_plan *plan,
				  size_t *count_out)
{
	const char *schema;
	json_int_t count = 0;
	json_t *head = xc_json_lines_json(lines);
	bool good = xc_json_lines_text(head, "schema", arena, &schema) && !strcmp(schema, XC_PLAN_SCHEMA) &&
		    xc_json_lines_text(head, "manifest", arena, &plan->manifest) &&
		    xc_json_lines_number(head, "cores", INT64_MAX, &count);
	json_decref(head);
	*count_out = (size_t)count;
	return good ? NULL : xc_json_lines_wrong(lines, "not a plan of a triage (" XC_PLAN_SCHEMA ")");
}

static bool take_core(const json_t *line, struct xc_arena *arena, struct xc_input *core)
{
	const char *path = json_string_value(json_object_get(line, "path"));
	json_int_t size;
	if (!path || strlen(path) > XC_RECORD_TEXT || !xc_json_lines_number(line, "size", INT64_MAX, &size))
		return false;
	*core = (struct xc_input){.path = xc_arena_strdup(arena, path), .size = (uint64_t)size};
	return true;
}

static struct xc_error *read_cores(struct xc_json_lines *lines, size_t expected, struct xc_arena *arena,
				   struct xc_plan *plan)
{
	struct xc_input *cores = NULL;
	size_t capacity = 0;
	json_t *line;
	bool good = true;
	while (good && plan->count < expected && (line = xc_json_lines_json(lines))) {
		cores = xc_grow(cores, plan->count, &capacity, sizeof *cores);
		good = take_core(line, arena, &cores[plan->count]);
		plan->count += good;
		json_decref(line);
	}
	plan->cores = xc_arena_alloc(arena, (plan->count + 1) * sizeof *cores);
	if (plan->count)
		memcpy(plan->cores, cores, plan->count * sizeof *cores);
	free(cores);
	if (plan->count < expected && lines->too_long)
		return xc_json_lines_wrong(lines, "");
	if (plan->count < expected || !xc_json_lines_at_end(lines))
		return xc_error_new(XC_ERR_FORMAT, "it should have %zu cores, but ends or continues after %zu",
				    expected, plan->count);
	if (strcmp(plan->manifest, xc_records_manifest(plan->cores, plan->count, arena)) != 0)
		return xc_error_new(XC_ERR_FORMAT, "its manifest is not that of its cores: it was changed");
	return NULL;
}

struct xc_error *xc_plan_read(const char *path, struct xc_arena *arena, struct xc_plan *plan_out)
{
	struct xc_plan plan = {.manifest = NULL};
	struct xc_json_lines lines;
	size_t count;
	struct xc_error *err = xc_json_lines_open(&lines, path);
	if (err)
		return err;
	err = read_head(&lines, arena, &plan, &count);
	if (!err)
		err = read_cores(&lines, count, arena, &plan);
	xc_json_lines_close(&lines);
	if (err)
		return xc_error_wrap(err, "%s", path);
	*plan_out = plan;
	return NULL;
}

/* ---- dividing ---- */

struct bin {
	uint64_t load;
	unsigned shard;
};

static bool is_less(const struct bin *a, const struct bin *b)
{
	return a->load != b->load ? a->load < b->load : a->shard < b->shard;
}

/* Restores the heap of bins after its root has grown. */
static void sink(struct bin *bins, size_t count)
{
	for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && is_less(&bins[child + 1], &bins[child]))
			child++;
		if (!is_less(&bins[child], &bins[at]))
			return;
		const struct bin least = bins[child];
		bins[child] = bins[at];
		bins[at] = least;
	}
}

/* Largest first; equal sizes by path, which is the order of pointers into the array. */
static int by_size(const void *a, const void *b)
{
	const struct xc_input *const *left = a, *const *right = b;
	if ((*left)->size != (*right)->size)
		return (*left)->size > (*right)->size ? -1 : 1;
	return *left < *right ? -1 : *left > *right;
}

static int by_place(const void *a, const void *b)
{
	const struct xc_input *const *left = a, *const *right = b;
	return *left < *right ? -1 : *left > *right;
}

/* Stores the cores of a shard in `chosen`, by path; it has room for all. */
static size_t choose(const struct xc_plan *plan, const struct xc_shard *shard, const struct xc_input **chosen)
{
	struct bin *bins = xc_alloc(shard->of * sizeof *bins);
	size_t count = 0;
	for (unsigned i = 0; i < shard->of; i++)
		bins[i].shard = i;
	for (size_t i = 0; i < plan->count; i++)
		chosen[i] = &plan->cores[i];
	if (plan->count)
		qsort(chosen, plan->count, sizeof *chosen, by_size);
	for (size_t i = 0; i < plan->count; i++) {
		if (bins[0].shard == shard->index)
			chosen[count++] = chosen[i];
		if (__builtin_add_overflow(bins[0].load, chosen[i]->size + CORE_COST, &bins[0].load))
			bins[0].load = UINT64_MAX;
		sink(bins, shard->of);
	}
	if (count)
		qsort(chosen, count, sizeof *chosen, by_place);
	free(bins);
	return count;
}

static int by_path(const void *a, const void *b)
{
	const struct xc_input *left = a, *right = b;
	return strcmp(left->path, right->path);
}

static const struct xc_input *lost(const struct xc_input *core, struct xc_arena *arena)
{
	struct xc_input *input = xc_arena_alloc(arena, sizeof *input);
	*input = *core;
	input->file = ""; /* no system opens an empty name */
	return input;
}

void xc_plan_inputs(const struct xc_plan *plan, const struct xc_shard *shard, const struct xc_inputs *found,
		    struct xc_arena *arena, const struct xc_input ***inputs_out, size_t *count_out)
{
	const struct xc_input **inputs = xc_arena_alloc(arena, (plan->count + 1) * sizeof(struct xc_input *));
	*count_out = choose(plan, shard, inputs);
	*inputs_out = inputs;
	for (size_t i = 0; i < *count_out; i++) {
		const struct xc_input *now =
			found->count ? bsearch(inputs[i], found->inputs, found->count, sizeof *now, by_path) : NULL;
		inputs[i] = now ? now : lost(inputs[i], arena);
	}
}
