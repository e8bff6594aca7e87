/* baseline: the problems a project already knows of, as a text file that people edit and merge: a line a cluster, sorted.
 *
 *	# xcore baseline 4
 *
 *	match expires=2027-01-31 | heap-* | png_* # vendor's, see ticket 90
 *	# what stands right above a line stays with it
 *	3f9a2c17b0de expires=2027-01-31 severity=low class=null-read seen=+-++- sig=<hex>,<hex> | null-read | parse | main # ticket 812, fixed in 2.4
 *
 * The number is XC_SIGNATURE_VERSION: with other signatures the same crashes have other ids, and such a baseline is refused.
 *
 * A cluster is in the baseline when the sig of any of its members that count stands there (an id is the beginning of one); and when the text of
 * each of them, with or without the doubt in brackets, fits the pattern of a "match" line ('*' stands for anything): not all the same one, but none
 * is known because another is. Members that are copies or guesses do not count, nor weak ones (signature.h) of a cluster that shows a better one.
 * Of several lines that know it the cluster's own come before patterns, and of these the worst answers: one that was repaired, has expired,
 * accepts less.
 *
 * Behind " # " is a note, to the line's end; a '#' without a blank on both sides is part of the text. A sig may be cut to 12 digits or more.
 * In texts and patterns \xNN is the byte NN and \\ a backslash: so "\x23" is a '#' that begins no note.
 *
 * severity=low, class=null-read,wild-read: what was accepted; worse is new, and so is a death, of a member that counts, of a class that is not
 * there. A line without them accepts any. In the name of a class a blank is \x20 and a comma \x2c.
 *
 * seen=+-++-: the updates since it came, the last one at the end, at most 16 of them: it was there in three of five. What that says is defined by
 * batch/problems/states.h. Only whole batches count. */
#ifndef XC_BASELINE_H
#define XC_BASELINE_H

#include "core/base/arena.h"
#include "core/base/error.h"

struct xc_problem;
struct xc_problem_class;
struct xc_problem_member;
struct xc_problems;
struct xc_signature;

/* The last updates, of which the newest is bit 0. */
struct xc_baseline_updates {
	uint16_t there; /* it was there: a set bit */
	unsigned count; /* at most XC_BASELINE_WINDOW */
};

enum { XC_BASELINE_WINDOW = 16 };

struct xc_baseline_entry {
	const char *id;          /* 12 hex digits; NULL: a pattern */
	const char *match;       /* the pattern; NULL: an id */
	const char *const *sigs; /* sorted; lower-case hex, 12 to 64 digits */
	size_t sig_count;
	const char *expires;        /* "YYYY-MM-DD" or NULL: the last day on which it is known */
	const char *severity;       /* the worst that is accepted; NULL: any */
	const char *const *classes; /* that are accepted, sorted */
	size_t class_count;         /* 0: any is */
	const char *note;           /* or NULL */
	const char *text;           /* the signature for people; or NULL */
	const char *above;          /* whole lines of comments that stand before it, or "" */
	struct xc_baseline_updates updates;
	unsigned line; /* in the file */
};

struct xc_baseline {
	struct xc_arena arena;
	struct xc_baseline_entry *entries; /* patterns first, by pattern; then by id */
	size_t count;
	const char *head, *tail;             /* whole lines of comments at the top and the end, or "" */
	struct xc_baseline_prefix *prefixes; /* ids and sigs, sorted */
	size_t prefix_count;
};

/* Read from text; NULL text of an absent file is the caller's matter; an empty one is a baseline without entries.
 * Errors: XC_ERR_FORMAT with "name:LINE: ", the line itself and a hint. */
XC_MUST_CHECK struct xc_error *xc_baseline_read(const char *text, size_t len, const char *name,
						struct xc_baseline **baseline_out);
void xc_baseline_free(struct xc_baseline *baseline); /* NULL is fine */

/* Is it a day, as expires has it? */
bool xc_baseline_is_date(const char *text);

/* Sigs that the baseline writes are cut to so many digits. */
enum { XC_BASELINE_SIG = 24 };

/* How an entry stands to a cluster, best first. */
enum xc_baseline_standing {
	XC_BASELINE_LIVE,
	XC_BASELINE_MORE,     /* the cluster is worse than what was accepted, or of another class, too */
	XC_BASELINE_EXPIRED,  /* its day is over */
	XC_BASELINE_REPAIRED, /* it was away for longer than chance explains */
	XC_BASELINE_NONE,
};

struct xc_baseline_answer {
	enum xc_baseline_standing standing;    /* of entry */
	const struct xc_baseline_entry *entry; /* the one line that answers for the cluster; NULL: none knows it */
	bool contains;                         /* its id is that of a member's sig */
	bool weak;                             /* it knows it by a sig that says little */
	const struct xc_signature *unfit;      /* no line knows it, since of a member that counts the text fits no
						* pattern, though another's does; or NULL */
};

/* Ask for a cluster, by its members that count. today may be NULL: nothing has expired. Every entry that knows it by a sig is told to `each`
 * (may be NULL), maybe several times. */
struct xc_baseline_answer xc_baseline_ask(const struct xc_baseline *baseline, const struct xc_problem *problem,
					  const char *today, void (*each)(void *user, size_t entry), void *user);

/* May the member speak for its problem to the baseline: is it neither a copy nor a guess, nor weak where the problem shows a better one? */
bool xc_baseline_counts(const struct xc_problem *problem, const struct xc_problem_member *member);

/* How an entry stands by itself. */
enum xc_baseline_standing xc_baseline_standing(const struct xc_baseline_entry *entry, const char *today);

/* Is the cluster worse than what the entry accepts? */
bool xc_baseline_is_worse(const struct xc_baseline_entry *entry, const struct xc_problem *problem);

/* Does the entry accept deaths of the class? Those that are not certain need no leave. */
bool xc_baseline_accepts(const struct xc_baseline_entry *entry, const struct xc_problem_class *class);

/* Does it come and go: was it away twice in the window? Once is chance. */
bool xc_baseline_flaky(const struct xc_baseline_entry *entry);

/* In how many of the updates of the window it was there. */
unsigned xc_baseline_seen(const struct xc_baseline_entry *entry);

/* The text of a baseline that knows all of the problems: entries, notes, expiry, comments and updates of the old one (may be NULL) are
 * kept, new sigs of known clusters added, and what is more than was accepted (worse, of another class) is accepted. A partial batch (problems.h) is no
 * update: it says neither who was there nor who was away. What was repaired and is back begins anew. What has expired is left so: its day is a
 * person's; but a pattern that has, or that accepts less, does not keep a cluster from getting a line. The problems have their states against old.
 * Malloc'ed. */
char *xc_baseline_update(const struct xc_baseline *old, const struct xc_problems *problems);

#endif
