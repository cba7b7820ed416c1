package chains

import (
	"context"
	"time"

	"github.com/bursar/bursar/sandbox/fault"
	"github.com/bursar/bursar/sandbox/nodes/bitcoin"
)

// litecoinFee and litecoinDust are ten times Bitcoin's, as Litecoin Core's policy has them.
const (
	litecoinFee  = 10 * bitcoinFee
	litecoinDust = 30_000
)

// startLitecoin runs btcd's packages with Litecoin's parameters: its addresses, magic and genesis, but neither scrypt
// nor MWEB.
func startLitecoin(ctx context.Context, o Options) (*Chain, error) {
	var n bitcoinNode
	faults := fault.New(fault.FreezeBitcoin(func() int64 { return n.Node.Height() }), time.Now)
	var err error
	n.Node, err = bitcoin.Start(ctx, bitcoin.Config{
		Options:       o.host(faults),
		Params:        bitcoin.LitecoinParams(),
		FeeRate:       litecoinFee,
		DustRate:      litecoinDust,
		NoReplacement: true,
		UserAgent:     "/LitecoinCore:0.21.2/",
	})
	if err != nil {
		return nil, err
	}
	return &Chain{
		Real:      true,
		Software:  "btcd's validation, mempool and miner with Litecoin's parameters: no scrypt, no MWEB",
		RPC:       n.URL(),
		Faults:    faults,
		node:      n,
		announces: n.Announces(),
		options:   "confirmations: 3, start_height: 1",
	}, nil
}
