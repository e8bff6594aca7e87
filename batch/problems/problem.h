/* problem: a cluster of cores that died of one cause, and the list of them that a batch gives. */
#ifndef XC_PROBLEM_H
#define XC_PROBLEM_H

#include "core/base/arena.h"
#include "triage/util/severity.h"
#include "batch/record/record.h"
#include "batch/signature/signature.h"

enum xc_problem_state {
	XC_PROBLEM_OPEN,   /* there is no baseline to compare with */
	XC_PROBLEM_NEW,    /* not in the baseline */
	XC_PROBLEM_KNOWN,  /* in the baseline */
	XC_PROBLEM_GONE,   /* in the baseline only: it has no members */
	XC_PROBLEM_FLAKY,  /* in the baseline, and known to come and go */
	XC_PROBLEM_UNSEEN, /* in the baseline only, and nothing follows of that: `why` */
	XC_PROBLEM_STATES,
};

/* A core of a cluster. */
struct xc_problem_member {
	const struct xc_record *record;
	const struct xc_signature *signature;
	const char *
		copy_of; /* path of another record with the same core id, of which this is a copy or a cut one; or NULL */
	bool guessed; /* its stack was cut short, and no other problem begins with what is left (truncated_stack.h) */
	size_t class_at; /* index of its class in its problem's classes */
};

/* The deaths of one class in a cluster. */
struct xc_problem_class {
	const char *name; /* "use-after-free"; never empty: "unknown" */
	size_t count;     /* of its members */
	size_t certain;   /* of these, those that may speak for the problem to the baseline (xc_baseline_counts) */
	size_t best; /* index of the member to look at, as for the representative; a guess or a copy where all are */
	const char *severity; /* of that */
};

/* One cluster. */
struct xc_problem {
	char id[13]; /* first 12 hex digits of the smallest sig of its members that are not guessed, or what the baseline knows it by */
	enum xc_problem_state state;
	struct xc_problem_member *members; /* by path */
	size_t member_count;
	size_t guessed;        /* how many of its members are */
	size_t representative; /* index of the one of the worst severity, then whose stack is whole, of which least is missing, with the best trace, of the
				* smallest core; neither a copy nor guessed */
	struct xc_problem_class
		*classes; /* those with a certain member first, then by severity, count and name: the worst first */
	size_t class_count;
	size_t unique;        /* different sig_exact among its members */
	const char *severity; /* the worst of its members', copies and guessed ones left out */
	const char *note;     /* of the baseline, or NULL; also of one that came back after it was repaired */
	const char *
		why; /* it is unseen, or new though known, how often it was there (flaky), or by how little it is known; or NULL */
	const char *text; /* of one that is gone or unseen: the signature for people, as the baseline has it; or NULL */
	const char *expires; /* "2027-01-31", or NULL */
	bool expired;        /* known, but its note has run out: counts as new for the exit status */
};

struct xc_problems {
	struct xc_arena arena;
	struct xc_problem *problems; /* new first, then by severity, size, id */
	size_t count;
	const struct xc_record **failed; /* not OK, by path */
	size_t failed_count;
	size_t cores; /* all records */
	size_t unread; /* files and directories that could not be read (input.h), beside the cores; set by who made the records */
	size_t counts[XC_PROBLEM_STATES];
	const char **missing_parts; /* "part-00003-of-00008.jsonl": of a merge that is not whole */
	size_t missing_part_count;
	const char *
		partial; /* why this batch does not tell what is gone: "part-00003-of-00008.jsonl is missing"; NULL: it is whole */
	const char *version; /* of xcore that made the records */
	const char *config;  /* hash of what decides about a record */
};

/* The member that stands for the cluster; NULL for one that is gone or unseen. */
const struct xc_problem_member *xc_problem_shown(const struct xc_problem *problem);

/* May the member give its problem an id and a face? Is it neither a copy nor guessed? */
bool xc_problem_stands(const struct xc_problem_member *member);

/* "open", "new", "known", "gone", "flaky", "unseen". */
const char *xc_problem_state_name(enum xc_problem_state state);

#endif
