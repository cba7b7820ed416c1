// Package pins holds the version of everything that the tests and the sandbox use and that Go's module files do not
// name: the one place where such a version is raised. It owns these versions and never downloads anything.
// TestVersionsStandHereAlone keeps others out of the sources.
//
// What comes from npm has a lock file with digests as well (test/npm; a test compares the versions), the client
// libraries and the generators of clients have only that (sandbox/clients/javascript and generators), and the Go that
// builds releases is in release/toolchain.txt, which scripts read too.
package pins

// Programs and libraries in the cache folder, by the version that is installed. Their folders are named after it.
const (
	Anvil       = "1.7.1"  // from npm
	Bitcoind    = "29.5"   // Bitcoin Knots, from Debian's backports
	Golangci    = "2.15.0" // the linter, built with Go
	Govulncheck = "1.9.0"  // built with Go
	Hardhat     = "2.26.3" // from npm
	Litestream  = "0.5.18" // built with Go
	LiteSVM     = "1.5.0"  // from npm
	OapiCodegen = "2.8.2"  // built with Go
)
