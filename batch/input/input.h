/* input: which files are cores to look at: directories, single files, lists; and what their names tell.
 *
 * Nothing is read but names, sizes and the first bytes of files in directories: whether a file is a core is found out by its worker. */
#ifndef XC_INPUT_H
#define XC_INPUT_H

#include "core/base/arena.h"
#include "core/base/error.h"

struct xc_input {
	const char *
		path; /* of one directory that was given alone: below it; else below the last directory that all operands
	                     have in common, so that `D/core.1 D/sub/core.2` and `D` are called the same. Clean text */
	const char *file; /* to open */
	uint64_t size;    /* bytes, as stored; 0 for a name of a list where there is nothing: its record will say so */
	int64_t mtime_ns, ctime_ns; /* of modification and of change: all zero where there is nothing */
	uint64_t dev, ino, links;   /* which file it is, and how many names it has */
	const char *comm;           /* by its name (corename.h): a hint; or NULL. Clean text */
	const char *unit;           /* by the journal (journal.h), a hint; or NULL */
};

struct xc_inputs {
	struct xc_arena arena;
	/* Sorted by path; each file once, by whatever names it was given, unless it has several of its own (hard links). */
	struct xc_input *inputs;
	size_t count;
	size_t skipped;     /* files of directories that are no cores by name and first bytes */
	const char **notes; /* sorted: what could not be looked into, "cores/private: Permission denied"; clean text */
	size_t note_count;
	size_t unnoted; /* how many more notes there would have been */
	size_t unread; /* files and directories that could not be opened or searched: nobody knows whether they are cores, or hold some */
	/* Those among the operands themselves, neither of lists nor by wildcards, as the names of files in them begin; "" is the working
	 * directory. */
	const char **directories;
	size_t directory_count;
};

/* From operands: a directory is searched with all below it (no symbolic links are followed inside); a file is taken as it is; "@FILE" and
 * "-" (standard input) hold names (namelist.h), of files and directories. A name with wildcards that is no file's own stands for those that fit
 * (wildcard.h), but not in lists with NUL bytes; they are taken as if they stood in a list: gone or dangling ones get a record that says so.
 * In a directory a file counts when its first bytes are those of an ELF core or of a pack; and, where its name is one that cores have, when
 * they are of zstd, lz4, xz, gzip or bzip2, when it is empty, or when it is "core" or "core.PID": whether it can be read is for its record to
 * say.
 * Errors: an operand that does not exist or cannot be read, or is a report of apport; a pattern that none fits; those of reading a list. */
XC_MUST_CHECK struct xc_error *xc_inputs_find(const char *const *operands, size_t count, struct xc_inputs **inputs_out);

/* The deepest directory that all of their files are below, as the files are named, without a slash at its end; "" is the working directory.
 * New. */
char *xc_inputs_shared(const struct xc_inputs *inputs);
void xc_inputs_free(struct xc_inputs *inputs);

#endif
