package evm

import (
	"errors"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// TestBroadcastWordings has the clients' answers to eth_sendRawTransaction, verbatim if their sources contain them.
func TestBroadcastWordings(t *testing.T) {
	t.Parallel()
	cases := []struct {
		client  string
		message string
		want    verdict
	}{
		{"geth", "already known", known},
		{"bor", "already known", known},
		{"geth before 1.10", "known transaction: 1234", known},
		{"erigon", "already known", known},
		{"Nethermind", "AlreadyKnown", known},
		{"Besu", "Known transaction", known},
		{"reth", "already known", known},
		{"anvil", "transaction already imported", known},

		{"geth", "nonce too low: next nonce 5, tx nonce 4", nonceUsed},
		{"erigon", "nonce too low", nonceUsed},
		{"Nethermind", "OldNonce, Current nonce: 5, nonce of rejected tx: 4.", nonceUsed},
		{"Besu", "Nonce too low", nonceUsed},
		{"Besu", "transaction nonce 4 below sender account nonce 5", nonceUsed},
		{"reth", "nonce too low: next nonce 5, tx nonce 4", nonceUsed},
		{"anvil", "nonce too low", nonceUsed},

		{"geth", "replacement transaction underpriced: new tx gas fee cap 2 <= 1 queued", underpriced},
		{"geth", "transaction underpriced: gas tip cap 0, minimum needed 1", underpriced},
		{"geth", "max fee per gas less than block base fee: address 0x, maxFeePerGas: 1, baseFee: 2", underpriced},
		{"bor", "transaction underpriced: gas tip cap 1, minimum needed 25000000000", underpriced},
		{"BNB's geth", "transaction underpriced", underpriced},
		{"erigon", "replacement transaction underpriced", underpriced},
		{"erigon", "fee too low", underpriced},
		{"Nethermind",
			"FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 2, MaxPriorityFeePerGas:0, Block number: 3",
			underpriced},
		{"Nethermind", "FeeTooLowToCompete", underpriced},
		{"Nethermind", "ReplacementNotAllowed", underpriced},
		{"Besu", "Gas price below configured minimum gas price", underpriced},
		{"Besu", "Gas price below current base fee", underpriced},
		{"Besu", "Replacement transaction underpriced", underpriced},
		{"reth", "replacement transaction underpriced", underpriced},
		{"reth", "max fee per gas less than block base fee", underpriced},
		{"anvil", "max fee per gas less than block base fee", underpriced},

		{"geth", "invalid sender", never},
		{"geth", "invalid chain id for signer: have 56 want 1", never},
		{"geth", "intrinsic gas too low: gas 20000, minimum needed 21000", never},
		{"geth", "insufficient gas for floor data gas cost: gas 21000, minimum needed 22000", never},
		{"geth", "oversized data: transaction size 131073, limit 131072", never},
		{"geth", "max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: 2, maxFeePerGas: 1", never},
		{"Nethermind", "InvalidTxChainId, Invalid transaction chain id", never},
		{"Besu", "Intrinsic gas exceeds gas limit", never},
		{"Besu", "Transaction was meant for chain id 56 and not this chain id 1; wrong chain id", never},
		{"anvil", "intrinsic gas too low", never},

		{"geth", "insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1", unknown},
		{"geth", "nonce too high", unknown},
		{"geth", "txpool is full", unknown},
		{"geth", "exceeds block gas limit", unknown},
		{"Nethermind", "InsufficientFunds, Account balance: 0", unknown},
		{"Besu", "Upfront cost exceeds account balance", unknown},
		{"a gateway", "internal error", unknown},
	}
	for _, test := range cases {
		if got := evaluate(&rpc.Error{Code: -32000, Message: test.message}); got != test.want {
			t.Errorf("%s, %q: %d, want %d", test.client, test.message, got, test.want)
		}
	}
	if got := evaluate(rpc.ErrUnavailable); got != unknown {
		t.Errorf("without an answer: %d, want %v", got, unknown)
	}
}

func TestBroadcastOutcomes(t *testing.T) {
	t.Parallel()
	raw := []byte{2, 1}
	tx := chain.SignedTx{TxID: keccak(raw).String(), Raw: raw}
	none, found := constant(nil), constant(object{"hash": tx.TxID})
	cases := map[string]struct {
		send, look func([]any) (any, error)
		want       error // nil: any other error when bad
		bad        bool
	}{
		"taken":                      {send: constant(tx.TxID)},
		"accepted under another id":  {send: constant(fakeHash("x")), bad: true},
		"known":                      {send: refusal(-32000, "already known")},
		"used by itself":             {send: refusal(-32000, "nonce too low"), look: found},
		"used by another":            {send: refusal(-32000, "nonce too low"), look: none, bad: true},
		"used, and the lookup fails": {send: refusal(-32000, "nonce too low"), look: refusal(-32000, "no"), bad: true},
		"cheap": {send: refusal(-32000, "transaction underpriced"), want: chain.ErrUnderpriced,
			bad: true},
		"never": {send: refusal(-32000, "invalid sender"), want: chain.ErrRejected, bad: true},
		"poor":  {send: refusal(-32000, "insufficient funds for gas * price + value"), bad: true},
	}
	for name, test := range cases {
		f := newFake(t)
		f.script["eth_sendRawTransaction"], f.script["eth_getTransactionByHash"] = test.send, test.look
		err := f.open(t, nil).Broadcast(t.Context(), tx)
		if (err != nil) != test.bad || !errors.Is(err, test.want) && test.want != nil {
			t.Errorf("%s: %v", name, err)
		}
		if test.want == nil && (errors.Is(err, chain.ErrRejected) || errors.Is(err, chain.ErrUnderpriced)) {
			t.Errorf("%s counts as certain: %v", name, err)
		}
	}
	f := newFake(t)
	tx.Raw = []byte{2, 2}
	if err := f.open(t, nil).Broadcast(t.Context(), tx); !errors.Is(err, chain.ErrRejected) ||
		f.asked["eth_sendRawTransaction"] != 0 {
		t.Errorf("other bytes than the id's: %v, want %v and 0", err, chain.ErrRejected)
	}
}
