package console

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// listed returns the reasons of the proposals that a page lists, in order.
func (o *fixture) listed(query string) string {
	o.T.Helper()
	var list []proposalView
	w := got(o.T, o.console, apiBase+"/proposals?"+query)
	o.answers(query, w, http.StatusOK)
	o.Must(json.Unmarshal(w.Body.Bytes(), &list))
	var reasons []string
	for _, p := range list {
		reasons = append(reasons, p.Reason)
	}
	return strings.Join(reasons, " ")
}

// Each filter leaves out what it does not select, and a list in pages has every proposal once.
func TestProposalsAreFiltered(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		shop := o.OneChain.Accounts[0]
		made := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
		var ids []bursar.ID
		add := func(p store.Proposal) {
			n := len(ids)
			p.ID, p.Token, p.Hash, p.PersonID = o.IDs.Next(), o.IDs.Next(), []byte{1}, bursar.ID{1}
			p.Object = p.ID.String()
			p.CreatedAt, p.ExpiresAt = made.Add(time.Duration(n)*12*time.Hour), made.AddDate(1, 0, 0)
			ids = append(ids, p.ID)
			o.Do(func(tx *store.Tx) error { return tx.Proposals().Insert(context.Background(), p) })
		}
		add(store.Proposal{Reason: "a", Verb: "resume", Person: "Ann"})
		add(store.Proposal{Reason: "b", Verb: "withdrawal.approve", Person: "Bob", Currency: "COIN", AccountID: shop})
		add(store.Proposal{Reason: "c", Verb: "resume", Person: "Bob"})
		add(store.Proposal{Reason: "d", Verb: "resume", Person: "Ann", Currency: "COIN"})
		o.Do(func(tx *store.Tx) error {
			return tx.Proposals().SetStatus(context.Background(), ids[2], store.ProposalRejected, "no")
		})
		for query, want := range map[string]string{
			"": "d c b a", "status=pending": "d b a", "status=rejected": "c", "verb=resume": "d c a", "person=Bob": "c b",
			"currency=COIN": "d b", "account=" + shop.String(): "b", "since=2026-11-25": "d c", "until=2026-11-24": "b a",
			"since=2026-11-25&until=2026-11-25&person=Ann": "d", "status=executed": "", "limit=2": "d c",
			"limit=2&before=" + ids[2].String(): "b a", "before=" + ids[0].String(): "",
			"limit=1&person=Ann&before=" + ids[3].String(): "a",
		} {
			if got := o.listed(query); got != want {
				o.T.Errorf("proposals?%s lists %q, want %q", query, got, want)
			}
		}
		for _, wrong := range []string{"status=x", "verb=x", "currency=x", "account=x", "since=x", "before=x", "limit=0",
			"before=" + bursar.ID{9}.String()} {
			o.answers(wrong, got(o.T, o.console, apiBase+"/proposals?"+wrong), http.StatusUnprocessableEntity)
		}
		page := got(o.T, o.console, base+"/proposals?limit=2&person=Ann")
		if text := page.Body.String(); strings.Contains(text, `rel="next"`) || !strings.Contains(text, `value="Ann"`) {
			o.T.Errorf("the page of all of Ann's is %s, want her name in the filter and no older page", text)
		}
		o.answers("a page", got(o.T, o.console, base+"/proposals?limit=1&status=pending"), http.StatusOK,
			`href="?before=`+ids[3].String()+`&amp;limit=1&amp;status=pending"`,
			`/console/proposals.csv?limit=1&amp;status=pending`, `<option value="pending" selected>`)
		w := got(o.T, o.console, base+"/proposals.csv?person=Bob")
		if text := w.Body.String(); strings.Count(text, "\n") != 3 || strings.Contains(text, ",Ann,") {
			o.T.Errorf("exported is %s, want Bob's two", text)
		}
	})
}

// The export has every proposal, however many there are.
func TestEveryProposalIsExported(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		const many = 2*mostProposals + 1
		o.Do(func(tx *store.Tx) error {
			for range many {
				id := o.IDs.Next()
				p := store.Proposal{ID: id, Token: id, Object: id.String(), Hash: []byte{1}, Verb: "resume", Person: "Ann",
					PersonID: bursar.ID{1}, Reason: "=1", CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(time.Hour)}
				if err := tx.Proposals().Insert(context.Background(), p); err != nil {
					return err
				}
			}
			return nil
		})
		rows, err := csv.NewReader(got(o.T, o.console, base+"/proposals.csv").Body).ReadAll()
		if err != nil || len(rows) != many+1 {
			o.T.Fatalf("%d rows are exported, %v, want %d and a heading", len(rows), err, many)
		}
		seen := map[string]bool{}
		for _, row := range rows[1:] {
			seen[row[0]] = true
		}
		if len(seen) != many || rows[1][9] != "'=1" {
			o.T.Errorf("%d different ones are exported, the reason %q, want %d and no formula", len(seen), rows[1][9], many)
		}
	})
}

// Who is restricted to an account learns of no other's proposals: not from a page, its next one, an export, or an ID.
func TestProposalsOfOthersAreNotThere(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		mine, theirs := o.OneChain.Accounts[0], o.OneChain.Accounts[1]
		var ids []bursar.ID
		for i, account := range []bursar.ID{mine, theirs, mine, theirs, theirs, {}} {
			id := o.IDs.Next()
			ids = append(ids, id)
			o.Do(func(tx *store.Tx) error {
				return tx.Proposals().Insert(context.Background(), store.Proposal{ID: id, Token: id, Object: id.String(),
					Hash: []byte{1}, Verb: "resume", Person: "Ann", PersonID: bursar.ID{1}, Reason: string(rune('a' + i)),
					AccountID: account,
					CreatedAt: tx.Now().Add(time.Duration(i) * time.Minute), ExpiresAt: tx.Now().Add(time.Hour)})
			})
		}
		o.here.Accounts = []bursar.ID{mine}
		if got := o.listed("limit=1"); got != "c" {
			o.T.Errorf("the newest is %q, want c", got)
		}
		page := got(o.T, o.console, base+"/proposals?limit=1").Body.String()
		if !strings.Contains(page, "before="+ids[2].String()) {
			o.T.Errorf("the page is %s, want that the next one begins behind c", page)
		}
		if got := o.listed("limit=1&before=" + ids[2].String()); got != "a" {
			o.T.Errorf("the next one is %q, want a", got)
		}
		if page := got(o.T, o.console, base+"/proposals?limit=2").Body.String(); strings.Contains(page, `rel="next"`) {
			o.T.Errorf("the page of all is %s, want no next one", page)
		}
		refused := func(id bursar.ID) string {
			w := got(o.T, o.console, apiBase+"/proposals?before="+id.String())
			o.answers("before", w, http.StatusUnprocessableEntity)
			said, _, _ := strings.Cut(w.Body.String(), `"requestID"`)
			return strings.ReplaceAll(said, id.String(), "ID")
		}
		if others, unknown := refused(ids[1]), refused(bursar.ID{9}); others != unknown {
			o.T.Errorf("one of others is answered %s, want %s as for an unknown one", others, unknown)
		}
		text := got(o.T, o.console, base+"/proposals.csv").Body.String()
		if strings.Count(text, "\n") != 3 || strings.Contains(text, theirs.String()) {
			o.T.Errorf("exported is %s, want a and c", text)
		}
	})
}

// The filters of the page of approvals choose among what waits, and so does its export.
func TestApprovalsAreFiltered(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		o.govern(nil)
		first := o.waiting()
		shop := o.OneChain.Accounts[0].String()
		for query, want := range map[string]bool{"": true, "chain=bitcoin": true, "chain=tron": false, "asset=COIN": true,
			"asset=BTC": false, "account=" + shop: true, "account=" + strings.ToUpper(shop): true,
			"account=" + o.OneChain.Accounts[1].String(): false, "account=x": false} {
			for _, path := range []string{"/approvals?", "/approvals.csv?"} {
				w := got(o.T, o.console, base+path+query)
				o.answers(query, w, http.StatusOK)
				if is := strings.Contains(w.Body.String(), first.ID.String()); is != want {
					o.T.Errorf("%s%s has the payment: %t, want %t", path, query, is, want)
				}
			}
		}
		o.answers("the page", got(o.T, o.console, base+"/approvals?chain=bitcoin"), http.StatusOK,
			`<option value="bitcoin" selected>`, "/console/approvals.csv?chain=bitcoin")
	})
}

// Each page of an object, and each list, has the command that shows the same; what a shell would run is in none.
func TestEachPageHasItsCommand(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Reused(t))
	furnish(t, db)
	c := opened(t, db, operator.Viewer)
	for path, want := range map[string]string{
		"/deposits": "bursar deposit list", "/deposits/" + bursar.ID{4}.String(): "bursar deposit show " +
			bursar.ID{4}.String(), "/withdrawals/" + bursar.ID{3}.String(): "bursar withdrawal show " + bursar.ID{3}.String(),
		"/wallets": "bursar wallet list", "/wallets/" + bursar.ID{2}.String(): "bursar wallet show " + bursar.ID{2}.String(),
		"/accounts/" + theirs.String(): "bursar account show " + theirs.String(), "/charges": "bursar charge list",
		"/accounts": "bursar account list", "/search?q=ab": "bursar find ab",
	} {
		text := got(t, c, base+path).Body.String()
		if n := strings.Count(text, "<code>"+want+"</code>"); n != 1 {
			t.Errorf("%s has %q %d times, want once", path, want, n)
		}
	}
	if text := got(t, c, base+"/search?q=%24%28reboot%29").Body.String(); strings.Contains(text, "bursar find") {
		t.Errorf("a search for what a shell would run has a command: %s, want none", text)
	}
}
