package follow

import (
	"fmt"
	"testing"
)

// However many addresses there are, none is forgotten when the set takes more room: a payment to it would be missed.
func TestFingerprintsKeepTheirMembersAsTheyGrow(t *testing.T) {
	f := newFingerprints()
	room := len(f.slots)
	for i := range 10 * room {
		f.add(fmt.Sprint("member ", i))
	}
	if len(f.slots) <= 10*room {
		t.Fatalf("%d members stand in %d slots", f.count, len(f.slots))
	}
	for i := range 10 * room {
		if s := fmt.Sprint("member ", i); !f.has(s) {
			t.Fatalf("%q is denied once there are %d", s, f.count)
		}
	}
}

// An address is the same in capital and in small letters, where a chain's addresses are: every letter is taken for
// the small one, and nothing beside them is.
func TestFingerprintsTakeLettersAloneForSmallOnes(t *testing.T) {
	f := newFingerprints()
	f.add("0xABCDEFGHIJKLMNOPQRSTUVWXYZ")
	f.add("@[")
	if !f.hasFolded([]byte("0xabcdefghijklmnopqrstuvwxyz")) || !f.has("0xaBcDeFgHiJkLmNoPqRsTuVwXyZ") {
		t.Error("an address is denied for its capital letters")
	}
	if f.hasFolded([]byte("`{")) || !f.hasFolded([]byte("@[")) {
		t.Error("what stands beside the letters is taken for others")
	}
}

// All addresses are read again after a failover, and a few with every block: those that are known take no more room.
func TestAMemberThatIsAddedAgainTakesNoRoom(t *testing.T) {
	f := newFingerprints()
	room := len(f.slots)
	for range 10 * room {
		f.add("0xabc")
	}
	if f.count != 1 || len(f.slots) != room {
		t.Errorf("one text counts for %d, in %d slots instead of %d", f.count, len(f.slots), room)
	}
}
