local machine = {}
function machine.top(vm, L) return nil end
return machine
