/* journal: facts about crashes from systemd's journal, for core files next to it: the service of each.
 *
 *	journalctl -o export MESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1 >crashes        (or -o json)
 *
 * Only metadata is read; a core inside the journal (Storage=journal) is skipped. The fields come from the crashed
 * program, or from anybody who wrote to the journal: they are hints, and hostile text. */
#ifndef XC_JOURNAL_H
#define XC_JOURNAL_H

#include "batch/input/input.h"

struct xc_journal_entry {
	const char *file; /* last component of the stored core's path; NULL: it was not stored */
	const char *comm; /* the program's name; or NULL */
	const char *unit; /* the system's unit or else the user's: "nginx.service"; or NULL */
};

struct xc_journal {
	struct xc_arena arena;
	struct xc_journal_entry *entries; /* crashes by file; those without one first */
	size_t count;
};

/* Reads a file in either format; "-" is standard input. Skips entries that are not crashes, and JSON entries of more
 * than 16 MiB. Errors: those of opening and reading; XC_ERR_FORMAT if it is not a journal; XC_ERR_LIMIT beyond a
 * million crashes. */
XC_MUST_CHECK struct xc_error *xc_journal_read(const char *path, struct xc_journal **journal_out);

/* A digest of everything that xc_journal_hint can use, independent of order; hex, in the arena. */
const char *xc_journal_digest(const struct xc_journal *journal, struct xc_arena *arena);
void xc_journal_free(struct xc_journal *journal);

/* Sets comm and unit of the inputs that the journal knows by file name, also if they were decompressed since. Returns
 * their number. */
size_t xc_journal_hint(const struct xc_journal *journal, struct xc_inputs *inputs);

#endif
