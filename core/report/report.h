/* report: the result of a command, independent of its presentation.
 *
 * Producers add typed sections and never see a FILE; renderers (render_text, render_json, render_html)
 * take a const report and never see a process. Units live in the type. Everything is copied into the report's
 * arena, so a report outlives its process.
 * The JSON form is complete and versioned: core/report/report.schema.json. */
#ifndef XC_REPORT_H
#define XC_REPORT_H

#include <stdio.h>

#include "core/base/arena.h"
#include "core/base/error.h"

enum xc_field_kind {
	XC_FIELD_TEXT,
	XC_FIELD_COUNT,   /* items */
	XC_FIELD_INTEGER, /* signed */
	XC_FIELD_BYTES,   /* a size in bytes */
	XC_FIELD_ADDRESS,
	XC_FIELD_BOOL,
	XC_FIELD_SECONDS, /* a time span */
	XC_FIELD_NUMBER,  /* a real number without a unit */
	XC_FIELD_RATIO,   /* a fraction of one, shown in per cent */
	XC_FIELD_VALUE,   /* fields only: a typed value, as text and, in the field, as JSON */
	XC_FIELD_NULL,    /* unknown; text is the reason */
};

/* A typed scalar: a field of a section or a cell of a table. */
struct xc_cell {
	enum xc_field_kind kind;
	const char *text;     /* TEXT, VALUE; for NULL the reason, or NULL */
	uint64_t number;      /* COUNT, BYTES, ADDRESS, BOOL; INTEGER as two's complement */
	double real;          /* SECONDS, NUMBER, RATIO; finite */
	bool secret;          /* may hold the user's data: redaction shows XC_REDACTED in every format, */
	const char *redacted; /* or this text without that data, when it is not NULL */
};

struct json_t;

struct xc_field {
	const char *key;   /* JSON key: lower_case */
	const char *label; /* for people */
	struct xc_cell cell;
	struct json_t *json; /* VALUE: an object with a member "value"; owned by the report */
	bool quiet;          /* JSON only: people see it in the section's headline */
	bool whole;          /* a command to copy: on one line, however long */
};

struct xc_column {
	const char *key, *label;
	enum xc_field_kind kind; /* of its cells, for alignment; a cell may also be NULL */
	bool verbose;            /* omitted from text when the table is too wide */
};

struct xc_table {
	struct xc_column *columns;
	size_t column_count;
	struct xc_cell *cells; /* row_count * column_count */
	size_t row_count, cell_capacity;
};

enum xc_severity { XC_INFO, XC_WARNING, XC_PROBLEM };

struct xc_message { /* a note: what is missing, uncertain or wrong */
	enum xc_severity severity;
	const char *text;
	const char *hint; /* or NULL */
};

/* A named, typed value of a frame. Exactly one of value and why is set. */
struct xc_variable_text {
	const char *name, *type;
	const char *short_type; /* a shorter form for people: std::vector<int>; else NULL */
	const char *value;      /* text, as dwarf/format writes it */
	const char *why;        /* the reason for no value: "optimized out", "0x10: not dumped into the core", … */
	bool guessed;           /* recovered from a call site (entry value), no longer stored */
};

#define XC_OPINION_SAME "same"

/* One row of a stack; inline frames are rows of their own, innermost first. */
struct xc_stack_row {
	unsigned index; /* for a guest: that of the machine frame before it */
	xc_addr pc;
	xc_addr sp;           /* 0: unknown */
	const char *function; /* NULL when unknown */
	bool guest; /* of an interpreter, from a plugin: a caller of the row before. Without number; pc 0: none */
	const char *language; /* "lua"; NULL for a machine frame */
	int code_language;    /* of a machine frame: DW_LANG_…; 0: unknown */
	const char *kind;     /* of a guest: "function", "builtin", …; or NULL */
	uint64_t left_out;    /* guests omitted just before it */
	bool inlined, signal;
	bool tail_call;       /* left the stack by a tail call; known from call sites */
	bool tail_partial;    /* further tail calls between its neighbours on the stack are unknown */
	const char *trust;    /* "context", "cfi", "fp", "scan", "plugin"; NULL for a guest */
	const char *opinion;  /* libunwind's: XC_OPINION_SAME, or the frame that it has instead; NULL: not asked */
	const char *module;   /* path, or NULL */
	const char *build_id; /* hex, or NULL */
	bool unverified;      /* the module's file could not be verified */
	bool has_offset;
	uint64_t offset;  /* pc as an address in the module's file */
	const char *file; /* full path as the compiler recorded it, or NULL */
	unsigned line;    /* 0 when unknown */
	unsigned column;  /* 0 when unknown */
	struct xc_variable_text *args, *locals;
	size_t arg_count, local_count;
	bool has_variables; /* args and locals were requested */
	bool runtime;       /* in the C library, the loader or the C++ runtime: brief stacks show no locals */
	bool startup;       /* calls main or the start function of a thread: brief stacks show no values */
};

struct xc_stack {
	int tid;
	bool detached;    /* on no thread, as that of a coroutine; the tid is 0, the name describes it */
	const char *name; /* or NULL */
	bool crashed;
	bool signalled;    /* another thread or process sent the signal */
	const char *state; /* "sleeping", "running", …; NULL for cores */
	struct xc_stack_row *rows;
	size_t row_count;
	uint64_t elided; /* frames omitted between rows[elided_at - 1] and rows[elided_at] */
	size_t elided_at;
	const char *stop;  /* the reason for the end of unwinding */
	const char *cycle; /* "14,310 × [parse_value → parse_array]" for folded recursion, or NULL */
	const char *how;   /* live: the source of its registers, or NULL */
	const char *role;  /* the start function of its thread, if requested and known; not for the first thread */
	const char *waits; /* the object its thread waits for, likewise: "read from descriptor 5 = /path" */
	const char *waits_redacted; /* the same, redacted */
};

/* A group of threads with equal stacks. The stack of members[0] represents them. */
struct xc_stack_group {
	size_t *members; /* indexes into stacks */
	size_t member_count;
	bool alike;          /* all wait for the same object */
	bool on_descriptors; /* each waits for a descriptor */
};

struct xc_stacks {
	struct xc_stack *stacks;
	size_t stack_count;
	struct xc_stack_group *groups; /* only when grouping was requested */
	size_t group_count;
	bool full;  /* show locals in text */
	bool brief; /* text and HTML: only the crashed thread shows values, and only where the program's own code is;
		     * groups may differ in how often a function calls itself */
};

/* A range of values and the number of values in it. */
struct xc_bucket {
	struct xc_cell lo, hi; /* of one kind; hi is inclusive for integer kinds, else exclusive */
	uint64_t count;
};

struct xc_histogram {
	const char *label;
	enum xc_field_kind kind;   /* of the values: COUNT, INTEGER, BYTES, SECONDS, NUMBER */
	struct xc_bucket *buckets; /* in ascending order */
	size_t bucket_count;
	uint64_t count;                 /* of all */
	struct xc_cell least, greatest; /* NULL cells when there are none */
	struct xc_cell sum, mean;       /* NUMBER, or SECONDS */
};

enum xc_item_kind {
	XC_ITEM_FIELD,
	XC_ITEM_TABLE,
	XC_ITEM_MESSAGE,
	XC_ITEM_STACKS,
	XC_ITEM_TEXT,
	XC_ITEM_TREE,
	XC_ITEM_DOCUMENT,
	XC_ITEM_HISTOGRAM,
};

struct xc_stacktree;

/* Content with separate forms for people and programs: the layout of a type, code. */
struct xc_document {
	const char *text;    /* preformatted lines */
	struct json_t *json; /* an object; owned by the report */
};

/* One item of a section, in order. */
struct xc_item {
	struct xc_item *next;
	enum xc_item_kind kind;
	union {
		struct xc_field field;
		struct xc_table *table;
		struct xc_message message;
		struct xc_stacks *stacks;
		const char *text;                /* preformatted lines: source, code, hex dump */
		const struct xc_stacktree *tree; /* borrowed, must outlive the report */
		struct xc_document document;
		const struct xc_histogram *histogram;
	};
	const char *key;   /* JSON key of items other than fields and messages; unique among its kind in its section */
	const char *label; /* TEXT, TREE: a line above it for people, or NULL */
	bool secret;       /* TEXT: see xc_cell */
	bool quiet;        /* TEXT: JSON only */
};

struct xc_section {
	struct xc_section *next;
	struct xc_report *report;
	const char *key, *title;
	const char *schema;   /* set when the section alone is a document, such as "xcore.bt/1" */
	const char *headline; /* one line for people below the title, or NULL; never in JSON, so it may contain
			       * facts that differ between copies of a core: name, size and time of its file */
	struct xc_item *items, **items_end;
	bool brief; /* text and HTML: the headline and messages only; JSON has all */
};

/* The verdict comes first in `analyze`. triage/cause.c fills it. */
struct xc_verdict {
	const char *class_name; /* "null-write", "assertion", … */
	const char *kind;       /* of the class: "double free", "call"; NULL when it has none or it is unknown */
	const char *headline;   /* "SIGSEGV: wrote to 0x18, …" */
	const char *severity;   /* "low", "medium", "high", "critical", "info" */
	const char *confidence; /* "certain", "likely", "guess" */
	const char *function, *file, *module, *thread_name;
	unsigned line;
	int tid;
	/* Threads whose stacks are relevant: those of a deadlock, each waiting for the next; else only tid. Not in
	 * JSON. */
	int *involved;
	size_t involved_count;
	/* The faulting frame of that thread's stack: frames before it belong to a signal handler of the program. Not in
	 * JSON. */
	unsigned frame;
	const char *message; /* the program's last words (__abort_msg, assertion text), or NULL; redactable */
	const char *source;  /* lines of source round the crash, preformatted, or NULL; not in JSON, which is the same
	                            on hosts with and without the source */
	const char *source_hint; /* without source: the option that would show it, or NULL; not in JSON either */
	const char *cause;       /* the why, a sentence or more, or NULL */
	/* The object read, written or called, as in the source: "r->headers_out.location"; or NULL. */
	const char *expression;
	const char *origin;    /* where the bad value came from: "returned by find_request(), main.c:88"; or NULL */
	const char **evidence; /* the supporting facts */
	const char **redacted; /* redacted form of each */
	size_t evidence_count;
};

/* A line printed by a script. */
struct xc_output_line {
	struct xc_output_line *next;
	const char *text; /* len arbitrary bytes and a NUL */
	size_t len;
};

struct xc_report {
	struct xc_arena arena;
	const char *command; /* "analyze" */
	const char *schema;  /* "xcore.report/1"; see xc_report_answer */
	const char *plugin;  /* of an answer: "redis"; NULL for a script */
	const char *error;   /* of an answer: the reason why it is incomplete; JSON only */
	struct xc_output_line *output, **output_end;
	struct xc_section *target;  /* facts of the target: the "target" object in JSON */
	struct xc_verdict *verdict; /* NULL when the command gives none */
	struct xc_section *sections, **sections_end;
	struct xc_section *run; /* facts of this run; rendered only with --stats */
	bool incomplete;        /* data is missing: exit status 3 with --strict */
	bool bare;              /* text: only the sections, without the target: the output is for pipes */
	bool is_answer;
	struct xc_tree_owner *trees; /* see xc_report_new_tree */
};

struct xc_report *xc_report_new(const char *command);
void xc_report_free(struct xc_report *report);

/* Make the report the answer of a plugin's command or a script. Its JSON is a document xcore.run/1 without facts of the
 * target: it is the same for a core, its compressed copy and the live process at that moment. */
void xc_report_answer(struct xc_report *report, const char *plugin, const char *command);

/* Add a printed line, which is copied. */
void xc_report_print(struct xc_report *report, const char *line, size_t len);

struct xc_section *xc_report_section(struct xc_report *report, const char *key, const char *title);
struct xc_section *xc_report_target(struct xc_report *report);  /* report->target, made on first call */
struct xc_section *xc_report_run(struct xc_report *report);     /* report->run, made on first call */
struct xc_verdict *xc_report_verdict(struct xc_report *report); /* made on first call */
void xc_verdict_evidence(struct xc_report *report, const char *format, ...) XC_PRINTF(2, 3);
/* The latest evidence quotes the user's data: redaction shows this text instead. */
void xc_verdict_redact(struct xc_report *report, const char *text);
/* Add a thread whose stack is relevant. */
void xc_verdict_involve(struct xc_report *report, int tid);

/* Fields. Strings are copied. A NULL text becomes a NULL cell, and so does a number that is not finite. A key that is
 * used again in its section gets a number appended. COUNT is shown with thousands separators, so ids are INTEGER. The
 * returned field may be marked quiet or secret. */
struct xc_field *xc_section_text(struct xc_section *s, const char *key, const char *label, const char *text);
struct xc_field *xc_section_count(struct xc_section *s, const char *key, const char *label, uint64_t count);
struct xc_field *xc_section_integer(struct xc_section *s, const char *key, const char *label, int64_t value);
struct xc_field *xc_section_bytes(struct xc_section *s, const char *key, const char *label, uint64_t bytes);
struct xc_field *xc_section_address(struct xc_section *s, const char *key, const char *label, xc_addr addr);
struct xc_field *xc_section_bool(struct xc_section *s, const char *key, const char *label, bool value);
struct xc_field *xc_section_seconds(struct xc_section *s, const char *key, const char *label, double seconds);
struct xc_field *xc_section_cell(struct xc_section *s, const char *key, const char *label, struct xc_cell cell);

/* A value of the target as text, and as an object with a member "value", which is taken. Redaction omits it. */
struct xc_field *xc_section_value(struct xc_section *s, const char *key, const char *label, const char *text,
				  struct json_t *json);
struct xc_field *xc_section_unknown(struct xc_section *s, const char *key, const char *label, const char *why);
struct xc_item *xc_section_lines(struct xc_section *s, const char *key, const char *text); /* preformatted */
struct xc_item *xc_section_tree(struct xc_section *s, const char *key, const struct xc_stacktree *tree);

/* A new empty tree, owned by the report, to fill and pass to xc_section_tree. xc_report_finish_trees sorts all
 * unfinished trees and must be called before rendering. */
struct xc_stacktree *xc_report_new_tree(struct xc_report *report, const char *title, const char *unit);
void xc_report_finish_trees(struct xc_report *report);

/* Copies the histogram and its buckets. */
void xc_section_histogram(struct xc_section *s, const char *key, const struct xc_histogram *histogram);

/* Preformatted lines, and the same as a JSON object (jansson), which is taken. When the section is a document (see
 * schema), the members of the object are at its top level. */
void xc_section_document(struct xc_section *s, const char *key, const char *text, struct json_t *json);

/* Notes. xc_section_note takes err (and sets report->incomplete). */
void xc_section_note(struct xc_section *s, struct xc_error *err);
void xc_section_message(struct xc_section *s, enum xc_severity severity, const char *hint, const char *format, ...)
	XC_PRINTF(4, 5);

/* Tables: columns are copied. Then add whole rows, one cell per column (strings are copied). */
struct xc_table *xc_section_table(struct xc_section *s, const char *key, const struct xc_column *columns, size_t count);
void xc_table_row(struct xc_section *s, struct xc_table *table, const struct xc_cell *cells);
void xc_table_reserve(struct xc_section *s, struct xc_table *table, size_t rows); /* reserve memory for `rows` rows */
struct xc_cell xc_cell_text(const char *text);
struct xc_cell xc_cell_count(uint64_t count);
struct xc_cell xc_cell_integer(int64_t value);
struct xc_cell xc_cell_bytes(uint64_t bytes);
struct xc_cell xc_cell_seconds(double seconds);
struct xc_cell xc_cell_number(double number);
struct xc_cell xc_cell_ratio(double fraction);
struct xc_cell xc_cell_address(xc_addr addr);
struct xc_cell xc_cell_bool(bool value);
struct xc_cell xc_cell_null(const char *why);

/* The stop reason of a stack that was unwound to its natural end; text does not mention it. */
#define XC_STOP_OUTERMOST "outermost frame"

/* Stacks: an empty one in the report's arena, which the caller fills; one per section. */
struct xc_stacks *xc_section_stacks(struct xc_section *s, const char *key);

#endif
