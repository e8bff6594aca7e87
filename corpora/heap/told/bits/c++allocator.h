/* c++allocator: what libstdc++'s std::allocator<T> derives from, in place of its own header of this name, so that the account hears
 * the type of each block that a container asks for. All else is as it was. */
#ifndef _GLIBCXX_CXX_ALLOCATOR_H
#define _GLIBCXX_CXX_ALLOCATOR_H 1

#include <typeinfo>
#include <bits/new_allocator.h>

extern "C" void *account_is(void *block, const char *type, __SIZE_TYPE__ count);

namespace std
{

template <typename T> class told_allocator : public __new_allocator<T>
{
      public:
	told_allocator() = default;
	told_allocator(const told_allocator &) = default;
	template <typename U> told_allocator(const told_allocator<U> &) noexcept
	{
	}
	told_allocator &operator=(const told_allocator &) = default;

	T *allocate(__SIZE_TYPE__ count, const void * = nullptr)
	{
		return static_cast<T *>(account_is(__new_allocator<T>::allocate(count), typeid(T).name(), count));
	}
};

template <typename T> using __allocator_base = told_allocator<T>;

} // namespace std

#endif
