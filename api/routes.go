package api

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/store"
)

// methods are the routes of one path by method.
type methods map[string]*route

// route is one endpoint.
type route struct {
	scope  bursar.Scope
	secret bool     // X-API-SECRET is required of keys that have one
	change bool     // takes an Idempotency-Key
	params []string // of a change: those that identify a request
	serve  func(ctx context.Context, c *call) (response any, err error)

	ahead func(r *http.Request) account.Ahead // what serve will read, as far as the URL says; nil: nothing

	stream stream // in place of serve: for a client that asks for server-sent events

	open func(r *http.Request, header http.Header) (store.Answer, error) // in place of serve: needs no key
}

// v1 is where the paths of the interface are.
const v1 = "/api/v1/"

// table lists every endpoint.
func (a *api) table() map[string]methods {
	all := map[string]methods{}
	for _, part := range []map[string]methods{a.walletRoutes(), a.chargeRoutes(), a.linkRoutes(), a.accountRoutes(),
		a.withdrawalRoutes(), a.webhookRoutes(), a.openRoutes()} {
		maps.Copy(all, part)
	}
	return all
}

func (a *api) walletRoutes() map[string]methods {
	return map[string]methods{
		v1 + "wallet": {http.MethodPost: changing(a.createWallet, "currency", "metadata", "webhook"),
			http.MethodGet: reading(a.getWallet).with(walletAhead)},
		v1 + "wallet/metadata":     {http.MethodPut: changing(a.setMetadata, "walletID", "metadata")},
		v1 + "wallet/webhook":      {http.MethodPut: changing(a.setWebhook, "walletID", "currency", "webhook")},
		v1 + "wallet/deposits":     {http.MethodGet: reading(a.listDeposits)},
		v1 + "wallet/deposit":      {http.MethodGet: reading(a.getDeposit)},
		v1 + "wallet/deposit/hash": {http.MethodGet: reading(a.getDepositByHash)},
		v1 + "wallet/currencies":   {http.MethodGet: reading(a.listCurrencies)},
	}
}

func (a *api) chargeRoutes() map[string]methods {
	watch := reading(a.watchCharge)
	watch.stream = a.streamCharge
	return map[string]methods{
		v1 + "charge": {http.MethodPost: changing(a.createCharge, chargeParams...),
			http.MethodGet: reading(a.getCharge)},
		v1 + "charge/events":  {http.MethodGet: watch},
		v1 + "charge/cancel":  {http.MethodPost: changing(a.cancelCharge, "chargeID")},
		v1 + "charge/quote":   {http.MethodPost: changing(a.quoteCharge, "chargeID", "currency")},
		v1 + "charge/resolve": {http.MethodPost: changing(a.resolveCharge, "chargeID", "depositID", "resolution")},
		v1 + "charge/refund": {http.MethodPost: withdrawing(a.refundCharge, "chargeID", "depositID", "amount", "part", "rate",
			"fee", "address", "order")},
		v1 + "account/charges": {http.MethodGet: reading(a.listCharges)},
		v1 + "rates":           {http.MethodGet: reading(a.listRates)},
	}
}

func (a *api) linkRoutes() map[string]methods {
	return map[string]methods{
		v1 + "link": {http.MethodPost: changing(a.createLink, linkParams...),
			http.MethodGet: reading(a.getLink)},
		v1 + "link/close":    {http.MethodPost: changing(a.closeLink, "linkID")},
		v1 + "account/links": {http.MethodGet: reading(a.listLinks)},
	}
}

// accountRoutes are those about what an account has and did. requestsPath is one of them.
func (a *api) accountRoutes() map[string]methods {
	return map[string]methods{
		v1 + "account":              {http.MethodGet: reading(a.getBalance).with(balancesAhead)},
		v1 + "account/wallets":      {http.MethodGet: reading(a.listWallets)},
		v1 + "account/order-keys":   {http.MethodGet: reading(a.listOrderKeys)},
		v1 + "account/destinations": {http.MethodGet: reading(a.listDestinations)},
		v1 + "account/ledger":       {http.MethodGet: reading(a.listLedger)},
		v1 + "account/statement":    {http.MethodGet: reading(a.statement)},
		v1 + "account/deposits":     {http.MethodGet: reading(a.listAllDeposits)},
		requestsPath:                {http.MethodGet: reading(a.listRequests)},
		v1 + "account/search":       {http.MethodGet: reading(a.search)},
	}
}

func (a *api) withdrawalRoutes() map[string]methods {
	return map[string]methods{
		v1 + "account/withdraw": {http.MethodPost: withdrawing(a.withdraw, "currency", "amount", "address", "order",
			"reference", "metadata")},
		v1 + "account/withdraw/fee":    {http.MethodGet: reading(a.quoteWithdrawal)},
		v1 + "account/withdraw/cancel": {http.MethodPost: withdrawing(a.cancelWithdrawal, "withdrawalID")},
		v1 + "account/withdrawals": {http.MethodPost: withdrawing(a.withdrawEach, "withdrawals"),
			http.MethodGet: reading(a.listWithdrawals)},
		v1 + "account/withdrawal": {http.MethodGet: reading(a.getWithdrawal)},
	}
}

func (a *api) webhookRoutes() map[string]methods {
	return map[string]methods{
		v1 + "account/events":             {http.MethodGet: reading(a.listEvents)},
		v1 + "account/webhooks":           {http.MethodGet: reading(a.listDeliveries)},
		v1 + "account/webhooks/redeliver": {http.MethodPost: changing(a.redeliver, "eventID", "since")},
		v1 + "account/webhooks/test":      {http.MethodPost: changing(a.testWebhook, "walletID", "webhook")},
	}
}

// openRoutes need no key.
func (a *api) openRoutes() map[string]methods {
	return map[string]methods{
		"/healthz":      {http.MethodGet: {open: a.healthz}},
		"/readyz":       {http.MethodGet: {open: a.readyz}},
		"/openapi.json": {http.MethodGet: {open: a.openapi}},
		"/docs":         {http.MethodGet: {open: a.page}},
	}
}

// reading is a route that changes nothing.
func reading(serve func(context.Context, *call) (any, error)) *route {
	return &route{scope: bursar.ScopeRead, serve: serve}
}

// with returns the route, which reads something of the account together with the key.
func (r *route) with(ahead func(*http.Request) account.Ahead) *route {
	r.ahead = ahead
	return r
}

// changing is a route that changes what no payment leaves by.
func changing(serve func(context.Context, *call) (any, error), params ...string) *route {
	return &route{scope: bursar.ScopeWallets, change: true, serve: serve, params: params}
}

// withdrawing is a route that sends money away or calls that back.
func withdrawing(serve func(context.Context, *call) (any, error), params ...string) *route {
	return &route{scope: bursar.ScopeWithdraw, secret: true, change: true, serve: serve, params: params}
}

// route finds the endpoint of a request. HEAD is GET without a body; nil without an error is OPTIONS of a path that
// exists. A path in another spelling, such as %2F for a slash, does not exist: a proxy in front may have read it
// otherwise.
func (a *api) route(w http.ResponseWriter, r *http.Request) (*route, error) {
	offered, known := a.routes[r.URL.Path]
	if !known && isGuide(r.URL.Path) {
		offered, known = a.guides, true
	}
	if !known || r.URL.RawPath != "" {
		return nil, errPath
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if found := offered[method]; found != nil {
		return found, nil
	}
	w.Header().Set("Allow", offered.allow())
	if method == http.MethodOptions {
		return nil, nil
	}
	return nil, errMethod
}

func (m methods) allow() string {
	names := slices.Collect(maps.Keys(m))
	if m[http.MethodGet] != nil {
		names = append(names, http.MethodHead)
	}
	names = append(names, http.MethodOptions)
	slices.Sort(names)
	return strings.Join(names, ", ")
}
