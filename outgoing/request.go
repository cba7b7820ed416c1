package outgoing

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// Insert records a transaction request as a new outgoing transaction, in the caller's database transaction. currency is
// the currency that it moves.
func Insert(
	ctx context.Context, tx *store.Tx, id bursar.ChainID, request chain.TxRequest, currency bursar.CurrencyCode,
) error {
	p := bursar.OutgoingTx{Chain: id, Currency: currency, Share: recovery.ShareOf(request.Kind)}
	_, err := insert(ctx, tx, p, request)
	return err
}

// InsertSweep is Insert for a sweep of an address. It reports false and records nothing while another sweep of the same
// asset of that address is open.
func InsertSweep(
	ctx context.Context, tx *store.Tx, id bursar.ChainID, request chain.TxRequest, currency bursar.CurrencyCode,
) (bool, error) {
	once := "sweep/" + request.From.Base + "/" + request.Payments[0].Contract
	return insert(ctx, tx, bursar.OutgoingTx{Chain: id, Currency: currency, Share: bursar.ShareSweep, Once: once}, request)
}

// insert records a transaction request as an outgoing transaction with the paying address derived from it, and reports
// whether it did.
func insert(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, request chain.TxRequest) (bool, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return false, fmt.Errorf("encode transaction request: %w", err)
	}
	p.ID, p.Kind, p.Request = request.ID, string(request.Kind), text
	p.Base = cmp.Or(request.From.Base, request.Change.Base)
	return tx.Outgoing().Insert(ctx, p)
}

// DecodeRequest decodes the transaction request of an outgoing transaction.
func DecodeRequest(p bursar.OutgoingTx) (chain.TxRequest, error) {
	var request chain.TxRequest
	if err := json.Unmarshal(p.Request, &request); err != nil {
		return request, fmt.Errorf("decode the request of outgoing transaction %s: %w", p.ID, err)
	}
	return request, nil
}

func readUnsigned(p bursar.OutgoingTx) (chain.UnsignedTx, error) {
	var unsigned chain.UnsignedTx
	if err := json.Unmarshal(p.Unsigned, &unsigned); err != nil {
		return unsigned, fmt.Errorf("decode the unsigned transaction of outgoing transaction %s: %w", p.ID, err)
	}
	return unsigned, nil
}

// completeRequest adds to a request what it may use now: UTXOs, or the next nonce and the amounts that are already
// reserved. For a sweep it adds what is there to collect. signed says that a version of it was signed.
func (s *Sender) completeRequest(
	ctx context.Context, state store.ChainState, request chain.TxRequest, signed bool,
) (chain.TxRequest, error) {
	capabilities := s.Chain.Capabilities()
	request.MaxFee = s.MaxFee // as configured now: a transaction that waits for a higher limit goes on once it is set
	var utxos []store.UTXO
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if err := feeOfOrders(ctx, tx, &request, signed); err != nil {
			return err
		}
		if capabilities.Model == chain.AccountModel {
			next, known, err := tx.Nonces().Next(ctx, capabilities.ID, request.From.Base)
			if known {
				request.Nonce = &next
			}
			if err != nil {
				return err
			}
			request.Reserved, err = s.reserved(ctx, tx, request)
			return err
		}
		from := uint32(0)
		if request.Kind == chain.KindWithdrawal {
			from = request.Change.Key.Epoch().First()
		}
		utxos, err = tx.UTXOs().SpendableFrom(ctx, capabilities.ID, state.Final, state.Latest, request.ID, from, maxUTXOs)
		if err == nil && request.Kind == chain.KindConsolidation {
			utxos, err = s.oldFirst(ctx, tx, state, request.ID, utxos)
		}
		return err
	})
	if err == nil && capabilities.Model == chain.UTXOModel {
		err = s.completeUTXOs(ctx, state, &request, utxos)
	}
	if err == nil && request.Kind == chain.KindSweep {
		err = s.completeSweep(ctx, &request)
	}
	return request, err
}

// completeUTXOs adds the UTXOs to a request that it may spend.
func (s *Sender) completeUTXOs(
	ctx context.Context, state store.ChainState, request *chain.TxRequest, utxos []store.UTXO,
) error {
	more := len(utxos) >= maxUTXOs
	utxos = slices.DeleteFunc(utxos, func(c store.UTXO) bool { return !s.mayUse(*request, c) })
	fitting, leftOut, err := s.provable(ctx, state, request.ID, utxos)
	if err != nil {
		return err
	}
	for _, c := range fitting {
		key := chain.KeyRef{Family: s.Chain.Capabilities().Family, Branch: c.Branch, Index: c.Index}
		request.UTXOs = append(request.UTXOs, chain.UTXO{
			Outpoint:    c.Outpoint,
			Amount:      c.Amount,
			Unconfirmed: c.Height == 0,
			Source:      chain.Source{Key: key, Base: c.Base},
		})
	}
	request.MoreUTXOs = leftOut || more
	return nil
}

// maxUTXOs is the number of UTXOs that one build chooses from.
const maxUTXOs = 2000

// completeSweep sets a sweep's amount to what the final chain holds: a deposit that is not final may be reorged out
// again, and a sweep of it could then be included in no block until the address is paid again. The adapter takes what
// is left of that amount now.
func (s *Sender) completeSweep(ctx context.Context, request *chain.TxRequest) error {
	request.Payments = slices.Clone(request.Payments) // the recorded request stays unchanged
	sweep := &request.Payments[0]
	var known store.Holding
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		known, err = tx.Holdings().Current(ctx, s.Chain.Capabilities().ID, request.From.Base, sweep.Contract)
		return err
	})
	if err != nil {
		return err
	}
	if !known.Amount.IsZero() {
		sweep.Amount = known.Amount // the sum of final deposits by the books
	}
	head, err := s.Chain.Head(ctx)
	if err != nil || head.Final.Hash == "" {
		return err
	}
	held, err := s.Chain.Holdings(ctx, []string{request.From.Base}, sweep.Contract, head.Final)
	if err == nil && len(held) == 1 && !held[0].IsZero() {
		sweep.Amount = held[0] // includes what is no deposit, such as gas that an earlier sweep left
	}
	return nil // a node need not keep the state of the final block
}
