package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// peer is another ledger that is running already, on a database of its own. What it needs is not this project's
// business: --peer names its URL.
type peer struct {
	name string // a key of peerLedgers
	base string // URL
}

// peerLedgers make the accounts of a transfer and return the request for one from a hot account to one of many.
var peerLedgers = map[string]func(ctx context.Context, base, run string) (call, error){
	"blnk":     blnk,
	"formance": formance,
}

// peerAccounts is how many accounts a hot account pays.
const peerAccounts = 200

// parsePeer reads NAME=URL.
func parsePeer(text string) (peer, error) {
	name, base, found := strings.Cut(text, "=")
	if peerLedgers[name] == nil || !found {
		return peer{}, fmt.Errorf("--peer is %.60q: use NAME=URL with one of the names %s", text,
			strings.Join(slices.Sorted(maps.Keys(peerLedgers)), ", "))
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return peer{}, fmt.Errorf("--peer %s: %.60q is no URL with http", name, base)
	}
	return peer{name, strings.TrimSuffix(base, "/")}, nil
}

// peerSuites measure transfers from one hot account, in turns with a peer.
func (b *bench) peerSuites() []suite {
	if len(b.peers) == 0 {
		return nil
	}
	s := &site{bench: b, kind: "postgres"}
	var steps []step
	for _, p := range b.peers {
		steps = append(steps, step{
			name:  "peers: " + p.name,
			takes: 5*time.Second + time.Duration(len(b.conns))*b.takes(2),
			run:   func(ctx context.Context) error { return s.besidePeer(ctx, p) },
		})
	}
	open := func(ctx context.Context) (func(), error) {
		err := s.prepare(ctx, "peers", "bitcoin")
		if err == nil {
			err = s.serve(ctx)
		}
		if err != nil {
			s.close()
			return nil, err
		}
		return s.close, nil
	}
	return []suite{{"peers", 10 * time.Second, open, steps}}
}

func (s *site) besidePeer(ctx context.Context, p peer) error {
	f, err := s.fixtures(ctx)
	if err != nil {
		return err
	}
	next, err := peerLedgers[p.name](ctx, p.base, strconv.FormatInt(time.Now().UnixNano(), 36))
	if err != nil {
		return fmt.Errorf("prepare %s: %w", p.name, err)
	}
	at, err := url.Parse(p.base)
	if err != nil {
		return err
	}
	for _, n := range s.conns {
		var best [2]load
		for range s.rounds {
			for i, d := range []driving{
				{addresses: []string{at.Host}, next: next, refusals: true},
				{addresses: []string{s.api}, next: withdraw(f.hot, f.wallet.Address)},
			} {
				d.conns, d.end, d.turn = n, after(s.seconds), &s.turn
				got, err := drive(ctx, d)
				if err != nil {
					return err
				}
				if got.PerSecond > best[i].PerSecond {
					best[i] = got
				}
			}
		}
		r := row{
			Database:    s.kind,
			Name:        "transfer from one hot account, beside " + p.name,
			Connections: n,
			Reference:   &best[0],
			Service:     best[1],
			Ratio:       best[1].PerSecond / best[0].PerSecond,
		}
		if best[0].Refused > 0 {
			r.Name += fmt.Sprintf(" (which refused %s of %s)", number(float64(best[0].Refused)),
				number(float64(best[0].Refused+best[0].Requests)))
		}
		s.part(partPeers).row(r)
	}
	return nil
}

// postJSON sends JSON to a peer.
func postJSON(ctx context.Context, target string, body, answer any) error {
	return exchange(ctx, http.MethodPost, target, nil, body, answer)
}

// blnk makes balances in Blnk, one with money, and has transfers applied before they are answered.
func blnk(ctx context.Context, base, run string) (call, error) {
	var ledger struct {
		ID string `json:"ledger_id"`
	}
	if err := postJSON(ctx, base+"/ledgers", map[string]string{"name": "bench " + run}, &ledger); err != nil {
		return nil, err
	}
	balances := make([]string, peerAccounts+1)
	for i := range balances {
		var balance struct {
			ID string `json:"balance_id"`
		}
		body := map[string]string{"ledger_id": ledger.ID, "currency": "BTC"}
		if err := postJSON(ctx, base+"/balances", body, &balance); err != nil {
			return nil, err
		}
		balances[i] = balance.ID
	}
	transaction := func(reference, from, to string, amount int64, overdraft bool) map[string]any {
		return map[string]any{
			"amount":          amount,
			"precision":       100,
			"currency":        "BTC",
			"reference":       reference,
			"source":          from,
			"destination":     to,
			"description":     "bench",
			"allow_overdraft": overdraft,
			"skip_queue":      true,
		}
	}
	funds := transaction(run+"-funds", "@bench-"+run, balances[0], 1_000_000_000, true)
	if err := postJSON(ctx, base+"/transactions", funds, &struct{}{}); err != nil {
		return nil, err
	}
	return func(turn int64) []byte {
		text, _ := json.Marshal(transaction(fmt.Sprintf("%s-%d", run, turn), balances[0],
			balances[1+turn%peerAccounts], 1, false))
		return request("POST", "/transactions", "", string(text))
	}, nil
}

// formance makes a ledger in Formance, with money on one account.
func formance(ctx context.Context, base, run string) (call, error) {
	ledger := "/v2/bench-" + run
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+ledger, http.NoBody)
	if err != nil {
		return nil, err
	}
	made, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	_ = made.Body.Close()
	if made.StatusCode >= 300 {
		return nil, fmt.Errorf("create a ledger: %s", made.Status)
	}
	transaction := func(from, to string, amount int64) map[string]any {
		return map[string]any{"postings": []map[string]any{{
			"source":      from,
			"destination": to,
			"amount":      amount,
			"asset":       "BTC/8",
		}}}
	}
	err = postJSON(ctx, base+ledger+"/transactions", transaction("world", "hot", 1_000_000_000_000), &struct{}{})
	if err != nil {
		return nil, err
	}
	return func(turn int64) []byte {
		text, _ := json.Marshal(transaction("hot", fmt.Sprintf("customers:%d", turn%peerAccounts), 1))
		return request("POST", ledger+"/transactions", "", string(text))
	}, nil
}
