package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/chains"
	"github.com/bursar/bursar/sandbox/fault"
)

// open returns the chains whose block announcements the service is subscribed to now.
func (o sandboxClient) open() (open []bursar.ChainID) {
	o.Helper()
	var text string
	o.ask(http.MethodGet, o.Dashboard+"/metrics", nil, &text)
	for _, m := range regexp.MustCompile(`(?m)^bursar_push_open\{chain="([a-z]+)",[^}]*\} 1$`).FindAllStringSubmatch(text,
		-1) {
		open = append(open, bursar.ChainID(m[1]))
	}
	return open
}

// TestEveryFaultOfAnnouncements breaks the announcements of every chain's node in every way. Deposits are credited by
// polling all the same, and subscriptions that were cut are opened again.
func TestEveryFaultOfAnnouncements(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs all chains through every fault of announcements: left out by -short")
	}
	line, end := begin(t, "--json", "--blocks", "manual")
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	o := sandboxClient{t, startInfoOf(t, line)}
	all := func() bool { return len(o.open()) == len(chains.Available()) }
	o.until("the service is subscribed to every chain's blocks", all)
	for round := range fault.WireKinds() {
		wallets := map[bursar.ChainID]string{}
		for i, id := range chains.Available() {
			kind, currency := fault.WireKinds()[(i+round)%len(fault.WireKinds())], nativeOf(t, id)
			o.control("/fault", map[string]any{"chain": id, "kind": kind, "seconds": 3600})
			wallet, address := o.wallet(currency.Code)
			o.control("/pay", map[string]any{"currency": currency.Code, "address": address, "amount": "7"})
			o.control("/mine", map[string]any{"chain": id, "blocks": 6})
			wallets[id] = wallet
		}
		o.until(fmt.Sprintf("every chain credits in spite of fault %d", round+1), func() bool {
			for _, id := range chains.Available() {
				currency := nativeOf(t, id)
				if !slices.Equal(o.deposits(wallets[id]), []string{"confirmed " + currency.Exact(parse(t, currency, "7"))}) {
					return false
				}
			}
			return true
		})
		for _, id := range chains.Available() {
			o.control("/fault", map[string]any{"chain": id, "kind": fault.Cut, "seconds": 0})
		}
		o.until("the service is subscribed to every chain's blocks again", all)
	}
}
