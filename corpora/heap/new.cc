// new: operator new and delete by malloc and free, for the account: preloaded allocators bring their own, which nobody would hear of.
#include <cstdlib>
#include <new>

void *operator new(std::size_t size)
{
	void *block = std::malloc(size ? size : 1);
	if (!block)
		std::abort();
	return block;
}

void *operator new[](std::size_t size)
{
	return ::operator new(size);
}

void operator delete(void *block) noexcept
{
	std::free(block);
}

void operator delete[](void *block) noexcept
{
	std::free(block);
}

void operator delete(void *block, std::size_t) noexcept
{
	std::free(block);
}

void operator delete[](void *block, std::size_t) noexcept
{
	std::free(block);
}
