package bitcoin_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/bitcoin/bitcoindtest"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// TestMain removes the chains that tests begin with.
func TestMain(m *testing.M) { bitcoindtest.Main(m) }

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a real bitcoind")
	}
	t.Parallel()
	chaintest.Run(t, offline(t), func(t *testing.T) chaintest.Harness {
		node := bitcoindtest.Start(t)
		return chaintest.Harness{Chain: open(t, node), Node: refusing{node}, Unit: bursar.Units(10_000_000)}
	})
}

func TestConformanceIsDocumented(t *testing.T) {
	chaintest.Document(t, "Bitcoin", "chain/bitcoin.TestConformance", offline(t))
	chaintest.Document(t, "Litecoin", "chain/bitcoin.TestLitecoinConformance", offlineLitecoin(t))
}

// noNode is the URL of an endpoint that is never asked.
const noNode = "http://127.0.0.1:1"

// offline is the harness without a node.
func offline(t *testing.T) chaintest.Harness {
	return chaintest.Harness{Chain: openAt(t, noNode), Node: refusing{}}
}

func open(t *testing.T, node *bitcoindtest.Node, change ...func(*bitcoin.Config)) *bitcoin.Chain {
	t.Helper()
	return openAt(t, node.URL, change...)
}

func openAt(t *testing.T, url string, change ...func(*bitcoin.Config)) *bitcoin.Chain {
	t.Helper()
	network, err := bitcoin.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	cfg := bitcoin.Config{
		ID: "bitcoin", Network: network, Node: rpc.Config{URLs: []string{url}, MinPause: time.Millisecond},
	}
	for _, c := range change {
		c(&cfg)
	}
	c, err := bitcoin.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// refusing is a node with payments that the network does not relay: outputs of one satoshi less than Bitcoin Core's
// dust at the default rate.
type refusing struct{ *bitcoindtest.Node }

func (n refusing) Refusals(t testing.TB) []chaintest.Refusal {
	t.Helper()
	dust := map[string]uint64{"bech32": 294, "bech32m": 330, "p2sh-segwit": 540, "legacy": 546}
	var refusals []chaintest.Refusal
	for kind, least := range dust {
		refusals = append(refusals, tooLittle(n.AddressOf(t, kind), least))
	}
	return refusals
}

// tooLittle returns a payment of one unit less than the minimum to an address.
func tooLittle(address string, least uint64) chaintest.Refusal {
	return chaintest.Refusal{Below: true, Payment: chain.Payment{
		Address: bursar.Address{Base: address}, Amount: bursar.Units(least - 1),
	}}
}
