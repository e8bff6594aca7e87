-- an error object with a message
error({ message = 'the list is damaged', code = 5 })
