-- functions that are not available
print(io, os, package, dofile, loadfile, debug.getregistry, debug.sethook, debug.getmetatable)
print(pcall(require, 'io'))
print(pcall(require, '../../etc/passwd'))
io.open('/etc/passwd')
