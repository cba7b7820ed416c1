package verdict_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/verdict"
)

// An answer comes through the service. Whatever is read is written the same.
func FuzzTexts(f *testing.F) {
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	q := verdict.Request{Instance: "-", Subject: bursar.ID{1}, Kind: verdict.OfPayout, Order: bursar.ID{1},
		Account: bursar.ID{2}, Chain: bursar.XRPL, Address: bursar.Address{Base: "r", Memo: 7, HasMemo: true},
		Units: bursar.Units(5), Asking: bursar.ID{3}, Created: at}
	f.Add(q.Text())
	f.Add(verdict.Answer{Instance: "-", Subject: q.Subject, Request: approval.HashOf(q.Text()), Verdict: verdict.Pass,
		List: "1", Created: at, Expires: at.Add(time.Hour)}.Text())
	f.Fuzz(func(t *testing.T, text string) {
		if q, err := verdict.ParseRequest(text); err == nil && q.Text() != text {
			t.Errorf("the request %q was read, and is written as %q", text, q.Text())
		}
		if a, err := verdict.ParseAnswer(text); err == nil && a.Text() != text {
			t.Errorf("the answer %q was read, and is written as %q", text, a.Text())
		}
	})
}
