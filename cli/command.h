/* command: what a command is, and one run of it.
 *
 * A command is one const table entry in a file of its own (cli/commands). It lists its operands and options; it fills a report
 * (`produce`), or writes bytes of its own kind (`write`), or does something without a target (`run`). Opening, closing,
 * rendering, policies and exit statuses are done once for all commands, in dispatch.c. */
#ifndef XC_COMMAND_H
#define XC_COMMAND_H

#include <stdio.h>

#include "core/process/process.h"
#include "core/report/report.h"
#include "cli/common.h"
#include "cli/output.h"

enum xc_exit {
	XC_EXIT_DONE = 0,   /* a report was produced, even about a broken core */
	XC_EXIT_POLICY = 1, /* --fail-on was hit, or a plugin's test failed */
	XC_EXIT_USAGE = 2,
	XC_EXIT_INCOMPLETE = 3, /* --strict, and something is missing */
	XC_EXIT_INPUT = 4,      /* a file the user names cannot be opened, read, written or does not match */
	XC_EXIT_INTERNAL = 5,
};

struct xc_operand {
	const char *name; /* "TARGET" */
	bool optional;
	bool many; /* the last one: one or more of them */
	const char *about;
	const char *const *words; /* the only values allowed, or NULL; ends with NULL */
	bool open;                /* others than `words` are allowed too */
	enum xc_complete complete;
};

#define XC_OPERAND_TARGET                                                                                              \
	{                                                                                                              \
		.name = "TARGET", .about = "a core file, or pid:N for a running process",                              \
		.complete = XC_COMPLETE_TARGET                                                                         \
	}

struct xc_example {
	const char *line, *about;
};

struct xc_job;

struct xc_command {
	const char *name;
	const char *about;                 /* one line for the list of commands */
	const char *text;                  /* paragraphs for its help, parted by empty lines; may be NULL */
	const struct xc_operand *operands; /* ends with an entry without a name */
	const struct xc_option *options;   /* its own options: offsets into its settings; may be NULL */
	const struct xc_example *examples; /* ends with an entry without a line */
	size_t settings_size;              /* of its settings, which start as zero bytes */
	const char *schema;                /* JSON: its one section is a document of its own by this schema */

	/* Find usage errors before anything is opened; may be NULL. */
	struct xc_error *(*check)(struct xc_job *job);
	/* Fill job->report from job->process. */
	struct xc_error *(*produce)(struct xc_job *job);
	/* True when this job writes bytes instead of a rendered report; then `write` does it. May be NULL. */
	bool (*writes)(const struct xc_job *job);
	struct xc_error *(*write)(struct xc_job *job, FILE *out);
	/* A command without a target does all its work here, and may leave a report to be rendered; the others leave
	 * it NULL. With `produce` too it serves where the TARGET was left out. */
	struct xc_error *(*run)(struct xc_job *job, FILE *out);
	/* Release what the settings own; may be NULL. */
	void (*fini)(void *settings);
	/* --help with operands: tell about what they name. False when there is nothing particular. May be NULL. */
	bool (*help)(const struct xc_job *job, FILE *out);
	/* Options that are none of ours are arguments once so many operands were read (the command is one of them); 0:
	 * never. */
	size_t foreign_options_after;
	/* True when -o names what this job makes by its own means; what else it writes goes to standard output. May be NULL. */
	bool (*makes_file)(const struct xc_job *job);
	bool leads_with_target; /* shows what the target is in several lines, not one */
	bool writes_lines;      /* --format jsonl is allowed: what it writes may be lines of JSON */
	/* Rows that stand for those of the same name in xc_common_options; a table, may be NULL. With one for fail-on the command
	 * itself checks its words and says what its status is. */
	const struct xc_option *own_common;
	const char *const *statuses; /* what its exit statuses mean, six; NULL: xc_help_statuses */
	bool acts;                   /* what it does may be seen before its answer is */
	bool understands_interrupts; /* ^C ends what goes on in it, not the command */
	bool sensitive;              /* its answer leaves the house: redacted unless --no-redact */
};

/* One run of one command. */
struct xc_job {
	const struct xc_command *command;
	struct xc_common common;
	void *settings; /* of the command's own type */
	struct xc_words operands;
	struct xc_process *process; /* open while produce and write run; NULL for commands without a target */
	struct xc_report *report;
	struct xc_output *
		output; /* while run works: it may commit the output itself, before what must come after that; it is not used again then */
	FILE *out;                 /* while produce runs: for what cannot wait until the report is whole */
	enum xc_exit status;       /* of a command without a target that did its work */
	struct xc_error *failure;  /* told, and the status of the command, after the report was rendered */
	struct xc_stacktree *tree; /* when the report shows one: it must outlive rendering; freed with the job */
	uint64_t started_ns;       /* of CLOCK_MONOTONIC */
	const char *landlock;      /* live: what limits writing, or why nothing does */
};

/* The command with this name among `all`, which ends with NULL, or NULL. */
const struct xc_command *xc_command_named(const struct xc_command *const *all, const char *name);

/* The row that the command has for a common option: its own, or that one. command may be NULL. */
const struct xc_option *xc_command_common(const struct xc_command *command, const struct xc_option *option);

/* The operand called `name`, or NULL when it was not given. */
const char *xc_job_operand(const struct xc_job *job, const char *name);

/* Is WHAT, the operand that says which part of the command is meant, this word? */
bool xc_job_is(const struct xc_job *job, const char *word);

/* An option that goes with one WHAT only: a usage error when it was given with another. */
XC_MUST_CHECK struct xc_error *xc_job_goes_with(const struct xc_job *job, bool given, const char *option,
						const char *word);

/* Whether secrets are left out: as the user says, else where CI=true and in what leaves the house. */
bool xc_job_redacts(const struct xc_job *job);

#endif
