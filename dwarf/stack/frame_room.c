#include "dwarf/stack/frame_room.h"

#include <string.h>

enum {
	LEAST_WALK = 1 << 21, /* frames of all stacks together: one stack of 8 MiB, and as many again */
	MOST_WALK = 1 << 22,
	LEAST_OF_ONE = 1 << 18, /* if it is alone and more are asked for: 8 MiB of small frames, stored in 100 KiB */
	LEAST_OF_ALL = 1 << 17, /* 128 threads have 1,024 each, 5,000 have 26; half of it with locals */
	MOST_OF_ALL = 1 << 20,
	CORE_OF_FRAME = 128, /* bytes of a core that make room for another frame, */
	FILE_OF_FRAME = 4,   /* and of its file, which may be compressed */
	BYTES_OF_FRAME = 8,  /* the smallest frame is a return address */
	LEAST_OF_STACK = 4,
	LEAST_TEXT = 16 << 20,
	MOST_TEXT = 1 << 28,
	LEAST_NAMES = 3 << 20,
	SHORT_NAME = 64, /* bytes, for which there always is room */
};

static uint64_t between(uint64_t least, uint64_t value, uint64_t most)
{
	return value < least ? least : value > most ? most : value;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Frames that are kept of all stacks by default. */
static uint64_t usual(const struct xc_process *process, uint64_t least)
{
	const struct xc_source *core = process->core;
	if (!core)
		return process->live ? MOST_OF_ALL : least;
	return between(least, least_of(core->size / CORE_OF_FRAME, core->stored_size / FILE_OF_FRAME), MOST_OF_ALL);
}

/* Frames that the stacks in the core can have, if no two share memory; as many bytes of text are no multiple of the
 * core's. */
static uint64_t possible(const struct xc_process *process, uint64_t least, uint64_t most)
{
	const struct xc_source *core = process->core;
	if (!core)
		return process->live ? most : least;
	return between(least, least_of(core->size / BYTES_OF_FRAME, core->stored_size), most);
}

struct xc_frame_room xc_frame_room_of(const struct xc_process *process, size_t stacks, size_t asked, bool locals)
{
	const uint64_t least = locals ? LEAST_OF_ALL / 2 : LEAST_OF_ALL;
	struct xc_frame_room room = {.left = UINT64_MAX,
				     .walk = possible(process, LEAST_WALK, MOST_WALK),
				     .text = possible(process, LEAST_TEXT, MOST_TEXT),
				     .names = possible(process, LEAST_NAMES, MOST_TEXT),
				     .asked = asked,
				     .stacks = stacks};
	if (asked) {
		room.each = asked;
		room.left = possible(process, stacks > 1 ? least : LEAST_OF_ONE, MOST_WALK);
		return room;
	}
	room.each = (size_t)between(LEAST_OF_STACK, usual(process, least) / (stacks ? stacks : 1), XC_FRAMES_OF_STACK);
	return room;
}

size_t xc_frame_room_next(const struct xc_frame_room *room)
{
	const uint64_t left = room->left > LEAST_OF_STACK ? room->left : LEAST_OF_STACK;
	return (size_t)least_of(room->each, left);
}

void xc_frame_room_take(struct xc_frame_room *room, uint64_t seen, bool more)
{
	const size_t next = xc_frame_room_next(room);
	const uint64_t kept = least_of(seen, next);
	room->shortened += more;
	room->crowded += more && next < room->asked;
	room->left -= room->left == UINT64_MAX ? 0 : least_of(kept, room->left);
	room->walk -= least_of(seen, room->walk);
}

static uint64_t length(const char *text)
{
	return text ? strlen(text) : 0;
}

static uint64_t length_of(const struct xc_variable_text *variables, size_t count)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += length(variables[i].name) + length(variables[i].type) + length(variables[i].value) +
		       length(variables[i].why);
	return sum;
}

void xc_frame_room_take_text(struct xc_frame_room *room, const struct xc_stack_row *row)
{
	const uint64_t sum = length_of(row->args, row->arg_count) + length_of(row->locals, row->local_count);
	room->text -= least_of(sum, room->text);
}

const char *xc_frame_room_name(struct xc_frame_room *room, struct xc_arena *arena, const char *name)
{
	if (strnlen(name, SHORT_NAME + 1) <= SHORT_NAME)
		return name;
	if (room->names) {
		room->names -= least_of(strlen(name), room->names);
		return name;
	}
	room->cut_names++;
	return xc_arena_printf(arena, "%.*s…", SHORT_NAME, name);
}

void xc_frame_room_report(const struct xc_frame_room *room, struct xc_section *section)
{
	if (room->shortened && !room->asked && room->each < XC_FRAMES_OF_STACK)
		xc_section_message(section, XC_INFO, "--limit N, or --thread TID, shows more",
				   "%zu deep stack%s shown with %zu frames, because there are %zu stacks",
				   room->shortened, room->shortened == 1 ? " is" : "s are", room->each, room->stacks);
	if (room->bare)
		xc_section_message(section, XC_WARNING, "--thread TID shows those of one thread",
				   "the arguments and locals of %zu frame%s left out: those before fill all the room "
				   "that a core of this size has",
				   room->bare, room->bare == 1 ? " are" : "s are");
	if (room->cut_names)
		xc_section_message(section, XC_WARNING, "--thread TID shows those of one thread",
				   "%zu long name%s cut: those before fill all the room that a core of this size has",
				   room->cut_names, room->cut_names == 1 ? " is" : "s are");
	if (room->crowded)
		xc_section_message(section, XC_INFO, "--thread TID shows more",
				   "%zu deep stack%s shown with less than %zu frames: all together have more than "
				   "stacks of a core of this size can have",
				   room->crowded, room->crowded == 1 ? " is" : "s are", room->asked);
}
