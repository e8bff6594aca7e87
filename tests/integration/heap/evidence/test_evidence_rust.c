/* layer: heap tier: long */
/* Rust's library: the program reports the types of its blocks; skipped without rustc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heap/types/typing.h"
#include "tests/support/allocation_log.h"
#include "tests/support/compared.h"
#include "tests/support/grid.h"

static const char source[] =
	"use std::collections::*; use std::rc::*; use std::sync::*; use std::cell::*;\n"
	"#[repr(C)] #[derive(Clone, Copy)] pub struct Entry { block: usize, name: usize, count: usize }\n"
	"#[no_mangle] pub static mut book: [Entry; 4096] = [Entry { block: 0, name: 0, "
	"count: 0 }; 4096];\n"
	"#[no_mangle] pub static mut book_count: usize = 0;\n"
	"fn note(block: *const u8, name: &str, count: usize) { unsafe {\n"
	"  let text = std::ffi::CString::new(name).unwrap(); let name = text.as_ptr() as usize; "
	"std::mem::forget(text);\n"
	"  book[book_count] = Entry { block: block as usize, name, count }; book_count += 1; } }\n"
	"fn of<T>(block: *const T, count: usize) { note(block as *const u8, std::any::type_name::<T>(), count) }\n"
	"fn boxed<T>(b: Box<T>) -> Box<T> { of(&*b as *const T, 1); b }\n"
	"fn vec<T>(v: Vec<T>) -> Vec<T> { of(v.as_ptr(), v.capacity()); v }\n"
	"fn text(i: usize) -> String { let s = \"x\".repeat(30 + i); of(s.as_ptr(), s.len()); s }\n"
	"fn rc<T>(r: Rc<T>) -> Rc<T> { note(unsafe { (Rc::as_ptr(&r) as *const u8).sub(16) },\n"
	"  &format!(\"alloc::rc::RcInner<{}>\", std::any::type_name::<T>()), 1); r }\n"
	"fn arc<T>(r: Arc<T>) -> Arc<T> { note(unsafe { (Arc::as_ptr(&r) as *const u8).sub(16) },\n"
	"  &format!(\"alloc::sync::ArcInner<{}>\", std::any::type_name::<T>()), 1); r }\n"
	"trait Shape { fn area(&self) -> i64; }\n"
	"struct Square { side: i64, name: String }\n"
	"struct Poly { corners: Vec<Point> }\n"
	"#[derive(Clone)] struct Point { x: f64, label: String }\n"
	"impl Shape for Square { fn area(&self) -> i64 { self.side + self.name.len() as i64 } }\n"
	"impl Shape for Poly { fn area(&self) -> i64 { self.corners.len() as i64 } }\n"
	"struct Tail<T: ?Sized> { kind: u16, shape: T }\n"
	"enum Kind { Text(String), Deep { b: Box<Square>, n: u32 }, Number(u64), Nothing }\n"
	"enum Chain { Link(Box<Chain>, String), End }\n"
	"struct World { shapes: Vec<Box<dyn Shape>>, shared: Rc<dyn Shape>, counted: Rc<RefCell<Vec<String>>>, arcs: "
	"Vec<Arc<Point>>, cell: Rc<RefCell<dyn Shape>>, lent: Box<RefCell<dyn Shape>>, tail: Arc<Tail<dyn Shape>>,\n"
	"  kinds: Vec<Kind>, chain: Chain, map: HashMap<u64, String>, wide: HashMap<String, Box<Square>>, tree: "
	"BTreeMap<u32, String>,\n"
	"  ring: VecDeque<String>, list: LinkedList<String>, slice: Box<[Point]>, thin: Box<str>, maybe: "
	"Option<Box<Square>>,\n"
	"  none: Option<Box<Square>>, two: Option<String>, pair: (String, Vec<u32>), numbers: Vec<u64>, set: "
	"BTreeSet<u64> }\n"
	"fn square(i: usize) -> Square { Square { side: i as i64, name: text(i) } }\n"
	"fn point(i: usize) -> Point { Point { x: i as f64, label: text(i) } }\n"
	"fn points(n: usize) -> Vec<Point> { vec((0..n).map(point).collect()) }\n"
	"fn chain(n: usize) -> Chain { if n == 0 { Chain::End } else { Chain::Link(boxed(Box::new(chain(n - 1))), "
	"text(n)) } }\n"
	"fn kind(i: usize) -> Kind { match i % 4 { 0 => Kind::Text(text(i)), 1 => Kind::Deep { b: "
	"boxed(Box::new(square(i))), n: 1 },\n"
	"  2 => Kind::Number(i as u64 * 77777), _ => Kind::Nothing } }\n"
	"fn main() {\n"
	"  let shapes: Vec<Box<dyn Shape>> = (0..20).map(|i| if i % 2 == 0 { boxed(Box::new(square(i))) as Box<dyn "
	"Shape> }\n"
	"    else { boxed(Box::new(Poly { corners: points(i) })) as Box<dyn Shape> }).collect();\n"
	"  of(shapes.as_ptr(), shapes.len());\n"
	"  let world = boxed(Box::new(World { shapes, shared: rc(Rc::new(square(3))) as Rc<dyn Shape>,\n"
	"    counted: rc(Rc::new(RefCell::new(vec((0..9).map(text).collect())))), arcs: vec((0..9).map(|i| "
	"arc(Arc::new(point(i)))).collect()),\n"
	"    cell: rc(Rc::new(RefCell::new(square(4)))) as Rc<RefCell<dyn Shape>>,\n"
	"    lent: boxed(Box::new(RefCell::new(Poly { corners: points(2) }))) as Box<RefCell<dyn Shape>>,\n"
	"    tail: arc(Arc::new(Tail { kind: 5, shape: square(6) })) as Arc<Tail<dyn Shape>>,\n"
	"    kinds: vec((0..40).map(kind).collect()), chain: chain(12), map: (0..50).map(|i| (i as u64, "
	"text(i))).collect(),\n"
	"    wide: (0..30).map(|i| (text(i), boxed(Box::new(square(i))))).collect(), tree: (0..100).map(|i| (i as u32, "
	"text(i))).collect(),\n"
	"    ring: (0..20).map(text).collect(), list: (0..20).map(text).collect(), slice: "
	"points(7).into_boxed_slice(),\n"
	"    thin: text(5).into_boxed_str(), maybe: Some(boxed(Box::new(square(8)))), none: None, two: Some(text(2)),\n"
	"    pair: (text(1), vec(vec![1, 2, 3, 4, 5])), numbers: vec((0..100).collect()), set: (0..200).collect() "
	"}));\n"
	"  let sum: i64 = world.shapes.iter().map(|s| s.area()).sum::<i64>() + world.shared.area() + "
	"world.cell.borrow().area() +\n"
	"    world.lent.borrow().area() + world.tail.shape.area() + world.tail.kind as i64;\n"
	"  println!(\"{} {}\", sum, unsafe { book_count }); std::process::abort();\n"
	"}\n";

static void check(const char *flags)
{
	check_needs("rustc");
	xc_auto(xc_freep) char *compiler = xc_asprintf("sh -c 'rustc -g %s -A warnings -o \"$3\" -' sh", flags);
	struct booked b = {.process = died(compiler, source)};
	booked_read(&b);
	compared_check(&b, flags, 100);
	booked_close(&b);
}

static void what_programs_of_rust_say_is_found(void **state)
{
	(void)state;
	check("-C opt-level=0");
	if (grid_all())
		check("-C opt-level=2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_programs_of_rust_say_is_found)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
