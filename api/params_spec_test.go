package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wire"
)

// furnished is a harness with one of everything, and for each parameter a valid value.
func furnished(t *testing.T, url string) (*script, map[string]any) {
	t.Helper()
	c := newScript(t, url)
	c.run(`> POST /api/v1/wallet?currency=USDT&webhook=https://shop.example/hook
> @mine
< 200
< {"success":true,"response":{"wallet":{"walletID":"{{wallet:uuid}}","currency":"USDT","address":"{{address:text}}","minimum":"1.00","webhook":"https://shop.example/hook","metadata":"","createdAt":"2026-01-02T03:04:05Z"}}}

! head tron 10 8
! deposit {{wallet}} ab01 0 1000000 5
! credit ab01
! webhook mine https://shop.example/account
> POST /api/v1/charge?currency=USDT&webhook=https://shop.example/hook
> @mine
< 200
< {"success":true,"response":{"charge":{"chargeID":"{{charge:uuid}}","currency":"USDT","address":"{{chargeAddress:text}}","minimum":"1.00","paid":false,"expired":false,"expires":3600,"webhook":"https://shop.example/hook","metadata":"","depositIDs":[],"createdAt":"2026-01-02T03:04:05Z"}}}

> POST /api/v1/account/withdraw?currency=USDT&amount=1&address={{outsider.tron}}
> @mine+
< 200
< {"success":true,"response":{"withdrawal":{"withdrawalID":"{{withdrawal:uuid}}","currency":"USDT","amount":"1.00","fee":"0.00","address":"{{outsider.tron}}","hashID":null,"status":"queued","error":null,"createdAt":"2026-01-02T03:04:05Z","completedAt":null}}}
`)
	c.run(`> POST /api/v1/link?currency=USDT&amount=5&webhook=https://shop.example/hook
> @mine
< 200
< {"success":true,"response":{"link":{"linkID":"{{link:uuid}}","token":"{{linkToken:text}}","currencies":["USDT"],"priceCurrency":"USDT","amount":"5","fields":[],"maxUses":null,"expires":3600,"description":"","webhook":"https://shop.example/hook","metadata":"","createdAt":"2026-01-02T03:04:05Z","closesAt":null,"closedAt":null}}}
`)
	for _, name := range []string{"quotable", "payable", "resolvable", "cancelled"} {
		c.sum(name)
	}
	for _, name := range []string{"payable", "resolvable"} {
		c.run(`> POST /api/v1/account/withdraw?currency=USDT&amount=2000&address={{` + name + `.address}}
> @mine+
< 200
`)
		c.learn(name, c.encoded("GET", "/api/v1/charge", "query", map[string]any{"chargeID": c.names[name]}))
	}
	return c, map[string]any{"walletID": c.names["wallet"], "depositID": c.names["ab01"], "hashID": "ab01",
		"chargeID":     c.names["charge"],
		"withdrawalID": c.names["withdrawal"], "eventID": c.names["ab01.event"], "currency": "USDT",
		"webhook":  "https://shop.example/new",
		"metadata": "é & <b>", "amount": "1.5", "address": c.names["outsider.tron"], "minimum": 2, "expires": 60, "limit": 3,
		"since": "2026-01-02T03:04:05Z", "requestID": c.names["wallet"], "path": "account/withdraw",
		"quotable": c.names["quotable"], "cancelled": c.names["cancelled"],
		"payable": c.names["payable"], "payment": c.names["payable.payment"],
		"resolvable": c.names["resolvable"], "resolved": c.names["resolvable.payment"],
		"price": "9.99", "priceCurrency": "EUR", "rateLock": 60, "underPercent": "0.5", "underAmount": "0.1",
		"overPercent": 1, "overAmount": "2", "late": "accept", "other": "review", "reference": "order 1",
		"description": "shoes", "customer": "c 7", "redirectSuccess": "https://shop.example/ok",
		"redirectFailure": "https://shop.example/no", "contact": "help@shop.example", "locale": "de",
		"linkFormat": "link", "events": "partial,expired", "resolution": "credit", "part": "all", "rate": "then",
		"fee":    "merchant",
		"status": "open", "label": "late", "attention": "true", "from": "2026-01-02T03:04:05Z",
		"to":    "2026-01-03T00:00:00Z",
		"until": "2026-01-03T00:00:00Z", "kind": "deposit", "month": "2026-01", "format": "json",
		"after": c.names["ab01.event"], "type": "wallet", "event": "deposit", "wait": 0, "q": "ab01",
		"withdrawals": []map[string]any{{"currency": "USDT", "amount": "1", "address": c.names["outsider.tron"],
			"reference": "p 1"}},
		"linkID": c.names["link"], "fields": "email,order", "maxUses": 3, "closesAt": "2026-02-01T00:00:00Z",
		"seen": "1", "open": "true", "usable": "true"}
}

// sum makes a charge of 1000 USDT whose deposits add up, known by a name.
func (c *script) sum(name string) {
	c.Helper()
	c.learn(name, c.encoded("POST", "/api/v1/charge", "json",
		map[string]any{"currency": "USDT", "amount": "1000", "webhook": "https://shop.example/hook"}))
}

// learn remembers the charge that a request returns: its ID, its address and its first payment.
func (c *script) learn(name string, r *http.Request) {
	c.Helper()
	r.Header.Set("X-API-KEY", c.names["mine.key"])
	_, body := c.send(r)
	var answer struct{ Response struct{ Charge wire.Invoice } }
	if err := json.Unmarshal(body, &answer); err != nil {
		c.Fatal(err)
	}
	charge := answer.Response.Charge
	c.names[name], c.names[name+".address"] = charge.ChargeID.String(), charge.Address
	if len(charge.Payments) > 0 {
		c.names[name+".payment"] = charge.Payments[0].DepositID.String()
	}
}

// apart reports whether a parameter has another value, or none, beside what the endpoint's requests have.
func (e endpoint) apart(name string) bool {
	switch e.op.OperationID {
	case "createCharge", "createLink":
		return slices.Contains([]string{"minimum", "price", "priceCurrency"}, name)
	case "withdraw":
		return name == "metadata" || name == "reference"
	case "listAllDeposits", "listDeposits", "listDeliveries", "listRequests":
		return name == "status"
	case "listWithdrawals":
		return name == "status" || name == "metadata"
	case "refundCharge":
		return slices.Contains([]string{"part", "rate", "chargeID", "depositID"}, name)
	case "resolveCharge":
		return name == "chargeID" || name == "depositID"
	case "quoteCharge", "cancelCharge":
		return name == "chargeID"
	}
	return false
}

// takesObject reports whether a parameter may be a JSON object.
func (e endpoint) takesObject(name string) bool {
	return e.op.OperationID == "withdraw" && name == "metadata"
}

// endpoint is an operation of the spec with the schema of its parameters.
type endpoint struct {
	method, path string
	op           *openapi3.Operation
	form         *openapi3.Schema
}

// keyed returns the endpoints that need a key, always in one order.
func (s *spec) keyed() []endpoint {
	var list []endpoint
	for _, path := range slices.Sorted(maps.Keys(s.Paths.Map())) {
		operations := s.Paths.Value(path).Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			if op := operations[method]; op.Security == nil || len(*op.Security) > 0 {
				list = append(list, endpoint{method, path, op, formOf(op)})
			}
		}
	}
	return list
}

// least returns the required parameters, with right values.
func (e endpoint) least(right map[string]any) map[string]any {
	values := map[string]any{}
	for _, name := range e.form.Required {
		values[name] = right[name]
	}
	switch e.op.OperationID {
	case "redeliver":
		values["eventID"] = right["eventID"]
	case "createCharge", "createLink": // of the rule that takes all parameters
		values["amount"] = right["amount"]
	case "quoteCharge":
		values["chargeID"] = right["quotable"]
	case "resolveCharge":
		values["chargeID"], values["depositID"] = right["resolvable"], right["resolved"]
	case "refundCharge":
		values["chargeID"], values["depositID"], values["amount"] = right["payable"], right["payment"], right["amount"]
	case "cancelCharge":
		values["chargeID"] = right["cancelled"]
	}
	return values
}

// TestEveryParameterIsTakenAsDescribed sends only the required parameters in every encoding, which must succeed; then
// it leaves out one parameter after the other, and sends one after the other as a list: the refusal must name it.
func TestEveryParameterIsTakenAsDescribed(t *testing.T) {
	t.Parallel()
	c, right := furnished(t, storetest.Reused(t))
	s := theSpec(t)
	for _, e := range s.keyed() {
		for _, encoding := range encodings {
			c.expect(e, encoding, e.least(right), http.StatusOK, "")
		}
		for _, name := range e.form.Required {
			values := e.least(right)
			delete(values, name)
			for _, encoding := range encodings {
				c.expect(e, encoding, values, http.StatusBadRequest, name)
			}
		}
		for name := range e.form.Properties {
			values := e.least(right)
			for _, wrong := range []any{[]string{"x"}, nil, true, map[string]any{}} {
				if _, object := wrong.(map[string]any); object && e.takesObject(name) {
					continue
				}
				values[name] = wrong
				c.expect(e, "json", values, http.StatusBadRequest, name)
			}
			if v, known := right[name]; known && name != "since" && !e.apart(name) {
				values[name] = v
				c.expect(e, "json", values, http.StatusOK, "")
			}
		}
	}
}

func (c *script) expect(e endpoint, encoding string, values map[string]any, status int, field string) {
	c.Helper()
	r := c.encoded(e.method, e.path, encoding, values)
	r.Header.Set("X-API-KEY", c.names["mine.key"])
	r.Header.Set("X-API-SECRET", c.names["mine.secret"])
	response, body := c.send(r)
	var refused struct{ Error struct{ Code, Field string } }
	if err := json.Unmarshal(body, &refused); err != nil {
		c.Fatal(err)
	}
	if response.StatusCode != status || refused.Error.Field != field ||
		field != "" && refused.Error.Code != "invalid_request" {
		c.Errorf("%s %s with %v by %s: %d %s, want %d of %q", e.method, e.path, values, encoding, response.StatusCode, body,
			status, field)
	}
	if err := theSpec(c).agrees(c.Context(), r, answered{response.StatusCode, response.Header, body}); err != nil {
		c.Errorf("%s %s with %v by %s: %v", e.method, e.path, values, encoding, err)
	}
}
