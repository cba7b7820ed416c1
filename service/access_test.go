package service_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/destination"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// pair is two complete services on one database, with one clock that is advanced by hand: a change through the first
// must apply on the second immediately.
type pair struct {
	*testing.T
	node          *sim.Chain
	first, second *service.Service
	clock         *clocktest.Clock
}

func onPair(t *testing.T, test func(p *pair)) {
	bursartest.EachURL(t, func(t *testing.T, url string) { test(newPair(t, url)) })
}

func newPair(t *testing.T, url string) *pair {
	t.Helper()
	p := &pair{T: t, clock: newClock(), node: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"})}
	p.first, p.second = p.open(url, "first"), p.open(url, "second")
	return p
}

func (p *pair) open(url, holder string) *service.Service {
	p.Helper()
	db := storetest.OpenAt(p, url, p.clock.Now)
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	p.must(err)
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	p.must(err)
	s, err := service.New(service.Parts{DB: db, Keys: keys, Registry: registry, Pace: 10 * time.Millisecond,
		Holder: holder, Listen: "127.0.0.1:0",
		Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, DestinationHold: 24 * time.Hour,
		Chains: []service.ChainPart{{Chain: p.node, MaxFee: bursar.Units(1 << 30)}}})
	p.must(err)
	p.must(s.Listen())
	run(p.T, s)
	return s
}

func (p *pair) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// here is the address of requests unless a test gives another.
const here = "192.0.2.1"

// ask sends a request to the second service and returns the status and a refusal's code.
func (p *pair) ask(method, path string, query url.Values, key account.Issued, from string) (int, string) {
	p.Helper()
	r, err := http.NewRequestWithContext(ctx, method, p.second.Address("api")+"/api/v1/"+path+"?"+query.Encode(), nil)
	p.must(err)
	r.Header.Set("X-API-KEY", key.APIKey)
	r.Header.Set("X-API-SECRET", key.APISecret)
	r.Header.Set("X-Forwarded-For", from)
	response, err := http.DefaultClient.Do(r)
	p.must(err)
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	p.must(err)
	var answer struct{ Error struct{ Code string } }
	p.must(json.Unmarshal(body, &answer))
	return response.StatusCode, answer.Error.Code
}

// reads checks the second service's response to a key's reading request.
func (p *pair) reads(key account.Issued, from string, status int, code string) {
	p.Helper()
	if got, why := p.ask(http.MethodGet, "account", nil, key, from); got != status || why != code {
		p.Errorf("from %s: %d %s, want %d %s", from, got, why, status, code)
	}
}

// pays checks the second service's response to a withdrawal. The account has no balance, so an allowed withdrawal is
// refused for that.
func (p *pair) pays(key account.Issued, status int, code string) {
	p.Helper()
	query := url.Values{"currency": {"COIN"}, "amount": {"1"}, "address": {p.node.Named("outsider")}}
	if got, why := p.ask(http.MethodPost, "account/withdraw", query, key, here); got != status || why != code {
		p.Errorf("a withdrawal gives %d %s, want %d %s", got, why, status, code)
	}
}

func (p *pair) key() account.Issued {
	p.Helper()
	issued, err := p.first.Accounts.Create(ctx, "shop", true)
	p.must(err)
	p.reads(issued, here, 200, "")
	return issued
}

func TestARevokedKeyIsRefusedOnTheOtherReplica(t *testing.T) {
	onPair(t, func(p *pair) {
		revoked := p.key()
		p.must(p.first.Accounts.Revoke(ctx, revoked.KeyID))
		p.reads(revoked, here, 401, "unauthorized")

		brief, err := p.first.Accounts.NewKey(ctx,
			account.Grant{Account: revoked.AccountID, Scopes: account.AllScopes(), Expires: p.clock.Now().Add(time.Hour)})
		p.must(err)
		p.reads(brief, here, 200, "")
		p.clock.Advance(time.Hour)
		p.reads(brief, here, 401, "unauthorized")

		old := p.key()
		next, err := p.first.Accounts.Rotate(ctx, old.KeyID, time.Hour)
		p.must(err)
		p.reads(old, here, 200, "")
		p.reads(next, here, 200, "")
		p.clock.Advance(time.Hour)
		p.reads(old, here, 401, "unauthorized")
		last, err := p.first.Accounts.Rotate(ctx, next.KeyID, 0)
		p.must(err)
		p.reads(next, here, 401, "unauthorized")
		p.reads(last, here, 200, "")
	})
}

func TestRightsOfAKeyApplyOnTheOtherReplica(t *testing.T) {
	onPair(t, func(p *pair) {
		key := p.key()
		networks := func(change account.NetworkChange) {
			p.Helper()
			_, err := p.first.Accounts.SetNetworks(ctx, key.KeyID, change)
			p.must(err)
		}
		mine, other := netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")
		networks(account.NetworkChange{Add: []netip.Prefix{mine}})
		p.reads(key, here, 200, "")
		p.reads(key, "::ffff:"+here, 200, "")
		p.reads(key, "198.51.100.1", 403, "forbidden")
		p.reads(key, "2001:db8::1", 403, "forbidden")
		networks(account.NetworkChange{Add: []netip.Prefix{other}, Remove: []netip.Prefix{mine}})
		p.reads(key, here, 403, "forbidden")
		p.reads(key, "2001:db8::1", 200, "")
		p.reads(key, here+", 2001:db8::1", 200, "")
		p.reads(key, "2001:db8::1, "+here, 403, "forbidden")
		networks(account.NetworkChange{Clear: true})
		p.reads(key, here, 200, "")

		p.must(p.first.Accounts.SetScopes(ctx, key.KeyID, []bursar.Scope{bursar.ScopeWithdraw}))
		p.reads(key, here, 403, "forbidden")
		p.pays(key, 422, "insufficient_balance")
		p.must(p.first.Accounts.SetScopes(ctx, key.KeyID, []bursar.Scope{bursar.ScopeRead}))
		p.reads(key, here, 200, "")
		p.pays(key, 403, "forbidden")
	})
}

func TestDestinationsApplyOnTheOtherReplica(t *testing.T) {
	onPair(t, func(p *pair) {
		key := p.key()
		lists := p.first.Destinations
		p.pays(key, 422, "insufficient_balance")
		p.must(lists.Enable(ctx, key.AccountID))
		p.pays(key, 422, "destination_refused")
		d, _, err := lists.Add(ctx, destination.New{Account: key.AccountID, Family: "bitcoin",
			Address: p.node.Named("outsider")})
		p.must(err)
		p.pays(key, 422, "destination_refused")
		p.clock.Advance(24 * time.Hour)
		p.pays(key, 422, "insufficient_balance")
		p.must(lists.Remove(ctx, key.AccountID, d.ID))
		p.pays(key, 422, "destination_refused")
		_, err = lists.Disable(ctx, key.AccountID)
		p.must(err)
		p.pays(key, 422, "destination_refused")
		p.clock.Advance(24 * time.Hour)
		p.pays(key, 422, "insufficient_balance")
		p.must(lists.Enable(ctx, key.AccountID))
		p.pays(key, 422, "destination_refused")
		p.must(p.first.DB.Do(ctx, func(tx *store.Tx) error {
			return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAccount(key.AccountID), Kind: store.HaltByOperator,
				Reason: "for a test"})
		}))
		p.pays(key, 403, "withdrawals_frozen")
	})
}
