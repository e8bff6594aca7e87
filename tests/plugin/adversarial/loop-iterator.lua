-- an iterator that never ends
for _ in function() return true end do end
