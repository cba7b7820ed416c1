package main

// bug is a possible fault of the service: a text that occurs once in a file, and its replacement.
type bug struct {
	name string
	file string
	was  string
	is   string
	seed uint64 // finds it, as the simulation is: tried first
}

// bugs are planted one by one to check that the simulation finds them. docs/simulation.md lists the seed that finds
// each. Where a change of the service moves it, -planted prints the new one.
var bugs = []bug{
	{"a reversed credit stays on the account", "deposit/reverse.go",
		"if err := tx.Ledger().Post(ctx, ledger.DepositReversed(d, tx.Now())); err != nil {",
		"if err := error(nil); err != nil {", 4},
	{"nothing is unsettled by a reorg", "outgoing/unsettle.go",
		"for _, p := range settled {", "for _, p := range settled[:0] {", 43},
	{"a withdrawal is taken up by two transactions", "store/withdrawal.go",
		"AND outgoing_id IS NULL AND currency IN (`+list(len(codes), len(fixed))+`)`+",
		"AND currency IN (`+list(len(codes), len(fixed))+`)`+", 3},
	{"payouts are not held back for screening", "service/screening.go",
		"w.sender.Screened, w.sender.ScreenAgain = gate.Lacking, gate.Again", "_ = gate", 6},
	{"a transaction is given up before it is proven dead", "outgoing/send.go",
		"if gone, err := s.Chain.Expired(ctx, unsigned, v.TxID); err != nil || !gone {",
		"if _, err := s.Chain.Expired(ctx, unsigned, v.TxID); err != nil {", 13},
	{"a webhook is lost with the worker that took it", "store/delivery_lease.go",
		"WHERE until > $1 AND until <= $4 AND NOT", "WHERE $1 > 0 AND $4 > 0 AND NOT", 61},
	{"a network fee is not booked", "outgoing/settle.go",
		"if err := bookFee(ctx, tx, s.Registry, p); err != nil {", "if err := error(nil); err != nil {", 0},
	{"what arrives by a sweep counts as capital", "deposit/record.go",
		"return !wallet || ", "return wallet && ", 0},
	{"a halted currency is paid", "outgoing/gate.go",
		"halts, err := tx.Halts().Of(ctx, s.haltScopes(p)...)",
		"halts, err := tx.Halts().Of(ctx, s.haltScopes(p)[:1]...)", 31},
}
