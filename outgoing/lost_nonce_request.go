package outgoing

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// fillNonceOf requests the transaction that uses up a lost nonce, and raises an alarm about it.
func (s *Sender) fillNonceOf(ctx context.Context, tx *store.Tx, from chain.Source, nonce uint64) error {
	p, err := s.requestFilling(ctx, tx, from, nonce)
	if err != nil {
		return err
	}
	return s.sayFilling(ctx, tx, p)
}

// requestFilling requests the transaction that uses up a lost nonce.
func (s *Sender) requestFilling(
	ctx context.Context, tx *store.Tx, from chain.Source, nonce uint64,
) (p bursar.OutgoingTx, err error) {
	id, resource := s.Chain.Capabilities().ID, fmt.Sprintf("%s/%d", from.Base, nonce)
	p = bursar.OutgoingTx{Chain: id, Share: bursar.ShareTopUp}
	request, why, err := s.fillerFrom(ctx, tx, from)
	if _, hot := s.hotAt(from.Base); !hot {
		p.Share, why, err = bursar.ShareSweep, "", nil
		request = chain.TxRequest{ID: s.IDs.Next(), Kind: chain.KindSweep, From: from, MaxFee: s.MaxFee,
			Payments: []chain.Payment{{Address: bursar.Address{Base: s.Hot.Base}}}}
	}
	if err != nil {
		return p, err
	}
	if why != "" {
		return p, &WaitError{Reason: fmt.Sprintf("the transaction with nonce %d of %s is in no block and is not known any "+
			"more; what was signed after it waits. The nonce cannot be used up: %s", nonce, from.Base, why)}
	}
	native, err := s.Registry.Native(id)
	if err != nil {
		return p, err
	}
	p.Currency, p.Once = native.Code, recovery.OnceFill+resource+"/"+request.ID.String()
	if _, err := insert(ctx, tx, p, request); err != nil {
		return p, err
	}
	if p, err = tx.Outgoing().Get(ctx, request.ID); err != nil {
		return p, err
	}
	if err := tx.Reservations().Reserve(ctx, p, []string{resource}); err != nil {
		return p, err
	}
	if err := tx.Nonces().Use(ctx, id, from.Base, nonce); err != nil {
		return p, err
	}
	s.log(tx, "a lost nonce is being used up", p, "nonce", nonce, "address", from.Base)
	return p, nil
}

// completeFilling gives a transaction the lost nonce that it uses up.
func completeFilling(p bursar.OutgoingTx, request *chain.TxRequest) error {
	resource, _ := recovery.Fills(p)
	nonce, is := nonceOf(p.Base, resource)
	if !is {
		return fmt.Errorf("outgoing transaction %s uses up %q, which is no nonce of %s", p.ID, resource, p.Base)
	}
	request.Nonce = &nonce
	return nil
}
