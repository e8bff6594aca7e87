// Dies of a call of a pure virtual function: of an object that another thread, or the same, constructs or destroys, or has destroyed. The name of the death is the argument.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

static std::atomic<bool> begun;

static void nap(int milliseconds)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

class Sink
{
      public:
	virtual ~Sink() { stop(); }
	void start()
	{
		thread = std::thread([this] { loop(); });
	}
	void stop()
	{
		stopping = true;
		if (thread.joinable())
			thread.join();
	}

      protected:
	virtual int write(int n) = 0;

      private:
	void loop()
	{
		begun = true;
		while (!stopping)
			nap(1);
		nap(50);
		written += write(written);
	}
	std::thread thread;
	std::atomic<bool> stopping{false};
	int written = 0;
};

class FileSink : public Sink
{
      public:
	int write(int n) override { return n + (int)name.size(); }
	std::string name = "access";
};

struct Manager {
	FileSink sink;
	int reloads = 0;
	~Manager() { reloads++; }
};

static std::vector<std::unique_ptr<Sink>> sinks;

static void await()
{
	while (!begun)
		nap(1);
}

__attribute__((noinline)) static int reload(bool many)
{
	for (int i = 0; i < (many ? 3 : 1); i++)
		sinks.push_back(std::make_unique<FileSink>());
	sinks[0]->start();
	await();
	sinks.clear();
	return 0;
}

__attribute__((noinline)) static int managed()
{
	auto manager = std::make_unique<Manager>();
	manager->sink.start();
	await();
	manager.reset();
	return 0;
}

struct Named {
	virtual ~Named() = default;
	std::string name = "a name";
};
class Both : public Named, public Sink
{
      public:
	int write(int n) override { return n + (int)name.size(); }
};

__attribute__((noinline)) static int second()
{
	Both *both = new Both;
	both->start();
	await();
	delete both;
	return 0;
}

/* ---- the same thread ---- */

class Shape;
__attribute__((noinline)) static int draw(Shape *shape);
class Shape
{
      public:
	explicit Shape(bool early) : early(early)
	{
		if (early)
			size = draw(this);
	}
	virtual ~Shape()
	{
		if (!early)
			size = draw(this);
	}
	virtual int area() = 0;
	bool early;
	int size = 0;
};
class Square : public Shape
{
      public:
	explicit Square(bool early) : Shape(early) {}
	int area() override { return 4; }
};
static int draw(Shape *shape)
{
	return shape->area();
}

__attribute__((noinline)) static int shape(bool early)
{
	auto square = std::make_unique<Square>(early);
	return square->size;
}

/* ---- nobody is in it ---- */

alignas(Square) static char place[sizeof(Square)];
struct Quiet {
	virtual ~Quiet() = default;
	virtual int area() = 0;
	int size = 0;
};
struct Round : Quiet {
	int area() override { return 3; }
};
__attribute__((noinline)) static void unmake(Quiet *quiet)
{
	quiet->~Quiet();
}
__attribute__((noinline)) static int ask(Quiet *quiet)
{
	return quiet->area();
}

/* The other thread destroys another object of the class, and its part of it. */
struct Slow : Quiet {
	int area() override { return 5; }
	~Slow()
	{
		begun = true;
		nap(5000);
	}
};

static int gone(bool other)
{
	Quiet *quiet = new (place) Round;
	std::thread thread([=] {
		if (other)
			delete new Slow;
		begun = true;
		nap(other ? 0 : 5000);
	});
	thread.detach();
	await();
	unmake(quiet);
	return ask(quiet);
}

int main(int argc, char **argv)
{
	const char *death = argc > 1 ? argv[1] : "";
	if (strcmp(death, "join") == 0)
		return reload(false);
	if (strcmp(death, "first-of-three") == 0)
		return reload(true);
	if (strcmp(death, "member") == 0)
		return managed();
	if (strcmp(death, "second") == 0)
		return second();
	if (strcmp(death, "constructor") == 0 || strcmp(death, "destructor") == 0)
		return shape(strcmp(death, "constructor") == 0);
	if (strcmp(death, "gone") == 0 || strcmp(death, "other") == 0)
		return gone(strcmp(death, "other") == 0);
	return 0;
}
