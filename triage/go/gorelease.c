/* gorelease: Done() and Unlock() are inlined; what they call tells where they stand. */
#include "triage/go/gorelease.h"

#include <ctype.h>
#include <string.h>

#include "triage/go/gocalls.h"
#include "triage/goroutine/gopackage.h"
#include "triage/util/sourceline.h"

enum { TOLD = 3 };

/* What the runtime says, the function that is called, and the method of the source. The first that fits. */
static const struct release {
	const char *says, *target, *through, *method;
} releases[] = {
	{"negative WaitGroup counter", "sync.(*WaitGroup).Add", "sync.(*WaitGroup).Done", "Done()"},
	{"unlock of unlocked mutex", "sync.(*Mutex).unlockSlow", "sync.(*Mutex).Unlock", "Unlock()"},
	{"RUnlock of unlocked RWMutex", "sync.(*RWMutex).rUnlockSlow", "sync.(*RWMutex).RUnlock", "RUnlock()"},
	{"Unlock of unlocked RWMutex", "sync.(*RWMutex).Unlock", NULL, "Unlock()"},
};

static const struct release *find_release(const struct xc_verdict *v)
{
	for (size_t i = 0; v->message && i < XC_COUNT(releases); i++)
		if (strstr(v->message, releases[i].says))
			return &releases[i];
	return NULL;
}

/* "main.(*pool).run" of "main.(*pool).run.func1": a function and those that it contains are one for the reader. */
static size_t family_of(const char *function)
{
	static const char *const marks[] = {".func", ".deferwrap", ".gowrap"};
	for (const char *dot = strchr(function, '.'); dot; dot = strchr(dot + 1, '.'))
		for (size_t i = 0; i < XC_COUNT(marks); i++)
			if (xc_begins_with(dot, marks[i]) && isdigit((unsigned char)dot[strlen(marks[i])]))
				return (size_t)(dot - function);
	return strlen(function);
}

static bool is_family(const char *a, const char *b)
{
	return family_of(a) == family_of(b) && strncmp(a, b, family_of(a)) == 0;
}

/* Is it the call that failed? */
static bool is_own(const struct xc_crash_context *crash, const struct xc_gocall *call)
{
	for (size_t i = 0; i < crash->frame_count; i++)
		if (!crash->frames[i].interrupted && crash->frames[i].pc - call->addr - 1 < 8)
			return true;
	return false;
}

static size_t report_calls(const struct xc_crash_context *crash, const struct release *release,
			   const struct xc_gocalls *calls, const char *own, bool family)
{
	size_t told = 0;
	for (size_t i = 0; i < calls->count && told < TOLD; i++) {
		const struct xc_gocall *call = &calls->items[i];
		struct xc_text text = {0};
		if (is_own(crash, call) || is_family(call->function, own) != family)
			continue;
		xc_sourceline(call->place, call->level, ", ", &text);
		xc_verdict_evidence(crash->report, "%s is called in %s%s%s", release->method, call->function,
				    xc_text_string(&text), family ? ", too: likely it released twice" : "");
		xc_text_fini(&text);
		told++;
	}
	return told;
}

void xc_gorelease_report(struct xc_godeath *d)
{
	const struct xc_crash_context *crash = d->crash;
	const struct release *release = find_release(crash->verdict);
	const char *own = crash->blame.place ? xc_place_function(crash->blame.place, crash->blame.level) : NULL;
	struct xc_gocalls calls;
	xc_addr target;
	uint64_t size;
	if (!release || !own || xc_gopackage_is_standard(own) ||
	    !xc_goruntime_variable(&d->go, release->target, &target, &size))
		return;
	xc_gocalls_find(&d->go, &target, 1, release->through, &calls);
	if (!report_calls(crash, release, &calls, own, true))
		report_calls(crash, release, &calls, own, false);
}
