package screener

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/verdict"
)

// What it says counts as that for who asks, and its faults do not.
func TestItSaysWhatItIsSetTo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	s, err := Listen(t.Context(), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.listener.Close() })
	ask := func(n byte) (string, bool) {
		q := verdict.Request{Instance: "-", Subject: bursar.ID{n}, Kind: verdict.OfPayout, Order: bursar.ID{n},
			Chain: bursar.XRPL, Address: bursar.Address{Base: "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe", Memo: 7, HasMemo: true},
			Units: bursar.Units(1), Asking: bursar.ID{n}, Created: now}
		said, found := s.say(q)
		if !found {
			return Down, false
		}
		a, err := verdict.Verify(s.key.Public().(ed25519.PublicKey), q, said.Text, said.Signature, now)
		if err != nil {
			return "", false
		}
		return string(a.Verdict), true
	}
	for i, want := range Ways {
		if err := s.Set(Everything, want); err != nil {
			t.Fatal(err)
		}
		got, counts := ask(byte(i + 1))
		if isVerdict := i < 3; counts != isVerdict || counts && got != want || !counts && (got == Down) != (want == Down) {
			t.Errorf("set to %s it says %s, which counts: %t, want that: %t", want, got, counts, isVerdict)
		}
	}
	if err := s.Set("rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe:7", string(verdict.Review)); err != nil {
		t.Fatal(err)
	}
	if got, _ := ask(9); got != string(verdict.Review) {
		t.Errorf("of an address with its own verdict it says %s, want review", got)
	}
	if err := s.Set("x", "maybe"); err == nil {
		t.Error("it was set to maybe, want that refused")
	}
}
