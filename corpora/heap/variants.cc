// variants: std::variant and std::any, an any of the program's own, and a tagged union with a constructor, that hold numbers, strings
// and pointers.
#include <any>
#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>
#include <variant>
#include <vector>
#include "account.h"

template <class T, class... A> T *made(A &&...arguments)
{
	T *one = new T{std::forward<A>(arguments)...};
	account_is(one, typeid(T).name(), 1);
	return one;
}

struct Leaf {
	double weight;
	Leaf *next;
};

struct Branch {
	Leaf *first, *last;
	long depth;
};

// Small numbers in wide words, which pass for short texts.
static long *numbers(unsigned i)
{
	std::size_t count = 2 + i % 4;
	long *block = static_cast<long *>(account_is(std::calloc(count, sizeof(long)), typeid(long).name(), count));
	for (std::size_t k = 0; k < count; k++)
		block[k] = 33 + account_random(90);
	return block;
}

static char *text(unsigned i)
{
	std::string text = "a text, number " + std::to_string(i);
	char *block =
		static_cast<char *>(account_is(std::malloc(text.size() + 1), typeid(char).name(), text.size() + 1));
	text.copy(block, text.size());
	block[text.size()] = 0;
	return block;
}

using Value = std::variant<long, double, Leaf *, Branch *, char *, long *>;

struct Entry {
	Value value;
	Entry *next;
};

// An any of the program's own: a type's number and a pointer, or a number in place.
class Any
{
      public:
	enum Kind { Number, Text, ALeaf, ABranch, Numbers };
	Kind kind;
	union {
		long number;
		char *text;
		Leaf *leaf;
		Branch *branch;
		long *numbers;
	};
};

struct Owner {
	std::unique_ptr<Leaf> leaf;
	std::any any;
};

HELD Entry *entries;
HELD std::vector<Any> *anys;
HELD std::vector<Owner *> *owners;

static Leaf *leaf(unsigned i)
{
	static Leaf *last;
	return last = made<Leaf>(i * 0.5, i % 4 ? last : nullptr);
}

static Branch *branch(unsigned i)
{
	Leaf *one = leaf(i);
	return made<Branch>(one, one, long(i));
}

static PART Value value(unsigned i)
{
	switch (account_random(6)) {
	case 0:
		return long(i);
	case 1:
		return i * 0.25;
	case 2:
		return leaf(i);
	case 3:
		return branch(i);
	case 4:
		return text(i);
	default:
		return numbers(i);
	}
}

static PART Any any(unsigned i)
{
	Any any;
	any.kind = Any::Kind(account_random(5));
	if (any.kind == Any::Number)
		any.number = i;
	else if (any.kind == Any::Text)
		any.text = text(i);
	else if (any.kind == Any::ALeaf)
		any.leaf = leaf(i);
	else if (any.kind == Any::ABranch)
		any.branch = branch(i);
	else
		any.numbers = numbers(i);
	return any;
}

int main()
{
	anys = made<std::vector<Any>>();
	owners = made<std::vector<Owner *>>();
	for (unsigned i = 0; i < 800; i++) {
		entries = made<Entry>(value(i), entries);
		anys->push_back(any(i));
		Owner *owner = made<Owner>();
		owner->leaf.reset(leaf(i));
		if (i % 3 == 0)
			owner->any = branch(i);
		else
			owner->any = long(i);
		owners->push_back(owner);
	}
	account_is(anys->data(), typeid(Any).name(), anys->capacity());
	account_is(owners->data(), typeid(Owner *).name(), owners->capacity());
	account_die();
}
