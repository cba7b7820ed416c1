package solana

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bursar/bursar/sandbox/litesvm"
)

// TestRecordedTransactionsInLiteSVM runs the recorded transactions: LiteSVM still does what was recorded, and so does
// the simulator. Their blockhashes do not exist here, so both are called below their ledgers.
func TestRecordedTransactionsInLiteSVM(t *testing.T) {
	t.Parallel()
	vm := startVM(t, litesvm.Config{})
	for _, c := range recordedCases(t) {
		wire, err := base64.StdEncoding.DecodeString(c.Raw)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := parseTransaction(wire)
		if err != nil {
			t.Fatal(err)
		}
		accounts := nativePrograms()
		accounts[tx.keys[0]] = account{lamports: 2_000_000_000}
		on := ground{state: func(k key) account { return accounts[k] }}
		real, err := svm{vm}.run(tx, on)
		if err != nil {
			t.Fatal(err)
		}
		want := func(o outcome) string {
			raw, err := json.Marshal([]any{o.err, o.units, o.notIncluded, o.fee, o.before, o.after})
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		simulated := run(tx, on)
		if simulated.notIncluded { // no block, no fee
			simulated.fee, simulated.before, simulated.after, real.before, real.after = 0, nil, nil, nil, nil
		}
		if a, b := want(simulated), want(real); a != b {
			t.Errorf("%s: the simulator reports %s, LiteSVM %s", c.Name, a, b)
		}
		recorded := outcome{err: c.Err, units: c.Units, notIncluded: real.notIncluded, fee: real.fee, before: real.before,
			after: real.after}
		if a, b := want(recorded), want(real); a != b {
			t.Errorf("%s: recorded is %s, LiteSVM reports %s", c.Name, a, b)
		}
	}
}

// TestReservedAddressesInLiteSVM checks that payments to addresses that are not wallets end as in the machine:
// reserved accounts refuse them, programs accept them.
func TestReservedAddressesInLiteSVM(t *testing.T) {
	t.Parallel()
	r := newRivals(t)
	payer := newHolder("payer")
	r.put(payer.key, account{lamports: 1_000_000_000_000})
	others := []key{memoProgram(), mustKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"),
		mustKey("1nc1nerator11111111111111111111111111111111"),
		mustKey("So11111111111111111111111111111111111111112"), mustKey("Sysvar1nstructionsXXXXXXXXXXXXXXXXXXXXXXXXX")}
	for address := range reserved {
		others = append(others, mustKey(address))
	}
	for _, to := range others {
		a, err := r.vm.Read(to[:])
		r.must(err)
		r.node.bank.accounts[to] = fromSVM(a[0])
		m := making{payer: payer, blockhash: r.hash, doings: []doing{transferOfLamports(payer.key, to, 1_000_000_000)}}
		notified := r.feed(named(to.String()), m.raw())
		if paid := notified.Err == nil; paid == reserved[to.String()] {
			t.Errorf("%s: reserved %t, the payment ended with %v", to, !paid, notified.Err)
		}
	}
}

const seeds, transactionsPerSeed = 4, 500

// TestRandomTransactionsInLiteSVM checks that random transactions do the same in both: plain and versioned transfers
// with and without lookup tables, several in one transaction, to oneself, to new accounts about the rent-exempt
// minimum, beyond the balance, wrongly signed, expired, repeated, with budgets, failing in the middle, and creations
// of accounts.
func TestRandomTransactionsInLiteSVM(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := newRivals(t)
			g := newGambler(r, rand.New(rand.NewPCG(seed, 1)))
			ends := map[string]int{}
			for i := range transactionsPerSeed {
				if i%100 == 99 {
					old := r.hash
					r.expire()
					g.old = old
				}
				want := g.step()
				if t.Failed() {
					t.Fatalf("transaction %d of seed %d", i, seed)
				}
				ends[r.text(want.Err)]++
			}
			for _, end := range []string{`null`, `"BlockhashNotFound"`, `"AlreadyProcessed"`, `"SignatureFailure"`,
				`"AccountNotFound"`,
				`"InsufficientFundsForFee"`, `{"InstructionError":[0,{"Custom":1}]}`, `{"InstructionError":[1,{"Custom":1}]}`,
				`{"InsufficientFundsForRent":{"account_index":0}}`, `{"InsufficientFundsForRent":{"account_index":1}}`} {
				if ends[end] == 0 {
					t.Errorf("none of the transactions ended with %s: %v", end, ends)
				}
			}
		})
	}
}
