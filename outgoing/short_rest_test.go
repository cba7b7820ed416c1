package outgoing_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
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
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		r.follower.Chain = &diverted{r.chain, chain.Payment{Address: bursar.Address{Base: r.chain.Named("thief")},
			Contract: token.Contract, Amount: bursar.Units(4_000_000)}}
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
		r.chain.Pay(chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Contract: token.Contract,
			Amount: bursar.Units(80_000_000)})
		r.chain.Pay(chain.Payment{Address: r.walletOf(0, token.Code).Address, Contract: token.Contract,
			Amount: bursar.Units(80_000_000)})
		r.blocksWithoutSweeps(4)
		w, err := r.withdrawals.Request(ctx, withdrawal.Request{Account: r.accounts[0], Currency: token.Code, Amount: "10",
			Address: r.chain.Named("outside")})
		r.must(err)
		r.blocksWithoutSweeps(6)
		if now := r.now(w); now.Status != bursar.WithdrawalFailed || !strings.Contains(now.Error, "delivered nothing") {
			t.Errorf("it is %s: %q", now.Status, now.Error)
		}
		r.wantToken(token, "80000000", "4000000")
		r.wantShort(token, true)
		if _, says := r.alarmOf("payout_short"); !strings.Contains(says, w.ID.String()) ||
			!strings.Contains(says, "4.00 TOKEN went elsewhere") {
			t.Errorf("the alarm is %q", says)
		}
	})
}

// A customer whose payment a token has cut sees what was delivered.
func TestAShortPaymentSaysWhatWasDelivered(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		w := r.payToken(token, sim.Manners{Fee: 10_000})
		if got := r.now(w).Error; !strings.Contains(got, "delivered 9.90 TOKEN of 10.00 TOKEN; the rest was given back") {
			t.Errorf("its error is %q", got)
		}
	})
}

// An account that stays below zero after a smaller refund on the next branch stays frozen.
func TestAShortPaymentThatRefundsLessEndsNoFreeze(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		w := r.payToken(token, sim.Manners{Fee: 10_000})
		_, err := r.withdrawals.Request(ctx, withdrawal.Request{Account: r.accounts[0], Currency: token.Code, Amount: "70.1",
			Address: r.chain.Named("second")})
		r.must(err)
		r.chain.SetManners(token.Contract, sim.Manners{Fee: 5_000})
		r.undo(r.now(w).TxID)
		r.blocks(8)
		r.view(func(tx *store.Tx) error {
			a, err := tx.Accounts().Get(ctx, r.accounts[0])
			if a.Frozen == "" || r.now(w).Status != bursar.WithdrawalConfirmed {
				t.Errorf("the freeze is %q, and the payment %s", a.Frozen, r.now(w).Status)
			}
			return err
		})
	})
}

// A withdrawal that is not among the payments of the request, according to the database, does not count as cut by its
// token.
func TestAWithdrawalMissingInTheRequestIsNotShort(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.forged = true
		r.fund()
		r.settle()
		w := r.order(1_000_000, r.chain.Named("outside"))
		r.step()
		intruder(t,
			r.db)(`UPDATE outgoing_txs SET order_json = replace(order_json, '"1000000"', '"999999"') WHERE status = 'sent'`)
		r.blocks(6)
		if now := r.now(w); now.Status != bursar.WithdrawalConfirmed || r.alarmed("payout_short") {
			t.Errorf("it is %s: %q", now.Status, now.Error)
		}
	})
}
