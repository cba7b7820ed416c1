package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// made is the outgoing transaction that an external spend becomes.
type made struct {
	request  chain.TxRequest
	currency bursar.CurrencyCode
	wants    []want // the withdrawals and refunds that it pays
}

// payment returns an outgoing transaction that pays withdrawals or a refund.
func (a Assessor) payment(x chain.ExternalSpend, wants []want) made {
	m := made{request: chain.TxRequest{Kind: chain.KindWithdrawal, Payments: a.toOthers(x)}, wants: wants}
	if m.currency = a.currency(x); len(wants) > 0 {
		m.currency = wants[0].currency
	}
	if a.Capabilities.Model == chain.UTXOModel {
		m.request.Change = a.home(x)
	} else {
		m.request.From, _ = a.hotAt(x.Base)
	}
	return m
}

// currency returns the currency that an external spend moved first, or that of its fee.
func (a Assessor) currency(x chain.ExternalSpend) bursar.CurrencyCode {
	for _, p := range x.Payments {
		if c, configured := a.Registry.Asset(a.Capabilities.ID, p.Contract); configured {
			return c.Code
		}
	}
	native, _ := a.Registry.Asset(a.Capabilities.ID, "")
	return native.Code
}

// adopt turns an external spend into an outgoing transaction, as if this database had sent it: it is in its block, its
// reservations are used, and its payments only wait for the block to be final. Unsigned transactions with the same
// reservations or the same payments are given up.
func (a Assessor) adopt(
	ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend, m made,
) (bursar.ID, error) {
	m.request.ID, m.request.MaxFee = a.IDs.Next(), x.Fee
	order, err := json.Marshal(m.request)
	if err != nil {
		return bursar.ID{}, fmt.Errorf("encode the transaction request: %w", err)
	}
	unsigned, err := unsignedOf(x)
	if err != nil {
		return bursar.ID{}, err
	}
	if err := a.clearConflicts(ctx, tx, x, m.wants); err != nil {
		return bursar.ID{}, err
	}
	p := bursar.OutgoingTx{
		ID:       m.request.ID,
		Chain:    a.Capabilities.ID,
		Kind:     string(m.request.Kind),
		Currency: m.currency,
		Base:     x.Base,
		Request:  order,
		Unsigned: unsigned,
		TxID:     x.TxID,
		Height:   b.Ref.Height,
		Failed:   x.Failed,
		Fee:      x.Fee,
		Share:    ShareOf(m.request.Kind),
	}
	if a.Capabilities.Model == chain.UTXOModel {
		p.Base = m.request.Change.Base
	}
	if err := tx.Outgoing().InsertAdopted(ctx, p, x.Reservations); err != nil {
		return p.ID, err
	}
	for _, w := range m.wants { // what was to make void the one that it has replaced ends with it
		if err := tx.Reservations().MovedFromNow(ctx, w.spend(), p.ID); err != nil {
			return p.ID, err
		}
	}
	if err := a.useNonces(ctx, tx, x); err != nil {
		return p.ID, err
	}
	for _, w := range m.wants {
		if err := a.assign(ctx, tx, w, p); err != nil {
			return p.ID, fmt.Errorf("%s: %w", w.name(), err)
		}
	}
	return p.ID, nil
}

// ShareOf returns the share of a step in which outgoing transactions of a kind are processed.
func ShareOf(kind chain.Kind) bursar.OutgoingShare {
	switch kind {
	case chain.KindSweep, chain.KindConsolidation, chain.KindToCold:
		return bursar.ShareSweep
	case chain.KindGasTopUp:
		return bursar.ShareTopUp
	}
	return bursar.ShareWithdrawal
}

// unsignedOf returns what is known of the unsigned transaction of an external spend: what it used, and its fee.
func unsignedOf(x chain.ExternalSpend) ([]byte, error) {
	text, err := json.Marshal(chain.UnsignedTx{Reservations: x.Reservations, Fee: x.Fee})
	if err != nil {
		return nil, fmt.Errorf("encode the unsigned transaction: %w", err)
	}
	return text, nil
}

// useNonces records the nonces that an external spend used, so that the next transaction takes the one after them.
func (a Assessor) useNonces(ctx context.Context, tx *store.Tx, x chain.ExternalSpend) error {
	if a.Capabilities.Model != chain.AccountModel {
		return nil
	}
	for _, resource := range x.Reservations {
		at := strings.LastIndexByte(resource, '/')
		nonce, err := strconv.ParseUint(resource[at+1:], 10, 63)
		if at < 0 || err != nil || resource[:at] != x.Base {
			continue // a reservation of another kind
		}
		if err := tx.Nonces().Use(ctx, a.Capabilities.ID, x.Base, nonce); err != nil {
			return err
		}
	}
	return nil
}

// clearConflicts gives up the unsigned transactions that an external spend has replaced, and removes its payments from
// signed ones that can never be included.
func (a Assessor) clearConflicts(ctx context.Context, tx *store.Tx, x chain.ExternalSpend, wants []want) error {
	owners, err := tx.Reservations().Owners(ctx, a.Capabilities.ID, x.Reservations)
	if err != nil {
		return err
	}
	var ids []bursar.ID
	for _, resource := range x.Reservations {
		if id, owned := owners[resource]; owned {
			ids = append(ids, id)
		}
	}
	for _, w := range wants {
		if id := w.spend(); !id.IsZero() {
			ids = append(ids, id)
		}
	}
	done := map[bursar.ID]bool{}
	for _, id := range ids {
		if done[id] {
			continue
		}
		done[id] = true
		if err := a.giveUp(ctx, tx, id, x); err != nil {
			return fmt.Errorf("give up outgoing transaction %s: %w", id, err)
		}
	}
	return nil
}

// CloseUnsigned closes the alarms about an outgoing transaction that ends before anybody has signed it.
func CloseUnsigned(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	for _, kind := range []string{AlarmMayBeOut, AlarmDiffers, AlarmUnclear, "signer_refused"} {
		if err := tx.Alarms().Resolve(ctx, kind, p.ID.String()); err != nil {
			return err
		}
	}
	return nil
}

// giveUp ends an outgoing transaction that was never signed; its payments wait again.
func (a Assessor) giveUp(ctx context.Context, tx *store.Tx, id bursar.ID, x chain.ExternalSpend) error {
	p, err := tx.Outgoing().Lock(ctx, id)
	if err != nil || p.Status != bursar.OutgoingNew && p.Status != bursar.OutgoingReserved {
		return err
	}
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, id)
	if err != nil {
		return err
	}
	for _, w := range withdrawals {
		if err := tx.Withdrawals().AssignOutgoing(ctx, w, bursar.ID{}); err != nil {
			return err
		}
	}
	if err := unattributed.Release(ctx, tx, id); err != nil {
		return err
	}
	if strings.HasPrefix(p.Once, OnceVoid) {
		if err := errors.Join(tx.Reservations().UndoMove(ctx, p.Chain, p.ID), endFilling(ctx, tx, p)); err != nil {
			return err
		}
	}
	if err := a.freeReservations(ctx, tx, p, x); err != nil {
		return err
	}
	if err := CloseUnsigned(ctx, tx, p); err != nil {
		return err
	}
	return tx.Outgoing().SetStatus(ctx, p, bursar.OutgoingAbandoned)
}

// freeReservations releases what an unsigned transaction reserved, except what the external spend used.
func (a Assessor) freeReservations(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, x chain.ExternalSpend,
) error {
	if p.Status != bursar.OutgoingReserved {
		return nil
	}
	var unsigned chain.UnsignedTx
	if err := json.Unmarshal(p.Unsigned, &unsigned); err != nil {
		return fmt.Errorf("read the unsigned transaction: %w", err)
	}
	if err := tx.Reservations().Free(ctx, p.ID); err != nil || a.Capabilities.Model != chain.AccountModel {
		return err
	}
	for _, resource := range unsigned.Reservations {
		at := strings.LastIndexByte(resource, '/')
		nonce, err := strconv.ParseUint(resource[at+1:], 10, 63)
		if at < 0 || err != nil || resource[:at] != p.Base || slices.Contains(x.Reservations, resource) {
			continue
		}
		if err := tx.Nonces().Free(ctx, p.Chain, p.Base, nonce); err != nil {
			return err
		}
	}
	return nil
}
