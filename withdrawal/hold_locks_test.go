package withdrawal

import (
	"slices"
	"testing"

	"github.com/bursar/bursar"
)

// Accounts are locked in the order of their ids, each once, so that no two batches deadlock.
func TestAccountsAreLockedInOneOrder(t *testing.T) {
	one, two, three := bursar.ID{0: 1}, bursar.ID{0: 1, 15: 1}, bursar.ID{0: 2}
	var orders []prepared
	for _, id := range []bursar.ID{three, one, two, three, one} {
		orders = append(orders, prepared{withdrawal: bursar.Withdrawal{AccountID: id}})
	}
	if got := accountsOf(orders); !slices.Equal(got, []bursar.ID{one, two, three}) {
		t.Errorf("locked are %s, want %s", got, []bursar.ID{one, two, three})
	}
}
