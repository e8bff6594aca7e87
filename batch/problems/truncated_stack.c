/* truncated_stack: an index of how problems begin: by program, class group, one or two frames, and build. In a stack
 * overflow, any frame of the cycle is a beginning. Equal keys are adjacent and sorted by cluster, so comparing the
 * first and the last shows whether there is one cluster. */
#include "batch/problems/truncated_stack.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

#define ASSERTION "abort:assertion:"
#define ANY       "" /* any build */

/* The number of frames compared. */
enum depth {
	ONE,   /* the innermost frame */
	TWO,   /* the innermost frame and its caller */
	ROUND, /* one frame of an overflow's cycle; matches whatever the second frame is */
};

/* The executable's builds in which the members of a group crashed, sorted, without duplicates; then ANY. */
struct builds {
	const char **list;
	size_t count; /* without ANY */
};

/* One possible beginning of a group. */
struct beginning {
	const char *program, *class_group, *first,
		*second; /* first: "" stands for its assertion's text; second: "" except for TWO */
	const char *build;
	enum depth depth;
	size_t cluster; /* its first group */
};

struct index {
	struct beginning *list;
	size_t count, capacity;
};

/* The matching clusters: none, one, or several. */
struct answer {
	bool some, several;
	size_t cluster;
};

/* ---- builds ---- */

static struct builds builds_of(const struct xc_signature_group *group)
{
	struct builds b = {.list = xc_alloc((group->count + 1) * sizeof *b.list)};
	size_t all = 0;
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i]->record->build_id && *group->members[i]->record->build_id)
			b.list[all++] = group->members[i]->record->build_id;
	qsort(b.list, all, sizeof *b.list, xc_text_order);
	for (size_t i = 0; i < all; i++)
		if (!b.count || strcmp(b.list[b.count - 1], b.list[i]) != 0)
			b.list[b.count++] = b.list[i];
	b.list[b.count] = ANY;
	return b;
}

/* ---- the index ---- */

static int by_key(const struct beginning *a, const struct beginning *b)
{
	int d = strcmp(a->program, b->program);
	d = d ? d : strcmp(a->class_group, b->class_group);
	d = d ? d : strcmp(a->first, b->first);
	d = d ? d : (int)a->depth - (int)b->depth;
	d = d ? d : strcmp(a->second, b->second);
	return d ? d : strcmp(a->build, b->build);
}

static int by_cluster(const void *a, const void *b)
{
	const struct beginning *left = a, *right = b;
	int d = by_key(left, right);
	return d ? d : (left->cluster > right->cluster) - (left->cluster < right->cluster);
}

static bool is_assertion(const struct xc_signature *s)
{
	return !strncmp(s->class_group, ASSERTION, strlen(ASSERTION));
}

static const char *name_of(const struct xc_signature *s, size_t kept)
{
	return kept < s->kept_count ? s->frames[s->kept[kept]].name : NULL;
}

/* Adds the beginning for each of its builds, and for any build. */
static void add(struct index *index, const struct builds *builds, struct beginning b)
{
	for (size_t i = 0; i <= builds->count; i++) {
		b.build = builds->list[i];
		index->list = xc_grow(index->list, index->count, &index->capacity, sizeof *index->list);
		index->list[index->count++] = b;
	}
}

static void add_group(struct index *index, const struct xc_signature_group *group, size_t cluster)
{
	const struct xc_signature *s = group->best->signature;
	if (xc_signature_is_weak(s) || !s->program)
		return;
	struct builds builds = builds_of(group);
	struct beginning b = {s->program, s->class_group, "", "", ANY, ONE, cluster};
	if (is_assertion(s))
		add(index, &builds, b);
	b.depth = s->round ? ROUND : ONE;
	for (size_t k = 0; k < s->kept_count && (k == 0 || s->round); k++)
		if ((b.first = name_of(s, k)))
			add(index, &builds, b);
	b.depth = TWO;
	b.first = name_of(s, 0);
	b.second = name_of(s, 1);
	if (!s->round && b.first && b.second)
		add(index, &builds, b);
	free(builds.list);
}

static struct index index_of(const struct xc_signature_group *groups, size_t count, const size_t *firsts)
{
	struct index index = {0};
	for (size_t i = 0; i < count; i++)
		add_group(&index, &groups[i], firsts[i]);
	if (index.count)
		qsort(index.list, index.count, sizeof *index.list, by_cluster);
	return index;
}

/* The first entry that is not before the key or, if `behind`, the first after it. */
static size_t bound(const struct index *index, const struct beginning *key, bool behind)
{
	return XC_LOWER_BOUND(index->count, i, by_key(&index->list[i], key) < (behind ? 1 : 0));
}

static void look(const struct index *index, const struct beginning *key, struct answer *answer)
{
	size_t from = bound(index, key, false), to = bound(index, key, true);
	if (from == to)
		return;
	size_t first = index->list[from].cluster;
	answer->several |= first != index->list[to - 1].cluster || (answer->some && answer->cluster != first);
	answer->some = true;
	answer->cluster = first;
}

/* ---- truncated stacks ---- */

/* The innermost remaining frame; "": the assertion's text serves instead; NULL: the stack is not truncated, or nothing
 * is left of it. */
static const char *begins_with(const struct xc_signature *s)
{
	if (!s->weak || s->complete)
		return NULL;
	if (s->lost)
		return is_assertion(s) ? "" : NULL;
	if (s->culprit)
		return s->culprit;
	return s->sure ? name_of(s, 0) : NULL;
}

/* Uses the second frame, too, if there is one. A frame without a name matches none. */
static void ask(const struct index *index, const struct xc_signature *s, const char *build, struct answer *answer)
{
	struct beginning key = {s->program, s->class_group, begins_with(s), "", build, ROUND, 0};
	bool two = !s->lost && !s->culprit && s->sure > 1;
	look(index, &key, answer);
	key.depth = two ? TWO : ONE;
	key.second = two ? name_of(s, 1) : "";
	if (key.second)
		look(index, &key, answer);
}

/* The one matching cluster, of the same build or else of any. False if there are several, or none. */
static bool find(const struct index *index, const struct xc_signature_group *group, size_t *cluster_out)
{
	const struct xc_signature *s = group->best->signature;
	struct answer answer = {0};
	if (!s->program || !begins_with(s))
		return false;
	struct builds builds = builds_of(group);
	for (size_t i = 0; i < builds.count; i++)
		ask(index, s, builds.list[i], &answer);
	if (!answer.some)
		ask(index, s, ANY, &answer);
	free(builds.list);
	*cluster_out = answer.cluster;
	return answer.some && !answer.several;
}

void xc_truncated_stack_assign(const struct xc_signature_group *groups, size_t count, size_t *firsts, bool *guessed_out)
{
	struct index index = index_of(groups, count, firsts);
	for (size_t i = 0; i < count; i++) {
		size_t first = 0;
		guessed_out[i] = find(&index, &groups[i], &first);
		if (guessed_out[i])
			firsts[i] = first;
	}
	free(index.list);
}
