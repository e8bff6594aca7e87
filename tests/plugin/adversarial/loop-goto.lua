-- an endless loop without a loop statement
::again::
goto again
