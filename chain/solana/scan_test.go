package solana

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

const sol = 1_000_000_000

var (
	ours, other, hot          = hashOf("ours"), hashOf("other"), hashOf("hot")
	outsider, someProgram     = hashOf("outsider"), hashOf("program")
	instructionFailure    any = object{"InstructionError": []any{0, object{"Custom": 1}}}
)

func delivered(name, base string, lamports uint64) chain.Transfer {
	return chain.Transfer{TxID: signatureOf(name + "0"), Address: bursar.Address{Base: base},
		Amount: bursar.Units(lamports)}
}

// scanCase is one transaction and its expected effects on our addresses.
type scanCase struct {
	name      string
	tx        fakeTx
	transfers []chain.Transfer
	included  []chain.Inclusion
	external  []chain.ExternalSpend
	plain     bool
}

func lamports(to string, amount uint64) chain.Payment {
	return chain.Payment{Address: bursar.Address{Base: to}, Amount: bursar.Units(amount)}
}

// took returns the external spend of a case's transaction.
func took(name, from string, fee uint64, payments ...chain.Payment) chain.ExternalSpend {
	return chain.ExternalSpend{TxID: signatureOf(name + "0"), Base: from, Payments: payments, Fee: bursar.Units(fee)}
}

func scanCases() []scanCase {
	return []scanCase{
		{name: "a plain payment",
			tx: fakeTx{keys: []string{outsider, ours, someProgram}, before: []uint64{9 * sol, 0, 1},
				after: []uint64{8*sol - 5000, sol, 1}},
			transfers: []chain.Transfer{delivered("a plain payment", ours, sol)}},
		{name: "a legacy payment",
			tx: fakeTx{legacy: true, keys: []string{outsider, ours}, before: []uint64{9 * sol, 7},
				after: []uint64{8*sol - 5000, sol + 7}},
			transfers: []chain.Transfer{delivered("a legacy payment", ours, sol)}},
		{name: "several receivers, and several payments to one",
			tx: fakeTx{keys: []string{outsider, ours, other}, before: []uint64{9 * sol, 0, 5},
				after: []uint64{3*sol - 5000, 4 * sol, 2*sol + 5}},
			transfers: []chain.Transfer{delivered("several receivers, and several payments to one", ours, 4*sol),
				delivered("several receivers, and several payments to one", other, 2*sol)}},
		{name: "from a lookup table, writable",
			tx: fakeTx{keys: []string{outsider, someProgram}, writable: []string{hashOf("x"), ours},
				readonly: []string{hashOf("y")},
				before:   []uint64{9 * sol, 1, 1, 0, 1}, after: []uint64{8*sol - 5000, 1, 1, sol, 1}},
			transfers: []chain.Transfer{delivered("from a lookup table, writable", ours, sol)}},
		{name: "readonly addresses come last",
			tx: fakeTx{keys: []string{outsider}, writable: []string{hashOf("x")}, readonly: []string{ours},
				before: []uint64{9 * sol, 0, 3}, after: []uint64{8*sol - 5000, sol, 3}}},
		{name: "a failed transaction",
			tx: fakeTx{keys: []string{outsider, ours}, before: []uint64{9 * sol, 0}, after: []uint64{9*sol - 5000, 0},
				err: instructionFailure}},
		{name: "a failed transaction with the balances of success",
			tx: fakeTx{keys: []string{outsider, ours}, before: []uint64{9 * sol, 0}, after: []uint64{8*sol - 5000, sol},
				err: "AccountInUse"}},
		{name: "balance stays",
			tx: fakeTx{keys: []string{outsider, ours, other}, before: []uint64{9 * sol, 5, 5},
				after: []uint64{9*sol - 5000, 5, 5}}},
		{name: "balance goes down without our signature", // only an account that our key once gave to a program
			tx: fakeTx{keys: []string{outsider, ours, other}, before: []uint64{9 * sol, 5, 5},
				after: []uint64{9*sol + 4 - 5000, 1, 5}},
			external: []chain.ExternalSpend{took("balance goes down without our signature", ours, 0, lamports(outsider,
				4))}},
		{name: "somebody signs with our key",
			tx: fakeTx{signers: 2, keys: []string{outsider, ours, other}, before: []uint64{9 * sol, sol, 0},
				after: []uint64{9*sol - 5000, 0, sol}},
			external: []chain.ExternalSpend{took("somebody signs with our key", ours, 0, lamports(other, sol))},
			transfers: []chain.Transfer{
				delivered("somebody signs with our key", other, sol)}},
		{name: "somebody signs with our key and fails",
			tx: fakeTx{keys: []string{ours, other}, before: []uint64{sol, 0}, after: []uint64{sol - 5000, 0},
				err: instructionFailure},
			external: []chain.ExternalSpend{{TxID: signatureOf("somebody signs with our key and fails0"), Base: ours,
				Failed: true, Fee: bursar.Units(5000)}}},
		{name: "our key pays several",
			tx: fakeTx{keys: []string{hot, outsider, someProgram}, before: []uint64{9 * sol, 1, 0},
				after: []uint64{5*sol - 5000, sol + 1, 3 * sol}},
			external: []chain.ExternalSpend{took("our key pays several", hot, 5000, lamports(outsider, sol),
				lamports(someProgram, 3*sol))}},
		{name: "our key signs and pays nothing",
			tx: fakeTx{signers: 2, keys: []string{outsider, hot, someProgram}, before: []uint64{9 * sol, sol, 0},
				after: []uint64{8*sol - 5000, sol, sol}},
			external: []chain.ExternalSpend{took("our key signs and pays nothing", hot, 0)}},
		{name: "our key pays along with an outsider", // no more than our loss is attributed to us
			tx: fakeTx{signers: 2, keys: []string{outsider, hot, someProgram}, before: []uint64{9 * sol, 5 * sol, 0},
				after: []uint64{7*sol - 5000, 4 * sol, 3 * sol}},
			external: []chain.ExternalSpend{took("our key pays along with an outsider", hot, 0, lamports(someProgram,
				sol))}},
		{name: "our sweep",
			tx:        fakeTx{keys: []string{ours, hot}, before: []uint64{sol, 0}, after: []uint64{0, sol - 5000}},
			included:  []chain.Inclusion{{TxID: signatureOf("our sweep0"), Fee: bursar.Units(5000)}},
			transfers: []chain.Transfer{delivered("our sweep", hot, sol-5000)}}, // the core knows the owner
		{name: "our failure",
			tx: fakeTx{keys: []string{hot, outsider}, before: []uint64{sol, 0}, after: []uint64{sol - 5000, 0},
				err: instructionFailure},
			included: []chain.Inclusion{{TxID: signatureOf("our failure0"), Fee: bursar.Units(5000), Failed: true}}},
	}
}

// everyEncoding repeats a case in both encodings of blocks and, if the transaction loads nothing from tables, in the
// versions 1 (SIMD-0385) and 2, which does not exist yet.
func everyEncoding(c scanCase) (all []scanCase) {
	for _, plain := range []bool{false, true} {
		for version := range 3 {
			c.plain, c.tx.version = plain, version
			if version == 0 || !c.tx.legacy && len(c.tx.writable)+len(c.tx.readonly) == 0 {
				all = append(all, c)
			}
		}
	}
	return all
}

func watching() *chaintest.Watch {
	w := chaintest.NewWatch(ours, other, hot)
	w.AddSent(signatureOf("our sweep0"), signatureOf("our failure0"))
	return w
}

func TestTheTransfersOfATransaction(t *testing.T) {
	t.Parallel()
	for _, named := range scanCases() {
		t.Run(named.name, func(t *testing.T) {
			t.Parallel()
			for _, test := range everyEncoding(named) {
				f := newFake(t)
				f.plain = test.plain
				c := f.open(t, nil)
				test.tx.name = test.name
				f.add(101, test.tx.object())
				blocks, err := c.After(t.Context(), chain.BlockRef{Height: 100, Hash: hashOf("block 100")}, 10, watching())
				if err != nil || len(blocks) != 1 {
					t.Fatalf("%d blocks, %v, want 1 of them", len(blocks), err)
				}
				b := blocks[0]
				if !reflect.DeepEqual(b.Transfers, test.transfers) || !reflect.DeepEqual(b.Included, test.included) ||
					!reflect.DeepEqual(b.ExternalSpends, test.external) {
					t.Fatalf("in full %v, version %d: got\n%+v\n%+v\n%+v\nwant\n%+v\n%+v\n%+v", test.plain, test.tx.version,
						b.Transfers, b.Included, b.ExternalSpends, test.transfers, test.included, test.external)
				}
			}
		})
	}
}

// Inconsistent data is the node's error, and never an empty block.
func TestUnsoundBlocksAreErrors(t *testing.T) {
	t.Parallel()
	sound := func() object {
		return fakeTx{name: "x", keys: []string{outsider, ours}, before: []uint64{9 * sol, 0},
			after: []uint64{8*sol - 5000, sol}}.object()
	}
	meta := func(name string, value any) func(b object) {
		return func(b object) { b["transactions"].([]object)[0]["meta"].(object)[name] = value }
	}
	field := func(name string, value any) func(b object) {
		return func(b object) { b[name] = value }
	}
	cases := map[string]func(b object){
		"no transactions":        field("transactions", nil),
		"no time":                field("blockTime", nil),
		"no hash":                field("blockhash", "x"),
		"no parent":              field("parentSlot", nil),
		"its own parent":         field("parentSlot", 101),
		"another parent hash":    field("previousBlockhash", hashOf("another")),
		"an earlier parent":      field("parentSlot", 99),
		"no outcome":             func(b object) { b["transactions"].([]object)[0]["meta"] = nil },
		"no fee":                 meta("fee", nil),
		"no balances":            meta("preBalances", nil),
		"a balance too few":      meta("postBalances", []uint64{1}),
		"a balance too many":     meta("postBalances", []uint64{1, 2, 3}),
		"a negative balance":     meta("postBalances", []int{1, -2}),
		"more comes out than in": meta("postBalances", []uint64{9 * sol, sol}),
		"addresses from nowhere": meta("loadedAddresses", object{"writable": []string{other}, "readonly": []string{}}),
		"no error member":        func(b object) { delete(b["transactions"].([]object)[0]["meta"].(object), "err") },
		"an account twice":       func(b object) { messageIn(b)["accountKeys"] = []string{ours, ours} },
		"no signature": func(b object) {
			b["transactions"].([]object)[0]["transaction"].(object)["signatures"] = []string{}
		},
		"more signers than accounts": func(b object) { messageIn(b)["header"] = object{"numRequiredSignatures": 3} },
		"lookups that brought nothing": func(b object) {
			messageIn(b)["addressTableLookups"] = []object{{"writableIndexes": []int{1}, "readonlyIndexes": []int{}}}
		},
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, plain := range []bool{false, true} {
				if !plain && name == "lookups that brought nothing" {
					continue // in the encoding `accounts` a node returns no lookups
				}
				f := newFake(t)
				f.plain = plain
				c := f.open(t, nil)
				spoil(f.add(101, sound()))
				blocks, err := c.After(t.Context(), chain.BlockRef{Height: 100, Hash: hashOf("block 100")}, 10, watching())
				if err == nil || errors.Is(err, chain.ErrOffChain) || len(blocks) > 0 {
					t.Fatalf("in full %v: %+v, %v", plain, blocks, err)
				}
				if !errors.Is(err, rpc.ErrUnavailable) {
					t.Fatalf("in full %v: the node got no cool-down: %v", plain, err)
				}
			}
		})
	}
}

func messageIn(b object) object {
	return b["transactions"].([]object)[0]["transaction"].(object)["message"].(object)
}
