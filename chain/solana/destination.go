package solana

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// reserved are addresses that belong to the network or to programs that everybody uses: payments to them are lost. From
// Agave's sdk_ids and reserved_account_keys, and the SPL.
var reserved = []string{
	"11111111111111111111111111111111",
	"1nc1nerator11111111111111111111111111111111",
	"AddressLookupTab1e1111111111111111111111111",
	"BPFLoader1111111111111111111111111111111111",
	"BPFLoader2111111111111111111111111111111111",
	"BPFLoaderUpgradeab1e11111111111111111111111",
	"ComputeBudget111111111111111111111111111111",
	"Config1111111111111111111111111111111111111",
	"Ed25519SigVerify111111111111111111111111111",
	"Feature111111111111111111111111111111111111",
	"KeccakSecp256k11111111111111111111111111111",
	"LoaderV411111111111111111111111111111111111",
	"NativeLoader1111111111111111111111111111111",
	"Secp256r1SigVerify1111111111111111111111111",
	"Stake11111111111111111111111111111111111111",
	"StakeConfig11111111111111111111111111111111",
	"Sysvar1111111111111111111111111111111111111",
	"Sysvar1nstructions1111111111111111111111111",
	"SysvarC1ock11111111111111111111111111111111",
	"SysvarEpochRewards1111111111111111111111111",
	"SysvarEpochSchedu1e111111111111111111111111",
	"SysvarFees111111111111111111111111111111111",
	"SysvarLastRestartS1ot1111111111111111111111",
	"SysvarRecentB1ockHashes11111111111111111111",
	"SysvarRent111111111111111111111111111111111",
	"SysvarRewards111111111111111111111111111111",
	"SysvarS1otHashes111111111111111111111111111",
	"SysvarS1otHistory11111111111111111111111111",
	"SysvarStakeHistory1111111111111111111111111",
	"Vote111111111111111111111111111111111111111",
	"ZkE1Gama1Proof11111111111111111111111111111",
	"ZkTokenProof1111111111111111111111111111111",
	"So11111111111111111111111111111111111111112", // the mint of wrapped SOL
	"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
	"TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
	"ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
	"Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo",
	"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
}

// tokenPrograms own token accounts and mints. The holder of one of those cannot see lamports sent to it.
var tokenPrograms = []string{
	"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
	"TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
}

// account is an account as a node returns it; nil if there is none.
type account struct {
	Lamports   uint64 `json:"lamports"`
	Owner      string `json:"owner"`
	Executable bool   `json:"executable"`
	Space      uint64 `json:"space"`
}

// accounts is the answer of getMultipleAccounts.
type accounts struct {
	Context slotContext `json:"context"`
	Value   []*account  `json:"value"`
}

// slotContext is the slot of an answer.
type slotContext struct {
	Slot uint64 `json:"slot"`
}

// without requests accounts without their data.
type without struct {
	Commitment string   `json:"commitment"`
	Encoding   string   `json:"encoding"`
	Slice      struct { // of length 0
		Offset int `json:"offset"`
		Length int `json:"length"`
	} `json:"dataSlice"`
}

func askAccounts(bases []string, commitment string, out *accounts) *rpc.Request {
	return &rpc.Request{
		Method: "getMultipleAccounts",
		Params: []any{bases, without{Commitment: commitment, Encoding: "base64"}}, Out: out,
	}
}

var errAccounts = errors.New("the list of accounts does not match the request")

// transferOf reads a payment. A *chain.RefusedError means that it can never be made.
func (r *Rules) transferOf(p chain.Payment) (transfer, error) {
	to, err := parseKey(p.Address.Base)
	if err != nil || p.Address.HasMemo {
		return transfer{}, &chain.RefusedError{Reason: "the address is not valid on this chain"}
	}
	for _, base := range reserved {
		if p.Address.Base == base {
			return transfer{}, &chain.RefusedError{Reason: "the address belongs to the network itself"}
		}
	}
	if p.Contract != "" {
		return transfer{}, &chain.RefusedError{Reason: "tokens of this chain are not supported"}
	}
	lamports, fits := p.Amount.Uint64()
	if !fits {
		return transfer{}, &chain.RefusedError{Reason: "the amount exceeds the maximum supply of the native asset"}
	}
	if lamports == 0 {
		return transfer{}, &chain.RefusedError{Below: true, Reason: "the amount is zero"}
	}
	return transfer{to, lamports}, nil
}

// refusal returns why a receiver cannot be paid, given its account and the minimum balance of that account.
func refusal(to *account, lamports, least uint64) error {
	before := uint64(0)
	if to != nil {
		before = to.Lamports
		if to.Executable {
			return &chain.RefusedError{Reason: "the address is a program"}
		}
		for _, program := range tokenPrograms {
			if to.Owner == program {
				return &chain.RefusedError{Reason: "the address is a token account and not a wallet"}
			}
		}
	}
	if before < least && lamports < least-before {
		return &chain.RefusedError{MayPass: true, Below: true, Reason: fmt.Sprintf(
			"the receiving account would hold less than the network's minimum of %d lamports", least)}
	}
	return nil
}

// Quote returns the current fee of a payment. A payment to the network's own addresses, a program or a token account is
// refused, and one that leaves the receiving account under the rent-exempt minimum is refused with Below.
func (c *Chain) Quote(ctx context.Context, payment chain.Payment) (_ bursar.Amount, err error) {
	defer chain.Wrap(&err, "quote")
	t, err := c.transferOf(payment)
	if err != nil {
		return bursar.Amount{}, err
	}
	s, err := c.pin(ctx)
	if err != nil {
		return bursar.Amount{}, err
	}
	view, err := look(ctx, s, []string{payment.Address.Base})
	if err != nil {
		return bursar.Amount{}, err
	}
	if err := view.refuses(0, t.lamports); err != nil {
		return bursar.Amount{}, err
	}
	m := &message{limit: unitsFor(1), price: c.price(view.recent)}
	fee, err := m.fee()
	return bursar.Units(fee), err
}

// view holds a node's answers about some accounts, minimum balances, and prices.
type view struct {
	accounts []*account
	least    []uint64 // the minimum balance of each account unless it is empty, by its size
	recent   []recentFee
}

// refuses returns why the account in a place cannot be paid an amount.
func (v *view) refuses(place int, lamports uint64) error {
	return refusal(v.accounts[place], lamports, v.least[place])
}

// look requests accounts from a node as of its newest confirmed slot.
func look(ctx context.Context, s *node, bases []string) (*view, error) {
	var found accounts
	v := &view{least: make([]uint64, len(bases))}
	requests := []*rpc.Request{
		askAccounts(bases, confirmed, &found),
		{Method: "getRecentPrioritizationFees", Params: []any{bases}, Out: &v.recent},
	}
	if err := s.Batch(ctx, requests); err != nil {
		return nil, err
	}
	if err := errors.Join(requests[0].Err, requests[1].Err); err != nil {
		return nil, err
	}
	if len(found.Value) != len(bases) {
		return nil, s.Fail(errAccounts)
	}
	v.accounts = found.Value
	requests = requests[:0]
	for i, a := range v.accounts {
		space := uint64(0)
		if a != nil {
			space = a.Space
		}
		requests = append(requests, &rpc.Request{Method: "getMinimumBalanceForRentExemption", Params: []any{space},
			Out: &v.least[i]})
	}
	if err := s.Batch(ctx, requests); err != nil {
		return nil, err
	}
	for _, r := range requests {
		if r.Err != nil {
			return nil, r.Err
		}
	}
	return v, nil
}
