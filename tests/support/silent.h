/* silent: file systems that do not answer. They are real (FUSE). Tests are skipped where FUSE cannot be mounted. */
#ifndef XC_TEST_SILENT_H
#define XC_TEST_SILENT_H

/* Behaviour: never reads requests; reads requests and answers none; has files, but answers no read; has no files, and
 * stops answering once the file scratch_path("hush") exists. A process that waits for the answer to a request that was
 * read cannot be killed. */
enum silent { SILENT_DEAF, SILENT_MUTE, SILENT_WITHOUT_DATA, SILENT_EMPTY };

enum { SILENT_CANNOT_MOUNT = 77, SILENT_PATIENCE = 120 };

/* Call `body` in a child process with the directory of the mount, which only the child sees. Returns its result (below
 * 77), SILENT_CANNOT_MOUNT, or 1000 and more if a signal ended it, including the one after SILENT_PATIENCE seconds. */
int silent_try(enum silent how, int (*body)(const char *at));

#endif
