package chains

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/ethereum"
	"github.com/bursar/bursar/sandbox/fault"
)

const (
	ethereumChainID = 1337 // as other development chains have
	// ethereumFinality is how far the finalized tag trails: seconds here, where it is minutes on the main net.
	ethereumFinality = 3
)

type ethereumNode struct{ *ethereum.Node }

func startEthereum(ctx context.Context, o Options) (*Chain, error) {
	faults := fault.New(fault.FreezeEthereum(), time.Now)
	n, err := ethereum.Start(ctx, ethereum.Config{ChainID: ethereumChainID, DataDir: o.DataDir, FinalityDepth: ethereumFinality, Tracing: true, Wrap: faults.Wrap, Log: o.Log})
	if err != nil {
		return nil, err
	}
	return &Chain{Real: true, Software: "go-ethereum, with blocks and finality made here in place of a consensus client", RPC: n.URL(), Faults: faults, node: ethereumNode{n},
		Settings: fmt.Sprintf("{rpc: [%q], chain_id: %d, finality: finalized, start_height: 1}", n.URL(), ethereumChainID)}, nil
}

// ethereumAddress is the form of an address; which of the two spellings of its letters is meant does not matter to a payer.
var ethereumAddress = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)

// Pay pays one payment by a plain transaction, and several through a contract, so that they arrive by internal calls.
func (n ethereumNode) Pay(_ bursar.Currency, payments []Payment) (string, error) {
	outputs := make([]ethereum.Output, len(payments))
	for i, p := range payments {
		if !ethereumAddress.MatchString(p.Address) {
			return "", fmt.Errorf("%.60q is no address", p.Address)
		}
		outputs[i] = ethereum.Output{Address: p.Address, Wei: p.Amount.Big()}
	}
	if len(outputs) == 1 {
		return n.Node.Pay(outputs[0].Address, outputs[0].Wei)
	}
	return n.PayInternal(outputs)
}

func (n ethereumNode) Balance(_ bursar.Currency, address string) (bursar.Amount, error) {
	if !ethereumAddress.MatchString(address) {
		return bursar.Amount{}, fmt.Errorf("%.60q is no address", address)
	}
	wei := n.Node.Balance(address)
	if wei == nil {
		return bursar.Amount{}, errors.New("the node has been closed")
	}
	return bursar.AmountFromBig(wei)
}

func (n ethereumNode) NewAddress() (string, error) { return n.Node.NewAddress(), nil }
