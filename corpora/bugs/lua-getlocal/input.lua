debug.getlocal(1, -2147483648)
