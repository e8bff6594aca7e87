/* inside: a C module for world.lua that writes down what the running LuaJIT holds, with LuaJIT's own headers and macros,
 * as its collector would count it. Nothing here allocates a collected object, so that what is written is still true when
 * the program dies right after. Also C functions to be in when it dies, and userdata with a finalizer.
 *
 * Written as JSON lines to the account, and one line for each object ("0xADDR type bytes") to the file of objects. */
#define LUA_CORE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lauxlib.h"
#include "lj_buf.h"
#include "lj_ctype.h"
#include "lj_dispatch.h"
#include "lj_gc.h"
#include "lj_jit.h"
#include "lj_obj.h"
#include "lj_str.h"
#include "lj_trace.h"
#include "lua.h"

#ifdef WITHOUT_STR_INTERN /* before 2020-06 */
#define STR_TAB(g)     ((g)->strhash)
#define STR_MASK(g)    ((g)->strmask)
#define STR_NUM(g)     ((g)->strnum)
#define STR_CHAIN(ref) gcref(ref)
#define STR_BYTES(s)   sizestring(s)
#else
#define STR_TAB(g)     ((g)->str.tab)
#define STR_MASK(g)    ((g)->str.mask)
#define STR_NUM(g)     ((g)->str.num)
#define STR_CHAIN(ref) ((GCobj *)(gcrefu(ref) & ~(uintptr_t)1)) /* bit 0: the chain has its own hash */
#define STR_BYTES(s)   lj_str_size((s)->len)
#endif

#define TYPES (~LJ_TUDATA + 1)

static const char *const type_names[TYPES] = {"nil",   "false", "true",  "lightud", "str", "upval", "thread",
					      "proto", "func",  "trace", "cdata",   "tab", "udata"};

struct sum {
	size_t count, bytes, min, max, dead;
};

static struct sum sums[TYPES];
static FILE *account, *objects;
static lua_State *main_thread;
static char account_buffer[1 << 16], objects_buffer[1 << 16];

static size_t table_bytes(const GCtab *t)
{
	size_t bytes = t->colo ? sizetabcolo((uint32_t)t->colo & 0x7f) : sizeof(GCtab);

	if (t->colo <= 0) /* it is apart, or there is none */
		bytes += t->asize * sizeof(TValue);
	return bytes + (t->hmask ? ((size_t)t->hmask + 1) * sizeof(Node) : 0);
}

static size_t cdata_bytes(global_State *g, GCcdata *cd)
{
	CType *ct;

	if (cdataisv(cd))
		return sizecdatav(cd);
	ct = ctype_raw(ctype_ctsG(g), cd->ctypeid);
	return sizeof(GCcdata) + (ctype_hassize(ct->info) ? ct->size : CTSIZE_PTR);
}

static size_t trace_bytes(const GCtrace *T)
{
	return ((sizeof(GCtrace) + 7) & ~(size_t)7) + (T->nins - T->nk) * sizeof(IRIns) + T->nsnap * sizeof(SnapShot) +
	       T->nsnapmap * sizeof(SnapEntry);
}

/* What freeing it gives back to gc.total. The main thread's own struct is part of GG_State. */
static size_t bytes_of(global_State *g, GCobj *o)
{
	switch (~(uint32_t)o->gch.gct) {
	case LJ_TSTR:
		return STR_BYTES(&o->str);
	case LJ_TUPVAL:
		return sizeof(GCupval);
	case LJ_TTHREAD:
		return (o == gcref(g->mainthref) ? 0 : sizeof(lua_State)) + o->th.stacksize * sizeof(TValue);
	case LJ_TPROTO:
		return o->pt.sizept;
	case LJ_TFUNC:
		return isluafunc(&o->fn) ? sizeLfunc((MSize)o->fn.l.nupvalues) : sizeCfunc((MSize)o->fn.c.nupvalues);
	case LJ_TTRACE:
		return trace_bytes(gco2trace(o));
	case LJ_TCDATA:
		return cdata_bytes(g, gco2cd(o));
	case LJ_TTAB:
		return table_bytes(&o->tab);
	case LJ_TUDATA:
		return sizeudata(&o->ud);
	default:
		return 0;
	}
}

static void count(global_State *g, GCobj *o)
{
	struct sum *sum = &sums[o->gch.gct];
	size_t bytes = bytes_of(g, o);

	if (sum->count++ == 0 || bytes < sum->min)
		sum->min = bytes;
	if (bytes > sum->max)
		sum->max = bytes;
	sum->bytes += bytes;
	if (isdead(g, o))
		sum->dead++;
	if (objects)
		fprintf(objects, "%p %s %zu\n", (void *)o, type_names[o->gch.gct], bytes);
}

static void walk(global_State *g)
{
	GCobj *o, *first;
	GCupval *uv;
	MSize i;

	memset(sums, 0, sizeof(sums));
	for (o = gcref(g->gc.root); o; o = gcref(o->gch.nextgc))
		count(g, o);
	for (i = 0; i <= STR_MASK(g); i++)
		for (o = STR_CHAIN(STR_TAB(g)[i]); o; o = gcref(o->gch.nextgc))
			count(g, o);
	for (uv = uvnext(&g->uvhead); uv != &g->uvhead; uv = uvnext(uv)) /* open upvalues are on no other list */
		count(g, obj2gco(uv));
	first = gcref(g->gc.mmudata);
	for (o = first; o; o = gcref(o->gch.nextgc) == first ? NULL : gcref(o->gch.nextgc))
		count(g, o);
}

/* What gc.total has beside objects; each is written and their sum is returned. */
static size_t tell_others(global_State *g)
{
	jit_State *J = G2J(g);
	CTState *cts = ctype_ctsG(g);
	size_t ctypes = cts ? sizeof(CTState) + cts->sizetab * sizeof(CType) + cts->cb.sizeid * sizeof(CTypeID1) : 0;
	size_t jit = J->sizesnapmap * sizeof(SnapEntry) + J->sizesnap * sizeof(SnapShot) +
		     (J->irtoplim - J->irbotlim) * sizeof(IRIns) + J->sizetrace * sizeof(GCRef);
	size_t strings = ((size_t)STR_MASK(g) + 1) * sizeof(GCRef), buffer = sbufsz(&g->tmpbuf), lightud = 0;

#ifdef WITH_LIGHTUDSEG
	if (mref(g->gc.lightudseg, uint32_t))
		lightud = (g->gc.lightudnum ? (size_t)2 << lj_fls(g->gc.lightudnum) : 2) * sizeof(uint32_t);
#endif
	fprintf(account,
		"{\"what\":\"others\",\"state\":%zu,\"strings\":%zu,\"buffer\":%zu,\"ctypes\":%zu,\"jit\":%zu,"
		"\"lightud\":%zu,"
		"\"ctype_count\":%u,\"mcode\":%zu}\n",
		sizeof(GG_State), strings, buffer, ctypes, jit, lightud, cts ? (unsigned)cts->top : 0,
		(size_t)J->szallmcarea);
	return sizeof(GG_State) + strings + buffer + ctypes + jit + lightud;
}

static void tell_traces(global_State *g)
{
	jit_State *J = G2J(g);
	TraceNo i;

	for (i = 1; i < J->sizetrace; i++) {
		GCtrace *T = (GCtrace *)gcref(J->trace[i]);

		if (!T || (uintptr_t)T == (uintptr_t)&J->cur)
			continue;
		fprintf(account,
			"{\"what\":\"trace\",\"number\":%u,\"addr\":\"%p\",\"mcode\":\"%p\",\"mcode_bytes\":%u,"
			"\"root\":%u,\"link\":%u,"
			"\"linktype\":%u,\"snapshots\":%u,\"instructions\":%u,\"constants\":%u,\"children\":%u,"
			"\"proto\":\"%p\"}\n",
			(unsigned)T->traceno, (void *)T, (void *)T->mcode, (unsigned)T->szmcode, (unsigned)T->root,
			(unsigned)T->link, (unsigned)T->linktype, (unsigned)T->nsnap, (unsigned)(T->nins - REF_BIAS),
			(unsigned)(REF_BIAS - T->nk), (unsigned)T->nchild, (void *)gcref(T->startpt));
	}
}

static void tell_threads(global_State *g)
{
	fprintf(account,
		"{\"what\":\"vm\",\"g\":\"%p\",\"vmstate_at\":\"%p\",\"main\":\"%p\",\"cur_L\":\"%p\","
		"\"jit_base\":\"%p\",\"registry\":\"%p\",\"_G\":\"%p\"}\n",
		(void *)g, (void *)&g->vmstate, (void *)gcref(g->mainthref), (void *)gcref(g->cur_L),
		mref(g->jit_base, void), (void *)tabV(&g->registrytv), (void *)gcref(mainthread(g)->env));
}

/* Everything that is true until something is allocated. Also told to a debugger that stopped the program, by TELL_SIGNAL. */
__attribute__((visibility("default"))) void inside_tell(void);
void inside_tell(void)
{
	global_State *g = G(main_thread);
	size_t sum = 0;
	unsigned i;

	if (!account)
		return;
	walk(g);
	for (i = ~LJ_TSTR; i < TYPES; i++) {
		sum += sums[i].bytes;
		fprintf(account,
			"{\"what\":\"objects\",\"type\":\"%s\",\"count\":%zu,\"bytes\":%zu,\"min\":%zu,\"max\":%zu,"
			"\"dead\":%zu}\n",
			type_names[i], sums[i].count, sums[i].bytes, sums[i].min, sums[i].max, sums[i].dead);
	}
	tell_traces(g);
	tell_threads(g);
	sum += tell_others(g);
	fprintf(account,
		"{\"what\":\"gc\",\"total\":%zu,\"sum\":%zu,\"threshold\":%zu,\"state\":%u,\"vmstate\":%d,\"strings\":%"
		"u,"
		"\"string_mask\":%u,\"currentwhite\":%u}\n",
		(size_t)g->gc.total, sum, (size_t)g->gc.threshold, (unsigned)g->gc.state, (int)g->vmstate,
		(unsigned)STR_NUM(g), (unsigned)STR_MASK(g), (unsigned)g->gc.currentwhite);
	fflush(account);
	if (objects)
		fflush(objects);
}

/* Where a debugger waits until it is told. */
__attribute__((visibility("default"), noinline)) void inside_told(void);
void inside_told(void)
{
	__asm__ volatile("" ::: "memory");
}

enum { TELL_SIGNAL = 43 }; /* as in corpora/tell.py */

static void on_tell(int number)
{
	(void)number;
	inside_tell();
	inside_told();
}

/* Where a debugger waits until the program is about to get interesting. */
__attribute__((visibility("default"), noinline)) void inside_armed(void);
void inside_armed(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((visibility("default"), noinline)) int inside_store(int *where, int value);
int inside_store(int *where, int value)
{
	*(volatile int *)where = value; /* cppcheck-suppress nullPointer; that is what it is for */
	return value;
}

static int l_open(lua_State *L)
{
	account = fopen(luaL_checkstring(L, 1), "a");
	if (!account)
		return luaL_error(L, "cannot write the account");
	setvbuf(account, account_buffer, _IOFBF, sizeof(account_buffer));
	signal(TELL_SIGNAL, on_tell);
	if (!lua_isnoneornil(L, 2)) {
		objects = fopen(lua_tostring(L, 2), "w");
		if (objects)
			setvbuf(objects, objects_buffer, _IOFBF, sizeof(objects_buffer));
	}
	return 0;
}

static int l_write(lua_State *L)
{
	fputs(luaL_checkstring(L, 1), account);
	fputc('\n', account);
	return 0;
}

/* tell([table]): afterwards the array of the table is nowhere, and the virtual machine's own code dies of the next access. */
static int l_tell(lua_State *L)
{
	inside_tell();
	if (lua_istable(L, 1))
		setmref(tabV(L->base)->array, (void *)0x10);
	return 0;
}

static int l_arm(lua_State *L)
{
	(void)L;
	inside_armed();
	return 0;
}

/* The object's header, whatever it is. */
static int l_address(lua_State *L)
{
	char text[32];

	luaL_checkany(L, 1);
	if (!tvisgcv(L->base))
		return 0;
	snprintf(text, sizeof(text), "%p", (void *)gcV(L->base));
	lua_pushstring(L, text);
	return 1;
}

/* call(f, ...): a C function between two Lua functions. */
static int l_call(lua_State *L)
{
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

/* pcall(f, ...): the same with a protected call of C's own. */
static int l_pcall(lua_State *L)
{
	int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);

	lua_pushboolean(L, status == 0);
	lua_insert(L, 1);
	return lua_gettop(L);
}

static int l_yield(lua_State *L)
{
	return lua_yield(L, lua_gettop(L));
}

/* crash([n]): dies in C; with a number only when it is 0. */
static int l_crash(lua_State *L)
{
	if (lua_isnoneornil(L, 1) || lua_tonumber(L, 1) == 0)
		lua_pushnumber(L, inside_store(NULL, 42));
	return lua_gettop(L);
}

static int l_resource_gc(lua_State *L)
{
	(void)L;
	return 0;
}

/* resource(bytes): a userdata with a finalizer. */
static int l_resource(lua_State *L)
{
	size_t bytes = (size_t)luaL_checknumber(L, 1);

	memset(lua_newuserdata(L, bytes), 'u', bytes);
	luaL_getmetatable(L, "inside.resource");
	lua_setmetatable(L, -2);
	return 1;
}

/* counter(): a C closure with upvalues. */
static int l_count(lua_State *L)
{
	lua_pushnumber(L, lua_tonumber(L, lua_upvalueindex(1)) + 1);
	lua_pushvalue(L, -1);
	lua_replace(L, lua_upvalueindex(1));
	return 1;
}

static int l_counter(lua_State *L)
{
	lua_settop(L, 2);
	lua_pushcclosure(L, l_count, 2);
	return 1;
}

static int l_light(lua_State *L)
{
	lua_pushlightuserdata(L, (void *)&account);
	return 1;
}

/* main(): the main thread, for which Lua 5.1 has no word. */
static int l_main(lua_State *L)
{
	setthreadV(L, L->top, main_thread);
	L->top++; /* a C function has 20 slots */
	return 1;
}

static const luaL_Reg functions[] = {
	{"open", l_open},       {"write", l_write}, {"tell", l_tell},   {"arm", l_arm},     {"address", l_address},
	{"call", l_call},       {"pcall", l_pcall}, {"yield", l_yield}, {"crash", l_crash}, {"resource", l_resource},
	{"counter", l_counter}, {"light", l_light}, {"main", l_main},   {NULL, NULL},
};

__attribute__((visibility("default"))) int luaopen_inside(lua_State *L);
int luaopen_inside(lua_State *L)
{
	main_thread = mainthread(G(L));
	luaL_newmetatable(L, "inside.resource");
	lua_pushcfunction(L, l_resource_gc);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
	lua_newtable(L);
	luaL_register(L, NULL, functions);
	return 1;
}
