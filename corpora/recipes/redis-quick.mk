# redis-quick.mk: redis-server alone, with glibc's allocator, in a fifth of the time that redis's own Makefile takes. Run in its src.
# What stands on the stack of a command that dies is compiled as distributions do; of the rest types and data are looked at, which any
# compilation has. Lua has no debug information, as in redis's own. Most time goes into reading server.h: most sources are compiled as one file,
# but those with a name that others have, too.
SERVER := $(shell sed -n 's/^REDIS_SERVER_OBJ=//p' Makefile)
STACK := ae.o networking.o server.o debug.o connection.o
ALONE := $(STACK) listpack.o lolwut6.o release.o
HIREDIS := $(addprefix ../deps/hiredis/,alloc.o async.o hiredis.o net.o read.o sds.o sockcompat.o)
LUA := $(filter-out %/lua.o %/luac.o %/print.o,$(patsubst %.c,%.o,$(wildcard ../deps/lua/src/*.c)))
HISTOGRAM := ../deps/hdr_histogram/hdr_histogram.o
SPEED = -O0
CFLAGS = -w $(SPEED)

redis-server: few.o $(filter $(ALONE),$(SERVER)) $(HIREDIS) $(LUA) $(HISTOGRAM)
	$(CC) -g -rdynamic -o $@ $^ -lm -ldl -pthread

$(STACK): SPEED = -O2
few.c:
	printf '#include "%s"\n' server.h $(patsubst %.o,%.c,$(filter-out $(ALONE),$(SERVER))) >$@

$(SERVER) few.o: CFLAGS += -g -std=c11 -DREDIS_STATIC= -I../deps/hiredis -I../deps/linenoise -I../deps/lua/src -I../deps/hdr_histogram
$(HIREDIS): CFLAGS += -g
$(LUA): CFLAGS += -DLUA_ANSI -DENABLE_CJSON_GLOBAL -DREDIS_STATIC= -DLUA_USE_MKSTEMP
$(HISTOGRAM): CFLAGS += -DHDR_MALLOC_INCLUDE='"hdr_redis_malloc.h"'
release.o: release.h
release.h:
	sh mkreleasehdr.sh
