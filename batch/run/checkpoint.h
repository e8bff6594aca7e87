/* checkpoint: what a run has finished, line by line as it finishes, so that an interrupted one loses nothing.
 *
 *	{"schema":"xcore.checkpoint/4","config":"…"}
 *	{"sum":"…","path":"…","size":"7","mtime":"…","ctime":"…","ino":"…","record":{…},"sought":[[0,"","/bin/foo","71 …"],[1,"","/lib/libfoo.so.1"],…]}
 *	{"sum":"…","path":"…",…,"sought":[0,…]}
 *
 * A line is written by one call and counts only when it is as it was written, which its sum shows (checksummed_line.h): what is damaged costs no other
 * line. A core is taken from it when path, size, times and number of the file are those of then and the settings too; so a new version, other
 * options or a new file of the same name are looked at again. Of several lines of one file the last one counts. Names are as rawtext.h has
 * them. Files that a record was made with and without (file_dependency.h) are numbered from 0 as they come, and in later lines only their numbers
 * stand: one whose number nothing is known of any more does not count either. */
#ifndef XC_CHECKPOINT_H
#define XC_CHECKPOINT_H

#include "batch/input/input.h"
#include "batch/record/record.h"

struct xc_checkpoint;

/* Open the checkpoint at path (checkpoint_dir.h), or start one (mode 0600, parents are made); its time of change is then the present one. config:
 * xc_settings_here. resume: keep what is there if it has this config; else it is emptied. What does not count any more is cut off or, where
 * other lines follow, blanked out. Records that are read go into the arena. Errors: XC_ERR_IO and others of opening and reading:
 * what could not be read stays; another run that has it open (XC_ERR_LIMIT). */
XC_MUST_CHECK struct xc_error *xc_checkpoint_open(const char *path, const char *config, bool resume,
						  struct xc_arena *arena, struct xc_checkpoint **checkpoint_out);

/* The record of this input as it is now; of one that is gone (its times are zero), of the last file of its path and size: what was finished
 * is not lost with its core. NULL when there is none. Those that were made with or without one file share what they say of it. */
struct xc_record *xc_checkpoint_find(const struct xc_checkpoint *checkpoint, const struct xc_input *input);

/* Add one: all of it or, with an error, nothing, and others can be added after it. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_checkpoint_add(struct xc_checkpoint *checkpoint, const struct xc_input *input,
						 const struct xc_record *record);

/* How many of its lines did not count when it was opened, besides a last one that does not end: that was being written. */
size_t xc_checkpoint_lost(const struct xc_checkpoint *checkpoint);

void xc_checkpoint_close(struct xc_checkpoint *checkpoint); /* NULL is fine */

#endif
