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

void *operator new(std::size_t size, std::align_val_t align)
{
	const std::size_t unit = static_cast<std::size_t>(align);
	void *block = std::aligned_alloc(unit, size ? (size + unit - 1) / unit * unit : unit);
	if (!block)
		std::abort();
	return block;
}

void operator delete(void *block, std::align_val_t) noexcept
{
	std::free(block);
}

void operator delete(void *block, std::size_t, std::align_val_t) noexcept
{
	std::free(block);
}
