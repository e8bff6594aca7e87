#include "profile/data/profile_pair.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/data/profile_merge.h"

void xc_profile_pair_init(struct xc_profile_pair *pair, const struct xc_profile_data *earlier,
			  const struct xc_profile_data *later)
{
	struct xc_profile_data *d = xc_profile_data_new();
	xc_profile_add_all(d, earlier);
	*pair = (struct xc_profile_pair){d, d->sum_count, (uint32_t)d->thread_count};
	xc_profile_add_all(d, later);
	*d->head = *later->head;
	const char *one = xc_profile_data_text(earlier, earlier->head->title),
		   *other = xc_profile_data_text(later, later->head->title);
	xc_auto(xc_freep) char *title = xc_asprintf("%s → %s", one ? one : "?", other ? other : "?");
	xc_auto(xc_freep) char *account = xc_asprintf("%" PRIu64 " → %" PRIu64 " samples",
						      xc_profile_data_samples(earlier), xc_profile_data_samples(later));
	d->head->title = xc_profile_data_add_text(d, title);
	d->head->account = xc_profile_data_add_text(d, account);
	d->head->target = d->head->by = 0;
	d->head->events = xc_profile_data_add_text(d, xc_profile_data_text(later, later->head->events));
	d->head->runs |= earlier->head->runs;
	d->head->waits |= earlier->head->waits;
	d->head->slices = 0;
}

void xc_profile_pair_fini(struct xc_profile_pair *pair)
{
	xc_profile_data_free(pair->data);
	*pair = (struct xc_profile_pair){0};
}
