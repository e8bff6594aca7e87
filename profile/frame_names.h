/* frame_names: the functions of sampled addresses, with inlined ones, looked up once for each address at the end. */
#ifndef XC_FRAME_NAMES_H
#define XC_FRAME_NAMES_H

#include "core/process/process.h"
#include "profile/data/profile_data.h"
#include "profile/data/stack_store.h"

struct xc_frame_names {
	uint32_t *frames; /* of all places, one after the other; of each the innermost inlined one first */
	size_t frame_count, frame_room;
	uint32_t *starts; /* place i has the frames [starts[i], starts[i + 1]), at least one */
};

/* Look up all places of the store; their frames become rows of the data. */
void xc_frame_names_find(struct xc_frame_names *names, struct xc_profile_data *data, struct xc_process *process,
			 const struct xc_stack_store *store);
void xc_frame_names_fini(struct xc_frame_names *names);

#endif
