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

// open returns the chains whose blocks are announced to the service now.
func (o outside) open() (open []bursar.ChainID) {
	o.Helper()
	var text string
	o.ask(http.MethodGet, o.Dashboard+"/metrics", nil, &text)
	for _, m := range regexp.MustCompile(`(?m)^bursar_push_open\{chain="([a-z]+)",[^}]*\} 1$`).FindAllStringSubmatch(text,
		-1) {
		open = append(open, bursar.ChainID(m[1]))
	}
	return open
}

// On every chain the node announces its blocks. Whatever befalls the announcements, deposits are credited by polling,
// and subscriptions that were cut are open again.
func TestEveryFaultOfAnnouncements(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("faults of all chains' announcements are left out by -short")
	}
	line, end := begin(t, "--json", "--blocks", "manual")
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	o := outside{t, factsOf(t, line)}
	all := func() bool { return len(o.open()) == len(chains.Available()) }
	o.until("every chain's blocks are announced", all)
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
		o.until("every chain's blocks are announced again", all)
	}
}
