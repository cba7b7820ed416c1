package outgoing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// alarmNonceBlocked is raised for an outgoing transaction that a halt holds and that cannot be made void, while
// transactions of currencies that are not halted wait behind its nonce. Ref is the transaction's ID. The alarm closes
// when the transaction ends.
const alarmNonceBlocked = "nonce_blocked"

// A signed transaction of a halted currency has a nonce that no other transaction may use, and the halt keeps it from
// being sent or bumped, so nothing behind that nonce can be included. If a transaction of another currency waits there,
// the held one is made void: a transaction with the same nonce moves one unit of the native asset from the hot wallet
// to a deposit address of ours, or from the hot wallet of an earlier epoch to the present one, at a higher fee. At most
// one of the two can be included. What the held one pays is paid again after the halt, once the other one is final; if
// the held one reached a node earlier and is included after all, it counts.

// blockage describes a held transaction that others wait behind.
type blockage struct {
	nonce uint64
	halts []store.Halt      // the halts that hold it; none: it cannot be replaced, for the reason cause
	cause string            // why it cannot be replaced
	first bursar.OutgoingTx // the first transaction that waits behind it; none: the sweeps of an old hot wallet do
}

// voidIfBlocking makes a transaction void that a halt holds, if a transaction of another currency waits behind its
// nonce; one that its client's order keeps from being replaced, if any other waits there; and one that the hot wallet
// of an earlier epoch can no longer pay, because nothing is sent there any more. cause is why it does not go on. It
// does nothing if nothing waits there, or if the bytes expire, which frees the nonce.
func (s *Sender) voidIfBlocking(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, cause error) error {
	var found *blockage
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		found, err = s.blockageBy(ctx, tx, p, cause)
		return err
	})
	if err != nil || found == nil {
		return err
	}
	var by bursar.ID
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		by = bursar.ID{}
		found, err := s.blockageBy(ctx, tx, now, cause)
		if err != nil || found == nil {
			return err
		}
		request, why, err := s.filler(ctx, tx, now)
		if err != nil {
			return err
		}
		if why != "" && found.first.ID.IsZero() {
			return nil // the halt that holds it holds the sweeps too, or nothing can be done before it ends
		}
		if why != "" {
			return tx.Alarms().Raise(ctx, store.Alarm{
				Chain:   now.Chain,
				Kind:    alarmNonceBlocked,
				Ref:     now.ID.String(),
				Message: found.message(now, why),
			})
		}
		by = request.ID
		return s.requestVoid(ctx, tx, now, request, []string{fmt.Sprintf("%s/%d", now.Base, found.nonce)})
	})
	if err == nil && !by.IsZero() {
		s.Log.Warn("held outgoing transaction is being made void: others wait behind its nonce",
			"outgoing", p.ID, "by", by, "chain", p.Chain, "currency", p.Currency, "nonce", found.nonce, "waits", found.first.ID,
			"status", after.Status)
	}
	return err
}

// blockageBy returns what waits behind a signed transaction that a halt, its client's order, or the lack of funds of an
// old hot wallet holds, or nil if nothing waits there that could otherwise go on.
func (s *Sender) blockageBy(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, cause error,
) (*blockage, error) {
	own, numbered := nonceOfTx(p)
	if !numbered || p.Height > 0 || s.Chain.Capabilities().Model != chain.AccountModel {
		return nil, nil
	}
	if unsigned, err := readUnsigned(p); err != nil || unsigned.Expires > 0 {
		return nil, err
	}
	if moved, err := tx.Reservations().MovedFrom(ctx, p.ID); err != nil || len(moved) > 0 {
		return nil, err
	}
	request, err := DecodeRequest(p)
	if err != nil {
		return nil, err
	}
	halts, err := tx.Halts().Of(ctx, s.haltScopes(attempt{outgoingTx: p, request: request})...)
	if err != nil {
		return nil, err
	}
	unfunded := s.unfunded(p, cause)
	if len(halts) == 0 && !unfunded {
		if holds, err := s.orderHolds(ctx, tx, request, cause); err != nil || !holds {
			return nil, err
		}
	}
	first, waits, err := s.behind(ctx, tx, p, own, func(other bursar.OutgoingTx, request chain.TxRequest) (bool, error) {
		err := s.notHalted(ctx, tx, attempt{outgoingTx: other, request: request})
		var waiting *WaitError
		if errors.As(err, &waiting) {
			return false, nil
		}
		return err == nil, err
	})
	if err == nil && !waits {
		waits, err = s.sweepWaits(ctx, tx, p)
	}
	if err != nil || !waits && !unfunded {
		return nil, err
	}
	return &blockage{own, halts, fmt.Sprint(cause), first}, nil
}

// unfunded reports whether the hot wallet of an earlier epoch lacks the funds to replace a transaction: a deposit that
// paid for it was reorged out. What comes in is swept to the present hot wallet, so it would lack them for ever, and
// gas that is sent to it for its sweeps would be taken for the payment's.
func (s *Sender) unfunded(p bursar.OutgoingTx, cause error) bool {
	_, lacks := errors.AsType[*chain.NeedsFundsError](cause)
	return lacks && s.isOld(p.Base)
}

// sweepWaits reports whether a transaction holds up the sweep that empties the hot wallet of an earlier epoch: that is
// not even requested while anything of its address is under way.
func (s *Sender) sweepWaits(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) (bool, error) {
	if !s.isOld(p.Base) {
		return false, nil
	}
	held, err := tx.Holdings().Get(ctx, p.Chain, p.Base, "")
	return held.Due, err
}

// behind returns the first transaction of the same address that has a higher nonce, is in no block, and for which
// counts returns true.
func (s *Sender) behind(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, nonce uint64,
	counts func(bursar.OutgoingTx, chain.TxRequest) (bool, error)) (bursar.OutgoingTx, bool, error) {
	open, err := tx.Outgoing().OpenFrom(ctx, p.Chain, p.Base, p.ID)
	if err != nil {
		return bursar.OutgoingTx{}, false, err
	}
	for _, other := range open {
		if theirs, numbered := nonceOfTx(other); !numbered || theirs <= nonce {
			continue
		}
		request, err := DecodeRequest(other)
		if err != nil {
			return bursar.OutgoingTx{}, false, err
		}
		if is, err := counts(other, request); err != nil || is {
			return other, is, err
		}
	}
	return bursar.OutgoingTx{}, false, nil
}

// filler returns the request for a transaction that takes p's nonce, or the reason why there can be none. To the signer
// it is gas for a deposit address of ours, so that no new kind of transaction has to be allowed.
func (s *Sender) filler(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx,
) (request chain.TxRequest, why string, err error) {
	if isVoiding(p) {
		return request, "it is itself the transaction that voids another one", nil
	}
	from, hot := s.hotAt(p.Base)
	if !hot {
		return request, "it does not pay from the hot wallet", nil
	}
	return s.fillerFrom(ctx, tx, from)
}

// fillerFrom is filler for any nonce of a hot wallet.
func (s *Sender) fillerFrom(
	ctx context.Context, tx *store.Tx, from chain.Source,
) (request chain.TxRequest, why string, err error) {
	capabilities := s.Chain.Capabilities()
	native, known := s.Registry.Asset(capabilities.ID, "")
	if !known || capabilities.SharedAddress {
		return request, "the chain has no address for that", nil
	}
	payee, found, err := s.payeeOfFiller(ctx, tx, from)
	if err != nil || !found {
		return request, "there is no deposit address", err
	}
	request = chain.TxRequest{ID: s.IDs.Next(), Kind: chain.KindGasTopUp, From: from, Change: payee, MaxFee: s.MaxFee,
		Payments: []chain.Payment{{Address: bursar.Address{Base: payee.Base}, Amount: bursar.Units(1)}}}
	void := bursar.OutgoingTx{Chain: capabilities.ID, Currency: native.Code}
	err = s.notHalted(ctx, tx, attempt{outgoingTx: void, request: request})
	var waiting *WaitError
	if errors.As(err, &waiting) {
		return request, waiting.Reason, nil
	}
	return request, "", err
}

// hotAt returns the hot wallet, or that of an earlier epoch, which has an address.
func (s *Sender) hotAt(base string) (hot chain.Source, is bool) {
	for _, one := range append([]chain.Source{s.Hot}, s.Old...) {
		if one.Base == base {
			return one, true
		}
	}
	return hot, false
}

// payeeOfFiller returns whom a filler pays: a deposit address of ours, or, if it uses up a nonce of the hot wallet of
// an earlier epoch, the present hot wallet, since the signer lets old keys pay nobody else.
func (s *Sender) payeeOfFiller(
	ctx context.Context, tx *store.Tx, from chain.Source,
) (payee chain.Source, found bool, err error) {
	if s.isOld(from.Base) {
		return s.Hot, true, nil
	}
	family := s.Chain.Capabilities().Family
	to, found, err := tx.Wallets().Any(ctx, family)
	return chain.Source{Base: to.Address.Base,
		Key: chain.KeyRef{Family: family, Branch: chain.DepositBranch, Index: to.Index}}, found, err
}

// completeFiller gives a filler the nonce of the transaction that it voids.
func completeFiller(request *chain.TxRequest, first bursar.OutgoingTx) error {
	nonce, numbered := nonceOfTx(first)
	if !numbered {
		return fmt.Errorf("outgoing transaction %s has no nonce", first.ID)
	}
	request.Nonce = &nonce
	return nil
}

// buildVoiding builds a transaction, and one that voids another one, or uses up a lost nonce, once more if its address
// holds nothing beside what others take: they wait for it. A sweep takes what they would take then, and they are left
// hanging.
func (s *Sender) buildVoiding(
	ctx context.Context, p bursar.OutgoingTx, request chain.TxRequest,
) (chain.UnsignedTx, error) {
	unsigned, err := s.Chain.Build(ctx, request)
	var funds *chain.NeedsFundsError
	if !isVoiding(p) || !errors.As(err, &funds) || len(request.Reserved) == 0 {
		return unsigned, err
	}
	request.Reserved = nil
	return s.Chain.Build(ctx, request)
}

// message says which transactions wait behind which, and which command ends that.
func (j *blockage) message(p bursar.OutgoingTx, why string) string {
	if len(j.halts) == 0 {
		return fmt.Sprintf("outgoing transaction %s of %s has nonce %d of %s, and cannot be replaced: %s. "+
			"%s of %s waits behind it, and others may; it cannot be made void: %s. Wait for lower fees",
			p.ID, p.Currency, j.nonce, p.Base, j.cause, j.first.ID, j.first.Currency, why)
	}
	reasons, remedies := make([]string, len(j.halts)), make([]string, len(j.halts))
	for i, h := range j.halts {
		reasons[i], remedies[i] = h.String(), h.Remedy()
	}
	return fmt.Sprintf("outgoing transaction %s of %s has nonce %d of %s and is held: %s. %s of %s waits behind it, "+
		"and others may; it cannot be made void: %s. End the halt: %s",
		p.ID, p.Currency, j.nonce, p.Base, strings.Join(reasons, "; "), j.first.ID, j.first.Currency, why,
		strings.Join(remedies, ", "))
}
