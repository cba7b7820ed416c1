package signer

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// at makes a request one of a time, as its UUIDv7 says.
func (r request) at(t time.Time) request {
	var text [8]byte
	binary.BigEndian.PutUint64(text[:], uint64(t.UnixMilli())<<16)
	copy(r.request.ID[:6], text[:6])
	return r
}

// refusedOld signs what sweep-old refuses, and reports whether the signer says that it never signed anything of it.
func (b *harness) refusedOld(r request) (never bool) {
	b.t.Helper()
	_, err := b.sign(r)
	refused, is := errors.AsType[*RefusalError](err)
	if !is || refused.Reason != ReasonSweepOld {
		b.t.Fatalf("got %v, want it refused for %s", err, ReasonSweepOld)
	}
	return refused.Never
}

// The attack on a service: it pays again what a thief, or another signer, made the signer say was never signed. The
// signer says so only if its memory has nothing that uses what the transaction uses, and is older than the request.
func TestNeverIsSaidOnlyWhereItIsKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cold   bool
		change func(b *harness, r *request)
		want   bool
	}{
		"nothing was signed": {false, func(*harness, *request) {}, true},
		"the memory began before the request": {
			true, func(b *harness, r *request) { *r = r.at(b.clock.Now().Add(wholeSince + 1e9)) }, true,
		},
		"the memory began about when it was made": {
			true, func(b *harness, r *request) { *r = r.at(b.clock.Now().Add(wholeSince - 1e9)) }, false,
		},
		"the memory began after the request": {
			true, func(b *harness, r *request) { *r = r.at(b.clock.Now().Add(-time.Hour)) }, false,
		},
		"it uses nothing by which it is known": {
			false, func(_ *harness, r *request) { r.contents.Reservations = nil }, false,
		},
		"the same was signed for another payment": {
			false, func(b *harness, r *request) { r.contents.Reservations[0] = "hot/1" }, false,
		},
		"a nonce beside the one that was signed": {
			false, func(b *harness, r *request) { r.contents.Reservations[0] = "hot/2" }, true,
		},
		"the signed nonce, by another transaction": {
			false, func(b *harness, r *request) { r.contents.Reservations[0], r.request.ID = "hot/1", bursar.ID{77} }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newHarness(t, nil)
			path := b.stateFile(test.cold)
			if !test.cold {
				b.wantReason(costing(b.withNonce(), 1, 10), "") // with the nonce hot/1
			}
			b.rotate()
			b.reopen(path)
			r := b.withNonce()
			r.request.Payments, r.contents.Payments = []chain.Payment{token("bob", 7)}, []chain.Payment{token("bob", 7)}
			r.contents.Reservations = []string{"hot/9"}
			test.change(b, &r)
			if got := b.refusedOld(r); got != test.want {
				t.Errorf("it says that it never signed it: %t, want %t", got, test.want)
			}
		})
	}
}

// A memory that was lost or set back, and whose limits the operator let begin unused, does not know what was signed
// before that either: what a service recovers is then not said to be unsigned.
func TestNeverIsNotSaidOfWhatAMemoryLost(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]func(b *harness, path string) string{
		"begun again, with unused limits": func(b *harness, path string) string {
			b.must(memory.BeginAgain(t.Context(), path, memory.Init{Fingerprint: "seed", At: b.clock.Now()}, "op", "a disk"))
			return path
		},
		"made again, with unused limits": func(b *harness, _ string) string {
			path := filepath.Join(t.TempDir(), "again")
			b.must(memory.Create(t.Context(), path, memory.Init{Fingerprint: "seed", At: b.clock.Now()}))
			return path
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newHarness(t, nil)
			path := b.stateFile(false)
			made := b.clock.Now()
			b.rotate()
			b.close()
			b.clock.Advance(time.Minute)
			file, err := memory.Open(t.Context(), lost(b, path), "seed")
			b.must(err)
			defer file.Close()
			b.restart(file)
			r := b.withNonce()
			r.contents.Reservations = []string{"hot/9"}
			for after, want := range map[time.Duration]bool{0: false, time.Minute + wholeSince: false,
				2*time.Minute + wholeSince + 1e9: true} {
				if got := b.refusedOld(r.at(made.Add(after))); got != want {
					t.Errorf("of a request made %s after the memory: it says that it never signed it: %t, want %t", after, got, want)
				}
			}
		})
	}
}
