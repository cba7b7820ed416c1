// Package bursartest is a whole Bursar in memory: a database, chains, replicas, customers and receivers, under one
// virtual clock and one scheduler that decides about every interleaving. The same calls give the same history, byte for
// byte.
//
// It runs the real code of the service: the API's handler, followers, spenders, sweepers, the deliverer and the signer.
// Only what surrounds them is made here: chains are those of package sim, receivers are functions, and time passes when
// it is told to. Nothing of it touches a network, a file or the system's clock.
//
// What a process does runs as a Task. A task goes on until it ends or is interrupted at one of its points: before and
// after each database transaction, before each statement and at each call of a node or of the signer. There it can be
// suspended while others go on, be refused, or die with its process and everything that was in its memory.
package bursartest
