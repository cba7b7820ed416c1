package bursar_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/wire"
)

func TestResolutionsMoveAlongTheirTable(t *testing.T) {
	all := []bursar.ResolutionStatus{bursar.ResolutionQueued, bursar.ResolutionSigned, bursar.ResolutionDone,
		bursar.ResolutionFailed}
	allowed := map[bursar.ResolutionStatus]string{bursar.ResolutionQueued: "signed failed",
		bursar.ResolutionSigned: "queued done failed",
		bursar.ResolutionDone:   "signed", bursar.ResolutionFailed: "done"}
	for _, from := range all {
		got := ""
		for _, to := range all {
			if from.MayBecome(to) {
				got += " " + string(to)
			}
		}
		if want := allowed[from]; got != "" && got[1:] != want || got == "" && want != "" {
			t.Errorf("%s may become%s, want %s", from, got, want)
		}
	}
}

func TestADepositOfAnAccountHasNoWallet(t *testing.T) {
	d := bursar.Deposit{ID: bursar.ID{1}, AccountID: bursar.ID{2}, Purpose: bursar.ForAccount}
	if view := wire.NewDeposit(d, bursar.Currency{Decimals: 8}, wire.ConfirmationContext{}); view.WalletID != nil ||
		!d.IsCustomers() {
		t.Errorf("it is seen with wallet %v, a customer's %v", view.WalletID, d.IsCustomers())
	}
	for _, purpose := range []bursar.DepositPurpose{bursar.ForOperatorFunds, bursar.ForUnattributed, bursar.ForRefunded} {
		if d.Purpose = purpose; d.IsCustomers() {
			t.Errorf("what is for %s is a customer's", purpose)
		}
	}
}
