// A class that two units share, and that macros of one of them lay out in another way.
#pragma once
#include <cstdint>
#include <string>

namespace shop
{

enum Kind { PLAIN, FRAMED };

struct Narrow {
	uint64_t id = 3;
};

struct Wide {
	uint64_t id = 3, more = 4;
};

struct Rank {
#ifdef SWAPPED
	uint32_t level = 7;
	uint64_t stamp = 1;
#else
	uint64_t stamp = 1;
	uint32_t level = 7;
#endif
	uint32_t weight = 1;
};

#ifdef PACKED
#pragma pack(push, 1)
#endif
#ifdef BASE
struct Entry : Wide {
#else
struct Entry : Narrow {
#endif
#ifdef VIRTUAL
	virtual ~Entry()
	{
	}
#endif
	Rank rank;
#ifdef BITS
	unsigned flags : 4, state : 4;
#else
	unsigned flags, state;
#endif
	Kind kind = FRAMED;
	uint8_t grade = 5;
	uint32_t more = 6;
#ifdef STATS
	uint64_t hits = 1, served = 61;
#endif
	std::string body, etag;
};
#ifdef PACKED
#pragma pack(pop)
#endif

template <typename T> struct Box {
	T value;
	int tail = 1;
};

struct Opaque;

const Entry *stored();
const Opaque *hidden();

} // namespace shop
