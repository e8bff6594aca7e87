// studio: the document of a drawing program: drawables with several bases, layers, assets behind smart pointers, properties in variants
// and anys, an undo history of functions, signals, and a renderer with allocators of its own.
#include <any>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
#include "account.h"

namespace studio
{

template <class T> T *told(T *one, std::size_t count = 1)
{
	return static_cast<T *>(account_is(one, typeid(T).name(), count));
}

// An allocator that counts, over malloc.
template <class T> struct Counting {
	using value_type = T;
	Counting() = default;
	template <class U> Counting(const Counting<U> &)
	{
	}
	T *allocate(std::size_t n)
	{
		total += n * sizeof(T);
		return static_cast<T *>(account_is(std::malloc(n * sizeof(T)), typeid(T).name(), n));
	}
	void deallocate(T *p, std::size_t)
	{
		std::free(p);
	}
	template <class U> bool operator==(const Counting<U> &) const
	{
		return true;
	}
	template <class U> bool operator!=(const Counting<U> &) const
	{
		return false;
	}
	static inline std::size_t total = 0;
};

struct Color {
	float r, g, b, a;
};

struct Vec2 {
	double x, y;
};

struct Gradient {
	std::vector<std::pair<float, Color>> stops;
	double angle = 0;
};

class Serializable
{
      public:
	virtual ~Serializable() = default;
	virtual std::string save() const
	{
		return tag;
	}
	std::string tag;
};

class Observer
{
      public:
	virtual ~Observer() = default;
	virtual void changed(int what) = 0;
};

class Group;

using Property =
	std::variant<std::monostate, bool, double, std::string, std::vector<Vec2>, std::shared_ptr<Gradient>, Color *>;

class Drawable : public Serializable
{
      public:
	virtual void draw() const
	{
	}
	std::map<std::string, Property> properties;
	Group *parent = nullptr;
	std::uint32_t id = 0;
	bool visible = true;
};

class Path : public Drawable
{
      public:
	void draw() const override
	{
	}
	std::vector<Vec2, Counting<Vec2>> points;
	std::unique_ptr<double[]> dashes;
	std::size_t dash_count = 0;
};

class Label : public Drawable, public Observer
{
      public:
	void changed(int what) override
	{
		size += what;
	}
	std::string text;
	double size = 12;
};

class Image : public Drawable
{
      public:
	std::shared_ptr<class Asset> asset;
	std::optional<Vec2> offset;
};

class Group : public Drawable, public Observer
{
      public:
	void changed(int) override
	{
	}
	std::vector<std::unique_ptr<Drawable>> children;
};

class Asset : public std::enable_shared_from_this<Asset>
{
      public:
	virtual ~Asset() = default;
	std::string url;
	std::weak_ptr<Asset> fallback;
};

class Bitmap : public Asset
{
      public:
	int width = 0, height = 0;
	std::unique_ptr<std::uint32_t[]> pixels;
};

class Font : public Asset
{
      public:
	std::unordered_map<char32_t, std::vector<Vec2>> glyphs;
};

// Pimpl.
class Canvas
{
      public:
	struct Impl;
	std::unique_ptr<Impl> impl;
	Canvas();
	~Canvas();
};

struct Canvas::Impl {
	std::pmr::monotonic_buffer_resource pool{1024};
	std::pmr::vector<int> order{&pool};
	std::pmr::list<std::pmr::string> names{&pool};
	std::list<Vec2, Counting<Vec2>> path;
	int *depths = nullptr;
};

Canvas::Canvas() : impl(told(new Impl))
{
	impl->depths = told(new int[40](), 40);
	for (int i = 0; i < 40; i++) {
		impl->order.push_back(i);
		impl->names.emplace_back("a name that lies in the pool " + std::to_string(i));
		impl->path.push_back({i * 0.5, 1});
		impl->depths[i] = 1000 - i;
	}
}

Canvas::~Canvas() = default;

// Commands: functors too large for a std::function's own buffer.
struct Move {
	Drawable *what;
	Vec2 from, to;
	void operator()() const
	{
		what->id++;
	}
};

struct Rename {
	std::shared_ptr<Asset> asset;
	std::string before, after;
	void operator()() const
	{
		asset->url = before;
	}
};

struct Step {
	std::function<void()> undo;
	std::any context;
	long time = 0;
};

struct Note {
	Note *next;
	std::string author;
	std::string *body;
};

template <class K, class V> struct Skip {
	K key;
	V value;
	Skip *forward[4];
};

struct Document {
	std::unique_ptr<Group> root;
	std::unordered_map<std::string, std::shared_ptr<Asset>> assets;
	std::deque<Step> history;
	std::multimap<int, Observer *> observers;
	std::set<std::pair<int, Drawable *>> by_layer;
	std::vector<Serializable *> dirty;
	std::unordered_map<std::uint32_t, std::unique_ptr<Canvas>> canvases;
	std::map<int, std::any, std::less<int>, Counting<std::pair<const int, std::any>>> plugins;
	Note *notes = nullptr;
	Skip<int, Drawable *> *index = nullptr;
	std::vector<std::function<int(int)>> filters;
};

HELD Document *document;
HELD std::list<Document *> recent;

static std::string words(const char *what, unsigned i)
{
	return i % 3 ? std::string(what) : std::string(what) + " with more words than fit " + std::to_string(i);
}

static PART Property property(unsigned i)
{
	switch (account_random(7)) {
	case 0:
		return {};
	case 1:
		return i % 2 == 0;
	case 2:
		return i / 3.0;
	case 3:
		return words("value", i);
	case 4:
		return std::vector<Vec2>(1 + i % 5, Vec2{1.0 * i, 2});
	case 5: {
		auto gradient = std::make_shared<Gradient>();
		gradient->stops.resize(2 + i % 3, {0.5f, Color{1, 0, 0.25f, 1}});
		return gradient;
	}
	default:
		return told(new Color{0.1f * i, 0.5f, 0.75f, 1});
	}
}

static PART void describe(Drawable &one, unsigned i)
{
	one.tag = words("tag", i);
	one.id = i;
	for (unsigned k = 0; k < 1 + i % 3; k++)
		one.properties[words(k % 2 ? "stroke" : "fill", k + i) + char('0' + k)] = property(i);
	document->by_layer.emplace(int(i % 5), &one);
	if (i % 4 == 0)
		document->dirty.push_back(&one);
}

static PART std::unique_ptr<Drawable> drawable(unsigned depth)
{
	static unsigned count;
	unsigned i = count++;
	std::unique_ptr<Drawable> out;
	switch (depth ? account_random(4) : account_random(3)) {
	case 0: {
		Path *path = told(new Path);
		for (unsigned k = 0; k < 2 + i % 7; k++)
			path->points.push_back({k * 0.5, 1.0 * i});
		path->dash_count = i % 4;
		if (path->dash_count)
			path->dashes.reset(told(new double[path->dash_count](), path->dash_count));
		for (std::size_t k = 0; k < path->dash_count; k++)
			path->dashes[k] = 1.5 * double(k + 1);
		out.reset(path);
		break;
	}
	case 1: {
		Label *label = told(new Label);
		label->text = words("Lorem ipsum", i);
		document->observers.emplace(int(i), label);
		out.reset(label);
		break;
	}
	case 2: {
		Image *image = told(new Image);
		auto at = document->assets.begin();
		std::advance(at, account_random(unsigned(document->assets.size())));
		image->asset = at->second;
		if (i % 2)
			image->offset = Vec2{1, 2};
		out.reset(image);
		break;
	}
	default: {
		Group *group = told(new Group);
		for (unsigned k = 0; k < 7; k++) {
			group->children.push_back(drawable(depth - 1));
			group->children.back()->parent = group;
		}
		document->observers.emplace(int(i), group);
		out.reset(group);
	}
	}
	describe(*out, i);
	return out;
}

static PART void load_assets()
{
	for (unsigned i = 0; i < 60; i++) {
		std::shared_ptr<Asset> asset;
		if (i % 3 == 0) {
			auto font = std::make_shared<Font>();
			for (unsigned k = 0; k < i % 11; k++)
				font->glyphs[U'a' + k] = std::vector<Vec2>(3 + k);
			asset = font;
		} else if (i % 3 == 1) {
			auto bitmap = std::make_shared<Bitmap>();
			bitmap->width = 4;
			bitmap->height = int(1 + i % 6);
			std::size_t size = 4 * (1 + i % 6);
			bitmap->pixels.reset(told(new std::uint32_t[size], size));
			for (std::size_t k = 0; k < size; k++)
				bitmap->pixels[k] = 0xff000000 | account_random(1 << 24);
			asset = bitmap;
		} else {
			asset = std::shared_ptr<Asset>(told(new Bitmap)); // a control block of its own
		}
		asset->url = "asset://" + words("library", i);
		if (!document->assets.empty())
			asset->fallback = document->assets.begin()->second;
		document->assets[asset->url + std::to_string(i)] = asset;
	}
}

template <class F> static std::function<void()> command(F functor)
{
	std::function<void()> function = std::move(functor);
	told(function.target<F>());
	return function;
}

template <class T> static std::any anything(T value)
{
	std::any any = std::move(value);
	told(std::any_cast<T>(&any));
	return any;
}

static PART void edit()
{
	for (unsigned i = 0; i < 240; i++) {
		Step step;
		step.time = 1700000000 + i;
		Drawable *what = document->root->children[i % document->root->children.size()].get();
		auto asset = document->assets.begin()->second;
		if (i % 2)
			step.undo = command(Move{what, {1, 2}, {3.5, 4}});
		else
			step.undo = command(Rename{asset, words("before", i), words("after", i)});
		if (i % 3 == 0)
			step.context = anything(words("context", i));
		else if (i % 3 == 1)
			step.context = anything(std::vector<Vec2>(1 + i % 3));
		else
			step.context = long(i);
		document->history.push_back(std::move(step));
		if (i % 5 == 0)
			document->history.pop_front();
		if (i % 6 == 0)
			document->plugins[int(i)] = anything(Gradient{{{0.5f, {1, 1, 1, 1}}}, 45});
		std::string captured = words("filter", i);
		if (i % 8 == 0)
			document->filters.emplace_back([captured, i](int x) { return int(captured.size() + i) + x; });
	}
	for (unsigned i = 0; i < 100; i++) {
		document->notes =
			told(new Note{document->notes, words("author", i), told(new std::string(words("note", i)))});
		auto *skip = told(new Skip<int, Drawable *>{int(i), document->root.get(), {}});
		for (unsigned k = 0; k < 1 + i % 4; k++)
			skip->forward[k] = document->index;
		if (i % 4 == 0 || !document->index)
			skip->forward[0] = document->index;
		document->index = skip;
		if (i % 5 == 0) {
			auto &canvas = document->canvases[i * 77];
			canvas.reset(told(new Canvas));
		}
	}
}

static PART void lose()
{
	for (int i = 0; i < 12; i++) {
		Label *label = told(new Label);
		account_leaked(label);
		label->parent = document->root.get();
		label->text = "short";
		Path *path = told(new Path);
		account_leaked(path);
		path->points.push_back({1, 2});
		account_leaked(path->points.data());
		auto *color = told(new Color{0, 1, 0, 1});
		account_leaked(color);
	}
}

} // namespace studio

int main()
{
	using namespace studio;
	document = told(new Document);
	recent.push_back(document);
	load_assets();
	document->root.reset(told(new Group));
	for (int i = 0; i < 40; i++)
		document->root->children.push_back(drawable(2));
	edit();
	lose();
	account_die();
}
