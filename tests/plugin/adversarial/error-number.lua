-- a number as an error
error(42)
