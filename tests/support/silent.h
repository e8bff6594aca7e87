/* silent: file systems that do not answer. They are real ones (FUSE); where none can be mounted there is nothing to test. */
#ifndef XC_TEST_SILENT_H
#define XC_TEST_SILENT_H

/* What one does: does not take requests; takes them and answers none; has files, but answers no read; has none, and is mute once there is a file
 * scratch_path("hush"). A process that waits for an answer to what was taken cannot be killed. */
enum silent { SILENT_DEAF, SILENT_MUTE, SILENT_WITHOUT_DATA, SILENT_EMPTY };

enum { SILENT_CANNOT_MOUNT = 77, SILENT_PATIENCE = 120 };

/* Call `body`, in a process of its own, with the directory at which one is mounted there, and nowhere else. What it returns (below 77);
 * SILENT_CANNOT_MOUNT; or 1000 and more, when a signal ended it, also after SILENT_PATIENCE seconds. */
int silent_try(enum silent how, int (*body)(const char *at));

#endif
