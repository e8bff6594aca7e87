// Dies of a pointer whose bytes are letters, that nothing wrote over it: its object was freed, it never was such an
// object, or the pointer was never set.
// flags: -fno-optimize-sibling-calls
#include <memory>
#include <vector>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "death.h"

/* Not in the namespace: the calls of a class that others cannot derive from are direct. */
struct observer {
	virtual ~observer() = default;
	virtual long notify(long event) = 0;
};

struct panel : observer {
	long width = 3, height = 4, last = 0, least = 0, dirty = 0;
	long notify(long event) override
	{
		dirty = 1;
		return last = event * width + height;
	}
};

namespace
{

struct message {
	char text[44];
	int urgent;
};

struct user {
	user *boss;
	char name[24];
};

struct move {
	long *target;
	int dx, dy;
};

struct event {
	int kind;
	void *payload;
};

struct widget {
	int kind = 2, x = 0, y = 0;
	virtual ~widget() = default;
};

struct label : widget {
	char text[40] = "icon: missing-image.png";
};

struct image : widget {
	long flags = 0;
	long *pixels = nullptr;
};

struct icon : image {
	long size = 16;
};

struct counter : widget {
	long counts[6] = {};
};

struct account {
	int level;
	char user[16];
};

struct session {
	int id, flags;
	long started;
	account *owner;
	session *next;
};

std::vector<observer *> observers;
std::vector<message *> inbox;
std::vector<event *> events;
std::vector<std::unique_ptr<widget>> widgets;
user root = {&root, "root"};
session *sessions;

} // namespace

volatile long sink;

template <typename T> static T *hidden(T *pointer)
{
	return static_cast<T *>(opaque(pointer));
}

/* ---- freed, and the block is another's ---- */

static NOINLINE long publish(long what)
{
	long sum = 0;
	for (observer *one : observers)
		sum += one->notify(what); // dies: observer
	return sum;
}

static void post(const char *text)
{
	message *one = new message{};
	snprintf(one->text, sizeof one->text, "%s", text);
	inbox.push_back(one);
}

static void observer_deleted()
{
	observers.push_back(new panel);
	observers.push_back(new panel);
	sink = publish(2);
	delete hidden(observers[1]);
	post("disk almost full on /var/lib");
	sink = publish(3);
}

static NOINLINE long depth(const user *of)
{
	long count = 0;
	for (; of != &root; of = of->boss) // dies: owners
		count++;                   // dies: owners
	return count;
}

static user *new_user(const char *name, user *boss)
{
	user *one = (user *)malloc(sizeof *one);
	one->boss = boss;
	snprintf(one->name, sizeof one->name, "%s", name);
	return one;
}

/* A second free of a block that has an owner again gives it another one. */
static void two_owners()
{
	char *request = (char *)malloc(32);
	free(opaque(request));
	user *carol = new_user("carol", &root), *dave = new_user("dave", carol);
	free(opaque(request));
	char *line = (char *)malloc(32);
	snprintf(line, 32, "released request 2 by the plan");
	sink = depth(hidden(dave));
	KEEP(line);
	sink += line[0] + carol->name[0];
}

/* ---- nothing was freed ---- */

static NOINLINE void on_move(move *to)
{
	*to->target += to->dx; // dies: event
	to->target[1] += to->dy;
}

static NOINLINE void dispatch()
{
	for (event *one : events)
		if (one->kind == 1)
			on_move((move *)one->payload);
}

static void other_event()
{
	char *text = (char *)malloc(32);
	snprintf(text, 32, "window 2: console");
	events.push_back(new event{1, text});
	dispatch();
}

static NOINLINE long shade(const image *one, int at)
{
	return one->pixels[at] + one->pixels[1]; // dies: cast null-cast honest-cast
}

static void wrong_cast()
{
	widgets.push_back(std::make_unique<image>());
	widgets.push_back(std::make_unique<label>());
	for (auto &one : widgets)
		if (one->kind == 2 && hidden(one.get()) != widgets[0].get())
			sink = shade(static_cast<const image *>(one.get()), one->x);
}

static NOINLINE bool is_allowed(const session *one, int need)
{
	return one->owner && one->owner->level >= need; // dies: unset
}

static void say(const char *who)
{
	char *line = (char *)malloc(sizeof(session));
	snprintf(line, sizeof(session), "login of %s number %d ok, welcome", who, 2);
	sink = (long)strlen(hidden(line));
	free(line);
}

static void never_set()
{
	say("guest");
	session *one = (session *)malloc(sizeof *one);
	one->id = 3;
	one->flags = 0;
	one->started = 1700000000;
	one->next = hidden(sessions);
	sessions = one;
	one->next = hidden(one);
	sink = is_allowed(hidden(one), 4);
}

/* The wrong class has NULL there. */
static void null_cast()
{
	widgets.push_back(std::make_unique<widget>());
	widgets.push_back(std::make_unique<counter>());
	for (auto &one : widgets)
		if (hidden(one.get()) != widgets[0].get())
			sink = shade(static_cast<const image *>(hidden(one.get())), 0);
}

/* It is such an object, of a derived class. */
static void honest_cast()
{
	widgets.push_back(std::make_unique<icon>());
	sink = shade(static_cast<const image *>(hidden(widgets[0].get())), 0);
}

DEATHS({"observer", observer_deleted}, {"owners", two_owners}, {"event", other_event}, {"cast", wrong_cast},
       {"unset", never_set}, {"null-cast", null_cast}, {"honest-cast", honest_cast})
