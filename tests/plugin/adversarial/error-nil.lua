-- nil as an error
error(nil)
