package bursar_test

import (
	"testing"

	"github.com/bursar/bursar"
)

func TestConfirmationsGrowWithTheAmount(t *testing.T) {
	t.Parallel()
	c := bursar.Confirmations{Default: 3, Above: []bursar.ConfirmationsAbove{
		{Amount: bursar.Units(100), Count: 6}, {Amount: bursar.Units(1000), Count: 30},
	}}
	for amount, want := range map[uint64]int{0: 3, 1: 3, 100: 3, 101: 6, 1000: 6, 1001: 30, 1 << 60: 30} {
		if got := c.For(bursar.Units(amount)); got != want {
			t.Errorf("%d units need %d confirmations, want %d", amount, got, want)
		}
	}
	if got := (bursar.Confirmations{}).For(bursar.Units(1)); got != 0 {
		t.Errorf("without a setting %d confirmations are needed, want 0", got)
	}
}

func TestAQuorumAsksAboveItsAmount(t *testing.T) {
	t.Parallel()
	above := bursar.Units(5)
	for _, test := range []struct {
		quorum bursar.CreditQuorum
		amount uint64
		want   bool
	}{
		{bursar.CreditQuorum{}, 100, false},
		{bursar.CreditQuorum{Endpoints: 1, Above: above}, 100, false},
		{bursar.CreditQuorum{Endpoints: 2, Above: above}, 5, false},
		{bursar.CreditQuorum{Endpoints: 2, Above: above}, 6, true},
		{bursar.CreditQuorum{Endpoints: 2}, 1, true},
	} {
		if got := test.quorum.Asks(bursar.Units(test.amount)); got != test.want {
			t.Errorf("%+v asks for %d units: %v, want %v", test.quorum, test.amount, got, test.want)
		}
	}
}
