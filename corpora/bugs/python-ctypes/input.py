import sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/Lib"]
import ctypes
print(repr(ctypes.c_double.from_param(1e300)))
