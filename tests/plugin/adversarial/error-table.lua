-- an error object that is a table
error({ code = 5 })
