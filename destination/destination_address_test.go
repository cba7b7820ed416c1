package destination_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/chain/tron"
	"github.com/bursar/bursar/chain/xrpl"
	"github.com/bursar/bursar/destination"
	"github.com/bursar/bursar/store"
)

// Addresses published by others: in EIP-55, BIP 173, the XRP Ledger's XLS-5 and Tron's documentation.
const (
	ethA  = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	ethB  = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"
	ethC  = "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB"
	btcA  = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
	xrpA  = "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59"
	xrpX  = "X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ" // xrpA without a tag
	xrpX1 = "X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu" // xrpA with tag 1
	trxA  = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"
	trxA1 = "415cd0fb0ab3ce40f3051414c604b27756e69e43db"
	solA  = "4fYNw3dojWmQ4dXtSGE9epjRGy9pFSx62YypT7avPYvA"
)

// papers are the mainnet chains with the addresses of their adapters. Litecoin is not configured.
func papers(t testing.TB) map[bursar.ChainID]paper {
	t.Helper()
	all := map[bursar.ChainID]paper{}
	put := func(id bursar.ChainID, family bursar.Family, rules chain.Addresses, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all[id] = paper{rules, chain.Capabilities{ID: id, Family: family}}
	}
	network, err := bitcoin.Bitcoin("main")
	if err != nil {
		t.Fatal(err)
	}
	btc, err := bitcoin.New(bitcoin.Config{ID: bursar.Bitcoin, Network: network,
		Node: rpc.Config{URLs: []string{"http://127.0.0.1:1"}}})
	put(bursar.Bitcoin, "bitcoin", btc, err)
	for id, config := range map[bursar.ChainID]evm.Config{bursar.Ethereum: evm.Ethereum(), bursar.BSC: evm.BSC(),
		bursar.Polygon: evm.Polygon()} {
		rules, err := evm.NewRules(config)
		put(id, "evm", rules, err)
	}
	trx, err := tron.NewRules(tron.Mainnet())
	put(bursar.Tron, "tron", trx, err)
	xrp, err := xrpl.NewRules(xrpl.Config{ID: bursar.XRPL, Network: xrpl.Mainnet})
	put(bursar.XRPL, "xrpl", xrp, err)
	sol, err := solana.NewRules(solana.Mainnet())
	put(bursar.Solana, "solana", sol, err)
	return all
}

// TestOneAddressHasOneSpelling lists an address in one spelling and pays it in every other. A tag is part of an
// address.
func TestOneAddressHasOneSpelling(t *testing.T) {
	each(t, func(s *harness) {
		for _, c := range []struct {
			currency bursar.CurrencyCode
			listed   string
			paid     []string
			refused  []string
		}{
			{"ETH", strings.ToLower(ethA), []string{ethA, "0x" + strings.ToUpper(ethA[2:]), strings.ToLower(ethA)},
				[]string{ethB}},
			{"USDC-MATIC", ethA, []string{strings.ToLower(ethA)}, []string{ethC}},
			{"BTC", strings.ToUpper(btcA), []string{btcA, strings.ToUpper(btcA)},
				[]string{"bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3"}},
			{"USDT", trxA1, []string{trxA, trxA1, strings.ToUpper(trxA1)}, []string{"TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"}},
			{"TRX", trxA, []string{trxA1}, nil},
			{"SOL", solA, []string{solA}, []string{"So11111111111111111111111111111111111111112"}},
			{"XRP", xrpX1, []string{xrpA + ":1", xrpX1}, []string{xrpA, xrpX, xrpA + ":0", xrpA + ":2"}},
		} {
			mine := s.account()
			s.add(destination.New{Account: mine, Currency: c.currency, Address: c.listed})
			s.must(s.lists.Enable(s.Context(), mine))
			s.clock.Advance(hold)
			for _, address := range c.paid {
				s.paid(mine, c.currency, address, "")
			}
			for _, address := range c.refused {
				s.paid(mine, c.currency, address, unlisted)
			}
		}
		mine := s.account() // no tag is not any tag
		s.add(destination.New{Account: mine, Family: "xrpl", Address: xrpX})
		s.must(s.lists.Enable(s.Context(), mine))
		s.clock.Advance(hold)
		s.paid(mine, "XRP", xrpA, "")
		s.paid(mine, "XRP", xrpA+":0", unlisted)
		s.paid(mine, "XRP", xrpX1, unlisted)
	})
}

func TestInvalidDestinationsAreRefused(t *testing.T) {
	each(t, func(s *harness) {
		mine, theirs := s.account(), s.account()
		for name, c := range map[string]struct {
			n    destination.New
			want bursar.ErrorCode
		}{
			"a wrong checksum": {destination.New{Account: mine, Currency: "ETH", Address: ethA[:41] + "D"},
				bursar.CodeInvalidAddress},
			"another chain's address": {destination.New{Account: mine, Currency: "BTC", Address: ethA},
				bursar.CodeInvalidAddress},
			"no address": {destination.New{Account: mine, Currency: "BTC"}, bursar.CodeInvalidAddress},
			"an unknown currency": {destination.New{Account: mine, Currency: "DOGE", Address: btcA},
				bursar.CodeUnsupportedCurrency},
			"a chain that is off": {destination.New{Account: mine, Currency: "LTC", Address: btcA},
				bursar.CodeUnsupportedCurrency},
			"an unknown family": {destination.New{Account: mine, Family: "ethereum", Address: ethA},
				bursar.CodeInvalidRequest},
			"neither": {destination.New{Account: mine, Address: ethA}, bursar.CodeInvalidRequest},
			"a long label": {destination.New{Account: mine, Currency: "ETH", Address: ethA,
				Label: strings.Repeat("a", destination.MaxLabel+1)}, bursar.CodeInvalidRequest},
			"a label in two lines": {destination.New{Account: mine, Currency: "ETH", Address: ethA, Label: "a\nb"},
				bursar.CodeInvalidRequest},
			"an unknown account": {destination.New{Account: s.ids.Next(), Currency: "ETH", Address: ethA}, bursar.CodeNotFound},
		} {
			_, _, err := s.lists.Add(s.Context(), c.n)
			var refusal *bursar.Error
			if !errors.As(err, &refusal) || refusal.Code != c.want {
				s.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
		d := s.add(destination.New{Account: mine, Currency: "ETH", Address: ethA})
		if err := s.lists.Remove(s.Context(), theirs, d.ID); !errors.Is(err, bursar.ErrNotFound) {
			s.Errorf("another account removes it: %v", err)
		}
		unknown := s.ids.Next()
		_, off := s.lists.Disable(s.Context(), unknown)
		for _, err := range []error{s.lists.Enable(s.Context(), unknown), off, s.lists.Remove(s.Context(), unknown, d.ID)} {
			if !errors.Is(err, bursar.ErrNotFound) {
				s.Errorf("an unknown account: %v", err)
			}
		}
		l, err := s.lists.List(s.Context(), mine, store.Page{Limit: 10})
		if err != nil || len(l.Destinations) != 1 || l.Destinations[0] != d {
			s.Errorf("the list is %+v, %v", l, err)
		}
	})
}

func TestAListIsBounded(t *testing.T) {
	each(t, func(s *harness) {
		mine := s.account()
		s.must(s.db.Do(s.Context(), func(tx *store.Tx) error {
			for i := range uint32(destination.MaxDestinations) {
				d := bursar.Destination{ID: s.ids.Next(), AccountID: mine, Family: "xrpl",
					Address: bursar.Address{Base: xrpA, Memo: i, HasMemo: true}, CreatedAt: tx.Now(), UsableFrom: tx.Now()}
				if _, added, err := tx.Destinations().Insert(s.Context(), d); err != nil || !added {
					return errors.Join(err, errors.New("one was there already"))
				}
			}
			return nil
		}))
		if _, _, err := s.lists.Add(s.Context(), destination.New{Account: mine, Currency: "XRP", Address: xrpA}); err == nil {
			s.Error("one more was added")
		}
		if _, added, err := s.lists.Add(s.Context(),
			destination.New{Account: mine, Family: "xrpl", Address: xrpX1}); err != nil || added {
			s.Errorf("one that is there already: %v, %v", added, err)
		}
	})
}
