/* record: what is known about one crash, in a few kilobytes: batch triage stores, compares and exports records.
 *
 * A record is written by a sandboxed worker and read by processes that never see the core; so readers treat it as
 * hostile. It contains no time, host name or directory of the machine that made it: the same core gives the same bytes
 * everywhere. Which frames count, and how they are named for comparison, is decided later (signature.h), so new rules
 * do not need the core. Strings are redacted when the record is made, unless --no-redact. */
#ifndef XC_RECORD_H
#define XC_RECORD_H

#include <jansson.h>

#include "core/base/arena.h"
#include "core/base/error.h"
#include "batch/util/pool.h"

#define XC_RECORD_SCHEMA "xcore.record/1"

struct xc_file_dependency;

enum {
	XC_RECORD_FRAMES = 256,  /* rows kept of all stacks: equally many of each, half innermost, half outermost */
	XC_RECORD_TEXT = 4096,   /* bytes per string */
	XC_RECORD_MAX = 1 << 20, /* bytes of a record as JSON */
};

/* The outcome of reading a core. Each is a result; none stops a batch. */
enum xc_record_status {
	XC_RECORD_OK,         /* there is a verdict */
	XC_RECORD_UNREADABLE, /* not a core, or nothing could be read from it */
	XC_RECORD_TIMEOUT,    /* the worker exceeded its time limit */
	XC_RECORD_LIMIT,      /* a limit was exceeded: memory, size of the core, size of the record */
	XC_RECORD_DIED,       /* the worker died of a signal: a bug in xcore, worth a report */
};

/* A row of a stack, innermost first; inlined functions have rows of their own. Strings may be NULL: unknown. */
struct xc_record_frame {
	const char *function; /* demangled, with parameters if the name has them */
	const char *module;   /* last component of its path */
	const char *build_id; /* of the module, hex */
	const char *package;  /* "name version" from the module's .note.package */
	bool has_offset;
	uint64_t offset; /* of the pc in the module's file */
	/* "c", "c++", "go", "rust": from debug information or the symbol's mangled name (language.h) */
	const char *language;
	const char *file;  /* as the compiler recorded it */
	unsigned line;     /* 0: unknown */
	const char *trust; /* "context", "cfi", "fp", "scan" */
	bool inlined, signal;
	bool unverified; /* the module's file could not be verified */
	/* in the first row of another thread's stack: "thread 4711 \"worker\"". NULL in the first row of a record whose
	 * only stack is the crashed thread's */
	const char *thread;
};

/* Counts for the quality of a trace (satyr's idea): frames with a name, and all frames. */
struct xc_record_known {
	unsigned named, all;
};

struct xc_record {
	enum xc_record_status status;
	const char *why;     /* if not OK: one line; else NULL */
	bool unlooked;       /* could not be examined for reasons outside of the core; never stored, not serialised */
	bool passing;        /* may differ elsewhere or later, so not for the checkpoint */
	const char *path;    /* relative to the given directory, or the given name: input.h */
	const char *shown;   /* the path in answers, where redaction changes it; else NULL: xc_record_shown */
	const char *core_id; /* facts.h; NULL if the headers could not be read */
	uint64_t stored;     /* stored bytes of the file */
	uint64_t size;       /* bytes of the inflated core; 0: unknown */
	uint64_t missing;    /* bytes that the headers declare and the file lacks */

	/* Only if OK. Strings may be NULL: unavailable. */
	const char *note;                                      /* what was left out, one line */
	const char *program;                                   /* last component of the executable's path */
	const char *build_id;                                  /* of the executable, hex */
	const char *package;                                   /* "name version" from the executable's .note.package */
	const char *arch;                                      /* "x86_64" */
	const char *signal;                                    /* "SIGSEGV" */
	const char *class_name, *kind, *severity, *confidence; /* of the verdict: report.h; only kind may be NULL */
	const char *headline, *cause, *expression, *origin, *message;
	const char *function, *file; /* of the culprit: the place to look at first */
	unsigned line;
	const char *thread; /* name of the crashed thread */
	unsigned threads;   /* number of threads */
	/* of the crashed thread; if the verdict is about others (a deadlock), of these, one after the other */
	struct xc_record_frame *frames;
	size_t frame_count;
	/* number of omitted rows, before frames[elided_at]; of several stacks the sum, at the first such place */
	uint64_t elided;
	size_t elided_at;
	const char *cycle; /* folded recursion: "14,310 × [parse_value → parse_array]", or NULL */
	size_t fault_at;   /* rows before this one belong to a handler that the fault called; 0: none */
	const char *stop;  /* why the stack ends */
	const char *unit;  /* hint: its service, from the journal (journal.h) */
	/* Of all threads; of the stacks in `frames`; of the first five rows of each of these. */
	struct xc_record_known every, crashed, top;
	bool without_exe;    /* --exe was given, but is not this core's program */
	const char **absent; /* modules whose file was not found or was rejected: "libfoo.so.1 BUILDID: why" */
	size_t absent_count;
	/* The files it depends on (file_dependency.h): local to this machine, not serialised. */
	struct xc_file_dependency **dependencies;
	size_t dependency_count;
};

/* "ok", "unreadable", "timeout", "limit", "died". */
const char *xc_record_status_name(enum xc_record_status status);

/* A text in the form used in records: non-printable bytes become \xNN (jsonvalue.h), and a long text is cut between
 * characters. In the arena. NULL stays. */
const char *xc_record_text(struct xc_arena *arena, const char *text);

/* As a JSON object, with a member for each known value, in the order of this header; new. */
json_t *xc_record_json(const struct xc_record *record);

/* From such an object. Excess is cut, absent values are NULL. Everything is allocated in the pool's arena; texts and
 * stacks may be shared through the pool and are read-only. Errors: XC_ERR_FORMAT (not an object, another schema, a
 * member of the wrong type, no path). */
XC_MUST_CHECK struct xc_error *xc_record_parse(const json_t *object, struct xc_pool *pool,
					       struct xc_record **record_out);

/* From one line of JSON text, with a pool, or without sharing. Errors: as above, and XC_ERR_LIMIT beyond
 * XC_RECORD_MAX. */
XC_MUST_CHECK struct xc_error *xc_record_read_into(const char *line, size_t len, struct xc_pool *pool,
						   struct xc_record **record_out);
XC_MUST_CHECK struct xc_error *xc_record_read(const char *line, size_t len, struct xc_arena *arena,
					      struct xc_record **record_out);

/* Shortens the record so that it can be written and read as a line, even if `unit` and `program` are set afterwards:
 * drops rows and missing modules until it is well below XC_RECORD_MAX bytes, and mentions that in `note`. Its texts are
 * in the form of xc_record_text. */
void xc_record_fit(struct xc_record *record, struct xc_arena *arena);

/* A record of a failure, with its reason. path and why are copied. */
struct xc_record *xc_record_failed(struct xc_arena *arena, enum xc_record_status status, const char *path,
				   const char *why);

/* The end of the stack that begins at frames[from]; and the start of the stack that contains frames[index]. */
size_t xc_record_stack_end(const struct xc_record *record, size_t from);
size_t xc_record_stack_start(const struct xc_record *record, size_t index);

/* The number of stacks; 0 without frames. */
size_t xc_record_stack_count(const struct xc_record *record);

/* The thread of frames[index], from the first row of its stack; or NULL. */
const char *xc_record_thread(const struct xc_record *record, size_t index);

/* The path for answers. Kernels make names of cores from names that programs choose (core_pattern's %e). */
static inline const char *xc_record_shown(const struct xc_record *record)
{
	return record->shown ? record->shown : record->path;
}

/* The order of all written records: by path, bytewise. For qsort of pointers to records. */
int xc_record_compare(const void *a, const void *b);

#endif
