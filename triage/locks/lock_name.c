/* lock_name: a path through types ends at the lock: nobody writes the members of pthread_mutex_t or std::mutex. */
#include "triage/locks/lock_name.h"

#include <string.h>

#include "dwarf/elf/demangle.h"
#include "dwarf/stack/frame_walk.h"
#include "dwarf/types/field.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/stack/variable.h"
#include "heap/query/whatis.h"
#include "triage/util/memory_search.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"
#include "triage/util/statics.h"

enum {
	STEPS = 64,
	FRAMES = 6,
	NEAR = 4096,  /* bytes from the beginning of an object to its lock */
	HITS = 64,    /* words that point there */
	MEMBERS = 64, /* of a record to look at */
	MOST = 64,    /* locks that are renamed: each searches the memory */
};

/* "Mutex<i64>", "std::sync::poison::mutex::Mutex<i64>" */
static bool is_rust_lock(const char *name)
{
	static const char *const names[] = {"Mutex", "RwLock", "Condvar", "Once", "OnceLock", "LazyLock"};
	size_t len = name ? strcspn(name, "<") : 0, start = len;
	while (start > 0 && name[start - 1] != ':')
		start--;
	for (size_t i = 0; i < XC_COUNT(names); i++)
		if (strlen(names[i]) == len - start && memcmp(name + start, names[i], len - start) == 0)
			return len > start;
	return false;
}

static bool is_lock_type(const struct xc_type *type)
{
	static const char *const names[] = {"pthread_mutex_t",
					    "pthread_rwlock_t",
					    "pthread_cond_t",
					    "std::mutex",
					    "std::recursive_mutex",
					    "std::timed_mutex",
					    "std::shared_mutex",
					    "std::shared_timed_mutex",
					    "std::recursive_timed_mutex",
					    "mtx_t",
					    "cnd_t",
					    "sem_t",
					    "pthread_barrier_t",
					    "pthread_once_t",
					    "once_flag",
					    "std::condition_variable",
					    "std::condition_variable_any",
					    "std::once_flag",
					    "sync.Mutex",
					    "sync.RWMutex",
					    "sync.WaitGroup",
					    NULL};
	return xc_names_find(names, type->name) || is_rust_lock(type->name);
}

/* Typedefs are checked one by one: pthread_mutex_t is one. */
static const struct xc_type *lock_or_stripped(const struct xc_type *type, bool *is_lock)
{
	for (size_t i = 0; i < XC_TYPE_DEPTH; i++) {
		*is_lock = is_lock_type(type);
		bool wrapped = type->kind == XC_TYPE_TYPEDEF || type->kind == XC_TYPE_CONST ||
			       type->kind == XC_TYPE_VOLATILE || type->kind == XC_TYPE_ATOMIC;
		if (*is_lock || !wrapped || !type->target)
			break;
		type = type->target;
	}
	return type;
}

/* Append the path to the lock at offset. False when no lock begins there. */
static bool add_path(struct xc_text *text, const struct xc_type *type, uint64_t offset, const char *dot)
{
	for (size_t i = 0; type && i < STEPS; i++) {
		struct xc_field_step step;
		bool is_lock;
		type = lock_or_stripped(type, &is_lock);
		if (is_lock)
			return offset == 0;
		if (!xc_field_step(xc_type_complete(xc_type_strip(type)), offset, &step))
			return false;
		if (step.is_element)
			xc_text_printf(text, "[%llu]", (unsigned long long)step.index);
		else if (step.name)
			xc_text_printf(text, "%s%s", dot, step.name);
		if (step.is_element || step.name)
			dot = ".";
		type = step.type;
		offset = step.offset;
	}
	return false;
}

/* "letters()::count", for its guard variable. */
static void add_static(const char *name, struct xc_text *text)
{
	static const char guard[] = "guard variable for ";
	xc_auto(xc_freep) char *plain = xc_demangle(name, true);
	bool guards = plain && strncmp(plain, guard, sizeof guard - 1) == 0;
	xc_text_add(text, guards ? plain + sizeof guard - 1 : name);
}

static bool by_static(struct xc_process *p, const struct xc_wait *wait, xc_addr addr, struct xc_text *text)
{
	struct xc_held held;
	if (!wait->place || !xc_process_module(p, addr) || !xc_statics_at(p, wait->place, wait->thread, addr, &held))
		return false;
	add_static(held.name, text);
	if (held.type && add_path(text, held.type, held.offset, "."))
		return true;
	if (!held.offset && !held.type)
		return true;
	text->len = 0;
	return false;
}

static bool points_round(const struct xc_value *value, xc_addr addr, xc_addr *base_out)
{
	uint64_t size, base;
	const struct xc_type *type = value->type ? xc_type_strip(value->type) : NULL;
	if (!type || (type->kind != XC_TYPE_POINTER && type->kind != XC_TYPE_REFERENCE) || !type->target ||
	    !xc_value_load(value, &base))
		return false;
	*base_out = base;
	return base && addr >= base && xc_type_size(xc_type_complete(xc_type_strip(type->target)), &size) &&
	       addr - base < size;
}

/* The lock that variables are searched for, and its name. */
struct naming {
	xc_addr addr;
	bool rust;
	struct xc_text *text;
};

static bool by_variable(void *user, const struct xc_named_value *variable)
{
	const struct naming *n = user;
	const struct xc_value *value = &variable->value;
	uint64_t size;
	xc_addr base;
	n->text->len = 0;
	if (points_round(value, n->addr, &base)) {
		const struct xc_type *pointer = xc_type_strip(value->type);
		bool is_lock, pointed = pointer->kind == XC_TYPE_POINTER;
		lock_or_stripped(pointer->target, &is_lock);
		xc_text_printf(n->text, "%s%s", is_lock && pointed ? "*" : "", variable->name);
		return add_path(n->text, pointer->target, n->addr - base, pointed && !n->rust ? "->" : ".");
	}
	if (value->kind != XC_VALUE_MEMORY || n->addr < value->addr || !xc_type_size(value->type, &size) ||
	    n->addr - value->addr >= size)
		return false;
	xc_text_add(n->text, variable->name);
	return add_path(n->text, value->type, n->addr - value->addr, ".");
}

/* By a pointer in the record that a variable points to: "job->bank->accounts[1].lock". */
static bool by_member(void *user, const struct xc_named_value *variable)
{
	const struct naming *n = user;
	size_t count = 0;
	struct xc_value target, member;
	xc_addr base;
	bool pointed = variable->value.type && xc_type_is_pointer(variable->value.type);
	if (n->rust || !pointed)
		return false;
	struct xc_error *error = xc_value_deref(&variable->value, &target);
	const struct xc_type *type = error ? NULL : xc_type_complete(xc_type_strip(target.type));
	const struct xc_member *members = type && xc_type_is_record(type) ? xc_type_members(type, &count) : NULL;
	xc_error_free(error);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		if (!members[i].name || members[i].base)
			continue;
		target.type = type;
		xc_value_field(&target, &members[i], &member);
		if (!points_round(&member, n->addr, &base))
			continue;
		n->text->len = 0;
		bool reference = xc_type_strip(variable->value.type)->kind != XC_TYPE_POINTER;
		xc_text_printf(n->text, "%s%s%s", variable->name, reference ? "." : "->", members[i].name);
		if (add_path(n->text, xc_type_strip(member.type)->target, n->addr - base, "->"))
			return true;
	}
	n->text->len = 0;
	return false;
}

/* Outward from the innermost function of user code. */
static bool by_frames(struct xc_process *p, const struct xc_wait *wait, struct xc_unwinder *unwinder, xc_addr addr,
		      xc_user_code_variable_fn *by, struct xc_text *text)
{
	struct xc_frame_walk walk;
	struct xc_arena scratch = {0};
	bool found = false;
	struct naming n = {addr, xc_wait_is_rust(wait) || wait->kind == XC_WAIT_RUST_CONDITION, text};
	xc_frame_walk_from(&walk, p, unwinder, wait->thread, &wait->frame, wait->has_place ? FRAMES : 0);
	while (!found && xc_frame_walk_next(&walk))
		found = xc_user_code_variables(&walk.context, &scratch, by, &n);
	if (!found)
		text->len = 0;
	xc_arena_fini(&scratch);
	return found;
}

static const char *expression(struct xc_process *p, const struct xc_wait *wait, struct xc_unwinder *unwinder,
			      xc_addr addr, bool *local_out)
{
	struct xc_text text = {0};
	bool found = by_static(p, wait, addr, &text);
	*local_out = !found && (by_frames(p, wait, unwinder, addr, by_variable, &text) ||
				by_frames(p, wait, unwinder, addr, by_member, &text));
	found |= *local_out;
	const char *name = found ? xc_arena_strdup(&p->arena, xc_text_string(&text)) : NULL;
	xc_text_fini(&text);
	return name;
}

/* pthread_cond_t: glibc to 2.40, from 2.41 (words: wait_syscall.c). Valid only where a condition begins. */
static const char *condition(struct xc_process *p, const struct xc_wait *wait, struct xc_unwinder *unwinder)
{
	xc_addr even = wait->word & ~(xc_addr)7;
	bool local;
	const char *name = expression(p, wait, unwinder, even - 40, &local);
	return name ? name : expression(p, wait, unwinder, even - 32, &local);
}

const char *xc_lock_name_at(struct xc_process *process, const struct xc_wait *wait, struct xc_unwinder *unwinder,
			    xc_addr addr)
{
	bool local;
	return expression(process, wait, unwinder, addr, &local);
}

const char *xc_lock_name_expression(struct xc_process *process, const struct xc_wait *wait)
{
	bool local;
	if (!wait->word || (wait->kind != XC_WAIT_CONDITION && !wait->object))
		return NULL;
	struct xc_unwinder *unwinder = xc_unwinder_new(process);
	const char *name = wait->kind == XC_WAIT_CONDITION ? condition(process, wait, unwinder)
							   : expression(process, wait, unwinder, wait->object, &local);
	xc_unwinder_free(unwinder);
	return name;
}

/* The object at the address, without looking up names of types: that may take longer than all else. */
static void by_place(struct xc_process *p, xc_addr addr, struct xc_text *text)
{
	struct xc_what what = xc_what(p, p->heap, addr);
	const struct xc_place *place = what.kind == XC_WHAT_DATA ? xc_debuginfo_place(p, addr) : NULL;
	if (place && place->symbol) {
		xc_text_add(text, place->symbol);
		if (place->symbol_offset)
			xc_text_printf(text, "+0x%llx", (unsigned long long)place->symbol_offset);
		return;
	}
	xc_text_printf(text, "0x%llx", (unsigned long long)addr);
	if (what.kind != XC_WHAT_BLOCK && what.kind != XC_WHAT_STACK)
		return;
	xc_text_add(text, ", ");
	xc_what_text(p, p->heap, &what, text);
}

/* ---- of the C library ---- */

/* struct _IO_FILE of glibc 2.26 to 2.41, 64 bits (libio/bits/types/struct_FILE.h): | flags 4 | … | fileno 4, at 112
 * | … | lock 8, at 136 |. For fopen and fdopen the lock follows it, 224 bytes from its beginning (libio/iofopen.c,
 * struct locked_FILE). */
enum { FILE_NUMBER = 112, FILE_LOCK = 136, LOCKED_FILE = 224 };

static bool is_stream(const struct xc_process *p, xc_addr file, xc_addr lock)
{
	uint64_t at;
	return xc_space_peek_uint(p->space, file + FILE_LOCK, 8, &at) && at == lock;
}

static void add_stream(const struct xc_process *p, xc_addr lock, struct xc_text *text)
{
	static const char *const symbols[][2] = {
		{"_IO_2_1_stdin_", "stdin"}, {"_IO_2_1_stdout_", "stdout"}, {"_IO_2_1_stderr_", "stderr"}};
	xc_addr file;
	uint64_t number;
	for (size_t i = 0; i < XC_COUNT(symbols); i++)
		if (xc_symbol_find(p, symbols[i][0], NULL, &file) && is_stream(p, file, lock)) {
			xc_text_add(text, symbols[i][1]);
			return;
		}
	if (is_stream(p, lock - LOCKED_FILE, lock) &&
	    xc_space_peek_uint(p->space, lock - LOCKED_FILE + FILE_NUMBER, 4, &number) && number <= INT32_MAX)
		xc_text_printf(text, "of descriptor %d", (int)number);
	else
		xc_text_printf(text, "0x%llx", (unsigned long long)lock);
}

static bool is_loaders(const struct xc_process *p, xc_addr addr)
{
	const struct xc_place *place = xc_debuginfo_place(p, addr);
	return place->symbol && strncmp(place->symbol, "_rtld_global", 12) == 0;
}

/* ---- */

void xc_lock_name_find(struct xc_process *process, const struct xc_wait *wait, struct xc_unwinder *unwinder,
		       struct xc_lock *lock)
{
	struct xc_text text = {0};
	bool library = lock->kind == XC_LOCK_STREAM || lock->kind == XC_LOCK_ARENA || lock->kind == XC_LOCK_LIBRARY;
	bool loader = !library && is_loaders(process, lock->addr);
	lock->name = library || loader ? NULL : expression(process, wait, unwinder, lock->addr, &lock->is_local);
	lock->is_expression = lock->name != NULL;
	if (lock->name)
		return;
	xc_text_add(&text, loader ? "of the dynamic loader, " : "");
	if (lock->kind == XC_LOCK_STREAM)
		add_stream(process, lock->addr, &text);
	else
		by_place(process, lock->addr, &text);
	lock->name = xc_arena_strdup(&process->arena, xc_text_string(&text));
	xc_text_fini(&text);
}

/* ---- locks that share one name: `to->lock` is another one in every thread ---- */

static bool shares_name(const struct xc_locks *l, size_t index)
{
	const struct xc_lock *lock = &l->locks[index];
	for (size_t i = 0; lock->is_local && i < l->lock_count; i++)
		if (i != index && l->locks[i].name && strcmp(l->locks[i].name, lock->name) == 0)
			return true;
	return false;
}

/* "shards[0]->lock", where the pointer at `at` is in a static variable. */
static bool by_pointer(struct xc_process *p, const struct xc_wait *wait, xc_addr at, xc_addr lock, struct xc_text *text)
{
	struct xc_held held;
	uint64_t base, rest = 0;
	text->len = 0;
	if (!xc_process_module(p, at) || !xc_statics_at(p, wait->place, wait->thread, at, &held) || !held.type ||
	    !held.name || !xc_space_peek_uint(p->space, at, p->arch->word, &base))
		return false;
	xc_text_add(text, held.name);
	const struct xc_type *pointer = xc_field_path(text, held.type, held.offset, &rest);
	pointer = pointer && !rest ? xc_type_strip(pointer) : NULL;
	return pointer && pointer->kind == XC_TYPE_POINTER && pointer->target &&
	       add_path(text, pointer->target, lock - base, "->");
}

static const char *find_static(struct xc_process *p, const struct xc_wait *wait, xc_addr lock)
{
	xc_addr found[HITS];
	struct xc_text text = {0};
	const char *name = NULL;
	size_t count = wait->place ? xc_memory_search_words(p, lock - NEAR, NEAR, found, HITS) : 0;
	for (size_t i = 0; i < count && !name; i++)
		if (by_pointer(p, wait, found[i], lock, &text))
			name = xc_arena_strdup(&p->arena, xc_text_string(&text));
	xc_text_fini(&text);
	return name;
}

void xc_lock_name_settle(struct xc_process *p, struct xc_locks *l, struct xc_unwinder *unwinder)
{
	for (size_t i = 0; i < l->lock_count && i < MOST; i++)
		l->locks[i].is_shared_name = shares_name(l, i);
	for (size_t i = 0; i < l->lock_count && i < MOST; i++) {
		struct xc_lock *lock = &l->locks[i];
		if (!lock->is_shared_name)
			continue;
		bool local;
		const char *name = find_static(p, &l->waits->items[lock->first], lock->addr);
		if (name) {
			lock->name = name;
			lock->is_local = lock->is_shared_name = false;
		} else if (lock->holder != XC_LOCK_NOBODY) {
			lock->held_name = expression(p, &l->waits->items[lock->holder], unwinder, lock->addr, &local);
		}
	}
}
