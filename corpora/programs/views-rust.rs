// Dies of SIGSEGV with containers of Rust's library in frames, after it has written what a debugger should show of
// each: "NAME<tab>TEXT".
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::OsString;
use std::fmt::Debug;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

trait Shape {
    fn area(&self) -> f64;
}

struct Circle {
    radius: f64,
}

// Its alignment moves it away from the counts of an Rc.
#[repr(align(64))]
struct Wide {
    radius: f64,
}

struct Named {
    name: String,
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.radius * 3.0
    }
}

impl Shape for Wide {
    fn area(&self) -> f64 {
        self.radius * 4.0
    }
}

impl Shape for Named {
    fn area(&self) -> f64 {
        self.name.len() as f64
    }
}

// ---- what is expected: the elements as Rust writes them, in braces ----

fn list<T: Debug>(values: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = values.into_iter().map(|value| format!("{:?}", value)).collect();
    format!("{{{}}}", texts.join(", "))
}

fn sized<T: Debug>(title: &str, values: impl IntoIterator<Item = T>, count: usize) -> String {
    format!("{}(size={}) = {}", title, count, list(values))
}

fn keyed<K: Debug, V: Debug>(title: &str, values: impl IntoIterator<Item = (K, V)>, count: usize) -> String {
    let texts: Vec<String> =
        values.into_iter().map(|(key, value)| format!("[{:?}] = {:?}", key, value)).collect();
    format!("{}(size={}) = {{{}}}", title, count, texts.join(", "))
}

fn show(name: &str, text: impl AsRef<str>) {
    println!("{}\t{}", name, text.as_ref());
}

#[inline(never)]
fn keep<T>(value: &T) {
    unsafe { std::ptr::read_volatile(&(value as *const T)) };
}

#[inline(never)]
fn crash() {
    unsafe { std::ptr::read_volatile(&(std::ptr::null_mut::<i32>())).write_volatile(1) }
}

#[inline(never)]
fn texts() {
    let string = String::from("a string");
    let empty = String::new();
    let borrowed: &str = "borrowed";
    let part: &str = &string[2..5];
    let umlaut = String::from("\u{fc}ber");
    let boxed_text: Box<str> = "boxed".into();
    let path = PathBuf::from("/tmp/file");
    let path_ref: &Path = &path;
    let system = OsString::from("os");

    show("string", "\"a string\"");
    show("empty", "\"\"");
    show("borrowed", "\"borrowed\"");
    show("part", "\"str\"");
    show("umlaut", "\"\u{fc}ber\"");
    show("boxed_text", "\"boxed\"");
    show("path", "\"/tmp/file\"");
    show("path_ref", "\"/tmp/file\"");
    show("system", "\"os\"");
    crash();
    keep(&(&string, &empty, &borrowed, &part, &umlaut, &boxed_text, &path, &path_ref, &system));
}

#[inline(never)]
fn sequences() {
    let numbers = vec![1i32, 2, 3];
    let nothing: Vec<u64> = Vec::new();
    let words = vec![String::from("x"), String::from("yy")];
    let same = vec![7i64; 40];
    let units = vec![(); 3];
    let slice: &[i32] = &numbers[1..];
    let boxed_slice: Box<[i32]> = vec![7, 8].into_boxed_slice();
    let mut ring: VecDeque<i32> = VecDeque::with_capacity(4);
    for i in 0..6 {
        if ring.len() == 4 {
            ring.pop_front();
        }
        ring.push_back(i);
    }
    let no_ring: VecDeque<String> = VecDeque::new();
    let linked: LinkedList<i32> = [1, 2, 3].iter().copied().collect();
    let heap: BinaryHeap<i32> = [1, 5, 3].iter().copied().collect();

    show("numbers", sized("Vec", &numbers, 3));
    show("nothing", "Vec(size=0)");
    show("words", sized("Vec", &words, 2));
    show("same", "Vec(size=40) = {7 <repeats 40 times>}");
    show("slice", sized("&[i32]", slice, 2));
    show("boxed_slice", sized("alloc::boxed::Box<[i32]>", boxed_slice.iter(), 2));
    show("ring", sized("VecDeque", &ring, 4));
    show("no_ring", "VecDeque(size=0)");
    show("linked", sized("LinkedList", &linked, 3));
    show("heap", sized("BinaryHeap of Vec", heap.iter(), 3));
    texts();
    keep(&(&numbers, &nothing, &words, &same, &units, &slice, &boxed_slice, &ring, &no_ring, &linked, &heap));
}

#[inline(never)]
fn maps() {
    let mut ages: HashMap<String, i32> = HashMap::new();
    for (at, name) in ["ann", "bob", "cid", "dan", "eve"].iter().enumerate() {
        ages.insert(name.to_string(), at as i32);
    }
    let no_ages: HashMap<u8, u8> = HashMap::new();
    let mut removed: HashMap<u64, u64> = (0..100).map(|i| (i, i * i)).collect();
    for i in 0..90 {
        removed.remove(&i);
    }
    let set: HashSet<u16> = [7, 8, 900].iter().copied().collect();
    let tree: BTreeMap<i32, String> = (0..300).map(|i| (i * 7 % 300, format!("v{}", i))).collect();
    let no_tree: BTreeMap<i32, i32> = BTreeMap::new();
    let tree_set: BTreeSet<String> = ["c", "a", "b"].iter().map(|s| s.to_string()).collect();

    show("ages", keyed("HashMap", &ages, ages.len()));
    show("no_ages", "HashMap(size=0)");
    show("removed", keyed("HashMap", &removed, removed.len()));
    show("set", sized("HashSet", &set, 3));
    show("tree", keyed("BTreeMap", &tree, 300));
    show("no_tree", "BTreeMap(size=0)");
    show("tree_set", sized("BTreeSet", &tree_set, 3));
    sequences();
    keep(&(&ages, &no_ages, &removed, &set, &tree, &no_tree, &tree_set));
}

#[inline(never)]
fn pointers() {
    let counted = Rc::new(42i32);
    let twin = counted.clone();
    let weak = Rc::downgrade(&counted);
    let dangling: Weak<i32> = Weak::new();
    let gone = Rc::downgrade(&Rc::new(1i32));
    let shared = Arc::new(String::from("arc"));
    let shared_text: Arc<str> = Arc::from("arc text");
    let shared_slice: Rc<[i32]> = Rc::from(vec![4, 5]);
    let locked = Arc::new(Mutex::new(3i32));
    let cell = Cell::new(9i32);
    let lent = RefCell::new(vec![1i32]);
    let guard = lent.borrow();
    let free = RefCell::new(2i32);
    let atomic = AtomicUsize::new(11);
    let not_zero = NonZeroU32::new(5).unwrap();
    let time = Duration::from_millis(1500);
    let circle: Box<dyn Shape> = Box::new(Circle { radius: 2.0 });
    let named: Box<dyn Shape> = Box::new(Named { name: "n".into() });
    let object: &dyn Shape = &*circle;
    let shared_shape: Rc<dyn Shape> = Rc::new(Named { name: "rc".into() });
    let second_shape = Rc::clone(&shared_shape);
    let wide_shape: Arc<dyn Shape> = Arc::new(Wide { radius: 3.0 });
    let weak_shape = Rc::downgrade(&shared_shape);
    let cell_shape: Box<RefCell<dyn Shape>> = Box::new(RefCell::new(Circle { radius: 4.0 }));
    let cell_counted: Rc<RefCell<dyn Shape>> = Rc::new(RefCell::new(Named { name: "cell".into() }));
    let cell_wide: Rc<RefCell<dyn Shape>> = Rc::new(RefCell::new(Wide { radius: 5.0 }));
    let locked_shape: Arc<Mutex<dyn Shape>> = Arc::new(Mutex::new(Named { name: "lock".into() }));

    show("counted", "Rc(strong=2, weak=1) = {value = 42}");
    show("twin", "Rc(strong=2, weak=1) = {value = 42}");
    show("weak", "Weak(strong=2, weak=1) = {value = 42}");
    show("dangling", "Weak(dangling)");
    show("gone", "Weak(strong=0, weak=1)");
    show("shared", "Arc(strong=1, weak=0) = {value = \"arc\"}");
    show("shared_text", "Arc(strong=1, weak=0) \"arc text\"");
    show("shared_slice", "Rc(strong=1, weak=0) = {4, 5}");
    show("locked", "Arc(strong=1, weak=0) = {value = Mutex = {value = 3}}");
    show("cell", "Cell = {value = 9}");
    show("lent", "RefCell(borrow=1) = {value = Vec(size=1) = {1}}");
    show("guard", "Ref = {value = Vec(size=1) = {1}}");
    show("free", "RefCell(borrow=0) = {value = 2}");
    show("atomic", "11");
    show("not_zero", "5");
    show("time", "1.5s");
    show("circle", "alloc::boxed::Box<dyn views_rust::Shape> containing views_rust::Circle = {value = {radius: 2}}");
    show("named", "alloc::boxed::Box<dyn views_rust::Shape> containing views_rust::Named = {value = {name: \"n\"}}");
    show("object", "&dyn views_rust::Shape containing views_rust::Circle = {value = {radius: 2}}");
    show("shared_shape", "Rc(strong=2, weak=1) = {value = {name: \"rc\"}}");
    show("second_shape", "Rc(strong=2, weak=1) = {value = {name: \"rc\"}}");
    show("wide_shape", "Arc(strong=1, weak=0) = {value = {radius: 3}}");
    show("cell_shape", "alloc::boxed::Box<core::cell::RefCell<dyn views_rust::Shape>> containing views_rust::Circle = {value = {radius: 4}}");
    show("cell_counted", "Rc(strong=1, weak=0) = {value = {name: \"cell\"}}");
    show("cell_wide", "Rc(strong=1, weak=0) = {value = {radius: 5}}");
    show("locked_shape", "Arc(strong=1, weak=0) = {value = {name: \"lock\"}}");
    show("weak_shape", "Weak(strong=2, weak=1) = {value = {name: \"rc\"}}");
    maps();
    keep(&(&shared_shape, &second_shape, &wide_shape, &weak_shape, &cell_shape));
    keep(&(&cell_counted, &cell_wide, &locked_shape));
    println!("{}", cell_counted.borrow().area() + cell_wide.borrow().area() + locked_shape.lock().unwrap().area());
    println!("{}", shared_shape.area() + second_shape.area() + wide_shape.area() + cell_shape.borrow().area());
    keep(&(&counted, &twin, &weak, &dangling, &gone, &shared, &shared_text, &shared_slice, &locked, &cell));
    keep(&(&lent, &guard, &free, &atomic, &not_zero, &time, &circle, &named, &object));
    println!("{} {}", circle.area() + named.area() + object.area(), atomic.load(Ordering::Relaxed));
}

fn main() {
    pointers();
}
