package solana

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

var (
	errRequest = errors.New("the transaction request is not valid for this chain")
	errFee     = errors.New("the node computes another fee")
	errPayer   = errors.New("the payer is not a plain account")
)

// Build builds one transaction. It uses up no UTXO and no nonce: its reservation is the message itself, so that two
// outgoing transactions never share one transaction. Two equal requests built under one blockhash give the same
// reservation, which the database refuses; a block later they differ.
//
// A sweep deducts its fee from the payment's amount, or from the address's balance if that is less, and leaves nothing
// behind, or the rent-exempt minimum if something has to stay. The payer of any other request keeps that minimum, or
// nothing at all.
//
// A fee above TxRequest.MaxFee is a *chain.FeeLimitError. In addition to the errors of the chain interface: a fee that
// differs from the node's is an error that may be temporary.
func (c *Chain) Build(ctx context.Context, request chain.TxRequest) (_ chain.UnsignedTx, err error) {
	defer chain.Wrap(&err, "build")
	if n := len(request.Payments); n < 1 || n > c.cfg.MaxPayments || request.From.Key.Family != c.cfg.Family ||
		request.Replaces != nil {
		return chain.UnsignedTx{}, fmt.Errorf("%w: %d payments from family %q, fee bump: %v, want false", errRequest, n,
			request.From.Key.Family, request.Replaces != nil)
	}
	payer, err := parseKey(request.From.Base)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("%w: payer %.60q", errRequest, request.From.Base)
	}
	m := &message{payer: payer, limit: unitsFor(len(request.Payments))}
	bases := []string{request.From.Base}
	for _, p := range request.Payments {
		t, err := c.transferOf(p)
		if err != nil {
			return chain.UnsignedTx{}, err
		}
		if t.to == payer {
			return chain.UnsignedTx{}, &chain.RefusedError{Reason: "the payer cannot pay itself"}
		}
		m.transfers, bases = append(m.transfers, t), append(bases, p.Address.Base)
	}
	s, err := c.pin(ctx)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	view, err := look(ctx, s, bases)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	return c.inFormat(m, func() (chain.UnsignedTx, error) {
		if err := m.offer(c.price(view.recent)); err != nil {
			return chain.UnsignedTx{}, err
		}
		fee, err := m.fit(request.MaxFee)
		if err != nil {
			return chain.UnsignedTx{}, err
		}
		if err := m.fund(request, view, fee); err != nil {
			return chain.UnsignedTx{}, err
		}
		return seal(ctx, s, request.From.Key, m, fee)
	})
}

// fund takes the transfers and the fee from the payer's free balance, and checks the receivers.
func (m *message) fund(request chain.TxRequest, v *view, fee uint64) error {
	balance, least := uint64(0), v.least[0]
	if payer := v.accounts[0]; payer != nil {
		if payer.Owner != systemProgram.String() || payer.Space != 0 || payer.Executable {
			return fmt.Errorf("%w: its owner is program %.60q", errPayer, payer.Owner)
		}
		balance = payer.Lamports
	}
	if request.Kind == chain.KindSweep {
		return m.fundSweep(v, request, balance, fee, least)
	}
	for i, t := range m.transfers {
		if err := v.refuses(i+1, t.lamports); err != nil {
			return err
		}
	}
	amounts := []bursar.Amount{bursar.Units(fee)}
	for _, t := range m.transfers {
		amounts = append(amounts, bursar.Units(t.lamports))
	}
	if needed, err := bursar.Sum(amounts...); err != nil ||
		needed == bursar.Units(balance) && request.ReservedOf("").IsZero() {
		return err // an account may be emptied to the last lamport
	}
	missing, err := request.Lacks("", bursar.Units(balance), append(amounts, bursar.Units(least))...)
	if err == nil && !missing.IsZero() {
		err = &chain.NeedsFundsError{Missing: missing}
	}
	return err
}

// fundSweep lowers a sweep to what can leave the account. A sweep that is not worth its fee, or that the receiver
// cannot accept, lacks funds.
func (m *message) fundSweep(v *view, request chain.TxRequest, balance, fee, least uint64) error {
	if len(m.transfers) != 1 {
		return fmt.Errorf("%w: a sweep has one payment, the request has %d", errRequest, len(m.transfers))
	}
	t := &m.transfers[0]
	free, _ := request.Free("", bursar.Units(balance)).Uint64() // no more than held
	available := min(t.lamports, free)
	if available <= fee {
		return &chain.NeedsFundsError{Missing: bursar.Units(fee - available + 1)}
	}
	t.lamports = available - fee
	if rest := balance - available; rest > 0 && rest < least {
		if t.lamports <= least-rest {
			return &chain.NeedsFundsError{Missing: bursar.Units(least - rest - t.lamports + 1)}
		}
		t.lamports -= least - rest
	}
	err := v.refuses(1, t.lamports)
	var refused *chain.RefusedError
	if errors.As(err, &refused) && refused.Below {
		return &chain.NeedsFundsError{Missing: bursar.Units(v.least[1] - t.lamports)}
	}
	return err
}

// seal sets a new blockhash in a message and requests its fee from the node. The hash is read from a confirmed block
// itself: an answer of getLatestBlockhash may come out of a provider's cache, with a slot that does not match. A final
// hash would have used up a third of its 32 seconds (150 blocks of 214 ms).
func seal(ctx context.Context, s *node, by chain.KeyRef, m *message, fee uint64) (chain.UnsignedTx, error) {
	var slot uint64
	if err := s.Call(ctx, "getSlot", []any{at{confirmed}}, &slot); err != nil {
		return chain.UnsignedTx{}, err
	}
	newest, err := s.nearest(ctx, slot, confirmed)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if newest.Height == nil {
		return chain.UnsignedTx{}, s.Fail(fmt.Errorf("block at slot %d: %w: the block has no height", newest.slot, errBlock))
	}
	m.blockhash, _ = parseKey(newest.Hash) // check has already parsed it
	e := &envelope{
		branch:     by.Branch,
		index:      by.Index,
		slot:       newest.slot,
		lastHeight: *newest.Height + lifetime,
		message:    m.encode(),
	}
	if err := reckoned(ctx, s, e.message, fee); err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := s.takes(ctx, m, e.message); err != nil {
		return chain.UnsignedTx{}, err
	}
	sum := sha256.Sum256(e.message)
	return chain.UnsignedTx{
		Reservations: []string{"tx/" + hex.EncodeToString(sum[:])}, Bytes: e.pack(), Fee: bursar.Units(fee),
		Expires: e.lastHeight,
	}, nil
}

// reckoned compares a fee with the node's own: a sweep must leave nothing, and an unsigned transaction must not cost
// more than it says.
func reckoned(ctx context.Context, s *node, raw []byte, fee uint64) error {
	var answer struct {
		Value *uint64 `json:"value"`
	}
	err := s.Call(ctx, "getFeeForMessage", []any{base64.StdEncoding.EncodeToString(raw), at{confirmed}}, &answer)
	if refusesFormat(err) {
		return errors.Join(errFormat, err)
	}
	if err != nil {
		return err
	}
	if answer.Value == nil {
		return fmt.Errorf("%w: the node does not know the blockhash yet", errFee)
	}
	if *answer.Value != fee {
		return fmt.Errorf("%w: %d lamports, want %d", errFee, *answer.Value, fee)
	}
	return nil
}
