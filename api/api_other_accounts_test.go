package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/wire"
)

// neighbours is a harness on which "mine" has two of everything and "other" one of its own.
func neighbours(t *testing.T, url string) (*script, map[string]any) {
	t.Helper()
	c, right := furnished(t, url)
	c.run(`> POST /api/v1/wallet?currency=USDT&webhook=https://shop.example/hook
> @mine
< 200
< {"success":true,"response":{"wallet":{"walletID":"{{wallet2:uuid}}","currency":"USDT","address":"{{address2:text}}","minimum":"1.00","webhook":"https://shop.example/hook","metadata":"","createdAt":"2026-01-02T03:04:05Z"}}}

! deposit {{wallet2}} ab02 0 1 6
! credit ab02
! deposit {{wallet}} ab03 0 1 6
! asked mine GET /api/v1/wallet 404 not_found
! asked mine POST /api/v1/wallet 200
! list mine tron {{outsider.tron}}
! list mine USDT {{outsider.tron}}
> POST /api/v1/charge?currency=USDT&webhook=https://shop.example/hook
> @mine
< 200

> POST /api/v1/link?currency=USDT&amount=6&webhook=https://shop.example/hook
> @mine
< 200

> POST /api/v1/account/withdraw?currency=USDT&amount=1&address={{outsider.tron}}
> @mine+
> Idempotency-Key: one
< 200

> POST /api/v1/wallet?currency=USDT&webhook=https://other.example/hook
> @other
< 200
< {"success":true,"response":{"wallet":{"walletID":"{{theirs:uuid}}","currency":"USDT","address":"{{theirAddress:text}}","minimum":"1.00","webhook":"https://other.example/hook","metadata":"","createdAt":"2026-01-02T03:04:05Z"}}}

! deposit {{theirs}} cd01 0 5 6
! credit cd01
`)
	return c, right
}

// reply is the content of a response without what differs between any two.
type reply struct {
	status int
	header string
	body   string
}

var ofThisRequest = regexp.MustCompile(`"requestID":"[^"]*"`)

func (c *script) reply(r *http.Request, who, key string) reply {
	c.Helper()
	r.Header.Set("X-API-KEY", c.names[who+".key"])
	r.Header.Set("X-API-SECRET", c.names[who+".secret"])
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	response, body := c.send(r)
	response.Header.Del("X-Request-ID")
	response.Header.Del("Date")
	return reply{response.StatusCode, fmt.Sprint(response.Header), ofThisRequest.ReplaceAllString(string(body), "")}
}

// names returns the parameters of an endpoint that name an object.
func (e endpoint) names() []string {
	var list []string
	for name := range e.form.Properties {
		if (name == "hashID" || name == "requestID") && strings.HasPrefix(e.op.OperationID, "list") {
			continue // a filter: nothing of another account is in any list
		}
		if strings.HasSuffix(name, "ID") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// requests returns parameters that name an object, alone and beside each other parameter that is allowed with it.
func (e endpoint) requests(name string, right map[string]any) []map[string]any {
	least := e.least(right)
	if !e.apart(name) {
		least[name] = right[name]
	}
	list := []map[string]any{least}
	for extra := range e.form.Properties {
		if _, there := least[extra]; !there && right[extra] != nil && extra != "since" && !e.apart(extra) {
			more := maps.Clone(least)
			more[extra] = right[extra]
			list = append(list, more)
		}
	}
	return list
}

// TestAnObjectOfAnotherAccountLooksLikeAnUnknownOne asks every endpoint that takes an ID or a hash, in every encoding,
// as a change with and without an Idempotency-Key, for an object of another account and for one that does not exist:
// status, headers and body are the same to the byte, and the object is as it was.
func TestAnObjectOfAnotherAccountLooksLikeAnUnknownOne(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		c, right := neighbours(t, url)
		before := c.everything("mine")
		var asked []string
		for _, e := range theSpec(t).keyed() {
			for _, name := range e.names() {
				asked = append(asked, e.method+" "+strings.TrimPrefix(e.path, "/api/v1/")+" "+name)
				for _, values := range e.requests(name, right) {
					c.sameAsNobodys(e, name, values)
				}
			}
		}
		for _, known := range []string{"GET wallet walletID", "PUT wallet/metadata walletID", "PUT wallet/webhook walletID",
			"GET wallet/deposits walletID",
			"GET wallet/deposit depositID", "GET wallet/deposit/hash hashID", "GET charge chargeID",
			"GET account/withdrawal withdrawalID", "POST account/withdraw/cancel withdrawalID",
			"POST charge/cancel chargeID", "POST charge/quote chargeID", "POST charge/resolve depositID",
			"GET link linkID", "POST link/close linkID", "POST charge/refund chargeID",
			"POST account/webhooks/redeliver eventID", "POST account/webhooks/test walletID"} {
			if !slices.Contains(asked, known) {
				t.Errorf("%s was not asked", known)
			}
		}
		if after := c.everything("mine"); after != before {
			t.Errorf("what is mine was\n%s\nand is\n%s", before, after)
		}
	})
}

func (c *script) sameAsNobodys(e endpoint, name string, values map[string]any) {
	c.Helper()
	unknown := maps.Clone(values)
	if unknown[name] = any(c.ids.Next().String()); name == "hashID" {
		unknown[name] = "ef09"
	}
	_, change := e.op.Extensions["x-codes"]
	change = change && e.method != http.MethodGet
	for _, encoding := range encodings {
		for _, keyed := range []bool{false, true} {
			keys := [2]string{}
			if keyed && !change {
				continue
			} else if keyed {
				keys = [2]string{c.ids.Next().String(), c.ids.Next().String()}
			}
			others := c.reply(c.encoded(e.method, e.path, encoding, values), "other", keys[0])
			none := c.reply(c.encoded(e.method, e.path, encoding, unknown), "other", keys[1])
			if others != none || others.status != http.StatusNotFound ||
				!strings.Contains(others.body, `"code":"not_found"`) {
				c.Errorf("%s %s with %v by %s: another's is\n%+v\nnobody's is\n%+v", e.method, e.path, values, encoding,
					others, none)
			}
		}
	}
}

// lists returns the reading endpoints that name no object.
func lists(s *spec) []endpoint {
	return slices.DeleteFunc(s.keyed(), func(e endpoint) bool {
		return e.method != http.MethodGet || len(e.names()) > 0 || len(e.form.Required) > 0
	})
}

// everything returns all that an account can read about itself.
func (c *script) everything(who string) string {
	c.Helper()
	var all strings.Builder
	for _, e := range lists(theSpec(c)) {
		answer := c.reply(c.encoded(e.method, e.path, "query", nil), who, "")
		if answer.status != http.StatusOK {
			c.Errorf("%s %s: %+v", e.method, e.path, answer)
		}
		fmt.Fprintf(&all, "%s %s\n", e.path, answer.body)
	}
	return all.String()
}

// TestListsShowOnesOwn reads every list as an account that has nothing, and as one that has something of its own, from
// the start and from another account's cursor.
func TestListsShowOnesOwn(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		c, _ := neighbours(t, url)
		var secret []string
		for _, name := range []string{"mine", "wallet", "wallet2", "address", "address2", "charge", "chargeAddress",
			"withdrawal", "ab01", "ab02", "ab03",
			"ab01.event", "ab02.event", "asked404", "asked200", "listed." + c.names["outsider.tron"], "outsider.tron"} {
			if c.names[name] == "" {
				t.Fatalf("nothing is known as %s", name)
			}
			secret = append(secret, c.names[name])
		}
		secret = append(secret, `"ab01"`, `"ab02"`, `"ab03"`, "https://shop.example")
		cursors := 0
		for _, e := range lists(theSpec(t)) {
			requests := []map[string]any{nil}
			if next := c.nextCursor(e); next != "" {
				cursors++
				requests = append(requests, map[string]any{"cursor": next}, map[string]any{"cursor": next, "limit": 1})
			}
			for _, values := range requests {
				for _, who := range []string{"other", "open"} {
					answer := c.reply(c.encoded(e.method, e.path, "query", values), who, "")
					if answer.status != http.StatusOK {
						t.Errorf("%s %v: %+v, want %v", e.path, values, answer, http.StatusOK)
					}
					for _, text := range secret {
						if strings.Contains(answer.body, text) {
							t.Errorf("%s %v shows %s the %s: %s", e.path, values, who, text, answer.body)
						}
					}
				}
			}
		}
		if cursors < 6 {
			t.Errorf("%d lists had a second page, want at least 6", cursors)
		}
	})
}

// nextCursor returns where mine continues after one item, "" for an endpoint that is no list.
func (c *script) nextCursor(e endpoint) string {
	c.Helper()
	if e.form.Properties["cursor"] == nil {
		return ""
	}
	r := c.encoded(e.method, e.path, "query", map[string]any{"limit": 1})
	r.Header.Set("X-API-KEY", c.names["mine.key"])
	_, body := c.send(r)
	var page struct{ Response struct{ NextCursor string } }
	if err := json.Unmarshal(body, &page); err != nil || page.Response.NextCursor == "" {
		c.Fatalf("%s has no second page: %s, %v", e.path, body, err)
	}
	return page.Response.NextCursor
}

// TestAnIdempotencyKeyIsTheAccountsOwn has an account use a key under which another has a response: it gets its own.
func TestAnIdempotencyKeyIsTheAccountsOwn(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		c, _ := neighbours(t, url)
		e := endpoint{method: http.MethodPost, path: "/api/v1/account/withdraw"}
		values := map[string]any{"currency": "USDT", "amount": "1", "address": c.names["outsider.tron"]}
		ask := func(who, key string) (int, wire.Withdrawal) {
			r := c.encoded(e.method, e.path, "query", values)
			r.Header.Set("X-API-KEY", c.names[who+".key"])
			r.Header.Set("X-API-SECRET", c.names[who+".secret"])
			r.Header.Set("Idempotency-Key", key)
			response, body := c.send(r)
			var answer struct {
				Response struct{ Withdrawal wire.Withdrawal }
			}
			if err := json.Unmarshal(bytes.TrimSpace(body), &answer); err != nil {
				t.Fatal(err)
			}
			return response.StatusCode, answer.Response.Withdrawal
		}
		_, kept := ask("mine", "one")
		status, theirs := ask("other", "one")
		if status != http.StatusOK || kept.WithdrawalID.IsZero() || theirs.WithdrawalID == kept.WithdrawalID {
			t.Errorf("under the same name mine is %s and theirs %d %s", kept.WithdrawalID, status, theirs.WithdrawalID)
		}
		if _, again := ask("mine", "one"); again != kept {
			t.Errorf("mine became %+v, want %v", again, kept)
		}
		values["amount"] = "2" // another request under the name is a conflict with one's own only
		if status, _ := ask("other", "one"); status != http.StatusConflict {
			t.Errorf("theirs for another amount: %d, want %d", status, http.StatusConflict)
		}
		if status, _ := ask("open", "one"); status != http.StatusUnprocessableEntity {
			t.Errorf("an account without money, under the name: %d, want %d", status, http.StatusUnprocessableEntity)
		}
	})
}
