// Package bursartest provides the harness of tests that span several packages.
//
// OneChain is one chain with a database file and every worker, which a test drives step by step. Database is what all
// harnesses share: what they do to a database and read back from it. Both own only what surrounds the service: they run
// its real code on chains of package sim, and never use a network. A test of the whole service, with several replicas
// and its API, begins with package replicas.
package bursartest
