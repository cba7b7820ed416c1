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

// Build builds one transaction. It uses up no coin and no nonce: its claim names the message itself, so that two spends
// never share one transaction. Two equal orders drafted under one blockhash give the same claim, which the database
// refuses; a block later they differ.
//
// A sweep takes its fee out of the payment's amount, or out of what the address holds if that is less, and leaves
// nothing behind, or the rent-exempt minimum where something has to stay. The payer of any other order keeps that
// minimum, or nothing at all.
//
// A fee above Order.MaxFee is a *chain.TooDearError. Errors besides the seam's: another fee than the node reckons is an
// error that may pass.
func (c *Chain) Build(ctx context.Context, order chain.TxRequest) (chain.UnsignedTx, error) {
	unsigned, err := c.build(ctx, order)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("draft: %w", err)
	}
	return unsigned, nil
}

var (
	errOrder = errors.New("the order does not fit this chain")
	errFee   = errors.New("the node reckons another fee")
	errPayer = errors.New("the payer is not a plain account")
)

func (c *Chain) build(ctx context.Context, order chain.TxRequest) (chain.UnsignedTx, error) {
	if n := len(order.Payments); n < 1 || n > c.cfg.MaxPayments || order.From.Key.Family != c.cfg.Family ||
		order.Replaces != nil {
		return chain.UnsignedTx{}, fmt.Errorf("%w: %d payments from family %q, outbidding: %v", errOrder, n,
			order.From.Key.Family, order.Replaces != nil)
	}
	payer, err := parseKey(order.From.Base)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("%w: payer %.60q", errOrder, order.From.Base)
	}
	m := &message{payer: payer, limit: unitsFor(len(order.Payments))}
	bases := []string{order.From.Base}
	for _, p := range order.Payments {
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
		fee, err := m.fit(order.MaxFee)
		if err != nil {
			return chain.UnsignedTx{}, err
		}
		if err := m.fund(order, view, fee); err != nil {
			return chain.UnsignedTx{}, err
		}
		return seal(ctx, s, order.From.Key, m, fee)
	})
}

// fund finds the transfers and the fee in what the payer holds beyond what is spoken for, and looks at who is paid.
func (m *message) fund(order chain.TxRequest, v *view, fee uint64) error {
	held, least := uint64(0), v.least[0]
	if payer := v.accounts[0]; payer != nil {
		if payer.Owner != systemProgram.String() || payer.Space != 0 || payer.Executable {
			return fmt.Errorf("%w: it belongs to %.60q", errPayer, payer.Owner)
		}
		held = payer.Lamports
	}
	if order.Kind == chain.KindSweep {
		return m.fundSweep(v, order, held, fee, least)
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
	if needed, err := bursar.Sum(amounts...); err != nil || needed == bursar.Units(held) && order.ReservedOf("").IsZero() {
		return err // an account may be emptied to the last lamport
	}
	missing, err := order.Lacks("", bursar.Units(held), append(amounts, bursar.Units(least))...)
	if err == nil && !missing.IsZero() {
		err = &chain.NeedsFundsError{Missing: missing}
	}
	return err
}

// fundSweep lowers a sweep to what can leave the account. What would not be worth it, or could not be received, lacks
// funds.
func (m *message) fundSweep(v *view, order chain.TxRequest, held, fee, least uint64) error {
	if len(m.transfers) != 1 {
		return fmt.Errorf("%w: a sweep of %d payments", errOrder, len(m.transfers))
	}
	t := &m.transfers[0]
	free, _ := order.Free("", bursar.Units(held)).Uint64() // no more than held
	available := min(t.lamports, free)
	if available <= fee {
		return &chain.NeedsFundsError{Missing: bursar.Units(fee - available + 1)}
	}
	t.lamports = available - fee
	if rest := held - available; rest > 0 && rest < least {
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

// seal puts a new blockhash into a message and has the node reckon its fee. The hash is taken from a confirmed block
// itself: an answer of getLatestBlockhash may come out of a provider's cache, and the slot beside it be another one's.
// A final hash would be a third of its 32 seconds old (150 blocks of 214 ms).
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
		return chain.UnsignedTx{}, s.Fail(fmt.Errorf("block at slot %d: %w: it has no height", newest.slot, errBlock))
	}
	m.blockhash, _ = parseKey(newest.Hash) // check has read it
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
		return fmt.Errorf("%w: it does not know the blockhash yet", errFee)
	}
	if *answer.Value != fee {
		return fmt.Errorf("%w: %d and not %d lamports", errFee, *answer.Value, fee)
	}
	return nil
}
