/* command: what a command is, and one run of it.
 *
 * A command is one const table entry in a file of its own (cli/commands). It lists its operands and options; it
 * fills a report (`produce`), or writes bytes of its own kind (`write`), or does something without a target (`run`).
 * Opening, closing, rendering, policies and exit statuses are done once for all commands, in dispatch.c. */
#ifndef XC_COMMAND_H
#define XC_COMMAND_H

#include <stdio.h>

#include "core/process/process.h"
#include "core/report/report.h"
#include "core/report/scrub.h"
#include "cli/common.h"
#include "cli/output.h"

enum xc_exit {
	XC_EXIT_DONE = 0,   /* a report was produced, even if the core is damaged */
	XC_EXIT_POLICY = 1, /* a --fail-on condition was met, or a plugin's test failed */
	XC_EXIT_USAGE = 2,
	XC_EXIT_INCOMPLETE = 3, /* --strict, and something is missing */
	XC_EXIT_INPUT = 4,      /* a file that the user names cannot be opened, read or written, or does not match */
	XC_EXIT_INTERNAL = 5,
};

struct xc_operand {
	const char *name; /* "TARGET" */
	bool optional;
	bool many; /* the last operand: one or more */
	const char *about;
	const char *const *words; /* the only values allowed, or NULL; ends with NULL */
	bool open;                /* values other than `words` are allowed too */
	enum xc_complete complete;
};

#define XC_OPERAND_TARGET                                                                                              \
	{                                                                                                              \
		.name = "TARGET", .about = "a core file, or pid:N for a running process",                              \
		.complete = XC_COMPLETE_TARGET                                                                         \
	}

/* The operands of a command that takes a TARGET and nothing else. */
extern const struct xc_operand xc_target_operands[];

struct xc_example {
	const char *line, *about;
};

struct xc_job;

struct xc_command {
	const char *name;
	const char *about;                 /* one line for the list of commands */
	const char *text;                  /* paragraphs of its help, separated by empty lines; may be NULL */
	const struct xc_operand *operands; /* ends with an entry without a name */
	const struct xc_option *options;   /* its own options: offsets into its settings; may be NULL */
	const struct xc_example *examples; /* ends with an entry without a line */
	size_t settings_size;              /* of its settings, which start as zero bytes */
	const char *schema;                /* JSON: its only section is a document of its own by this schema */

	/* Check for usage errors before any file is opened; may be NULL. */
	struct xc_error *(*check)(struct xc_job *job);
	/* Live targets: called once the process is open, before Landlock forbids to open more of it; may be NULL. */
	struct xc_error *(*opened)(struct xc_job *job);
	/* Fill job->report from job->process. */
	struct xc_error *(*produce)(struct xc_job *job);
	/* Does this job write bytes instead of a rendered report? Then `write` writes them. May be NULL. */
	bool (*writes)(const struct xc_job *job);
	struct xc_error *(*write)(struct xc_job *job, FILE *out);
	/* Are these bytes no text? Then they are not written to a terminal. May be NULL. */
	bool (*is_binary)(const struct xc_job *job);
	/* Is its TARGET a file that this command reads itself, and no process? Then `run` does the work. May be
	 * NULL. */
	bool (*alone)(const struct xc_job *job);
	/* A command without a target does all its work here, and may leave a report to be rendered; other commands
	 * leave it NULL. With `produce` too it is called when the TARGET was omitted, or is a file of its own. */
	struct xc_error *(*run)(struct xc_job *job, FILE *out);
	/* Release what the settings own; may be NULL. */
	void (*fini)(void *settings);
	/* --help with operands: describe what they name. False: there is nothing particular. May be NULL. */
	bool (*help)(const struct xc_job *job, FILE *out);
	/* Unknown options are arguments after this many operands (the command is one of them); 0: never. */
	size_t foreign_options_after;
	/* Does this job itself write the file that -o names? Other output then goes to standard output. May be NULL. */
	bool (*makes_file)(const struct xc_job *job);
	bool leads_with_target; /* describes the target in several lines, not one */
	bool writes_lines;      /* --format jsonl is allowed */
	/* Rows that replace those of the same name in xc_common_options; a table, may be NULL. With a row for
	 * fail-on the command itself checks the words and sets the status. */
	const struct xc_option *own_common;
	const char *const *statuses; /* descriptions of its six exit statuses; NULL: xc_help_statuses */
	bool acts;                   /* it has visible effects before its output */
	bool understands_interrupts; /* ^C interrupts the current work, not the command */
	bool sensitive;              /* its output is meant for others: redacted unless --no-redact */
};

/* One run of one command. */
struct xc_job {
	const struct xc_command *command;
	struct xc_common common;
	void *settings; /* of the command's own type */
	struct xc_words operands;
	struct xc_process *process; /* open while produce and write run; NULL for commands without a target */
	struct xc_report *report;
	/* Only while run works: it may commit the output itself, before other effects that must follow; then it must
	 * not use it again. */
	struct xc_output *output;
	FILE *out;                 /* while produce runs: for output that cannot wait for the report */
	enum xc_exit status;       /* of a command without a target that succeeded */
	struct xc_error *failure;  /* reported after the report was rendered; decides the status of the command */
	struct xc_scrub *scrub;    /* what redaction removes; has words once the target is open; borrowed */
	struct xc_stacktree *tree; /* shown by the report; outlives rendering; freed with the job */
	uint64_t started_ns;       /* of CLOCK_MONOTONIC */
	const char *landlock;      /* live: the restriction on writing, or why there is none */
};

/* The command with this name among `all`, which ends with NULL, or NULL. */
const struct xc_command *xc_command_named(const struct xc_command *const *all, const char *name);

/* The row for a common option: the command's own, or `option`. command may be NULL. */
const struct xc_option *xc_command_common(const struct xc_command *command, const struct xc_option *option);

/* The operand with this name, or NULL when it was not given. */
const char *xc_job_operand(const struct xc_job *job, const char *name);

/* Is the operand WHAT, which selects a subcommand, this word? */
bool xc_job_is(const struct xc_job *job, const char *word);

/* A usage error when an option that only one WHAT has was given with another. */
XC_MUST_CHECK struct xc_error *xc_job_goes_with(const struct xc_job *job, bool given, const char *option,
						const char *word);

/* Writing over the target would destroy it while it is read: a usage error when path, of --output, is the target. path
 * may be NULL. */
XC_MUST_CHECK struct xc_error *xc_job_check_not_target(const struct xc_job *job, const char *path);

/* Without --format: -o FILE.json means JSON, FILE.html a page. */
void xc_job_format_by_name(struct xc_job *job);

/* Are secrets hidden? As the user chooses; by default when CI=true and in output that is meant for others. */
bool xc_job_redacts(const struct xc_job *job);

#endif
