/* live_child: a child process with known memory and threads, for tests of live processes. */
#ifndef XC_TEST_LIVE_CHILD_H
#define XC_TEST_LIVE_CHILD_H

#include <sys/types.h>

#include "core/process/process.h"

enum { PAGE = 4096, BIG = 40 << 20, NOBODY = 65534 };

/* Shared with the child, which fills in the addresses. */
struct shared {
	xc_addr big;       /* BIG bytes, see big_byte */
	xc_addr untouched; /* 16 anonymous pages, never touched */
	xc_addr fenced;    /* 3 pages, the middle one PROT_NONE, the others 'x' */
	xc_addr file;      /* data_path, private; its second page never touched */
	xc_addr memfd;     /* shared; the parent writes it, the child never touches it */
	xc_addr watched;   /* 2 pages registered with userfaultfd, 0 when refused */
	xc_addr code;      /* of a function of the program */
	xc_addr grown;     /* 4 pages of 'g', mapped on demand */
	volatile pid_t futex_tid, spin_tid;
};

extern struct shared *shared;
extern const char *data_path; /* a file of three pages: 'a', 'b', 'c' */
extern int memfd;

/* A thread of the child writes this repeatedly: gen is odd during a write; a equals b while gen is even. */
struct live_record {
	volatile unsigned gen;
	volatile unsigned long a, b;
};

extern struct live_record live_record;

struct child {
	pid_t pid;
	int command, answer; /* pipes */
};

/* cmocka group set-up and tear-down. */
int live_child_make_files(void **state);
int live_child_remove_files(void **state);

struct child start_child(void);
void end_child(struct child *c); /* kills and reaps it */

/* One letter; returns when the child has done it: t a thread blocks on a mutex, s a thread spins, u unmaps 8 of the
 * untouched pages, g maps more memory, w a thread writes live_record, c changes big's first page, n becomes nobody, d
 * becomes undumpable, e execs (does not answer), m ends the main thread while another continues. */
void tell(struct child *c, char command);

uint8_t big_byte(size_t at);
struct xc_error *try_open(pid_t pid, struct xc_process **process);
struct xc_process *open_pid(pid_t pid);                           /* fails the test */
void wait_for_state(pid_t pid, volatile pid_t *tid, char wanted); /* of the thread with its id in *tid */
void assert_no_error(struct xc_error *err, const char *call);
void assert_fault(const struct xc_process *p, xc_addr addr, const char *why);
void assert_big(const struct xc_process *p, size_t at, size_t len); /* len <= 3 pages */

#define XC_OK(call) assert_no_error((call), #call)

#endif
