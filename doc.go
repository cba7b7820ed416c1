// Package bursar holds the domain types of a self-hosted cryptocurrency deposit and payout service: accounts, wallets,
// deposits, charges, withdrawals, currencies, amounts, addresses, events and errors, with their validation and the
// tables of their allowed transitions.
//
// It defines what the terms mean. It never does I/O, never reads a clock and depends on the standard library alone. Its
// invariants: an Amount never wraps or goes below zero, a status only changes along its transition table, and a decimal
// text is never read through a floating-point number.
package bursar
