/* export_cluster: what all exports report of a cluster: its texts, and the place to look at. */
#ifndef XC_EXPORT_CLUSTER_H
#define XC_EXPORT_CLUSTER_H

#include "core/base/text.h"
#include "batch/export/export.h"

/* Strings are borrowed from the problems, except for `file`. Unknown ones are NULL. */
struct xc_export_cluster {
	const struct xc_problem *problem;
	/* of the representative; NULL: the problem is gone, and nothing else is known */
	const struct xc_record *record;
	const struct xc_signature *signature; /* likewise */
	const char *class_name;               /* never NULL: "unknown" */
	unsigned rank;                        /* of its severity */
	const char *severity;                 /* "low", …: one of our names, whatever the record says */
	const char *state;                    /* "new", …, or "expired" */
	const char *function;                 /* the place to look at first */
	char *file;                           /* the path of the place, in exported form (xc_export_path) */
	unsigned line;
	bool inside; /* the file belongs to the repository */
};

struct xc_export_cluster xc_export_cluster(const struct xc_problem *problem, const struct xc_export_options *options);
void xc_export_cluster_fini(struct xc_export_cluster *cluster);

/* Adds a string of the target as a name (text.h) that a CI system reading our output does not interpret either.
 * GitHub's runner takes "::error" for a command at the beginning of a line, and "##[" anywhere; Azure takes
 * "##vso[". */
void xc_export_name(struct xc_text *text, const char *string);

/* Is it unaccepted: new, or expired, or without a baseline? */
bool xc_export_is_open(const struct xc_problem *problem);

/* Does a frame have a line in the repository? If the source root is unknown, only frames that count do, because
 * distributions' libraries have relative paths, too. */
bool xc_export_is_own(const struct xc_export_cluster *cluster, size_t index, const struct xc_export_options *options);

/* Where in the repository to look: the cluster's place, its first frame there that counts, or line 1 of the manifest.
 * Malloc'ed; NULL if there is none. */
char *xc_export_source(const struct xc_export_cluster *cluster, const struct xc_export_options *options,
		       unsigned *line_out);

/* The human-readable signature, "class | f1 | f2", followed by the doubt in brackets; of a gone problem the baseline's
 * text, or the id. Borrowed. */
const char *xc_export_signature(const struct xc_export_cluster *cluster);

/* The names of the signature, "f1 | f2 | f3", without its class; of a gone problem the signature. Borrowed. */
const char *xc_export_names(const struct xc_export_cluster *cluster);

/* "src/session.c:210", escaped as a name; "module" if there is no line; nothing if that is unknown, too. */
void xc_export_place(struct xc_text *text, const struct xc_export_cluster *cluster);

/* The same for any frame. */
void xc_export_frame_place(struct xc_text *text, const struct xc_record_frame *frame,
			   const struct xc_export_options *options);

/* "heap-corruption (double free)": the class with its kind, if any; escaped as a name. */
void xc_export_class(struct xc_text *text, const struct xc_export_cluster *cluster);

/* "use-after-free in session_close": a headline, escaped as a name. */
void xc_export_title(struct xc_text *text, const struct xc_export_cluster *cluster);

/* The origin of the bad value; NULL if it is unknown, or the cause mentions it. Borrowed. */
const char *xc_export_origin(const struct xc_record *record);

/* "use-after-free in 1 core, wild-write in 2 cores": the classes other than the one shown, worst first, escaped as
 * names. Omits classes without a certain core (problem.h). Nothing if there is none. */
void xc_export_other_classes(struct xc_text *text, const struct xc_export_cluster *cluster);

/* Lines, each escaped as a name: the other classes, the baseline's note, why it is new or unseen, and until when it is
 * known. */
void xc_export_standing(struct xc_text *text, const struct xc_export_cluster *cluster);

/* The verdict in lines, each escaped as a name: what happened, why, the origin of the value, the number of cores, and
 * the standing (xc_export_standing). */
void xc_export_words(struct xc_text *text, const struct xc_export_cluster *cluster);

/* The thread whose frames begin with shown[row] of the signature; NULL: none begins there, or it is the crashed
 * thread. */
const char *xc_export_thread(const struct xc_export_cluster *cluster, size_t row);

/* The rows of `shown` to print when at most `limit` fit: equally many of each thread's stack. Returns their number;
 * rows_out has room for `limit`. The cluster has a signature. */
size_t xc_export_rows(const struct xc_export_cluster *cluster, size_t limit, size_t *rows_out);

/* One line per frame that counts, at most `limit`, escaped as names: "#1 session_close src/session.c:210". Frames of a
 * thread that did not crash follow a line "thread 4711 "worker"". */
void xc_export_stack(struct xc_text *text, const struct xc_export_cluster *cluster,
		     const struct xc_export_options *options, size_t limit);

/* "2 unreadable, 1 timed out": the cores without a verdict; nothing if there are none. */
void xc_export_failures(struct xc_text *text, const struct xc_problems *problems);

/* "480 cores → 12 clusters (3 new, 1 expired, 7 known, 1 gone)". */
void xc_export_totals(struct xc_text *text, const struct xc_problems *problems);

/* The number of clusters shown to people. */
size_t xc_export_shown(const struct xc_problems *problems, const struct xc_export_options *options);

/* Removes trailing line ends. */
void xc_export_trim(struct xc_text *text);

/* Flushes what an export has written. Errors: XC_ERR_IO, also for earlier writes. */
XC_MUST_CHECK struct xc_error *xc_export_end(FILE *out, const char *what);

/* The name of a frame's fate: "kept", "above", … */
const char *xc_export_fate(enum xc_frame_fate fate);

#endif
