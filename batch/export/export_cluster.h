/* export_cluster: what all exports tell of a cluster, made ready once: its words and the place to look at. */
#ifndef XC_EXPORT_CLUSTER_H
#define XC_EXPORT_CLUSTER_H

#include "core/base/text.h"
#include "batch/export/export.h"

/* Strings are borrowed from the problems but for file. Those that are not known are NULL. */
struct xc_export_cluster {
	const struct xc_problem *problem;
	const struct xc_record *record; /* of the member that stands for it; NULL: it is gone, nothing else is known */
	const struct xc_signature *signature; /* likewise */
	const char *class_name;               /* never NULL: "unknown" */
	unsigned rank;                        /* of its severity */
	const char *severity;                 /* "low", …: one of ours, whatever the record says */
	const char *state;                    /* "new", …, or "expired" */
	const char *function;                 /* the place: where a person should look first */
	char *file;                           /* its path as exports write it (xc_export_path) */
	unsigned line;
	bool inside; /* the file is the repository's */
};

struct xc_export_cluster xc_export_cluster(const struct xc_problem *problem, const struct xc_export_options *options);
void xc_export_cluster_fini(struct xc_export_cluster *cluster);

/* Add a string of the target as a name (text.h) that means nothing to a CI system reading our output either: GitHub's runner takes "::error"
 * for a command at the beginning of a line, "##[" anywhere, and Azure's "##vso[". */
void xc_export_name(struct xc_text *text, const char *string);

/* Has nobody accepted it: is it new, or its note expired, or is there no baseline to know it? */
bool xc_export_is_open(const struct xc_problem *problem);

/* Has a frame a line in the repository? Where the root of its sources is not known only frames that count have: libraries of a distribution have
 * relative paths, too. */
bool xc_export_is_own(const struct xc_export_cluster *cluster, size_t index, const struct xc_export_options *options);

/* Where in the repository people shall look: the cluster's place, its first frame there that counts, or line 1 of what stands for all
 * others. Malloc'ed; NULL when there is none. */
char *xc_export_source(const struct xc_export_cluster *cluster, const struct xc_export_options *options,
		       unsigned *line_out);

/* The signature for people, "class | f1 | f2", and in brackets why it may be several problems; of one that is gone what the baseline has, or the id. Borrowed. */
const char *xc_export_signature(const struct xc_export_cluster *cluster);

/* The names of the signature, "f1 | f2 | f3", without its class; of one that is gone the signature. Borrowed. */
const char *xc_export_names(const struct xc_export_cluster *cluster);

/* "src/session.c:210", escaped as a name; "module" where there is no line; nothing when even that is unknown. */
void xc_export_place(struct xc_text *text, const struct xc_export_cluster *cluster);

/* The same of any frame. */
void xc_export_frame_place(struct xc_text *text, const struct xc_record_frame *frame,
			   const struct xc_export_options *options);

/* "heap-corruption (double free)": its class, with its kind where it has one, escaped as a name. */
void xc_export_class(struct xc_text *text, const struct xc_export_cluster *cluster);

/* "use-after-free in session_close": a headline, escaped as a name. */
void xc_export_title(struct xc_text *text, const struct xc_export_cluster *cluster);

/* Where the value came from; NULL where that is not known, or the cause says it. Borrowed. */
const char *xc_export_origin(const struct xc_record *record);

/* "use-after-free in 1 core, wild-write in 2 cores": the classes of its cores beside the one that is shown, the worst first, escaped as
 * names, without those that no certain core is of (problems.h); nothing where there is none. */
void xc_export_other_classes(struct xc_text *text, const struct xc_export_cluster *cluster);

/* In lines, each escaped as a name: its other classes, the baseline's note, why it is new or unseen, and
 * until when it is known. */
void xc_export_standing(struct xc_text *text, const struct xc_export_cluster *cluster);

/* The verdict in lines, each escaped as a name: what happened, why, where the value came from, how many cores there are, and its standing, as above. */
void xc_export_words(struct xc_text *text, const struct xc_export_cluster *cluster);

/* The thread whose frames begin with shown[row] of the signature; NULL: none does, or it is the one that died. */
const char *xc_export_thread(const struct xc_export_cluster *cluster, size_t row);

/* Rows of `shown` to show where there is room for `limit`: of several threads' stacks as many of each. Returns how many; rows_out has room for
 * `limit`. The cluster has a signature. */
size_t xc_export_rows(const struct xc_export_cluster *cluster, size_t limit, size_t *rows_out);

/* "#1 session_close src/session.c:210", below "thread 4711 "worker"" where they are not of the thread that died: a line for each frame that counts, at most `limit` of them, escaped as names. */
void xc_export_stack(struct xc_text *text, const struct xc_export_cluster *cluster,
		     const struct xc_export_options *options, size_t limit);

/* "2 unreadable, 1 timed out": of the cores that gave no verdict; nothing when there are none. */
void xc_export_failures(struct xc_text *text, const struct xc_problems *problems);

/* "480 cores → 12 clusters (3 new, 1 expired, 7 known, 1 gone)". */
void xc_export_totals(struct xc_text *text, const struct xc_problems *problems);

/* How many clusters people are shown. */
size_t xc_export_shown(const struct xc_problems *problems, const struct xc_export_options *options);

/* Take the line ends at the end off. */
void xc_export_trim(struct xc_text *text);

/* Flush what an export has written. Errors: XC_ERR_IO, also of everything written before. */
XC_MUST_CHECK struct xc_error *xc_export_end(FILE *out, const char *what);

/* The word for what became of a frame: "kept", "above", … */
const char *xc_export_fate(enum xc_frame_fate fate);

#endif
