package xrpl

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// The flags of an AccountRoot (rippled's LedgerFormats.h).
const (
	requireTag    = 0x0002_0000 // lsfRequireDestTag
	disallowXRP   = 0x0008_0000 // lsfDisallowXRP
	disableMaster = 0x0010_0000 // lsfDisableMaster
	depositAuth   = 0x0100_0000 // lsfDepositAuth
)

// account is an AccountRoot, and whether it exists.
type account struct {
	Account  string `json:"Account"`
	Balance  drops  `json:"Balance"`
	Sequence uint32 `json:"Sequence"`
	Flags    uint32 `json:"Flags"`
	Owned    uint32 `json:"OwnerCount"`
	// RegularKey is the account whose key may sign besides the master key; empty: none.
	RegularKey string         `json:"RegularKey"`
	AMM        jsontext.Value `json:"AMMID"`
	Vault      jsontext.Value `json:"VaultID"`
	Broker     jsontext.Value `json:"LoanBrokerID"`

	exists bool
	in     uint32 // the ledger of this state, if the answer names one
}

// keyless reports whether the ledger itself owns the account: it has no keys, and payments to it fail.
func (a account) keyless() bool { return len(a.AMM)+len(a.Vault)+len(a.Broker) > 0 }

// reserve returns the amount that the account must keep.
func (a account) reserve(st nodePosition) (bursar.Amount, error) {
	owned, err := st.forEach.Mul(uint64(a.Owned))
	if err != nil {
		return owned, err
	}
	return owned.Add(st.base)
}

type accountAnswer struct {
	status
	Data      account `json:"account_data"`
	Hash      *hash   `json:"ledger_hash"`
	Index     index   `json:"ledger_index"`
	Validated bool    `json:"validated"`
}

// accountIn requests an account in some state of the ledger; a missing account is not an error.
func accountIn(ctx context.Context, s *rpc.Session, base string, state params) (accountAnswer, error) {
	with := params{"account": base}
	for key, value := range state {
		with[key] = value
	}
	var answer accountAnswer
	err := ask(ctx, s, "account_info", with, &answer)
	switch {
	case says(err, "actNotFound"):
		return accountAnswer{}, nil
	case err != nil:
		return answer, fmt.Errorf("account %s: %w", base, err)
	case answer.Data.Account != base:
		return answer, s.Fail(fmt.Errorf("account %s: %w: the answer is of account %.40q", base, errAnswer,
			answer.Data.Account))
	}
	answer.Data.exists, answer.Data.in = true, uint32(answer.Index)
	return answer, nil
}

// validatedAccount returns an account in the newest validated ledger.
func validatedAccount(ctx context.Context, s *rpc.Session, base string) (account, error) {
	answer, err := accountIn(ctx, s, base, params{"ledger_index": "validated"})
	if err == nil && answer.Data.exists && !answer.Validated {
		return account{}, s.Fail(fmt.Errorf("account %s: %w", base, errNotValidated))
	}
	return answer.Data, err
}

// Holdings requests from one node the balances in the given ledger, reserve included. The node must still have that
// ledger's state; most nodes have the last few thousand.
func (c *Chain) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) ([]bursar.Amount, error) {
	if contract != "" {
		return nil, fmt.Errorf("holdings: %w", errToken)
	}
	if len(bases) == 0 {
		return nil, nil
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, fmt.Errorf("holdings: %w", err)
	}
	balances := make([]bursar.Amount, len(bases))
	for i, base := range bases {
		if balances[i], err = balanceAt(ctx, s, base, at); err != nil {
			return nil, fmt.Errorf("holdings at ledger %d: %w", at.Height, err)
		}
	}
	return balances, nil
}

func balanceAt(ctx context.Context, s *rpc.Session, base string, at chain.BlockRef) (bursar.Amount, error) {
	if _, err := parseClassic(base); err != nil {
		return bursar.Amount{}, fmt.Errorf("account %.50q: %w", base, err)
	}
	answer, err := accountIn(ctx, s, base, params{"ledger_hash": at.Hash})
	if err == nil && answer.Data.exists && (!answer.Validated || answer.Hash != nil && answer.Hash.String() != at.Hash) {
		err = s.Fail(fmt.Errorf("account %s: %w", base, errOtherLedger))
	}
	return answer.Data.Balance.Amount, err
}
