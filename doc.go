// Package bursar defines the domain types of a self-hosted cryptocurrency deposit and payout service: accounts,
// wallets, deposits, charges, invoices and payment links, withdrawals, destinations, limits, order keys, currencies,
// amounts, rates, addresses, events, alarms and errors, with their validation and the tables of their allowed
// transitions.
//
// It owns what these terms mean. It never does I/O, never reads a clock and depends on the standard library alone. Its
// invariants: an Amount never wraps or goes below zero, a status only changes along its transition table, and a decimal
// text is never read through a floating-point number.
package bursar
