/* problem: a cluster of cores that crashed for the same cause, and the result of a batch as a list of them. */
#ifndef XC_PROBLEM_H
#define XC_PROBLEM_H

#include "core/base/arena.h"
#include "triage/util/severity.h"
#include "batch/record/record.h"
#include "batch/signature/signature.h"

enum xc_problem_state {
	XC_PROBLEM_OPEN,   /* no baseline was given */
	XC_PROBLEM_NEW,    /* not in the baseline */
	XC_PROBLEM_KNOWN,  /* in the baseline */
	XC_PROBLEM_GONE,   /* only in the baseline; it has no members */
	XC_PROBLEM_FLAKY,  /* in the baseline, and it comes and goes */
	XC_PROBLEM_UNSEEN, /* only in the baseline, but not gone for certain: see `why` */
	XC_PROBLEM_STATES,
};

/* A core of a cluster. */
struct xc_problem_member {
	const struct xc_record *record;
	const struct xc_signature *signature;
	/* path of another record with the same core id, of which this is a complete or truncated copy; or NULL */
	const char *copy_of;
	/* its stack is truncated, and no other problem begins with the remaining frames (truncated_stack.h) */
	bool guessed;
	size_t class_at; /* index in its problem's classes */
};

/* The crashes of one class in a cluster. */
struct xc_problem_class {
	const char *name; /* "use-after-free"; never empty: "unknown" */
	size_t count;     /* number of members */
	size_t certain;   /* members that count for the baseline (xc_baseline_counts) */
	size_t best; /* index of the best member, ranked like the representative; a guess or a copy only if all are */
	const char *severity; /* of the best member */
};

/* A problem: a cluster, with its id and what a baseline says of it. */
struct xc_problem {
	/* first 12 hex digits of the smallest sig of its members that are not guessed, or its id in the baseline */
	char id[13];
	enum xc_problem_state state;
	struct xc_problem_member *members; /* by path */
	size_t member_count;
	size_t guessed; /* number of guessed members */
	/* index of the member with the worst severity, then a complete stack, the fewest missing bytes, the best trace,
	 * the smallest core; neither a copy nor guessed */
	size_t representative;
	struct xc_problem_class
		*classes; /* classes with a certain member first, then by severity, count and name: worst first */
	size_t class_count;
	size_t unique;        /* number of distinct sig_exact among its members */
	const char *severity; /* the worst of its members, without copies and guesses */
	const char *note;     /* from the baseline, or NULL; also for a repaired problem that is back */
	const char *why;      /* why it is unseen, new although listed, flaky, or known only weakly; or NULL */
	const char *text;     /* if gone or unseen: the human-readable signature in the baseline; or NULL */
	const char *expires;  /* "2027-01-31", or NULL */
	bool expired;         /* known, but past its expiry date; counts as new for the exit status */
};

struct xc_problems {
	struct xc_arena arena;
	struct xc_problem *problems; /* new first, then by severity, size, id */
	size_t count;
	const struct xc_record **failed; /* not OK, by path */
	size_t failed_count;
	size_t cores; /* all records */
	/* files and directories, besides cores, that could not be read (input.h); set by whoever made the records */
	size_t unread;
	size_t counts[XC_PROBLEM_STATES];
	const char **missing_parts; /* of an incomplete merge: "part-00003-of-00008.jsonl" */
	size_t missing_part_count;
	/* why this batch cannot tell what is gone: "part-00003-of-00008.jsonl is missing"; NULL: it is complete */
	const char *partial;
	const char *version; /* of the xcore that made the records */
	const char *config;  /* hash of the settings that affect a record */
};

/* The representative of the cluster; NULL if it is gone or unseen. */
const struct xc_problem_member *xc_problem_shown(const struct xc_problem *problem);

/* May the member give its problem an id and represent it? It may unless it is a copy or guessed. */
bool xc_problem_stands(const struct xc_problem_member *member);

/* "open", "new", "known", "gone", "flaky", "unseen". */
const char *xc_problem_state_name(enum xc_problem_state state);

#endif
