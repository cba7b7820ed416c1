package outgoing

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// behindHanging reports whether a sweep waits for the nonce of one that hangs: no fee brings it into a block.
func (s *Sender) behindHanging(ctx context.Context, p bursar.OutgoingTx) (behind bool, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		_, behind, err = s.hangingBefore(ctx, tx, p)
		return err
	})
	return behind, err
}

// hangingBefore returns the hanging sweep whose nonce a sweep of the same address waits for first.
func (s *Sender) hangingBefore(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx,
) (first bursar.OutgoingTx, found bool, err error) {
	lowest, numbered := nonceOfTx(p)
	if !numbered || s.Chain.Capabilities().Model != chain.AccountModel {
		return first, false, nil
	}
	hanging, err := tx.Outgoing().HangingSweeps(ctx, p.Chain, p.Base)
	for _, other := range hanging {
		if nonce, numbered := nonceOfTx(other); numbered && nonce < lowest {
			first, found, lowest = other, true, nonce
		}
	}
	return first, found, err
}

// exchangeWithHanging has the hanging sweep for whose nonce a sweep waits collect what the sweep collects, and the
// sweep hang instead: the deposit of one may be reorged out for good, and that of a later one come back. It reports
// whether there was one.
func (s *Sender) exchangeWithHanging(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx,
) (exchanged bool, err error) {
	if p.Kind != string(chain.KindSweep) || isFilling(p) {
		return false, nil
	}
	if behind, err := s.behindHanging(ctx, p); err != nil || !behind {
		return false, err
	}
	_, err = s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		first, found, err := s.hangingBefore(ctx, tx, now)
		if err != nil || !found || now.Height > 0 || now.WaitsFor != "" {
			return err
		}
		given, err := requestAs(now, first.ID)
		if err != nil {
			return err
		}
		left, err := requestAs(first, now.ID)
		if err != nil {
			return err
		}
		exchanged = true
		return tx.Outgoing().ExchangeSweeps(ctx, first, given, now, left)
	})
	return exchanged && err == nil, err
}

// requestAs returns the request of an outgoing transaction as that of another one.
func requestAs(p bursar.OutgoingTx, id bursar.ID) ([]byte, error) {
	request, err := DecodeRequest(p)
	if err != nil {
		return nil, err
	}
	request.ID = id
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encode transaction request: %w", err)
	}
	return text, nil
}
