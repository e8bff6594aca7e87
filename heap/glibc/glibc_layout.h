/* glibc_layout: how glibc's malloc lays out memory. malloc/malloc.c and malloc/arena.c, read from 2.26 to 2.42.
 *
 * A chunk (W is SIZE_SZ, 8 or 4; chunks lie so that what malloc returns is aligned to 16):
 *
 *  chunk -> +---------------------------------------------+
 *           | prev_size   size of the chunk before, when  |
 *           |             that one is free; else its data |
 *     + W   | size                          | A | M | P   |   P 1: the chunk before is in use
 *     + 2W  +---------------------------------------------+   M 2: it is a mapping of its own
 *           | in use: data, up to the first word of the   |   A 4: it belongs to an arena other than the main one
 *           |         next chunk (its prev_size)          |
 *           | in a bin: fd, bk (chunks), and in large     |
 *           |         ones fd_nextsize, bk_nextsize       |
 *           | in a fastbin: fd (a chunk)                  |
 *           | in a tcache: next (a block), key            |
 *           +---------------------------------------------+
 *
 *  From 2.32 on, fd of fastbins and next of tcaches are stored as (address of the field >> 12) ^ value. A chunk in a
 *  fastbin or tcache leaves P of the next chunk set, as if it were in use. Free chunks lose A.
 *
 * A mapping of its own: prev_size is the distance from the start of the mapping (0 unless memalign'ed), size
 * reaches to its end. (2.43: size ends 2W before it, and bit 0 of prev_size tells huge pages.)
 *
 * malloc_state: the fields after the bins always follow in this order, so that finding the bins is finding all:
 *
 *            mutex, flags (2: not contiguous), have_fastchunks (2.27+), fastbinsY[10] (not in 2.43+)
 *  top  ->   the top chunk                                  <= 2.26: 0x58   2.27 - 2.42: 0x60   2.43: 0x08
 *     + W    last_remainder
 *     + 2W   bins[254]: 127 pairs of fd and bk, as of a chunk two words before; empty: both are that chunk
 *     + 256W binmap[4] of 32 bits
 *     +16    next          ring of all arenas: sub-arenas, newest first, then the main arena
 *     + W    next_free, attached_threads, system_mem, max_system_mem
 *
 * A heap of a sub-arena lies at a multiple of HEAP_MAX (64 MiB; 1 MiB with 4-byte words; four huge pages when
 * glibc.malloc.hugetlb is 2, 2.35 - 2.41) and grows within it:
 *
 *  +0   ar_ptr          its arena; in the first heap that lies right after this header
 *   W   prev            the heap before, NULL in the first
 *  2W   size            bytes in use
 *  3W   mprotect_size   bytes that were ever accessible
 *  4W   pagesize, pad   2.35+: the header has 0x30 bytes then, else 0x20
 *
 * tcache_perthread_struct, itself a block:
 *
 *  2.26 - 2.29   char counts[64];          entry *entries[64];    0x240 bytes
 *  2.30 - 2.41   uint16_t counts[64];      entry *entries[64];    0x280
 *  2.42 +        uint16_t num_slots[76];   entry *entries[76];    0x2f8    (free slots: they count down; the last
 *                                                                          12 are log2 classes of large blocks)
 *  key of an entry: none before 2.29, then the address of the tcache, from 2.34 on a random number of the process. */
#ifndef XC_GLIBC_LAYOUT_H
#define XC_GLIBC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	XC_GLIBC_PREV_INUSE = 1,
	XC_GLIBC_MMAPPED = 2,
	XC_GLIBC_NON_MAIN = 4,
	XC_GLIBC_FLAGS = 7,

	XC_GLIBC_ALIGN = 16,
	XC_GLIBC_BINS = 127, /* pairs; the first one is the unsorted bin */
	XC_GLIBC_FASTBINS = 10,
	XC_GLIBC_NONCONTIGUOUS = 2,
	XC_GLIBC_MANGLES = 32, /* the release 2.N that began to mangle links */
	XC_GLIBC_MANGLE = 12,  /* shift of a mangled link's own address, in bits */
};

/* The layout found in this process. Offsets are into malloc_state unless noted. */
struct xc_glibc_layout {
	uint8_t word; /* SIZE_SZ */
	uint16_t top, bins, next, system_mem;
	uint16_t fastbins;
	uint8_t fastbin_count; /* 0: there are none */
	uint16_t state_size;   /* of malloc_state */
	uint16_t heap_info;    /* size of the header of a heap; 0: no sub-arenas */
	uint64_t heap_max;
	bool mangled;       /* links of fastbins and tcaches */
	bool mangled_known; /* by libc's release, or some link showed it */
};

#endif
