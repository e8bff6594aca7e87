/* rust_lock: see rust_lock.h. */
#include "triage/code/rust_lock.h"

#include <string.h>

#include "triage/code/body.h"

bool xc_rust_lock_is(const struct xc_type *type)
{
	static const char *const ends[] = {"::Mutex", "::RwLock"};
	const char *name = xc_type_is_record(type) && type->name ? type->name : "";
	size_t len = strcspn(name, "<");
	for (size_t i = 0; i < XC_COUNT(ends); i++)
		if (len > strlen(ends[i]) && strncmp(name + len - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
			return name[len] == '<';
	return false;
}

/* The drop, or, where it is inlined, the call that wakes who waits for the lock. */
static bool is_drop(const char *callee)
{
	static const char wake[] = "::Mutex::wake";
	size_t len = strlen(callee);
	if (strstr(callee, "MutexGuard<"))
		return strncmp(callee, "core::ptr::drop_in_place", strlen("core::ptr::drop_in_place")) == 0;
	return len > strlen(wake) && strcmp(callee + len - strlen(wake), wake) == 0;
}

bool xc_rust_lock_drops(const struct xc_process *process, xc_addr pc)
{
	struct xc_arena arena = {0};
	const struct xc_body *body = xc_body_read(process, pc, &arena);
	bool drops = false;
	for (size_t i = 0; body && i < body->call_count && !drops; i++) {
		const char *callee = xc_body_callee(body, &body->insns[body->calls[i].insn], NULL);
		drops = callee && is_drop(callee);
	}
	xc_arena_fini(&arena);
	return drops;
}
