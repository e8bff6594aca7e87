/* journal: what systemd's journal tells of crashes, for cores that lie beside it: of which service they are.
 *
 *	journalctl -o export MESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1 >crashes        (or -o json)
 *
 * Only metadata is taken; a core that is in the journal itself (Storage=journal) is passed over. The fields come from the program that
 * died, or from whoever wrote to the journal: they are hints, and hostile text. */
#ifndef XC_JOURNAL_H
#define XC_JOURNAL_H

#include "batch/input/input.h"

struct xc_journal_entry {
	const char *file; /* last component of where the core was stored; NULL: it was not */
	const char *comm; /* what the program was called; or NULL */
	const char *unit; /* of the system or, else, of the user: "nginx.service"; or NULL */
};

struct xc_journal {
	struct xc_arena arena;
	struct xc_journal_entry *entries; /* of crashes, by file; those without one first */
	size_t count;
};

/* Read a file in either format; "-" is standard input. Other entries than those of crashes are passed over, and in JSON
 * those of more than 16 MiB. Errors: those of opening and
 * reading, XC_ERR_FORMAT for what is no journal, XC_ERR_LIMIT for more than a million crashes. */
XC_MUST_CHECK struct xc_error *xc_journal_read(const char *path, struct xc_journal **journal_out);

/* Of all that xc_journal_hint could tell, in whatever order it was read; hex, the arena's. */
const char *xc_journal_digest(const struct xc_journal *journal, struct xc_arena *arena);
void xc_journal_free(struct xc_journal *journal);

/* Fill comm and unit of the inputs that are in the journal by their name, also when they were decompressed since. Returns how many. */
size_t xc_journal_hint(const struct xc_journal *journal, struct xc_inputs *inputs);

#endif
