package outgoing

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// noNonceLost holds back what would be signed from an address while a nonce of it is lost, or while this step has not
// found that none is. What pays others waits for every hot wallet: the one of an earlier epoch may have paid the same.
// A signed transaction, and one that may be signed, goes on, and so does what a compromise order moves to cold.
func (s *Sender) noNonceLost(ctx context.Context, tx *store.Tx, p attempt) error {
	_, can := s.nonceReader()
	toCold := p.outgoingTx.Kind == string(chain.KindToCold)
	if p.step != stepBuild && p.step != stepSign || !can || voidsByPayingUs(p) || s.mayBeOut(p.outgoingTx) ||
		toCold && s.emptying().Order != "" {
		return nil
	}
	var waitsFor []chain.Source
	for _, from := range s.hots() {
		if !toCold && !paysOthers(p) && from.Base != p.outgoingTx.Base {
			continue
		}
		waitsFor = append(waitsFor, from)
		reason, looked := s.memory.lostNonces[from.Base]
		if !looked {
			reason = fmt.Sprintf("it waits until it is known whether a nonce of %s is lost", from.Base)
		}
		if reason != "" {
			return &WaitError{Reason: reason}
		}
	}
	if p.step != stepSign || len(waitsFor) == 0 {
		return nil
	}
	filling, err := s.filling(ctx, tx, waitsFor) // another process may have found what this step did not
	for _, by := range filling {
		return &WaitError{Reason: waitsForFilling(by[0])}
	}
	return err
}

// paysOthers reports whether a transaction pays a withdrawal or a refund, by the database or by what would be signed.
func paysOthers(p attempt) bool {
	return p.outgoingTx.Kind == string(chain.KindWithdrawal) || p.request.Kind == chain.KindWithdrawal
}

// voidsByPayingUs reports whether a transaction voids another one, or uses up a nonce, and is of a kind for which the
// signer pays nobody but us: a person who can write to the database can say of any transaction that it voids one.
func voidsByPayingUs(p attempt) bool {
	ours := p.request.Kind == chain.KindGasTopUp || p.request.Kind == chain.KindSweep
	return isVoiding(p.outgoingTx) && ours && !paysOthers(p)
}

// filling returns, by address, the transactions that use up lost nonces of hot wallets and are not final.
func (s *Sender) filling(
	ctx context.Context, tx *store.Tx, hots []chain.Source,
) (map[string][]bursar.OutgoingTx, error) {
	bases := make([]string, len(hots))
	for i, from := range hots {
		bases[i] = from.Base
	}
	open, err := tx.Outgoing().OpenFilling(ctx, s.Chain.Capabilities().ID, bases...)
	by := map[string][]bursar.OutgoingTx{}
	for _, p := range open {
		by[p.Base] = append(by[p.Base], p)
	}
	return by, err
}

func waitsForFilling(by bursar.OutgoingTx) string {
	return fmt.Sprintf("it waits until outgoing transaction %s, which uses up a nonce of %s that is lost, is final", by.ID,
		by.Base)
}
