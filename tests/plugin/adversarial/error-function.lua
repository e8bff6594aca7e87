-- a function as an error
error(print)
