package bursar_test

import (
	"testing"

	"github.com/bursar/bursar"
)

func TestStatusesMoveAlongTheirTables(t *testing.T) {
	for _, c := range []struct {
		allowed bool
		name    string
	}{
		{bursar.DepositPending.MayBecome(bursar.DepositConfirmed), "pending → confirmed"},
		{bursar.DepositConfirmed.MayBecome(bursar.DepositReversed), "confirmed → reversed"},
		{bursar.DepositReversed.MayBecome(bursar.DepositPending), "reversed → pending"},
		{!bursar.DepositBelowMinimum.MayBecome(bursar.DepositConfirmed), "below minimum → confirmed"},
		{!bursar.DepositConfirmed.MayBecome(bursar.DepositPending), "confirmed → pending"},
		{bursar.WithdrawalQueued.MayBecome(bursar.WithdrawalSigned), "queued → signed"},
		{!bursar.WithdrawalBroadcast.MayBecome(bursar.WithdrawalCancelled), "broadcast → cancelled"},
		{bursar.WithdrawalBroadcast.MayBecome(bursar.WithdrawalQueued), "broadcast → queued"},
		{!bursar.WithdrawalConfirmed.MayBecome(bursar.WithdrawalFailed), "confirmed → failed"},
		{!bursar.WithdrawalFailed.MayBecome(bursar.WithdrawalConfirmed), "failed → confirmed"},
		{!bursar.OutgoingSigned.MayBecome(bursar.OutgoingNew), "signed → new"},
		{!bursar.OutgoingAbandoned.MayBecome(bursar.OutgoingSent), "abandoned → sent"},
	} {
		if !c.allowed {
			t.Errorf("%s", c.name)
		}
	}
}
