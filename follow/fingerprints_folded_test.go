package follow

import (
	"fmt"
	"testing"
)

// However many addresses there are, none is forgotten when the set grows: a payment to it would be missed.
func TestFingerprintsKeepTheirMembersAsTheyGrow(t *testing.T) {
	f := newFingerprints()
	slots := len(f.slots)
	for i := range 10 * slots {
		f.add(fmt.Sprint("member ", i))
	}
	if len(f.slots) <= 10*slots {
		t.Fatalf("%d members are in %d slots, want more than %v", f.count, len(f.slots), 10*slots)
	}
	for i := range 10 * slots {
		if s := fmt.Sprint("member ", i); !f.has(s) {
			t.Fatalf("%q is denied once there are %d members", s, f.count)
		}
	}
}

// An address is the same in capital and in small letters on a chain whose addresses ignore case: letters are folded,
// and no other characters.
func TestFingerprintsFoldLettersOnly(t *testing.T) {
	f := newFingerprints()
	f.add("0xABCDEFGHIJKLMNOPQRSTUVWXYZ")
	f.add("@[")
	if !f.hasFolded([]byte("0xabcdefghijklmnopqrstuvwxyz")) || !f.has("0xaBcDeFgHiJkLmNoPqRsTuVwXyZ") {
		t.Error("an address is denied for its capital letters")
	}
	if f.hasFolded([]byte("`{")) || !f.hasFolded([]byte("@[")) {
		t.Error("characters next to the letters are folded too")
	}
}

// All addresses are read again after a failover, and a few with every block: an address that is already a member takes
// no further slot.
func TestAMemberAddedAgainTakesNoSlot(t *testing.T) {
	f := newFingerprints()
	slots := len(f.slots)
	for range 10 * slots {
		f.add("0xabc")
	}
	if f.count != 1 || len(f.slots) != slots {
		t.Errorf("one text counts as %d members, in %d slots, want %d", f.count, len(f.slots), slots)
	}
}
