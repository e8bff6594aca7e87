-- declare: layouts of an interpreter that comes without debug information.
local declare = {}

function declare.layouts() end

return declare
