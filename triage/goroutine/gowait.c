/* gowait: of Go 1.19 to 1.22 (runtime/runtime2.go, chan.go, sema.go; sync/mutex.go, rwmutex.go, waitgroup.go):
 *
 *  g.waiting ──→ sudog { g, elem, waitlink, c } ──→ hchan { qcount, dataqsiz, …, closed, elemtype }
 *  semtable [251] { root { lock, treap ──→ sudog { prev, next, waitlink, elem: the semaphore's word } } }
 *  sync.Mutex     | state 4 | sema 4 |
 *  sync.RWMutex   | w: Mutex 8 | writerSem 4 | readerSem 4 | readerCount 4 | readerWait 4 |
 *  sync.WaitGroup | waiters 4 | counter 4 | sema 4 |       since 1.18: before that, the place depends on alignment */
#include "triage/goroutine/gowait.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "triage/goroutine/gopackage.h"
#include "triage/goroutine/govalue.h"
#include "triage/util/names.h"
#include "triage/util/sourceline.h"

enum { ROOTS = 251, QUEUED = 10000, CASES = 1000, CALLS = 12 };

/* ---- semaphores ---- */

static int by_g(const void *a, const void *b)
{
	const struct xc_gosema *one = a, *other = b;
	return one->g < other->g ? -1 : one->g > other->g;
}

struct pile {
	xc_addr items[QUEUED];
	size_t count, seen;
};

static void push(struct pile *pile, xc_addr sudog)
{
	if (sudog && pile->seen < QUEUED && pile->count < QUEUED) {
		pile->items[pile->count++] = sudog;
		pile->seen++;
	}
}

/* One that waits: its relatives in the tree, and the next at the same word. */
static void take(const struct xc_goruntime *go, xc_addr sudog, struct pile *pile, struct xc_gosemas *semas)
{
	uint64_t left = 0, right = 0, link = 0, g, word;
	bool known = xc_goruntime_read(go, "runtime.sudog", sudog, "g", &g) &&
		     xc_goruntime_read(go, "runtime.sudog", sudog, "elem", &word);
	if (known)
		semas->items[semas->count++] = (struct xc_gosema){g, word, sudog};
	if (xc_goruntime_read(go, "runtime.sudog", sudog, "waitlink", &link))
		push(pile, link);
	if (xc_goruntime_read(go, "runtime.sudog", sudog, "prev", &left))
		push(pile, left);
	if (xc_goruntime_read(go, "runtime.sudog", sudog, "next", &right))
		push(pile, right);
}

struct xc_gosemas xc_gosemas_read(const struct xc_crash_context *crash, const struct xc_goruntime *go)
{
	struct xc_gosemas semas = {0};
	xc_addr table;
	uint64_t size, first;
	if (!xc_goruntime_variable(go, "runtime.semtable", &table, &size) || size % ROOTS)
		return semas;
	semas.items = xc_arena_alloc(&crash->report->arena, QUEUED * sizeof *semas.items);
	struct pile *pile = xc_alloc(sizeof *pile);
	pile->count = pile->seen = 0;
	for (size_t i = 0; i < ROOTS; i++) {
		if (xc_goruntime_read(go, "runtime.semaRoot", table + i * (size / ROOTS), "treap", &first))
			push(pile, first);
		while (pile->count)
			take(go, pile->items[--pile->count], pile, &semas);
	}
	free(pile);
	qsort(semas.items, semas.count, sizeof *semas.items, by_g);
	return semas;
}

/* The word of the semaphore that the goroutine is queued at; 0: not known. */
static xc_addr word_of(const struct xc_gosemas *semas, xc_addr g)
{
	struct xc_gosema key = {.g = g};
	const struct xc_gosema *found =
		semas->count ? bsearch(&key, semas->items, semas->count, sizeof key, by_g) : NULL;
	return found ? found->word : 0;
}

/* ---- channels ---- */

/* What comes in the channel tells who sends: the clock, or a signal. */
static enum xc_gowait_kind kind_by_items(const struct xc_crash_context *crash, const struct xc_goruntime *go,
					 xc_addr channel, enum xc_gowait_kind otherwise)
{
	uint64_t type;
	const char *name = xc_goruntime_read(go, "runtime.hchan", channel, "elemtype", &type)
				   ? xc_govalue_type(go, type, &crash->report->arena)
				   : NULL;
	if (name && strcmp(name, "time.Time") == 0)
		return XC_GOWAIT_SLEEP;
	return name && strcmp(name, "os.Signal") == 0 ? XC_GOWAIT_SIGNAL : otherwise;
}

static void read_select(const struct xc_crash_context *crash, const struct xc_goruntime *go, struct xc_gowait *w)
{
	uint64_t sudog, channel;
	size_t cases = 0;
	w->kind = XC_GOWAIT_SELECT;
	for (bool more = xc_goruntime_read(go, "runtime.g", w->g, "waiting", &sudog); more && sudog && cases < CASES;
	     more = xc_goruntime_read(go, "runtime.sudog", sudog, "waitlink", &sudog)) {
		if (xc_goruntime_read(go, "runtime.sudog", sudog, "c", &channel) && w->kind == XC_GOWAIT_SELECT)
			w->kind = kind_by_items(crash, go, channel, XC_GOWAIT_SELECT);
		cases++;
	}
	w->words = cases ? xc_arena_printf(&crash->report->arena, "selects among %zu channel%s", cases,
					   cases == 1 ? "" : "s")
			 : "selects among channels";
}

static const char *send_words(const struct xc_crash_context *crash, const struct xc_goruntime *go, xc_addr channel)
{
	uint64_t room;
	if (!channel || !xc_goruntime_read(go, "runtime.hchan", channel, "dataqsiz", &room))
		return "sends to a channel";
	return room ? xc_arena_printf(&crash->report->arena, "sends to a channel whose buffer of %" PRIu64 " is full",
				      room)
		    : "sends to a channel without a buffer";
}

static void read_channel(const struct xc_crash_context *crash, const struct xc_goruntime *go, struct xc_gowait *w,
			 bool sends)
{
	uint64_t sudog = 0;
	if (!xc_goruntime_read(go, "runtime.g", w->g, "waiting", &sudog) || !sudog ||
	    !xc_goruntime_read(go, "runtime.sudog", sudog, "c", &w->object))
		w->object = 0;
	w->kind = sends ? XC_GOWAIT_SEND : XC_GOWAIT_RECEIVE;
	if (w->object && !sends)
		w->kind = kind_by_items(crash, go, w->object, w->kind);
	w->words = sends                         ? send_words(crash, go, w->object)
		   : w->kind == XC_GOWAIT_SIGNAL ? "waits for a signal"
		   : w->kind == XC_GOWAIT_SLEEP  ? "waits for a timer"
						 : "receives from a channel";
}

static bool is_called_by(const struct xc_crash_context *crash, const struct xc_gowait *w, const char *part)
{
	for (size_t i = 0; i < w->frame_count && i < CALLS; i++) {
		const struct xc_place *place = xc_debuginfo_place(crash->process, xc_frame_lookup(&w->frames[i]));
		for (size_t l = 0; l == 0 || l < place->level_count; l++) {
			const char *name = xc_place_function(place, l);
			if (name && strstr(name, part))
				return true;
		}
	}
	return false;
}

/* ---- locks: by the functions of package sync ---- */

static void read_group(const struct xc_crash_context *crash, const struct xc_goruntime *go,
		       const struct xc_gosemas *semas, struct xc_gowait *w)
{
	uint64_t counter;
	xc_addr word = word_of(semas, w->g);
	w->kind = XC_GOWAIT_GROUP;
	w->words = "waits for a sync.WaitGroup";
	if (!word)
		return;
	w->object = word - 8;
	if (xc_space_peek_uint(go->process->space, w->object + 4, 4, &counter) && counter && counter <= INT32_MAX)
		w->words = xc_arena_printf(&crash->report->arena,
					   "waits for a sync.WaitGroup, whose counter is %" PRIu64, counter);
}

/* From readerCount, the number of those that read or want to, a writer takes 2^30. readerWait is the number of those
 * that still read before it. */
static void read_readers(const struct xc_crash_context *crash, const struct xc_goruntime *go, bool reads,
			 struct xc_gowait *w)
{
	uint64_t all, before;
	if (!w->object || !xc_goruntime_read(go, "sync.RWMutex", w->object, "readerCount", &all) ||
	    !xc_goruntime_read(go, "sync.RWMutex", w->object, "readerWait", &before))
		return;
	bool writer = (int32_t)all < 0;
	int32_t readers = (int32_t)before;
	w->behind_writer = reads && writer && readers > 0;
	w->readers = w->behind_writer ? (uint32_t)readers : 0;
	if (w->behind_writer)
		w->behind = " behind a writer";
	else if (reads && writer)
		w->behind = " which a writer has";
	else if (writer && readers > 0)
		w->behind = xc_arena_printf(&crash->report->arena, " which %" PRId32 " reader%s", readers,
					    readers == 1 ? " has" : "s have");
}

/* Writers wait for the RWMutex's Mutex, its first member, while another one has the lock or waits for it. */
static void read_writer(struct xc_gowait *w)
{
	w->words = "waits for a sync.RWMutex to write";
	w->behind = " behind another writer";
}

/* Returns false when no function of package sync says what the semaphore is for. */
static bool read_semaphore(const struct xc_crash_context *crash, const struct xc_goruntime *go,
			   const struct xc_gosemas *semas, struct xc_gowait *w)
{
	xc_addr word = word_of(semas, w->g);
	for (size_t i = 0; i < w->frame_count && i < CALLS; i++) {
		const struct xc_place *place = xc_debuginfo_place(crash->process, xc_frame_lookup(&w->frames[i]));
		for (size_t l = 0; l == 0 || l < place->level_count; l++) {
			const char *name = xc_place_function(place, l);
			bool mutex = xc_gopackage_begins(name, "sync.(*Mutex).") ||
				     xc_gopackage_begins(name, "internal/sync.(*Mutex).");
			bool read = name && strcmp(name, "sync.(*RWMutex).RLock") == 0;
			bool write = name && strcmp(name, "sync.(*RWMutex).Lock") == 0;
			if (xc_gopackage_begins(name, "sync.(*WaitGroup).")) {
				read_group(crash, go, semas, w);
				return true;
			}
			if (!mutex && !read && !write)
				continue;
			w->kind = XC_GOWAIT_MUTEX;
			w->object = word ? word - (mutex ? 4 : read ? 12 : 8) : 0;
			w->words = mutex  ? "waits for a sync.Mutex"
				   : read ? "waits for a sync.RWMutex to read"
					  : "waits for a sync.RWMutex to write";
			if (!mutex)
				read_readers(crash, go, read, w);
			else if (is_called_by(crash, w, "sync.(*RWMutex).Lock"))
				read_writer(w);
			return true;
		}
	}
	return false;
}

/* ---- */

/* The runtime's reasons; the semaphores of mutexes have names of their own since Go 1.20. */
static void read_reason(const struct xc_crash_context *crash, const struct xc_goruntime *go,
			const struct xc_gosemas *semas, const char *reason, struct xc_gowait *w)
{
	w->kind = XC_GOWAIT_OTHER;
	w->words = *reason ? xc_arena_printf(&crash->report->arena, "waits (%s)", reason) : "waits";
	if (strcmp(reason, "chan receive") == 0 || strcmp(reason, "chan send") == 0)
		read_channel(crash, go, w, strcmp(reason, "chan send") == 0);
	else if (strcmp(reason, "select") == 0)
		read_select(crash, go, w);
	else if (strstr(reason, "(nil chan)") || strstr(reason, "(no cases)"))
		w->kind = XC_GOWAIT_FOREVER;
	else if (strcmp(reason, "sleep") == 0) {
		w->kind = XC_GOWAIT_SLEEP;
		w->words = "sleeps";
	} else if (strcmp(reason, "IO wait") == 0) {
		w->kind = is_called_by(crash, w, "ccept") ? XC_GOWAIT_ACCEPT : XC_GOWAIT_IO;
		w->words = w->kind == XC_GOWAIT_ACCEPT ? "waits for a client" : "waits for input or output";
	} else if (strcmp(reason, "sync.Cond.Wait") == 0) {
		w->kind = XC_GOWAIT_CONDITION;
		w->words = "waits for a sync.Cond";
	} else if (strcmp(reason, "semacquire") == 0 || xc_gopackage_begins(reason, "sync."))
		read_semaphore(crash, go, semas, w);
}

void xc_gowait_read(const struct xc_crash_context *crash, const struct xc_goruntime *go, const struct xc_gosemas *semas,
		    xc_addr g, struct xc_gowait *out)
{
	struct xc_text reason = {0};
	uint64_t status;
	struct xc_crash_context one = *crash;
	*out = (struct xc_gowait){
		.g = g, .kind = XC_GOWAIT_OTHER, .words = "is in a state that is not known", .behind = ""};
	if (!xc_goruntime_read(go, "runtime.g", g, "goid", &out->id))
		out->id = 0;
	out->frame_count = xc_goroutine_frames(crash, go, g, &out->frames);
	one.frames = out->frames;
	one.frame_count = out->frame_count;
	one.blame = (struct xc_blame){.place = NULL};
	if (xc_goroutine_blame(&one, 0))
		out->blame = one.blame;
	if (!xc_goroutine_status(go, g, &status))
		return;
	if (status == XC_GOROUTINE_READY || status == XC_GOROUTINE_RUNS) {
		out->kind = XC_GOWAIT_NOT;
		out->words = is_called_by(crash, out, "runtime.Gosched") ? "goes on, and yields with runtime.Gosched(),"
			     : status == XC_GOROUTINE_RUNS               ? "runs"
									 : "is ready to run";
	} else if (status == XC_GOROUTINE_IN_CALL) {
		out->kind = XC_GOWAIT_CALL;
		out->words = "is in a system call";
	} else if (status == XC_GOROUTINE_WAITS) {
		xc_goroutine_reason(go, g, &reason);
		read_reason(crash, go, semas, reason.len ? reason.bytes : "", out);
	}
	xc_text_fini(&reason);
}

void xc_gowait_where(const struct xc_blame *blame, struct xc_text *text)
{
	const char *function = xc_place_function(blame->place, blame->level);
	xc_text_add(text, function ? function : "a function without a name");
	xc_sourceline(blame->place, blame->level, ", ", text);
}

void xc_gowait_describe(const struct xc_gowait *w, const char *object, struct xc_text *text)
{
	xc_text_printf(text, "goroutine %" PRIu64 "%s ", w->id, w->id == 1 ? ", main's," : "");
	xc_text_add(text, w->words);
	if (object)
		xc_text_printf(text, ", `%s` (0x%" PRIx64 "),", object, w->object);
	else if (w->kind == XC_GOWAIT_MUTEX && w->object)
		xc_text_printf(text, ", 0x%" PRIx64 ",", w->object);
	if (*w->behind)
		xc_text_printf(text, "%s,", w->behind);
	if (!w->blame.place)
		return;
	xc_text_add(text, " in ");
	xc_gowait_where(&w->blame, text);
}
