/* lock_owner: the thread whose id a lock has in its word for the owner. In a container that id is one of the
 * container's own pid namespace. */
#ifndef XC_LOCK_OWNER_H
#define XC_LOCK_OWNER_H

#include "core/base/hashtable.h"
#include "core/process/process.h"

struct xc_lock_owner {
	const struct xc_process *process; /* borrowed */
	bool other_ids;                   /* the process has another pid namespace */
	struct xc_hashtable tids;         /* id in the process's namespace → that in ours */
	uint64_t read_ns;                 /* when they were read last */
};

void xc_lock_owner_init(struct xc_lock_owner *owner, const struct xc_process *process);
void xc_lock_owner_fini(struct xc_lock_owner *owner);

/* The thread whose id is at `word` now; 0: there is none, it is not one of the process, or it is not known. Reads the
 * memory itself, past the cache. Cost: 3 us, in a container after new threads some 20 us for each. */
pid_t xc_lock_owner_now(struct xc_lock_owner *owner, xc_addr word);

#endif
