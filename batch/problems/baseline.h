/* baseline: the problems that a project already knows, as a text file that people edit and merge. One line per cluster,
 * sorted.
 *
 *  # xcore baseline 4
 *
 *  match expires=2027-01-31 | heap-* | png_* # vendor's, see ticket 90
 *  # a comment right above a line stays with it
 *  3f9a2c17b0de expires=2027-01-31 severity=low class=null-read seen=+-++- sig=<hex>,<hex> | null-read | parse | main
 *                                                                                           # ticket 812, fixed in 2.4
 *
 * (The last entry is one line in the file.) The number is XC_SIGNATURE_VERSION: other signatures give the same crashes
 * other ids, so a baseline of another version is refused.
 *
 * A cluster is known in two ways. By id: the sig of one of its counting members is listed (an id is a prefix of a sig).
 * By pattern: the text of every counting member, with or without the doubt in brackets, matches some "match" line ('*'
 * matches anything). The members may match different lines, but a member is not known because another one is. Members
 * that are copies or guesses do not count; nor do weak ones (signature.h) in a cluster that shows a better one. If
 * several lines know a cluster, its own lines precede patterns; among these the worst answers: a line that is repaired,
 * has expired or accepts less.
 *
 * A note follows " # " and extends to the end of the line; a '#' without a blank on both sides is part of the text. A
 * sig may be shortened to 12 digits or more. In texts and patterns, \xNN is the byte NN and \\ is a backslash: "\x23"
 * is a '#' that begins no note.
 *
 * severity=low, class=null-read,wild-read: what is accepted. A worse severity makes the cluster new, and so does
 * another class of a counting member. A line without these fields accepts any. In the name of a class, a blank is \x20
 * and a comma \x2c.
 *
 * seen=+-++-: presence in the updates since the entry was added, newest last, at most 16; here three of five. Its
 * meaning is defined in batch/problems/states.h. Only complete batches count. */
#ifndef XC_BASELINE_H
#define XC_BASELINE_H

#include "core/base/arena.h"
#include "core/base/error.h"

struct xc_problem;
struct xc_problem_class;
struct xc_problem_member;
struct xc_problems;
struct xc_signature;

/* Presence in the last updates; bit 0 is the newest. */
struct xc_baseline_updates {
	uint16_t there; /* a bit is set where the cluster was present */
	unsigned count; /* at most XC_BASELINE_WINDOW */
};

enum { XC_BASELINE_WINDOW = 16 };

struct xc_baseline_entry {
	const char *id;          /* 12 hex digits; NULL: a pattern */
	const char *match;       /* the pattern; NULL: the entry has an id */
	const char *const *sigs; /* sorted; lower-case hex, 12 to 64 digits */
	size_t sig_count;
	const char *expires;        /* the last day on which it is known, "YYYY-MM-DD"; or NULL */
	const char *severity;       /* the worst one accepted; NULL: any */
	const char *const *classes; /* the accepted ones, sorted */
	size_t class_count;         /* 0: any */
	const char *note;           /* or NULL */
	const char *text;           /* the human-readable signature; or NULL */
	const char *above;          /* the comment lines above it, or "" */
	struct xc_baseline_updates updates;
	unsigned line; /* line number in the file */
};

struct xc_baseline {
	struct xc_arena arena;
	struct xc_baseline_entry *entries; /* patterns first, by pattern; then by id */
	size_t count;
	const char *head, *tail;             /* the comment lines at the top and at the end, or "" */
	struct xc_baseline_prefix *prefixes; /* ids and sigs, sorted */
	size_t prefix_count;
};

/* Reads a text. An empty text is a baseline without entries; an absent file is the caller's business. Errors:
 * XC_ERR_FORMAT with "name:LINE: ", the line itself and a hint. */
XC_MUST_CHECK struct xc_error *xc_baseline_read(const char *text, size_t len, const char *name,
						struct xc_baseline **baseline_out);
void xc_baseline_free(struct xc_baseline *baseline); /* NULL is fine */

/* Is the text a valid date for `expires`? */
bool xc_baseline_is_date(const char *text);

/* Number of digits to which written sigs are shortened. */
enum { XC_BASELINE_SIG = 24 };

/* How an entry relates to a cluster, best first. */
enum xc_baseline_standing {
	XC_BASELINE_LIVE,
	XC_BASELINE_MORE,     /* the cluster is worse than accepted, or has a class that is not */
	XC_BASELINE_EXPIRED,  /* its expiry date has passed */
	XC_BASELINE_REPAIRED, /* it was absent for longer than chance explains */
	XC_BASELINE_NONE,
};

struct xc_baseline_answer {
	enum xc_baseline_standing standing;    /* of `entry` */
	const struct xc_baseline_entry *entry; /* the line that decides; NULL: none knows the cluster */
	bool contains;                         /* its id is the prefix of a member's sig */
	bool weak;                             /* it knows the cluster by a weak sig */
	/* if no line knows the cluster because this counting member matches no pattern, while another one does; else
	 * NULL */
	const struct xc_signature *unfit;
};

/* Looks a cluster up by its counting members. today may be NULL: nothing has expired. Calls `each` (may be NULL) for
 * every entry that knows the cluster by a sig, possibly several times. */
struct xc_baseline_answer xc_baseline_ask(const struct xc_baseline *baseline, const struct xc_problem *problem,
					  const char *today, void (*each)(void *user, size_t entry), void *user);

/* Does the member count for the baseline? It does unless it is a copy, a guess, or weak while the problem shows a
 * better one. */
bool xc_baseline_counts(const struct xc_problem *problem, const struct xc_problem_member *member);

/* The standing of an entry by itself. */
enum xc_baseline_standing xc_baseline_standing(const struct xc_baseline_entry *entry, const char *today);

/* Is the cluster worse than what the entry accepts? */
bool xc_baseline_is_worse(const struct xc_baseline_entry *entry, const struct xc_problem *problem);

/* Does the entry accept the class? A class without certain members needs no acceptance. */
bool xc_baseline_accepts(const struct xc_baseline_entry *entry, const struct xc_problem_class *class);

/* Does it come and go: was it absent at least twice in the window? One absence is chance. */
bool xc_baseline_flaky(const struct xc_baseline_entry *entry);

/* The number of updates in the window in which it was present. */
unsigned xc_baseline_seen(const struct xc_baseline_entry *entry);

/* The text of a baseline that knows all problems. Keeps entries, notes, expiry dates, comments and updates of the old
 * baseline (may be NULL), adds new sigs of known clusters, and accepts what exceeds the old acceptance (a worse
 * severity, another class). A partial batch (problem.h) is not an update: it proves neither presence nor absence. A
 * repaired cluster that is back begins anew. An expired line stays expired, because only people set dates; but an
 * expired or exceeded pattern does not prevent a new line for the cluster. The problems have their states against the
 * old baseline. Malloc'ed. */
char *xc_baseline_update(const struct xc_baseline *old, const struct xc_problems *problems);

#endif
