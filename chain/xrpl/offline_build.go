package xrpl

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// How long a ledger takes: three to five seconds (xrpl.org, "Consensus Protocol": every three to five).
const (
	leastLedger = 3 * time.Second
	mostLedger  = 5 * time.Second
)

// coldLedgers is how many ledgers a payment from a cold wallet has: those of seven days where each takes the least. So
// it lasts as long as its bundle, and a few days later it is in no ledger any more.
const coldLedgers = uint64(7 * 24 * time.Hour / leastLedger)

// BuildCold builds a payment with the next sequence of the account; its fee is for as many signatures as may be needed.
// One that replaces another offers more than a quarter above it, as the queue wants (rippled's TxQ,
// retrySequencePercent).
func (c *Chain) BuildCold(ctx context.Context, request chain.ColdRequest) (data []byte, err error) {
	defer chain.Wrap(&err, "build from cold wallet %s", request.Wallet.Name)
	if err := c.CheckCold(request.Wallet); err != nil {
		return nil, err
	}
	if err := c.refuse(request.Payment); err != nil {
		return nil, err
	}
	s, st, err := c.pin(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.refuseDestination(ctx, s, st, request.Payment); err != nil {
		return nil, err
	}
	from, err := validatedAccount(ctx, s, request.Wallet.Addresses[0])
	if err != nil {
		return nil, err
	}
	t := new(coldTx)
	if t.list, err = signersFor(ctx, s, request.Wallet, from); err != nil {
		return nil, err
	}
	fee, err := c.coldFee(ctx, s, request, t.list)
	if err != nil {
		return nil, err
	}
	if t.payment, err = c.coldPayment(request, from, st, fee); err != nil {
		return nil, err
	}
	data = t.bytes()
	_, err = c.ReadCold(request.Wallet, data) // what cannot be evaluated is not given out: a node may have lied
	return data, err
}

// coldPayment is the payment of a request, which leaves the account its reserve.
func (c *Chain) coldPayment(request chain.ColdRequest, from account, st nodePosition, fee bursar.Amount) (p payment,
	err error) {
	if p.Account, err = parseClassic(request.Wallet.Addresses[0]); err != nil {
		return p, err
	}
	if p.Destination, err = parseClassic(request.Payment.Address.Base); err != nil {
		return p, err
	}
	reserve, err := from.reserve(st)
	if err != nil {
		return p, err
	}
	needed, err := bursar.Sum(request.Payment.Amount, fee, reserve)
	if err != nil {
		return p, err
	}
	if missing := needed.SubOrZero(from.Balance.Amount); !missing.IsZero() {
		return p, &chain.NeedsFundsError{Missing: missing}
	}
	last := st.tip.Height + coldLedgers
	if last > 1<<32-1 {
		return p, fmt.Errorf("%w: last ledger %d", errRequest, last)
	}
	p.NetworkID, p.Flags, p.Sequence, p.LastLedger = c.namedNetwork(), fullyCanonical, from.Sequence, uint32(last)
	p.Amount, _ = request.Payment.Amount.Uint64() // at most 10^17
	p.Fee, _ = fee.Uint64()                       // at most Config.MaxFee
	return p, nil
}

// coldFee returns the fee for a payment with as many signatures as may be needed: each of several costs as much as the
// transaction does (rippled's Transactor::calculateBaseFee).
func (c *Chain) coldFee(ctx context.Context, s *rpc.Session, request chain.ColdRequest, list *signerList) (
	bursar.Amount, error,
) {
	limit, times := request.MaxFee.Min(c.cfg.MaxFee), uint64(1)
	if list != nil {
		times += uint64(list.most())
	}
	fee, err := c.offer(ctx, s, limit, times)
	if err != nil || len(request.Replaces) == 0 {
		return fee, err
	}
	old, err := c.coldOf(request.Wallet, request.Replaces)
	if err != nil {
		return fee, err
	}
	more, err := bursar.Units(old.Fee).PPM(1_250_000)
	if err != nil {
		return fee, err
	}
	if more, err = more.Add(bursar.Units(1)); err != nil {
		return fee, err
	}
	if limit.Less(more) {
		return fee, fmt.Errorf("%w: %w", errFeeTooHigh, &chain.FeeLimitError{Fee: more, Limit: limit})
	}
	return fee.Max(more), nil
}

// objects is the used part of the answer of `account_objects`.
type objects struct {
	status
	Account   string `json:"account"`
	Validated bool   `json:"validated"`
	Objects   []struct {
		Type    string `json:"LedgerEntryType"`
		Quorum  number `json:"SignerQuorum"`
		Entries []struct {
			Entry struct {
				Account string `json:"Account"`
				Weight  number `json:"SignerWeight"`
			} `json:"SignerEntry"`
		} `json:"SignerEntries"`
	} `json:"account_objects"`
}

// signersFor returns the list of signers of a cold wallet, nil for a single key. It refuses an account whose keys are
// not of the kind that is configured.
func signersFor(ctx context.Context, s *rpc.Session, w bursar.ColdWallet, from account) (*signerList, error) {
	if !from.exists {
		return nil, &chain.RefusedError{Reason: "the cold wallet's account does not exist yet"}
	}
	if w.Kind == bursar.ColdAddress {
		if from.Flags&disableMaster != 0 {
			return nil, &chain.RefusedError{Reason: "the account's master key is disabled: its kind is signer_list"}
		}
		return nil, nil
	}
	list, err := listedSigners(ctx, s, w.Addresses[0])
	if err != nil {
		return nil, err
	}
	if list == nil {
		return nil, &chain.RefusedError{Reason: "the account has no list of signers: make one with SignerListSet"}
	}
	return list, list.check()
}

// listedSigners requests the list of signers of an account in the newest validated ledger; nil if it has none.
func listedSigners(ctx context.Context, s *rpc.Session, base string) (*signerList, error) {
	var answer objects
	err := ask(ctx, s, "account_objects", params{"account": base, "type": "signer_list",
		"ledger_index": "validated"}, &answer)
	if err != nil {
		return nil, fmt.Errorf("signers of %s: %w", base, err)
	}
	if answer.Account != base || !answer.Validated {
		return nil, s.Fail(fmt.Errorf("signers of %s: %w: they are of account %.40q", base, errAnswer, answer.Account))
	}
	if len(answer.Objects) != 1 || answer.Objects[0].Type != "SignerList" {
		return nil, nil
	}
	list := &signerList{quorum: answer.Objects[0].Quorum.value}
	for _, e := range answer.Objects[0].Entries {
		account, err := parseClassic(e.Entry.Account)
		if err != nil || e.Entry.Weight.value > 1<<16-1 {
			return nil, fmt.Errorf("signers of %s: %w", base, errAnswer)
		}
		list.signers = append(list.signers, listedSigner{account, uint16(e.Entry.Weight.value)})
	}
	slices.SortFunc(list.signers, func(a, b listedSigner) int { return compare(a.account, b.account) })
	return list, nil
}
