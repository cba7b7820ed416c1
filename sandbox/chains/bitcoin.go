package chains

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/fault"
	"github.com/bursar/bursar/sandbox/nodes/bitcoin"
)

// bitcoinFee is the node's fee estimate: 5 satoshi per virtual byte, as on an ordinary day.
const bitcoinFee = 5000

type bitcoinNode struct{ *bitcoin.Node }

func startBitcoin(ctx context.Context, o Options) (*Chain, error) {
	var n bitcoinNode
	faults := fault.New(fault.FreezeBitcoin(func() int64 { return n.Node.Height() }), time.Now)
	var err error
	n.Node, err = bitcoin.Start(ctx, bitcoin.Config{Options: o.host(faults), FeeRate: bitcoinFee})
	if err != nil {
		return nil, err
	}
	return &Chain{
		Real:      true,
		Software:  "btcd's validation, mempool and miner (regtest), as bitcoind over JSON-RPC",
		RPC:       n.URL(),
		Faults:    faults,
		node:      n,
		announces: n.Announces(),
		options:   "confirmations: 3, start_height: 1",
	}, nil
}

func (n bitcoinNode) Pay(_ bursar.Currency, payments []Payment) (string, error) {
	outputs := make([]bitcoin.Output, len(payments))
	for i, p := range payments {
		units, ok := p.Amount.Uint64()
		if !ok || units > 1<<62 {
			return "", errors.New("the amount is more than all bitcoins there are")
		}
		outputs[i] = bitcoin.Output{Address: p.Address, Amount: int64(units)}
	}
	return n.PayMany(outputs)
}

func (n bitcoinNode) Balance(_ bursar.Currency, address string) (bursar.Amount, error) {
	satoshi, err := n.Node.Balance(address)
	return bursar.Units(uint64(max(satoshi, 0))), err
}

func (n bitcoinNode) Mine(count int) error {
	_, err := n.Node.Mine(count)
	return err
}

func (n bitcoinNode) Height() uint64 { return uint64(n.Node.Height()) }
