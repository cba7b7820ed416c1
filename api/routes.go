package api

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/bursar/bursar"
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

	stream stream // in place of serve: for a client that asks for server-sent events

	open func(r *http.Request, header http.Header) (store.Answer, error) // in place of serve: needs no key
}

// v1 is where the paths of the interface are.
const v1 = "/api/v1/"

// table lists every endpoint.
func (a *api) table() map[string]methods {
	read := func(serve func(context.Context, *call) (any, error)) *route {
		return &route{scope: bursar.ScopeRead, serve: serve}
	}
	change := func(serve func(context.Context, *call) (any, error), params ...string) *route {
		return &route{scope: bursar.ScopeWallets, change: true, serve: serve, params: params}
	}
	withdraw := change(a.withdraw, "currency", "amount", "address", "order", "reference", "metadata")
	withdraw.scope, withdraw.secret = bursar.ScopeWithdraw, true
	each := change(a.withdrawEach, "withdrawals")
	each.scope, each.secret = bursar.ScopeWithdraw, true
	cancel := change(a.cancelWithdrawal, "withdrawalID")
	cancel.scope, cancel.secret = bursar.ScopeWithdraw, true
	refund := change(a.refundCharge, "chargeID", "depositID", "amount", "part", "rate", "fee",
		"address", "order")
	refund.scope, refund.secret = bursar.ScopeWithdraw, true
	watch := read(a.watchCharge)
	watch.stream = a.streamCharge
	return map[string]methods{
		v1 + "wallet": {http.MethodPost: change(a.createWallet, "currency", "metadata", "webhook"),
			http.MethodGet: read(a.getWallet)},
		v1 + "wallet/metadata":     {http.MethodPut: change(a.setMetadata, "walletID", "metadata")},
		v1 + "wallet/webhook":      {http.MethodPut: change(a.setWebhook, "walletID", "currency", "webhook")},
		v1 + "wallet/deposits":     {http.MethodGet: read(a.listDeposits)},
		v1 + "wallet/deposit":      {http.MethodGet: read(a.getDeposit)},
		v1 + "wallet/deposit/hash": {http.MethodGet: read(a.getDepositByHash)},
		v1 + "wallet/currencies":   {http.MethodGet: read(a.listCurrencies)},
		v1 + "charge": {http.MethodPost: change(a.createCharge, chargeParams...),
			http.MethodGet: read(a.getCharge)},
		v1 + "charge/events":  {http.MethodGet: watch},
		v1 + "charge/cancel":  {http.MethodPost: change(a.cancelCharge, "chargeID")},
		v1 + "charge/quote":   {http.MethodPost: change(a.quoteCharge, "chargeID", "currency")},
		v1 + "charge/resolve": {http.MethodPost: change(a.resolveCharge, "chargeID", "depositID", "resolution")},
		v1 + "charge/refund":  {http.MethodPost: refund},
		v1 + "link": {http.MethodPost: change(a.createLink, linkParams...),
			http.MethodGet: read(a.getLink)},
		v1 + "link/close":              {http.MethodPost: change(a.closeLink, "linkID")},
		v1 + "account/links":           {http.MethodGet: read(a.listLinks)},
		v1 + "rates":                   {http.MethodGet: read(a.listRates)},
		v1 + "account":                 {http.MethodGet: read(a.getBalance)},
		v1 + "account/wallets":         {http.MethodGet: read(a.listWallets)},
		v1 + "account/charges":         {http.MethodGet: read(a.listCharges)},
		v1 + "account/withdraw":        {http.MethodPost: withdraw},
		v1 + "account/withdraw/fee":    {http.MethodGet: read(a.quoteWithdrawal)},
		v1 + "account/withdraw/cancel": {http.MethodPost: cancel},
		v1 + "account/withdrawals": {http.MethodPost: each,
			http.MethodGet: read(a.listWithdrawals)},
		v1 + "account/withdrawal":         {http.MethodGet: read(a.getWithdrawal)},
		v1 + "account/order-keys":         {http.MethodGet: read(a.listOrderKeys)},
		v1 + "account/destinations":       {http.MethodGet: read(a.listDestinations)},
		v1 + "account/ledger":             {http.MethodGet: read(a.listLedger)},
		v1 + "account/statement":          {http.MethodGet: read(a.statement)},
		v1 + "account/deposits":           {http.MethodGet: read(a.listAllDeposits)},
		requestsPath:                      {http.MethodGet: read(a.listRequests)},
		v1 + "account/search":             {http.MethodGet: read(a.search)},
		v1 + "account/events":             {http.MethodGet: read(a.listEvents)},
		v1 + "account/webhooks":           {http.MethodGet: read(a.listDeliveries)},
		v1 + "account/webhooks/redeliver": {http.MethodPost: change(a.redeliver, "eventID", "since")},
		v1 + "account/webhooks/test":      {http.MethodPost: change(a.testWebhook, "walletID", "webhook")},
		"/healthz":                        {http.MethodGet: {open: a.healthz}},
		"/readyz":                         {http.MethodGet: {open: a.readyz}},
		"/openapi.json":                   {http.MethodGet: {open: a.openapi}},
		"/docs":                           {http.MethodGet: {open: a.page}},
	}
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
