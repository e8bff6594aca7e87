import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import sun.misc.Unsafe;

/** Threads that wait, allocate and are compiled; one of them writes to address 8 by Unsafe, below a sort. */
public class Libjvm {
	static final int THREADS = 24;
	static volatile long sink;
	static Unsafe unsafe;

	static int depth(int n, Runnable last) {
		if (n == 0) {
			last.run();
			return 0;
		}
		return 1 + depth(n - 1, last);
	}

	static void busy(int seed) {
		Map<Integer, String> map = new HashMap<>();
		for (int i = 0;; i++) {
			map.put(i * 31 % 5000, "value " + (i ^ seed));
			sink += map.get(i * 31 % 5000).hashCode();
			if (i % 10000 == 0)
				map.clear();
		}
	}

	static void park(Object lock) {
		synchronized (lock) {
			try {
				lock.wait();
			} catch (InterruptedException ignored) {
			}
		}
	}

	static void die() {
		List<Integer> list = new ArrayList<>();
		for (int i = 0; i < 100; i++)
			list.add((i * 37) % 100);
		list.sort(new Comparator<Integer>() {
			public int compare(Integer a, Integer b) {
				if (a == 99 || b == 99)
					unsafe.putInt(8, 1);
				return a.compareTo(b);
			}
		});
	}

	static void thread(int i, CountDownLatch started) {
		Runnable work;
		if (i % 4 == 0)
			work = () -> busy(i);
		else
			work = () -> park(new Object());
		Thread thread = new Thread(() -> {
			started.countDown();
			depth(5 + i, work);
		}, "worker-" + i);
		thread.setDaemon(true);
		thread.start();
	}

	public static void main(String[] arguments) throws Exception {
		Field field = Unsafe.class.getDeclaredField("theUnsafe");
		field.setAccessible(true);
		unsafe = (Unsafe) field.get(null);
		CountDownLatch started = new CountDownLatch(THREADS);
		for (int i = 0; i < THREADS; i++)
			thread(i, started);
		started.await();
		Thread.sleep(1500);
		depth(30, Libjvm::die);
	}
}
