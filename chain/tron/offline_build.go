package tron

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// coldExpiry is how long a payment from a cold wallet can be signed and included: an hour less than java-tron takes
// (Constant.MAXIMUM_TIME_UNTIL_EXPIRATION), so that a node that lags accepts it too.
const coldExpiry = 23 * time.Hour

// BuildCold builds a payment that expires by itself. An account has no sequence: nothing else uses it up, and so
// Uses and Replaces change nothing.
func (c *Chain) BuildCold(ctx context.Context, request chain.ColdRequest) (data []byte, err error) {
	defer chain.Wrap(&err, "build from cold wallet %s", request.Wallet.Name)
	if err := c.CheckCold(request.Wallet); err != nil {
		return nil, err
	}
	from, err := parseAddress(request.Wallet.Addresses[0])
	if err != nil {
		return nil, err
	}
	want, err := c.intentOf(request.Payment)
	if err != nil {
		return nil, err
	}
	t := new(coldTx)
	err = c.constantly(ctx, func(s *rpc.Session) error {
		usual := chain.TxRequest{Kind: chain.KindWithdrawal, MaxFee: request.MaxFee}
		d := &building{chain: c, request: usual, payment: request.Payment, from: from, want: want, session: s}
		if err := d.ask(ctx); err != nil {
			return err
		}
		return c.coldFrom(ctx, d, request.Wallet, t)
	})
	if err != nil {
		return nil, err
	}
	data = t.bytes()
	_, err = c.ReadCold(request.Wallet, data) // what cannot be evaluated is not given out: a node may have lied
	return data, err
}

// coldFrom completes a payment from what a node says of its payer.
func (c *Chain) coldFrom(ctx context.Context, d *building, w bursar.ColdWallet, t *coldTx) (err error) {
	kind := uint64(transferKind)
	if d.want.data != nil {
		kind = triggerKind
	}
	if t.permission, err = permissionFor(d.payer, d.from, w, kind); err != nil {
		return err
	}
	if t.permission != nil && d.prices.several > severalFee {
		return fmt.Errorf("%w: %w", errFeeTooHigh, &chain.FeeLimitError{Fee: bursar.Units(d.prices.several),
			Limit: bursar.Units(severalFee)})
	}
	if d.extra, err = c.several(t.permission); err != nil {
		return err
	}
	d.payload.Expiration = d.payload.Timestamp + uint64(coldExpiry.Milliseconds())
	d.payload.Timestamp = uint64(c.nodes.Now().UnixMilli()) // the chain ignores it: two of the same amount differ
	d.payload.Permission = uint64(w.PermissionID)
	if t.raw, _, err = d.fit(ctx); err != nil {
		return err
	}
	t.payload = d.payload
	return nil
}

// permissionFor returns the permission of a cold wallet, nil for a single key. It refuses an account whose keys are not
// of the kind that is configured, or may not make the payment.
func permissionFor(payer account, from address, w bursar.ColdWallet, kind uint64) (*permission, error) {
	if !payer.active() {
		return nil, &chain.RefusedError{Reason: "the cold wallet's account does not exist yet"}
	}
	said := payer.Owner
	if w.PermissionID > 0 {
		i := slices.IndexFunc(payer.Active, func(p permissionOf) bool { return p.ID == uint64(w.PermissionID) })
		if i < 0 {
			return nil, &chain.RefusedError{Reason: fmt.Sprintf("the account has no permission %d", w.PermissionID)}
		}
		said = payer.Active[i]
	}
	if !said.allows(kind) {
		return nil, &chain.RefusedError{Reason: fmt.Sprintf("permission %d may not make such a payment", w.PermissionID)}
	}
	p := &permission{threshold: said.Threshold}
	for _, k := range said.Keys {
		at, err := parseAddress(k.Address)
		if err != nil {
			return nil, fmt.Errorf("permission %d of %s: %w", w.PermissionID, from, err)
		}
		p.keys = append(p.keys, permissionKey{at, k.Weight})
	}
	slices.SortFunc(p.keys, func(a, b permissionKey) int { return compare(a.address, b.address) })
	if w.Kind == bursar.ColdPermission {
		return p, p.check()
	}
	if len(p.keys) > 0 && p.of(from) < p.threshold { // an old account has none in writing: its key is its owner
		return nil, &chain.RefusedError{Reason: "the account's own key is not enough: its kind is permission"}
	}
	return nil, nil
}
