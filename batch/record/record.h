/* record: what one core tells of its death, in a few kilobytes: what batch triage keeps, compares and exports.
 *
 * A record is written by a sandboxed worker and read by processes that never see the core, so the reader takes its bytes for hostile.
 * It holds no time, no host and no directory of the machine it was made on: the same core gives the same bytes wherever it is
 * looked at. Which frames count, and what they are called for comparison, is decided later (signature.h), so that new rules need no
 * core. Strings were redacted when the record was made, unless --no-redact. */
#ifndef XC_RECORD_H
#define XC_RECORD_H

#include <jansson.h>

#include "core/base/arena.h"
#include "core/base/error.h"
#include "batch/util/pool.h"

#define XC_RECORD_SCHEMA "xcore.record/1"

struct xc_file_dependency;

enum {
	XC_RECORD_FRAMES = 256,  /* rows that are kept of all stacks: of each as many, half innermost, half outermost */
	XC_RECORD_TEXT = 4096,   /* bytes of one string */
	XC_RECORD_MAX = 1 << 20, /* bytes of a record as JSON */
};

/* How reading the core went. Each is a result; none stops a batch. */
enum xc_record_status {
	XC_RECORD_OK,         /* there is a verdict */
	XC_RECORD_UNREADABLE, /* no core, or nothing could be had of it */
	XC_RECORD_TIMEOUT,    /* the worker was ended for its time */
	XC_RECORD_LIMIT,      /* memory, size of the core, size of the record */
	XC_RECORD_DIED,       /* the worker died of a signal: a fault of ours, worth a report */
};

/* One row of a stack, inline functions as rows of their own, innermost first. Strings may be NULL: not known. */
struct xc_record_frame {
	const char *function; /* as demangled, with its parameters where the name has them */
	const char *module;   /* last component of its path */
	const char *build_id; /* of the module, hex */
	const char *package;  /* "name version" by .note.package of the module */
	bool has_offset;
	uint64_t offset; /* of the pc in the module's file */
	const char *
		language; /* "c", "c++", "go", "rust": by debug information or its symbol's mangled name (language.h) */
	const char *file; /* as the compiler recorded it */
	unsigned line;    /* 0: not known */
	const char *trust; /* "context", "cfi", "fp", "scan" */
	bool inlined, signal;
	bool unverified; /* the module's file could not be verified */
	const char *
		thread; /* where another thread's stack begins: "thread 4711 \"worker\"". Of the first row it is NULL where the
			     * record has one stack only, and that of the thread that died. */
};

/* What is counted for the quality of a trace (satyr's idea): frames with a name, of all. */
struct xc_record_known {
	unsigned named, all;
};

struct xc_record {
	enum xc_record_status status;
	const char *why;     /* not OK: one line; else NULL */
	bool unlooked;       /* for a reason that is not the core's: never kept, and not written of it */
	bool passing;        /* elsewhere or later it may be another: not for the checkpoint */
	const char *path;    /* below the directory that was given, or the name as given: input.h */
	const char *core_id; /* facts.h; NULL when the headers could not be read */
	uint64_t stored;     /* bytes of the file, as it is stored */
	uint64_t size;       /* bytes of the core after inflating; 0: not known */
	uint64_t missing;    /* bytes that the headers promise and the file does not have */

	/* Of a record that is OK; strings may be NULL where it could not be had. */
	const char *note;                                      /* what was left out, one line */
	const char *program;                                   /* last component of the executable's path */
	const char *build_id;                                  /* of the executable, hex */
	const char *package;                                   /* "name version" by .note.package of the executable */
	const char *arch;                                      /* "x86_64" */
	const char *signal;                                    /* "SIGSEGV" */
	const char *class_name, *kind, *severity, *confidence; /* of the verdict: report.h; never NULL but kind */
	const char *headline, *cause, *expression, *origin, *message;
	const char *function, *file; /* of the culprit: where a person should look first */
	unsigned line;
	const char *thread; /* name of the crashed thread */
	unsigned threads;   /* how many there were */
	struct xc_record_frame *
		frames; /* of the thread that died; where the verdict is about others (a deadlock) theirs, one after the other */
	size_t frame_count;
	uint64_t
		elided; /* rows that were left out, before frames[elided_at]; of several stacks those of all, at the first such place */
	size_t elided_at;
	const char *cycle; /* "14,310 × [parse_value → parse_array]": recursion as it was folded, or NULL */
	size_t fault_at;   /* rows before this one are of a handler that the fault called; 0: none */
	const char *stop;  /* why the stack ends */
	const char *unit;  /* the service it was of, by the journal (journal.h): a hint */
	/* Of all threads; of the stacks of `frames`; of the first five rows of each of these. */
	struct xc_record_known every, crashed, top;
	bool without_exe;    /* --exe was given, and is not its program */
	const char **absent; /* modules whose file was not found or was refused: "libfoo.so.1 BUILDID: why" */
	size_t absent_count;
	/* Files that it was made with and without (file_dependency.h): of this machine, and not written of it. */
	struct xc_file_dependency **dependencies;
	size_t dependency_count;
};

/* "ok", "unreadable", "timeout", "limit", "died". */
const char *xc_record_status_name(enum xc_record_status status);

/* A text as records have it: what is no printable text is \xNN (jsonvalue.h), and what is too long is cut between characters. Arena's. NULL
 * stays. */
const char *xc_record_text(struct xc_arena *arena, const char *text);

/* As a JSON object, a member for each that is known, in this header's order; new. */
json_t *xc_record_json(const struct xc_record *record);

/* From such an object; what it has too much of is cut, what is missing is NULL. All of the record, strings too, is put into the pool's
 * arena; texts and stacks that the pool has are shared: they are not to be written to.
 * Errors: XC_ERR_FORMAT (no object, another schema, a member of another type, no path). */
XC_MUST_CHECK struct xc_error *xc_record_parse(const json_t *object, struct xc_pool *pool,
					       struct xc_record **record_out);

/* From one line of JSON text, by a pool, or all of it anew. Errors: as above, XC_ERR_LIMIT beyond XC_RECORD_MAX. */
XC_MUST_CHECK struct xc_error *xc_record_read_into(const char *line, size_t len, struct xc_pool *pool,
						   struct xc_record **record_out);
XC_MUST_CHECK struct xc_error *xc_record_read(const char *line, size_t len, struct xc_arena *arena,
					      struct xc_record **record_out);

/* Make it so short that it can be written as a line and read again, also when `unit` and `program` are set afterwards: rows of the stack
 * and absent modules go until it has less than XC_RECORD_MAX bytes by some; `note` then says so. Texts in it are as xc_record_text makes
 * them. */
void xc_record_fit(struct xc_record *record, struct xc_arena *arena);

/* A record that says why there is none. path and why are copied. */
struct xc_record *xc_record_failed(struct xc_arena *arena, enum xc_record_status status, const char *path,
				   const char *why);

/* Where the stack that begins at frames[from] ends, and where the one begins that frames[index] is of. */
size_t xc_record_stack_end(const struct xc_record *record, size_t from);
size_t xc_record_stack_start(const struct xc_record *record, size_t index);

/* How many stacks there are; 0 without a frame. */
size_t xc_record_stack_count(const struct xc_record *record);

/* The thread that frames[index] is of, as its stack's first row says it; or NULL. */
const char *xc_record_thread(const struct xc_record *record, size_t index);

/* The order of everything that is written of records: by path, byte by byte. For qsort of pointers to records. */
int xc_record_compare(const void *a, const void *b);

#endif
