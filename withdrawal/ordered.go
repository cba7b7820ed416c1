package withdrawal

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/store"
)

// Order is the order that a client signed, as it came. The zero Order is none.
type Order struct {
	Text      string
	Signature string // the value of the header
}

// IsZero reports whether there is no order.
func (o Order) IsZero() bool { return o == Order{} }

// Bounds of an order. The signer has the same, and its own clock.
const (
	maxOrder     = 4 << 10 // bytes of the text
	longestOrder = 30 * 24 * time.Hour
)

// ordered is an order that was read and verified.
type ordered struct {
	approval.Order
	signed bursar.SignedOrder
}

// verified reads the order of a request and verifies its signature. It is nil where there is no order. The refusals of
// an order that the signer would refuse are made here, while the client still learns of them; the signer makes its own.
func (s *Service) verified(ctx context.Context, r Request) (*ordered, error) {
	if r.Order.IsZero() {
		return nil, nil
	}
	if r.Order.Text == "" {
		return nil, bursar.RefuseField(bursar.CodeInvalidRequest, "order", "there is a %s without the order that it is over",
			orderkey.Header)
	}
	if len(r.Order.Text) > maxOrder {
		return nil, invalidOrder("the order has more than %d bytes", maxOrder)
	}
	read, err := approval.ParseOrder(r.Order.Text)
	if err != nil {
		return nil, invalidOrder("%v; the order must arrive byte for byte as it was signed", err)
	}
	if read.Account != r.Account {
		return nil, invalidOrder("the order is for another account than that of the key, which is %s", r.Account)
	}
	signature, err := s.signedBy(ctx, r, read)
	if err != nil {
		return nil, err
	}
	return &ordered{read, bursar.SignedOrder{AccountID: r.Account, OrderID: read.ID, Text: r.Order.Text,
		Signature: signature, MaxFee: read.MaxFee, ExpiresAt: read.Expires}}, nil
}

func invalidOrder(format string, args ...any) error {
	return bursar.RefuseField(bursar.CodeInvalidOrder, "order", format, args...)
}

func badSignature(format string, args ...any) error {
	return bursar.RefuseField(bursar.CodeInvalidOrderSignature, orderkey.Header, format, args...)
}

// signedBy returns the signature of an order, if a key of its account made it.
func (s *Service) signedBy(ctx context.Context, r Request, read approval.Order) (string, error) {
	if r.Order.Signature == "" {
		return "", bursar.RefuseField(bursar.CodeOrderSignatureRequired, orderkey.Header,
			"the order needs a signature in the header %s", orderkey.Header)
	}
	signature, err := orderkey.ParseSignature(r.Order.Signature)
	if err != nil {
		return "", badSignature("%v", err)
	}
	var keys []bursar.OrderKey
	err = s.db.View(ctx, func(tx *store.Tx) (err error) {
		keys, err = tx.OrderKeys().Of(ctx, r.Account)
		return err
	})
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(keys, func(k bursar.OrderKey) bool { return k.ID == signature.KeyID })
	switch now := s.db.Now(); {
	case i < 0:
		return "", badSignature("the account has no key %s", signature.KeyID)
	case !keys[i].RevokedAt.IsZero():
		return "", badSignature("the key %s (%s) was revoked", signature.KeyID, keys[i].Name)
	case !keys[i].UsableAt(now):
		return "", badSignature("the key %s (%s) counts from %s on", signature.KeyID, keys[i].Name,
			approval.Moment(keys[i].UsableFrom))
	}
	key, err := orderkey.Parse(keys[i].Public)
	if err != nil {
		return "", err
	}
	if err := key.Verify(r.Order.Text, signature); err != nil {
		return "", badSignature("the key %s (%s) did not sign the bytes of the order as they arrived here, which are %d "+
			"with the hash %s", signature.KeyID, keys[i].Name, len(r.Order.Text), approval.HashOf(r.Order.Text))
	}
	return signature.String(), nil
}

// checkTerms refuses an order for another payment than the request, or one that is not valid now.
func (s *Service) checkTerms(ctx context.Context, o *ordered, c bursar.Currency, w bursar.Withdrawal) error {
	var policy store.PolicyText
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		policy, err = tx.Settings().Policy(ctx)
		return err
	})
	if err != nil {
		return err
	}
	now := s.db.Now()
	switch {
	case !now.Before(o.Expires):
		return bursar.RefuseField(bursar.CodeOrderExpired, "order", "the order expired at %s: sign another one",
			approval.Moment(o.Expires))
	case policy.Instance == "":
		return bursar.Refuse(bursar.CodeUnavailable, "the signer does not take orders yet; try again")
	case o.Instance != policy.Instance:
		return invalidOrder("the order's instance is %s, and the signer's is %s", o.Instance, policy.Instance)
	case o.Chain != c.Chain:
		return invalidOrder("the order's chain is %s, and that of %s is %s", o.Chain, c.Code, c.Chain)
	case o.Contract != c.Contract:
		return invalidOrder("the order's asset is %s, and that of %s is %s", approval.AssetText(o.Contract), c.Code,
			approval.AssetText(c.Contract))
	case o.To != w.Address:
		return invalidOrder("the order pays %s, and the address is %s in its canonical form; a memo is the tag", o.To,
			w.Address)
	case o.Units != w.Amount:
		return invalidOrder("the order pays %s units, and the amount is %s units of 10^-%d %s", o.Units, w.Amount, c.Decimals,
			c.Code)
	case now.Add(bursar.ClockTolerance).Before(o.Created):
		return invalidOrder("the order was created at %s, which is over %s from now", approval.Moment(o.Created),
			bursar.ClockTolerance)
	case o.Expires.Sub(o.Created) > longestOrder:
		return invalidOrder("the order is payable for longer than %d days", longestOrder/(24*time.Hour))
	}
	return nil
}

var errUnsigned = bursar.RefuseField(bursar.CodeOrderSignatureRequired, "order",
	"withdrawals of this account need an order "+
		"that one of its keys signed, with its signature in the header %s", orderkey.Header)

// ErrOtherOrder is the refusal of a second order under one ID.
var ErrOtherOrder = bursar.RefuseField(bursar.CodeIdempotencyConflict, "order",
	"the account gave this ID to another order before")

var errBusyOrder = bursar.RefuseField(bursar.CodeUnavailable, "order", "the same order is being taken; try again")

// errOtherName is the refusal of an order that paid before, under another reference or none: a client that names the
// payment again expects a second one.
var errOtherName = bursar.RefuseField(bursar.CodeIdempotencyConflict, "reference",
	"the order was taken before, for a withdrawal that does not have this reference")

// replay returns the withdrawal that an order became before, if that has the reference that is asked for, or none is.
// found is false where it is new. The account is locked, or it only spares work.
func replay(ctx context.Context, tx *store.Tx, o *ordered, reference string) (w bursar.Withdrawal, found bool,
	err error) {
	before, err := tx.SignedOrders().Find(ctx, o.Account, o.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return w, false, nil
	case err != nil:
		return w, false, err
	case before.Text != o.signed.Text:
		return w, true, ErrOtherOrder
	}
	w, err = tx.Withdrawals().Get(ctx, o.Account, before.WithdrawalID)
	if err == nil && reference != "" && w.Reference != reference {
		err = errOtherName
	}
	return w, true, err
}

// replayed answers a request whose order was taken before, also after its time and whatever has changed since.
func (s *Service) replayed(ctx context.Context, r Request, order *ordered) (w bursar.Withdrawal, found bool,
	err error) {
	if order == nil {
		return w, false, nil
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		w, found, err = replay(ctx, tx, order, r.Reference)
		return err
	})
	if err != nil || !found || r.Done == nil {
		return w, found, err
	}
	return w, true, s.db.Do(ctx, func(tx *store.Tx) error { return r.Done(ctx, tx, w) })
}

// replayOrders answers the requests of a batch whose orders became withdrawals after they were looked up. Of two orders
// with the same ID in one batch, the later one is tried again.
func replayOrders(ctx context.Context, tx *store.Tx, requests []prepared, results []store.Result[bursar.Withdrawal],
	answered []bool) error {
	seen := map[[2]bursar.ID]bool{}
	for i, p := range requests {
		if p.order == nil || results[i].Err != nil {
			continue
		}
		name := [2]bursar.ID{p.order.Account, p.order.ID}
		if seen[name] {
			results[i].Err = errBusyOrder
			continue
		}
		seen[name] = true
		w, found, err := replay(ctx, tx, p.order, p.withdrawal.Reference)
		var refused *bursar.Error
		switch {
		case errors.As(err, &refused):
			results[i].Err = refused
		case err != nil:
			return err
		case found:
			results[i].Value, answered[i] = w, true
			if err := p.answerRecorded(ctx, tx, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOrderExpiry refuses a withdrawal whose client ordered it for a time that is over. A payment within the service
// never reaches the signer, which would refuse it otherwise.
func checkOrderExpiry(ctx context.Context, tx *store.Tx, id bursar.ID) error {
	orders, err := tx.SignedOrders().Of(ctx, id)
	o, ordered := orders[id]
	if err != nil || !ordered || tx.Now().Before(o.ExpiresAt) {
		return err
	}
	return bursar.RefuseField(bursar.CodeOrderExpired, "order",
		"the withdrawal's order expired at %s: reject the withdrawal, and have the client sign another order",
		approval.Moment(o.ExpiresAt))
}

// FindByOrder verifies the order of a request and returns the withdrawal that it became before. found is false where it
// is new, or there is no order. It changes nothing.
func (s *Service) FindByOrder(ctx context.Context, r Request) (w bursar.Withdrawal, found bool, err error) {
	order, err := s.verified(ctx, r)
	if err != nil {
		return w, false, err
	}
	r.Done = nil
	return s.replayed(ctx, r, order)
}
