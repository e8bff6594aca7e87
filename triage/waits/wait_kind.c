/* wait_kind: glibc (nptl/, checked with 2.36), libstdc++ (12: src/c++11/futex.cc, libsupc++/guard.cc) and Rust's
 * standard library (library/std/src/sys/sync, 1.62 to 1.95). Rust's names are matched by parts: their modules have
 * changed often. */
#include "triage/waits/wait_kind.h"

#include <string.h>

#include "triage/util/names.h"

static const struct named {
	const char *name; /* without leading underscores and versions */
	enum xc_wait_kind kind;
	bool timed;
} functions[] = {
	{"pthread_mutex_lock", XC_WAIT_MUTEX, false},
	{"pthread_mutex_lock_full", XC_WAIT_MUTEX, false},
	{"pthread_mutex_timedlock", XC_WAIT_MUTEX, true},
	{"pthread_mutex_clocklock", XC_WAIT_MUTEX, true},
	{"pthread_mutex_clocklock_common", XC_WAIT_MUTEX, true},
	{"pthread_mutex_cond_lock", XC_WAIT_MUTEX, false},
	{"pthread_mutex_cond_lock_full", XC_WAIT_MUTEX, false},
	{"pthread_rwlock_rdlock", XC_WAIT_READ_LOCK, false},
	{"pthread_rwlock_timedrdlock", XC_WAIT_READ_LOCK, true},
	{"pthread_rwlock_clockrdlock", XC_WAIT_READ_LOCK, true},
	{"pthread_rwlock_wrlock", XC_WAIT_WRITE_LOCK, false},
	{"pthread_rwlock_timedwrlock", XC_WAIT_WRITE_LOCK, true},
	{"pthread_rwlock_clockwrlock", XC_WAIT_WRITE_LOCK, true},
	{"pthread_cond_wait", XC_WAIT_CONDITION, false},
	{"pthread_cond_timedwait", XC_WAIT_CONDITION, true},
	{"pthread_cond_clockwait", XC_WAIT_CONDITION, true},
	{"sem_wait", XC_WAIT_SEMAPHORE, false},
	{"new_sem_wait", XC_WAIT_SEMAPHORE, false},
	{"new_sem_wait_slow64", XC_WAIT_SEMAPHORE, false},
	{"sem_timedwait", XC_WAIT_SEMAPHORE, true},
	{"sem_clockwait", XC_WAIT_SEMAPHORE, true},
	{"pthread_barrier_wait", XC_WAIT_BARRIER, false},
	{"pthread_once", XC_WAIT_ONCE, false},
	{"pthread_once_slow", XC_WAIT_ONCE, false},
	{"cxa_guard_acquire", XC_WAIT_ONCE, false},
	{"pthread_join", XC_WAIT_THREAD, false},
	{"pthread_clockjoin_ex", XC_WAIT_THREAD, false},
	{"pthread_timedjoin_np", XC_WAIT_THREAD, true},
	{"pthread_clockjoin_np", XC_WAIT_THREAD, true},
	{"thrd_join", XC_WAIT_THREAD, false},
	{"mtx_lock", XC_WAIT_MUTEX, false},
	{"mtx_timedlock", XC_WAIT_MUTEX, true},
	{"cnd_wait", XC_WAIT_CONDITION, false},
	{"cnd_timedwait", XC_WAIT_CONDITION, true},
	{"std::__atomic_futex_unsigned_base::_M_futex_wait_until", XC_WAIT_FUTURE, false},
	{"lll_lock_wait", XC_WAIT_LIBRARY_LOCK, false},
	{"lll_lock_wait_private", XC_WAIT_LIBRARY_LOCK, false},
};

/* Without glibc's prefixes: "___pthread_mutex_lock", "__GI___pthread_mutex_lock". */
static const char *past_underscores(const char *name)
{
	for (;;) {
		if (*name == '_')
			name++;
		else if (strncmp(name, "GI_", 3) == 0)
			name += 3;
		else
			return name;
	}
}

/* "pthread_cond_wait@@GLIBC_2.3.2", "int_free.constprop.0", "___pthread_cond_timedwait64": glibc's names of functions
 * whose times have 64 bits. */
static bool is_called(const char *name, const char *plain)
{
	size_t len = strlen(plain);
	name = past_underscores(name);
	if (strncmp(name, plain, len) != 0)
		return false;
	const char *end = name + len + (strncmp(name + len, "64", 2) == 0 ? 2 : 0);
	return !*end || *end == '@' || *end == '.';
}

const char *xc_wait_kind_plain(const char *function)
{
	static const char *const prefixes[] = {"libc_", "IO_", "new_", "int_", NULL};
	const char *name = past_underscores(function);
	for (size_t i = 0; name != function && prefixes[i]; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			name = past_underscores(name + strlen(prefixes[i]));
	return *name ? name : function;
}

static const struct rust {
	const char *part, *end; /* both are in the name, in this order */
	enum xc_wait_kind kind;
	bool timed;
} rust[] = {
	{"utex::Mutex", "::lock_contended", XC_WAIT_RUST_MUTEX, false},
	{"utex_mutex::Mutex", "::lock_contended", XC_WAIT_RUST_MUTEX, false},
	{"RwLock", "::read_contended", XC_WAIT_RUST_READ, false},
	{"RwLock", "::write_contended", XC_WAIT_RUST_WRITE, false},
	{"utex::Condvar", "::wait", XC_WAIT_RUST_CONDITION, false},
	{"utex_condvar::Condvar", "::wait", XC_WAIT_RUST_CONDITION, false},
	{"utex::Once", "::call", XC_WAIT_ONCE, false},
	{"utex::Once", "::wait", XC_WAIT_ONCE, false},
	{"utex_once::Once", "::call", XC_WAIT_ONCE, false},
	{"sync::once::Once", "::call", XC_WAIT_ONCE, false},
	{"once::queue::Once", "::call", XC_WAIT_ONCE, false},
	{"sync::barrier::Barrier", "::wait", XC_WAIT_BARRIER, false},
	{"Parker", "::park", XC_WAIT_PARKED, false},
	{"std::sync::mp", "::recv", XC_WAIT_CHANNEL, false},
	{"std::sync::mp", "::send", XC_WAIT_CHANNEL, false},
	{"std::__detail::__platform_wait", "<", XC_WAIT_ATOMIC, false}, /* C++ */
	{"std::__detail::__platform_wait_until", "<", XC_WAIT_ATOMIC, true},
};

static bool is_rust(const char *name, const struct rust *it)
{
	const char *part = strstr(name, it->part);
	return part && strstr(part, it->end);
}

/* The outer function wins: pthread_mutex_lock calls lll_lock_wait; pthread_cond_wait calls pthread_mutex_cond_lock. */
static void take(struct xc_wait *wait, enum xc_wait_kind kind, bool timed)
{
	bool condition = kind == XC_WAIT_CONDITION || kind == XC_WAIT_RUST_CONDITION;
	if (condition && (wait->kind == XC_WAIT_MUTEX || wait->kind == XC_WAIT_RUST_MUTEX)) {
		wait->reacquires = true;
		return;
	}
	wait->queued |= wait->kind == XC_WAIT_PARKED && kind == XC_WAIT_ONCE;
	wait->kind = kind;
	wait->timed |= timed;
}

void xc_wait_kind_update(struct xc_wait *wait, const char *function)
{
	if (!function)
		return;
	for (size_t i = 0; i < XC_COUNT(functions); i++)
		if (is_called(function, functions[i].name)) {
			take(wait, functions[i].kind, functions[i].timed);
			return;
		}
	bool standard = strncmp(function, "std::", 5) == 0 || strncmp(function, "<std::", 6) == 0;
	for (size_t i = 0; standard && i < XC_COUNT(rust); i++)
		if (is_rust(function, &rust[i])) {
			take(wait, rust[i].kind, rust[i].timed);
			return;
		}
}

bool xc_wait_kind_allocates(const char *function)
{
	static const char *const names[] = {"malloc",
					    "free",
					    "calloc",
					    "realloc",
					    "memalign",
					    "aligned_alloc",
					    "posix_memalign",
					    "libc_malloc",
					    "libc_free",
					    "libc_calloc",
					    "libc_realloc",
					    "libc_memalign",
					    "int_malloc",
					    "int_free",
					    "int_realloc",
					    "int_memalign",
					    "sysmalloc",
					    "systrim",
					    "malloc_consolidate",
					    "unlink_chunk",
					    "malloc_trim",
					    "tcache_init",
					    "arena_get2",
					    "arena_get_retry"};
	for (size_t i = 0; function && i < XC_COUNT(names); i++)
		if (is_called(function, names[i]))
			return true;
	return false;
}

bool xc_wait_kind_same_lock(const char *one, const char *other)
{
	static const char *const of_time[] = {"localtime", "localtime_r", "mktime", "timelocal", "ctime", "ctime_r",
					      "tzset",     "strftime",    "gmtime", "gmtime_r",  NULL};
	if (!one || !other)
		return false;
	one = xc_wait_kind_plain(one);
	other = xc_wait_kind_plain(other);
	return strcmp(one, other) == 0 || (xc_wait_kind_allocates(one) && xc_wait_kind_allocates(other)) ||
	       (xc_names_find(of_time, one) && xc_names_find(of_time, other));
}
