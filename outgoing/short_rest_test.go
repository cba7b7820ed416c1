package outgoing_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// diverted is a chain whose token delivers a part of what it should to somebody else, and nothing to the receiver.
type diverted struct {
	*sim.Chain
	gave chain.Payment
}

func (d *diverted) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block,
	error) {
	blocks, err := d.Chain.After(ctx, last, limit, watch)
	for _, b := range blocks {
		for i := range b.Included {
			b.Included[i].Delivered = []chain.Payment{d.gave}
		}
	}
	return blocks, err
}

// A token that pays somebody else has not paid: the customer is refunded in full, and what is gone is the operator's
// loss. The alarm says where it went.
func TestATokenThatPaysOthersIsRefundedAndALoss(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		r.Follower.Chain = &diverted{r.Chain, chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")},
			Contract: token.Contract, Amount: bursar.Units(4_000_000)}}
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Contract: token.Contract,
			Amount: bursar.Units(80_000_000)})
		r.Chain.Pay(chain.Payment{Address: r.WalletOf(0, token.Code).Address, Contract: token.Contract,
			Amount: bursar.Units(80_000_000)})
		r.blocksWithoutSweeps(4)
		w, err := r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[0], Currency: token.Code, Amount: "10",
			Address: r.Chain.Named("outside")})
		r.Must(err)
		r.blocksWithoutSweeps(6)
		if now := r.Now(w); now.Status != bursar.WithdrawalFailed || !strings.Contains(now.Error, "delivered nothing") {
			t.Errorf("the withdrawal is %s: %q, want %s and one with %q",
				now.Status, now.Error, bursar.WithdrawalFailed, "delivered nothing")
		}
		r.wantToken(token, "80000000", "4000000")
		r.wantShort(token, true)
		if _, says := r.alarmOf("payout_short"); !strings.Contains(says, w.ID.String()) ||
			!strings.Contains(says, "4.00 TOKEN went elsewhere") {
			t.Errorf("the alarm is %q, want %v in it and %q in it", says, w.ID.String(), "4.00 TOKEN went elsewhere")
		}
	})
}

// A customer whose payment a token has cut sees what was delivered.
func TestAShortPaymentSaysWhatWasDelivered(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		w := r.payToken(token, sim.Manners{Fee: 10_000})
		if got := r.Now(w).Error; !strings.Contains(got, "delivered 9.90 TOKEN of 10.00 TOKEN; the rest was given back") {
			t.Errorf("its error is %q, want one with %q",
				got, "delivered 9.90 TOKEN of 10.00 TOKEN; the rest was given back")
		}
	})
}

// An account that stays below zero after a smaller refund on the next branch stays frozen.
func TestAShortPaymentThatRefundsLessEndsNoFreeze(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		w := r.payToken(token, sim.Manners{Fee: 10_000})
		_, err := r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[0], Currency: token.Code, Amount: "70.1",
			Address: r.Chain.Named("second")})
		r.Must(err)
		r.Chain.SetManners(token.Contract, sim.Manners{Fee: 5_000})
		r.Undo(r.Now(w).TxID)
		r.Blocks(8)
		r.View(func(tx *store.Tx) error {
			a, err := tx.Accounts().Get(ctx, r.Accounts[0])
			if a.Frozen == "" || r.Now(w).Status != bursar.WithdrawalConfirmed {
				t.Errorf("the freeze is %q, and the payment %s, want not %q and %v", a.Frozen, r.Now(w).Status, "",
					bursar.WithdrawalConfirmed)
			}
			return err
		})
	})
}

// A withdrawal that is not among the payments of the request, according to the database, does not count as cut by its
// token.
func TestAWithdrawalMissingInTheRequestIsNotShort(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Forged = true
		r.Fund()
		r.Settle()
		w := r.Order(1_000_000, r.Chain.Named("outside"))
		r.Step()
		intruder(t,
			r.DB)(`UPDATE outgoing_txs SET order_json = replace(order_json, '"1000000"', '"999999"') WHERE status = 'sent'`)
		r.Blocks(6)
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || r.alarmed("payout_short") {
			t.Errorf("the withdrawal is %s: %q", now.Status, now.Error)
		}
	})
}
