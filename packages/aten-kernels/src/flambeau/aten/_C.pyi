# The native half: importing it registers operators; it has no names of its own.
