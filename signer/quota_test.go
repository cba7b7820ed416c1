package signer

import (
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// wantPace signs and checks whether the hourly limit allows it.
func (b *harness) wantPace(r request, allowed bool) {
	b.t.Helper()
	_, err := b.sign(r)
	var refused *RefusalError
	switch {
	case allowed && err != nil:
		b.t.Errorf("refused: %v", err)
	case !allowed && (!errors.As(err, &refused) || refused.Reason != ReasonQuota):
		b.t.Errorf("it is not held back: %v", err)
	}
}

// paying returns a withdrawal of one payment on the account model; the digest makes its bytes different from another's.
func (b *harness) paying(n byte, p chain.Payment) request {
	r := b.withNonce()
	r.request.ID = bursar.ID{n}
	r.request.Payments, r.contents.Payments = []chain.Payment{p}, []chain.Payment{p}
	r.contents.Inputs[0].Digest = digest(n)
	return r
}

// The refusal says which asset, how much, and whether waiting helps.
func TestTheHourlyLimitSaysWhatToDo(t *testing.T) {
	t.Parallel()
	b := newHarness(t, func(p *Bounds) {
		p.Payments = map[string]Limits{"": {Hour: bursar.Units(100)}, "token": {Hour: bursar.Units(10)}}
	})
	b.wantPace(b.paying(1, pay("alice", 60)), true)
	for _, test := range []struct {
		payment chain.Payment
		says    string
	}{
		{pay("alice", 41), "41 units of the native asset exceed what hourly_limit allows within this hour, which is 40 more"},
		{pay("alice", 101),
			"101 units of the native asset exceed hourly_limit, which is 100: raise hourly_limit or cancel the " +
				"withdrawal"},
		{token("alice", 11),
			"11 units of token exceed hourly_limit, which is 10: raise hourly_limit or cancel the withdrawal"},
	} {
		_, err := b.sign(b.paying(2, test.payment))
		var refused *RefusalError
		if !errors.As(err, &refused) || refused.Detail != test.says {
			t.Errorf("refused with %v, want %q", err, test.says)
		}
	}
}

func TestNoMoreThanTheHourlyLimitIsSigned(t *testing.T) {
	t.Parallel()
	b := newHarness(t, func(p *Bounds) {
		p.Payments = map[string]Limits{"": {Hour: bursar.Units(100)}, "token": {Hour: bursar.Units(10)}}
	})
	b.wantPace(b.paying(1, pay("alice", 60)), true)
	b.clock.Advance(30 * time.Minute)
	b.wantPace(b.paying(2, pay("alice", 41)), false)
	b.wantPace(b.paying(3, pay("alice", 40)), true)
	b.wantPace(b.paying(4, pay("alice", 1)), false)
	b.wantPace(b.paying(5, token("alice", 11)), false)
	b.wantPace(b.paying(6, token("alice", 10)), true)
	b.wantPace(b.paying(3, pay("alice", 40)), true) // the same bytes again
	other := b.paying(3, pay("alice", 40))
	other.contents.Inputs[0].Digest = digest(77)
	b.wantPace(other, false) // the same request in another unsigned transaction might be paid as well
	b.clock.Advance(30*time.Minute + time.Second)
	b.wantPace(b.paying(7, pay("alice", 61)), false)
	b.wantPace(b.paying(8, pay("alice", 60)), true)
	b.wantPace(b.sweep(), true) // transfers to ourselves are not limited
	b.wantPace(b.topUp(), true)
}

// A fee bump of what was counted is not a second payment: it is signed even if the hour is used up, and long after it.
// Only a transaction that shares an input or a nonce with every earlier one is such a bump, whatever the request says;
// and what it pays more counts.
func TestAFeeBumpIsNotCountedAgain(t *testing.T) {
	t.Parallel()
	b := newHarness(t, func(p *Bounds) { p.Payments = map[string]Limits{"": {Hour: bursar.Units(100)}} })
	version := func(n byte, units uint64, resources ...string) request {
		r := b.paying(n, pay("alice", units))
		r.contents.Reservations = resources
		return r
	}
	b.wantPace(version(1, 60, "hot/1"), true)
	b.wantPace(version(2, 40, "hot/2"), true)
	b.wantPace(version(3, 60, "hot/1"), true)
	b.wantPace(version(4, 61, "hot/1"), false) // one more than was counted
	b.wantPace(version(5, 60, "hot/5"), false) // the same request with another nonce may be paid as well
	b.clock.Advance(61 * time.Minute)
	b.wantPace(version(6, 99, "hot/6"), true)
	b.wantPace(version(7, 60, "hot/1"), true)   // counted in an earlier hour
	b.wantPace(version(8, 61, "hot/1"), false)  // 99 and one more are 100, and it would be 62 that count from now on
	b.wantPace(version(9, 1, "hot/9"), true)    // 100
	b.wantPace(version(10, 1, "hot/10"), false) // full
}

// Of three unsigned transactions the middle one shares an input with each of the others; these two share none and can
// both be paid.
func TestNoChainOfReplacementsCountsAsOne(t *testing.T) {
	t.Parallel()
	b := newHarness(t, func(p *Bounds) { p.Payments = map[string]Limits{"": {Hour: bursar.Units(100)}} })
	version := func(n byte, resources ...string) request {
		r := b.paying(n, pay("alice", 60))
		r.contents.Reservations = resources
		return r
	}
	b.wantPace(version(1, "a"), true)
	b.wantPace(version(2, "a", "b"), true)
	b.wantPace(version(3, "b"), false)
	b.wantPace(version(4), false) // without a reservation nothing excludes it
}

// A transaction that is refused for another reason is not counted.
func TestRefusalsAreNotCounted(t *testing.T) {
	t.Parallel()
	b := newHarness(t, func(p *Bounds) { p.Payments = map[string]Limits{"": {Hour: bursar.Units(300)}} })
	r := b.withUTXOs() // pays 300
	r.contents.Payments[0].Amount = bursar.Units(99)
	if _, err := b.sign(r); err == nil {
		t.Fatal("another amount is signed, want an error")
	}
	b.wantPace(b.withUTXOs(), true)
	more := b.withUTXOs()
	more.contents.Inputs[0].Digest = digest(9)
	b.wantPace(more, false)
}

// A limit applies in every spelling of its contract; one that cannot be parsed, or that occurs twice, is refused.
func TestTheHourlyLimitAppliesInAnySpelling(t *testing.T) {
	t.Parallel()
	b := newHarness(t, func(p *Bounds) { p.Payments = map[string]Limits{"TOKEN": {Hour: bursar.Units(10)}} })
	b.wantPace(b.paying(1, token("alice", 11)), false)
	b.wantPace(b.paying(2, token("alice", 10)), true)
	for _, hourly := range []map[string]Limits{
		{"0x-no-contract": {Hour: bursar.Units(10)}},
		{"token": {Hour: bursar.Units(10)}, "Token": {Hour: bursar.Units(20)}},
	} {
		policy := boundsOf(b.keys, nonceChain)
		policy.Payments = hourly
		if _, err := New(b.keys, map[bursar.ChainID]Bounds{nonceChain: policy}); !errors.Is(err, ErrBadBounds) {
			t.Errorf("a policy with the limits %v gives %v, want %v", hourly, err, ErrBadBounds)
		}
	}
}
