package verdict_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/verdict"
)

// The texts are as docs/operations/screening.md shows them: anyone who writes a screening service reads and signs these
// bytes.
func TestTheTextsAreAsDocumented(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	q := verdict.Request{Instance: "-", Subject: bursar.ID{1}, Kind: verdict.OfPayout, Order: bursar.ID{1},
		Account: bursar.ID{2},
		Chain:   bursar.XRPL, Address: bursar.Address{Base: "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe", Memo: 7, HasMemo: true},
		Units: bursar.Units(2_500_000), Asking: bursar.ID{3}, Created: created}
	a := verdict.Answer{Instance: "-", Subject: q.Subject, Request: approval.HashOf(q.Text()), Verdict: verdict.Pass,
		List: "2026-11-24.1", Created: created, Expires: created.Add(time.Hour)}
	wantRequest := `bursar-screening-request/1
instance: -
subject: 01000000-0000-0000-0000-000000000000
kind: payout
order: 01000000-0000-0000-0000-000000000000
account: 02000000-0000-0000-0000-000000000000
chain: xrpl
asset: native
pay: rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe
tag: 7
units: 2500000
transaction: -
output: 0
block: -
asking: 03000000-0000-0000-0000-000000000000
created: 2026-11-24T10:00:00Z
`
	wantAnswer := `bursar-screening/1
instance: -
subject: 01000000-0000-0000-0000-000000000000
request: ` + approval.HashOf(wantRequest).String() + `
verdict: pass
list: 2026-11-24.1
created: 2026-11-24T10:00:00Z
expires: 2026-11-24T11:00:00Z
`
	if got := q.Text(); got != wantRequest {
		t.Errorf("the request is\n%s\nwant\n%s", got, wantRequest)
	}
	page, err := os.ReadFile("../docs/operations/screening.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{wantRequest, wantAnswer} {
		if !strings.Contains(string(page), "```\n"+text+"```") {
			t.Errorf("docs/operations/screening.md lacks\n%s, want %v in it", text, "```\n"+text+"```")
		}
	}
	for name, text := range map[string]string{"request": wantRequest, "answer": wantAnswer} {
		shown := regexp.MustCompile("```json\n(.*)\n```").FindAllStringSubmatch(string(page), -1)
		if !slices.ContainsFunc(shown, func(m []string) bool {
			var body struct{ Text string }
			err := json.Unmarshal([]byte(m[1]), &body)
			begins, more := strings.CutSuffix(body.Text, "…")
			return err == nil && more && strings.HasPrefix(text, begins)
		}) {
			t.Errorf("the page has the bodies %q, want one with the %s", shown, name)
		}
	}
	if got := a.Text(); got != wantAnswer {
		t.Errorf("the answer is\n%s\nwant\n%s", got, wantAnswer)
	}
	if read, err := verdict.ParseRequest(wantRequest); err != nil || read != q {
		t.Errorf("the request is read as %+v, %v, want %+v", read, err, q)
	}
	if read, err := verdict.ParseAnswer(wantAnswer); err != nil || read != a {
		t.Errorf("the answer is read as %+v, %v, want %+v", read, err, a)
	}
}

// A text has one spelling: what could be read in two ways is refused.
func TestAnAnswerHasOneSpelling(t *testing.T) {
	t.Parallel()
	text := verdict.Answer{Instance: "-", Subject: bursar.ID{1}, Verdict: verdict.Pass, List: "1",
		Created: time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC),
		Expires: time.Date(2026, 11, 24, 11, 0, 0, 0, time.UTC)}.Text()
	if _, err := verdict.ParseAnswer(text); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{"verdict: pass", "verdict: PASS"},
		{"verdict: pass", "verdict: ok"},
		{"verdict: pass\n", "verdict: reject\nverdict: pass\n"},
		{"verdict: pass\n", ""},
		{"\n", "\r\n"},
		{"10:00:00Z", "10:00:00+00:00"},
		{"11:00:00Z\n", "11:00:00Z\n\n"},
		{"11:00:00Z\n", "11:00:00Z"},
		{"list: 1", "list:  1"},
		{"bursar-screening/1", "bursar-screening/2"},
		{"11:00:00Z", "09:00:00Z"},
	} {
		changed := strings.Replace(text, change[0], change[1], 1)
		if got, err := verdict.ParseAnswer(changed); err == nil {
			t.Errorf("with %q in place of %q it is read as %+v, want an error", change[1], change[0], got)
		}
	}
}
