//go:build !unix

package host

const rights = false

// KeepPrivate does nothing where files have no modes.
func KeepPrivate() {}
