package xrpl

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

var (
	errRequest = errors.New("the transaction request is not valid for this chain")
	errBump    = errors.New("a payment on this chain cannot be replaced: it expires")
	errMaster  = errors.New("the paying account's master key is disabled")
)

// Build builds one payment of XRP. Its reservation is "<base>/<sequence>", and it expires with the ledger of its
// LastLedgerSequence, Config.Patience ledgers from now.
//
// A lowest fee above Config.MaxFee or TxRequest.MaxFee is a *chain.FeeLimitError. In addition to the errors of the
// chain interface: a request with a transaction to replace is an error, since no payment waits longer than its expiry.
func (c *Chain) Build(ctx context.Context, request chain.TxRequest) (_ chain.UnsignedTx, err error) {
	defer chain.Wrap(&err, "build")
	p, err := c.begin(request)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	s, st, err := c.pin(ctx)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := c.refuseDestination(ctx, s, st, request.Payments[0]); err != nil {
		return chain.UnsignedTx{}, err
	}
	limit := request.MaxFee
	if c.cfg.MaxFee.Less(limit) {
		limit = c.cfg.MaxFee
	}
	fee, err := c.offer(ctx, s, limit, 1)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	from, err := validatedAccount(ctx, s, request.From.Base)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	open, err := accountIn(ctx, s, request.From.Base, params{"ledger_index": "current"})
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if p.Sequence, err = sequence(request, from); err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := affords(request, from, open.Data, st, fee); err != nil {
		return chain.UnsignedTx{}, err
	}
	return c.finish(request, p, st, fee)
}

// begin checks the transaction request and copies its values.
func (c *Chain) begin(request chain.TxRequest) (payment, error) {
	var p payment
	pays := request.Kind == chain.KindWithdrawal || request.Kind == chain.KindToCold
	if len(request.Payments) != 1 || !pays || request.From.Key.Family != c.cfg.Family {
		return p, fmt.Errorf("%w: a %s of %d payments, want one, from family %q", errRequest, request.Kind,
			len(request.Payments),
			request.From.Key.Family)
	}
	if request.Replaces != nil {
		return p, errBump
	}
	to := request.Payments[0]
	if err := c.refuse(to); err != nil {
		return p, err
	}
	key, err := hex.DecodeString(request.From.Pub)
	if err != nil || len(key) != keySize || accountOf(key).String() != request.From.Base {
		return p, fmt.Errorf("%w: payer %.50q with public key %.80q", errRequest, request.From.Base, request.From.Pub)
	}
	p.SigningKey, p.Account = key, accountOf(key)
	if p.Destination, err = parseClassic(to.Address.Base); err != nil {
		return p, err
	}
	if p.Destination == p.Account {
		return p, &chain.RefusedError{Reason: "the payer cannot pay itself"}
	}
	if to.Address.HasMemo {
		p.Tag = &to.Address.Memo
	}
	p.Amount, _ = to.Amount.Uint64() // at most 10^17
	p.Flags, p.NetworkID = fullyCanonical, c.namedNetwork()
	return p, nil
}

// sequence returns the next sequence in our records. For the first payment it is the account's in the newest validated
// ledger: pending transactions may never be included, and then everything after them would wait forever.
func sequence(request chain.TxRequest, from account) (uint32, error) {
	switch {
	case request.Nonce == nil:
		return from.Sequence, nil
	case uint64(from.Sequence) > *request.Nonce:
		return 0, fmt.Errorf("%w: the next sequence of %s is %d, our records have %d", chain.ErrExternalNonce,
			request.From.Base,
			from.Sequence, *request.Nonce)
	case *request.Nonce > 1<<32-1:
		return 0, fmt.Errorf("%w: sequence %d is out of range", errRequest, *request.Nonce)
	}
	return uint32(*request.Nonce), nil
}

// affords checks that the account keeps its reserve and the amounts set aside for other transactions. Transactions
// pending for the next ledger count as spent: our own are among them if the node knows them, and are set aside in any
// case.
func affords(request chain.TxRequest, from, open account, st nodePosition, fee bursar.Amount) error {
	reserve, err := from.reserve(st)
	if err != nil {
		return err
	}
	needed, err := bursar.Sum(request.Payments[0].Amount, fee, reserve)
	if err != nil {
		return err
	}
	missing, err := request.Lacks("", from.Balance.Amount, needed)
	if err != nil {
		return err
	}
	if missing = missing.Max(needed.SubOrZero(open.Balance.Amount)); !missing.IsZero() {
		return &chain.NeedsFundsError{Missing: missing}
	}
	if from.Flags&disableMaster != 0 {
		return errMaster
	}
	return nil
}

func (c *Chain) finish(
	request chain.TxRequest, p payment, st nodePosition, fee bursar.Amount,
) (chain.UnsignedTx, error) {
	last := st.tip.Height + uint64(c.cfg.Patience)
	if last > 1<<32-1 || p.Sequence == 0 {
		return chain.UnsignedTx{}, fmt.Errorf("%w: sequence %d, last ledger %d", errRequest, p.Sequence, last)
	}
	p.LastLedger = uint32(last)
	p.Fee, _ = fee.Uint64() // at most Config.MaxFee
	e := envelope{Key: request.From.Key, Since: uint32(st.tip.Height), Payload: p.encode()}
	return chain.UnsignedTx{
		Reservations: []string{fmt.Sprintf("%s/%d", request.From.Base, p.Sequence)},
		Bytes:        e.encode(), Fee: fee, Expires: last,
	}, nil
}
