package signer

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
)

// payment is what was signed at a time, with what of it can be included: the highest of what excludes each other.
type payment struct {
	at    time.Time // really
	nonce int
	units uint64
}

// inWindow returns the most that can be included of what was signed within a length of time up to now. Of what excludes
// each other the highest counts, from when it was first as high: a replacement that pays no more pays nothing again.
func inWindow(all []payment, now time.Time, length time.Duration) (sum uint64) {
	highest := map[int]payment{}
	for _, s := range all {
		if s.units > highest[s.nonce].units {
			highest[s.nonce] = s
		}
	}
	for _, s := range highest {
		if now.Sub(s.at) <= length {
			sum += s.units
		}
	}
	return sum
}

// TestNoWindowIsExceeded asks at random for weeks, with replacements, restarts, a clock that is corrected by up to two
// minutes, one that was hours ahead, and states that begin again: while the clock is right, nothing is signed beyond
// what may be signed within an hour, a day and a week that really elapsed. What was signed while it was ahead counts in
// them.
func TestNoWindowIsExceeded(t *testing.T) {
	t.Parallel()
	trials := 12
	if testing.Short() {
		trials = 3
	}
	limits := Limits{Hour: bursar.Units(100), Day: bursar.Units(250), Week: bursar.Units(900)}
	bounds := map[time.Duration]uint64{time.Hour: 100, 24 * time.Hour: 250, longest: 900}
	full := map[time.Duration]int{}
	for seed := range trials {
		random := rand.New(rand.NewPCG(uint64(seed), 50))
		b := newHarness(t, limited(func(p *Bounds) { p.Payments = map[string]Limits{"token": limits} }))
		path := b.stateFile(false)
		var all []payment
		really, skew, nonce := b.clock.Now(), time.Duration(0), 0
		for n := range 250 {
			step := []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 9 * time.Hour}[random.IntN(4)]
			really = really.Add(step)
			b.clock.Advance(step)
			switch random.IntN(25) {
			case 0:
				b.reopen(path)
			case 1: // a small correction, which lasts
				if skew != 0 {
					break
				}
				by := time.Duration(random.IntN(100)) * time.Second
				b.clock.Advance(-by)
				skew -= by
			case 2: // the clock runs ahead, something is signed, and it is corrected
				ahead := time.Duration(1+random.IntN(50)) * time.Hour
				b.clock.Advance(ahead)
				nonce++
				if _, err := b.sign(b.numbered(nonce, 5, uint64(n+1))); err == nil {
					all = append(all, payment{really, nonce, 5})
				}
				b.clock.Advance(-ahead - skew)
				skew = 0
				b.close()
				b.must(memory.BeginAgain(t.Context(), path, memory.Init{Fingerprint: "seed", At: b.clock.Now(),
					Cold: random.IntN(2) == 0}, "ann", "the clock"))
				file, err := memory.Open(t.Context(), path, "seed")
				b.must(err)
				t.Cleanup(func() { file.Close() })
				b.restart(file)
			}
			use, another := nonce, random.IntN(3) > 0 || nonce == 0
			if another {
				nonce++
				use = nonce
			}
			units := uint64(1 + random.IntN(70))
			if _, err := b.sign(b.numbered(use, units, uint64(n+1))); err != nil {
				continue
			}
			all = append(all, payment{really, use, units})
			if !another {
				continue // it may count nothing new, in a window that a clock that was ahead had emptied
			}
			for length, most := range bounds {
				// A clock that is set forward again by what it was behind shortens a window by that much.
				got := inWindow(all, really, length-3*time.Minute)
				if got > most {
					t.Fatalf("seed %d, step %d: %d within %s, at most %d", seed, n, got, length, most)
				}
				if got > most*9/10 {
					full[length]++
				}
			}
		}
	}
	for length := range bounds {
		if full[length] < trials {
			t.Errorf("the window of %s was almost full %d times only: the test proves little", length, full[length])
		}
	}
}
