package chains

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/fault"
	"github.com/bursar/bursar/sandbox/nodes/solana"
	"github.com/bursar/bursar/sandbox/nodes/tron"
	"github.com/bursar/bursar/sandbox/nodes/xrpl"
)

// freeze lets a simulator make its own lagging view for the fault layer: it knows its earlier state better than its
// recorded answers do.
func freeze(behind func() http.Handler) fault.Freezer {
	return func(http.Handler) (http.Handler, error) { return behind(), nil }
}

var errTooMuch = errors.New("the amount is more than exists")

// units returns an amount that fits the 63 bits in which these chains count.
func units(a bursar.Amount) (uint64, error) {
	n, fits := a.Uint64()
	if !fits || n > 1<<62 {
		return 0, errTooMuch
	}
	return n, nil
}

type tronNode struct{ *tron.Node }

func startTron(ctx context.Context, o Options) (*Chain, error) {
	var n tronNode
	faults := fault.New(freeze(func() http.Handler { return n.Behind() }), time.Now)
	var err error
	n.Node, err = tron.Start(ctx, tron.Config{Options: o.host(faults), SolidDepth: 3})
	if err != nil {
		return nil, err
	}
	return &Chain{
		Software:  "a simulator of java-tron's HTTP API; its TRC-20 contracts run in go-ethereum's EVM",
		RPC:       n.URL(),
		Faults:    faults,
		node:      n,
		announces: n.Announces(),
		Contracts: map[bursar.CurrencyCode]string{"USDT": n.Token()},
		options:   "start_height: 1",
	}, nil
}

func (n tronNode) Pay(currency bursar.Currency, payments []Payment) (string, error) {
	outputs := make([]tron.Output, len(payments))
	for i, p := range payments {
		sun, err := units(p.Amount)
		if err != nil {
			return "", err
		}
		outputs[i] = tron.Output{Address: p.Address, Sun: int64(sun)}
	}
	switch {
	case currency.IsToken() && len(outputs) > 1:
		return n.PayTokenMany(outputs)
	case currency.IsToken():
		return n.PayToken(currency.Contract, outputs[0].Address, payments[0].Amount.Big())
	case len(outputs) == 1:
		return n.Node.Pay(outputs[0].Address, outputs[0].Sun)
	}
	return n.PayInternal(outputs)
}

func (n tronNode) Balance(currency bursar.Currency, address string) (bursar.Amount, error) {
	held, err := n.Node.Balance(address, currency.Contract)
	if err != nil {
		return bursar.Amount{}, err
	}
	return bursar.AmountFromBig(held)
}

func (n tronNode) NewAddress() (string, error) { return n.Node.NewAddress(), nil }

type solanaNode struct{ *solana.Node }

func startSolana(ctx context.Context, o Options) (*Chain, error) {
	var n solanaNode
	faults := fault.New(freeze(func() http.Handler { return n.Behind() }), time.Now)
	var err error
	n.Node, err = solana.Start(ctx, solana.Config{
		Options:       o.host(faults),
		FinalityDepth: 3,
		Traffic:       true,
	})
	if err != nil {
		return nil, err
	}
	return &Chain{
		Software:  "a simulator of a Solana RPC node",
		RPC:       n.URL(),
		Faults:    faults,
		node:      n,
		announces: n.WebSocketURL(),
		options:   "start_height: 1",
	}, nil
}

func (n solanaNode) Pay(_ bursar.Currency, payments []Payment) (string, error) {
	outputs := make([]solana.Output, len(payments))
	for i, p := range payments {
		lamports, err := units(p.Amount)
		if err != nil {
			return "", err
		}
		outputs[i] = solana.Output{Address: p.Address, Lamports: lamports}
	}
	return n.PayMany(outputs)
}

func (n solanaNode) Balance(_ bursar.Currency, address string) (bursar.Amount, error) {
	held, err := n.Node.Balance(address)
	return bursar.Units(held), err
}

func (n solanaNode) NewAddress() (string, error) { return n.Node.NewAddress(), nil }

type xrplNode struct{ *xrpl.Node }

func startXRPL(ctx context.Context, o Options) (*Chain, error) {
	var n xrplNode
	faults := fault.New(freeze(func() http.Handler { return n.Behind() }), time.Now)
	var err error
	n.Node, err = xrpl.Start(ctx, xrpl.Config{Options: o.host(faults)})
	if err != nil {
		return nil, err
	}
	return &Chain{
		Software:  "a simulator of rippled's API",
		RPC:       n.URL(),
		Faults:    faults,
		node:      n,
		announces: strings.Replace(n.URL(), "http", "ws", 1),
		options:   "start_height: 2",
	}, nil
}

// Pay pays one address, because a transaction of this ledger has one destination.
func (n xrplNode) Pay(_ bursar.Currency, payments []Payment) (string, error) {
	if len(payments) != 1 {
		return "", errors.New("a transaction on this ledger pays one address: send one payment")
	}
	drops, err := units(payments[0].Amount)
	if err != nil {
		return "", err
	}
	return n.Node.Pay(payments[0].Address, drops)
}

func (n xrplNode) Balance(_ bursar.Currency, address string) (bursar.Amount, error) {
	held, err := n.Node.Balance(address)
	return bursar.Units(held), err
}

func (n xrplNode) NewAddress() (string, error) { return n.Node.NewAddress(), nil }
