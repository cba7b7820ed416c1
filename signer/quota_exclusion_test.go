package signer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// draw is a random unsigned transaction: what it pays, what it can cost and which UTXOs it uses.
type draw struct {
	pays, fee uint64
	uses      []string
}

func drawn(random *rand.Rand) draw {
	d := draw{pays: 1 + random.Uint64N(60), fee: 1 + random.Uint64N(40)}
	for range 1 + random.IntN(3) {
		if one := fmt.Sprintf("%c:0", 'a'+random.IntN(7)); !slices.Contains(d.uses, one) {
			d.uses = append(d.uses, one)
		}
	}
	return d
}

func (d draw) excludes(other draw) bool { return len(common(d.uses, other.uses)) > 0 }

// most returns the highest sum of transactions that the chain can include together.
func most(signed []draw, of func(draw) uint64) (highest uint64) {
	for set := range 1 << len(signed) {
		sum, possible := uint64(0), true
		for i, d := range signed {
			if set&(1<<i) == 0 {
				continue
			}
			sum += of(d)
			for k := range i {
				possible = possible && (set&(1<<k) == 0 || !d.excludes(signed[k]))
			}
		}
		if possible {
			highest = max(highest, sum)
		}
	}
	return highest
}

// Whatever is asked for within an hour, in whatever order, with whatever the transactions share, and with restarts in
// between: no set of signed transactions that the chain can include together pays or costs more than the limits.
func TestNoSetThatCanBeIncludedExceedsALimit(t *testing.T) {
	t.Parallel()
	const limit = 100
	trials, replacements := 300, 0
	if testing.Short() {
		trials = 60
	}
	for seed := range trials {
		random := rand.New(rand.NewPCG(uint64(seed), 46))
		b := newHarness(t, limited(func(p *Bounds) {
			p.Payments = map[string]Limits{"": {Hour: bursar.Units(limit)}}
			p.Fees = Limits{Hour: bursar.Units(limit)}
		}))
		var signed []draw
		for n := range 40 {
			if len(signed) == 11 {
				break
			}
			d := drawn(random)
			r := b.paying(byte(n+1), pay("alice", d.pays))
			r.contents.Reservations = d.uses
			r.contents.Fee, r.unsigned.Fee, r.contents.Weight = bursar.Units(d.fee), bursar.Units(d.fee), 1000
			if _, err := b.sign(r); err == nil {
				replacements += count(signed, d)
				signed = append(signed, d)
			}
			b.clock.Advance(time.Minute)
			if random.IntN(4) == 0 {
				b.restart(b.signer.evaluator.keeper)
			}
		}
		paid := most(signed, func(d draw) uint64 { return d.pays })
		cost := most(signed, func(d draw) uint64 { return d.fee })
		if paid > limit || cost > limit {
			t.Errorf("seed %d: of %+v, %d can be paid and %d can be spent on fees, want at most %v", seed, signed, paid, cost,
				limit)
		}
	}
	if replacements < trials {
		t.Errorf("only %d replacements were signed: the test proves little", replacements)
	}
}

// count returns how many transactions a new one excludes.
func count(signed []draw, d draw) (n int) {
	for _, s := range signed {
		if d.excludes(s) {
			n++
		}
	}
	return n
}

// A kind that pays nobody else counts no payment, whatever its request says.
func TestWhatCounts(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	for kind, want := range map[chain.Kind]int{chain.KindWithdrawal: 3, chain.KindSweep: 2, chain.KindConsolidation: 2,
		chain.KindGasTopUp: 2} {
		c := &check{bounds: b.signer.bounds[nonceChain], request: chain.TxRequest{Kind: kind,
			Payments: []chain.Payment{pay("alice", 5), token("alice", 7), pay("bob", 6)}}}
		counts, err := c.counts(b.clock.Now())
		if err != nil || len(counts) != want {
			t.Errorf("%s counts %+v, %v, want %v of them", kind, counts, err, want)
		}
		if kind == chain.KindWithdrawal && (counts[1].Units != bursar.Units(11) || counts[2].Units != bursar.Units(7)) {
			t.Errorf("%s counts %+v", kind, counts)
		}
	}
	most := &check{bounds: b.signer.bounds[nonceChain], request: chain.TxRequest{Kind: chain.KindWithdrawal,
		Payments: []chain.Payment{{Amount: bursar.LargestAmount()}, {Amount: bursar.Units(1)}}}}
	if _, err := most.counts(b.clock.Now()); err == nil {
		t.Error("a sum beyond 128 bits is counted, want an error")
	}
}
