// Package replicas runs a whole Bursar in memory: a database, chains, replicas, customers and receivers, under one
// virtual clock and one scheduler that decides about every interleaving. The same calls give the same history, byte
// for byte.
//
// It owns the surroundings of the service: chains are those of package sim, receivers are functions, and time passes
// only when the clock is advanced. The code that it runs is the service's own: the API's handler, followers, senders,
// sweepers, the deliverer and the signer. It never uses a network, a file or the system's clock.
//
// Every action of a process runs as a Task. A task runs until it ends or is interrupted at one of its points: before
// and after each database transaction, before each statement and at each call of a node or of the signer. There it
// can be suspended while others run, be refused, or die with its process and everything in its memory.
package replicas
