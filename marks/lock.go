package marks

// Lock waits until no other process holds the lock file at a path, which it makes where none is, and holds it until
// unlock is called or the process ends, however it ends. The lock file is never removed: removing it would let two
// processes hold the lock. Where files cannot be locked, as on Windows, it holds nothing.
func Lock(path string) (unlock func() error, err error) { return lock(path) }
