/* process: all facts about one target, a core or a running process.
 *
 * xc_process_open_core or xc_process_open_live fills the struct; later code does not depend on which. All strings and
 * arrays live in the process's arena until xc_process_close. The facts never change after opening: those of a live
 * process are a snapshot, and only its memory is read on demand. */
#ifndef XC_PROCESS_H
#define XC_PROCESS_H

#include <sys/types.h>

#include "core/base/arena.h"
#include "core/elf/elf.h"
#include "core/elf/identity.h"
#include "core/elf/regs.h"
#include "core/io/source.h"
#include "core/elf/space.h"

struct xc_mapping {
	xc_addr lo, hi; /* inclusive */
	bool readable, writable, executable, shared;
	const char *path;  /* mapped file, or NULL */
	const char *label; /* "[stack]", "[heap]", "[vdso]", "[anon: NAME]"; NULL when unknown */
	uint64_t offset;   /* of lo in the file, bytes */
	uint64_t dev, ino; /* of the file; 0 when unknown (cores) */
	uint64_t dumped;   /* bytes stored in the core from lo on */
	bool cut;          /* the core file ends before its dumped bytes */
};

enum xc_module_kind { XC_MODULE_EXE, XC_MODULE_LIBRARY, XC_MODULE_LOADER, XC_MODULE_VDSO };

struct xc_module {
	const char *path; /* as the target names it, without "(deleted)"; "[vdso]" for the vDSO */
	const char *name; /* its last component */
	enum xc_module_kind kind;
	xc_addr lo, hi;     /* lowest and highest mapped address, inclusive */
	xc_addr bias;       /* address in memory minus address in the file */
	bool bias_known;    /* false: only NT_FILE names it and its program headers are lost */
	xc_addr dynamic;    /* address of its dynamic section, 0 if none */
	xc_addr link_map;   /* of its struct link_map, 0 when that is lost */
	uint64_t tls_modid; /* 0: no TLS segment, or unknown */
	int64_t tls_offset; /* from the thread pointer down (x86-64); see tls_offset_known */
	bool tls_offset_known;
	unsigned name_space;         /* 0 the main one; dlmopen'ed objects have others */
	bool deleted;                /* the file was deleted while mapped */
	struct xc_build_id build_id; /* from memory; size 0 when lost or absent */
	bool build_id_lost;          /* it may exist, but the core lacks those bytes */
	enum xc_identity identity;
	struct xc_build_id file_build_id; /* of the file used or refused */
	bool file_from_store;             /* the symbol store listed it (store.h) */
	const char *file_path;            /* the file used or refused, as it was opened; NULL when none */
	const char *why;                  /* one line: the reason for no (verified) file; NULL when verified */
	struct xc_source *file;           /* its bytes, for the vDSO those in the target; NULL when none; owned */
	void *debug;                      /* owned by dwarf/symbolize/debuginfo.c */
	void *imports;                    /* of triage/util/imports.c; in the process's arena */
};

/* A process that a thread waits for (core/live/live_child.h): for its end, for the other end of a pipe, or for the lock
 * of a file. */
struct xc_child {
	pid_t pid;
	bool has_pipe;  /* it has the other end of the pipe that the thread reads or writes … */
	int pipe;       /* … as this descriptor */
	bool took_lock; /* it took the lock that the thread waits for */
	const char *name;
	char state;       /* as in /proc */
	const char *call; /* the system call that its first thread waits in; NULL: none, or not known */
	int fd;           /* the call's first argument as a descriptor, and its file; or NULL */
	const char *file;
	bool has_other_end; /* that is one end of a pipe whose other end the waiting process has … */
	bool has_itself;    /* … or it has that itself */
	int other_end;      /* … as this descriptor */
};

struct xc_thread {
	pid_t tid;
	const char *name;        /* comm, where known: live, and the main thread of a core; else NULL */
	char state;              /* live: R S D T Z as in /proc; core: 0 */
	bool crashed;            /* the thread that died (cores) */
	bool has_regs;           /* at least pc and sp; a live thread may have only its thread pointer */
	const char *why_no_regs; /* for live threads on a CPU and for broken notes */
	const char *regs_how; /* source of the registers, live: "blocked in system call 202 (futex)", …; else NULL */
	int signal;           /* pr_cursig, 0 when none */
	long syscall;         /* number of the system call that it is (core: was) blocked in; -1 when none or unknown */
	bool call_known;      /* call_args are known */
	uint64_t call_args[6];
	uint64_t moved;               /* cores: bytes that the call had written when the dump interrupted it */
	const char *call_file;        /* live: the file of the descriptor in the first argument; or NULL */
	bool has_other_end;           /* live: that is one end of a pipe whose other end this process has, too … */
	int other_end;                /* … as this descriptor */
	const struct xc_child *child; /* live: the process that it waits for; NULL: none, or not known */
	uint64_t ran; /* live: nanoseconds of CPU time before its call was read; 0: unknown. See xc_live_thread_slept */
	uint64_t waited; /* live, with `ran`: nanoseconds in which it could have run, but waited for a CPU */
	struct xc_regs regs;
	struct xc_vector_regs *vector; /* NULL when the notes have none */
};

/* Of a live process: has a signal, or a tracer, stopped the thread? */
static inline bool xc_thread_is_stopped(const struct xc_thread *thread)
{
	return thread->state == 'T' || thread->state == 't';
}

struct xc_signal {
	bool known;    /* a signal is known (prstatus or siginfo) */
	bool has_info; /* code and the fields below are from NT_SIGINFO */
	int number, code, error_number;
	xc_addr addr;     /* si_addr, valid only when addr_known */
	bool addr_known;  /* by the code, the kernel raised it with an address */
	pid_t sender_pid; /* for codes <= 0 */
	uid_t sender_uid;
	int syscall_number; /* SIGSYS: si_syscall */
	unsigned lower;     /* SIGSEGV SEGV_PKUERR: the protection key */
};

/* Did another process send the signal? Then the thread that received it did nothing wrong. */
static inline bool xc_signal_is_foreign(const struct xc_signal *signal, pid_t pid)
{
	return signal->has_info && signal->code <= 0 && signal->sender_pid > 0 && signal->sender_pid != pid;
}

/* A warning about the target as a whole: a truncated file, damaged notes. */
struct xc_remark {
	struct xc_remark *next;
	const char *text;
};

struct xc_process {
	struct xc_arena arena;
	bool live;
	const char *target;  /* as the user named it */
	const char *sysroot; /* below which the target's files are; NULL for "/" */
	/* Source files are read below these and the sysroot only; borrowed; NULL: there are none. */
	const struct xc_source_roots *source_roots;
	const struct xc_arch *arch; /* never NULL once open */
	uint64_t code_mask;         /* bits of a code pointer that may hold a signature (aarch64); 0: unknown */
	struct xc_space *space;
	struct xc_source *core;      /* NULL when live; owned */
	struct xc_archive *archive;  /* the pack that contains the core, or NULL; its files replace others; owned */
	struct xc_mapping *mappings; /* address order; live: xc_live_refresh replaces them */
	size_t mapping_count;
	struct xc_module **modules; /* load order: exe first; pointers stay valid */
	size_t module_count;
	struct xc_module **by_address; /* the same, sorted by lo */
	struct xc_thread *threads;     /* crashed one first, then note order */
	size_t thread_count;
	struct xc_signal signal;
	bool snapshot;       /* a core of a process that did not die (snapshot.h) */
	uint64_t auxv[64];   /* by AT_ type, where type < 64 */
	uint64_t auxv_known; /* bit per type */
	pid_t pid, ppid;
	uid_t uid;
	bool ids_known;
	const char *comm, *args;    /* NT_PRPSINFO: 15 and 79 characters; live: whole command line */
	bool args_cut;              /* the note had no room for more of them (facts/arguments.h) */
	const char *exe_path;       /* of the main program as the target names it; NULL when unknown */
	bool files_known;           /* NT_FILE was there (or live) */
	struct xc_note_file *files; /* rows of NT_FILE in address order; see note.h */
	size_t file_count;
	bool link_map_known;     /* modules come from the loader's list */
	const char *modules_how; /* "link_map", "NT_FILE", "program headers": how modules were named */
	const char *core_maker;  /* "kernel", "gdb", "qemu", …; NULL when unknown */
	uint64_t missing_bytes;  /* dumped according to the headers, but past the end of the file */
	uint64_t expected_size;  /* of the core file, according to its headers */
	struct xc_remark *remarks, **remarks_end;
	size_t remark_count;
	const char *live_root; /* live: names the process's root directory for xc_finder_open; NULL when refused */
	void *live_state;      /* of live.c */
	void (*live_close)(void *live_state); /* frees it; NULL for cores */
	void *units;                          /* of dwarf/line/unit_cache.c */
	void *debuginfo;                      /* of dwarf/symbolize/debuginfo.c */
	void *types;                          /* of dwarf/types/type.c; in the arena */
	void *rust_vtables;                   /* of dwarf/lookup/rust_vtable.c; in the arena */
	void *heap;                           /* of heap/blocks/heap.c */
	void *foreign;                        /* of dwarf/cfi/foreign_frame.c */
	void *waits;                          /* of triage/waits/waits.c; in the arena */
	void *locks;                          /* of triage/locks/locks.c; in the arena */
};

struct xc_finder;

struct xc_open_options {
	const struct xc_finder *finder; /* the places where files are looked for; required */
	bool strict;                    /* refuse unverified files */
	bool swap;                      /* live: read swapped-out pages too */
	uint64_t max_read_rate;         /* live: bytes per second (live_throttle.h says from when on); 0: no limit */
	unsigned max_read_time;         /* live: milliseconds of our CPU time per second; 0: no limit */
	bool throttled;                 /* live: the limits hold from the first byte, also for a single query */
	struct xc_progress *progress;   /* for decompression; may be NULL */
	uint64_t max_core_size;         /* limit on the size of an inflated core in bytes; 0: 256 GiB */
	uint64_t room;                  /* limit on its disk space in bytes; 0: none */
};

/* Open the core at path (plain, compressed or made by `xcore pack`). An error means that there is nothing useful: not a
 * file, not an ELF core. A damaged or foreign core opens with remarks. */
XC_MUST_CHECK struct xc_error *xc_process_open_core(const char *path, const struct xc_open_options *options,
						    struct xc_process **process_out);

/* The same from a descriptor, which is taken, also on failure. name is for messages. */
XC_MUST_CHECK struct xc_error *xc_process_open_core_fd(int fd, const char *name, const struct xc_open_options *options,
						       struct xc_process **process_out);

/* Open a running process, without ptrace and without stopping it. Errors: XC_ERR_NOT_FOUND, XC_ERR_PERMISSION (names
 * the kernel's rule that refused, and a remedy). Defined in live.c. */
XC_MUST_CHECK struct xc_error *xc_process_open_live(pid_t pid, const struct xc_open_options *options,
						    struct xc_process **process_out);

void xc_process_close(struct xc_process *process); /* NULL is fine */
void xc_process_closep(struct xc_process **process);

/* A new process, live or a core, with an empty space. For openers and tests. */
struct xc_process *xc_process_new(const char *target, bool live);

/* Add a formatted remark, which every report shows. At most a hundred; the last one says that more were dropped. */
void xc_process_remark(struct xc_process *process, const char *format, ...) XC_PRINTF(2, 3);

/* The module or mapping that holds addr, or NULL. O(log n). */
struct xc_module *xc_process_module(const struct xc_process *process, xc_addr addr);
const struct xc_mapping *xc_process_mapping(const struct xc_process *process, xc_addr addr);

/* Index of the first mapping that ends at addr or above; mapping_count when there is none. O(log n). */
size_t xc_process_mapping_lower_bound(const struct xc_process *process, xc_addr addr);

/* The thread with this tid, or NULL. */
struct xc_thread *xc_process_thread(const struct xc_process *process, pid_t tid);

/* True, and the value, when the auxiliary vector has `type` (AT_…, below 64). */
bool xc_process_auxv(const struct xc_process *process, unsigned type, uint64_t *value_out);

/* Sort by_address. Call it after modules are added. */
void xc_process_index(struct xc_process *process);

#endif
