package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/config"
)

func TestNoticesAreTestedAndListed(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.fails(exitUsage, "nobody is notified", "notice", "test")
	status, sent := http.StatusOK, ""
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		sent = string(text)
		w.WriteHeader(status)
	}))
	t.Cleanup(chat.Close)
	d.env = append(d.env, "BURSAR_NOTICES_RECEIVERS_CHAT_WEBHOOK="+chat.URL+"/s3cret",
		"BURSAR_NOTICES_RECEIVERS_CHAT_FORMAT=slack")
	if got := parse[[]testedReceiver](d, "notice", "test", "chat", "--json"); len(got) != 1 || !got[0].Sent ||
		!strings.Contains(sent, "This is a test") {
		t.Errorf("the test says %+v and sent %q, want a test message", got, sent)
	}
	if got := parse[[]listedReceiver](d, "notice", "list", "--json"); len(got) != 1 || got[0].Receiver != "chat" {
		t.Errorf("listed are %+v, want the receiver", got)
	}
	d.fails(exitUsage, "notices.receivers has no ops", "notice", "test", "ops")
	status = http.StatusForbidden
	if o := d.run("", "notice", "test"); o.code != 1 ||
		!strings.Contains(o.out, "the receiver answered with status 403") ||
		strings.Contains(o.out+o.err, "s3cret") {
		t.Errorf("a test that fails exits with %d, prints %q and says %q, want 1, the status and no secret", o.code, o.out,
			o.err)
	}
	for _, want := range []string{resultOK, resultWarning} {
		e := &healthCheck{cfg: config.Config{Notices: config.Notices{Location: time.UTC, Receivers: []config.NoticeReceiver{{
			Name: "chat", Webhook: config.NewSecret(chat.URL + "/s3cret"), Format: "slack"}}}}}
		e.notices(t.Context())
		if len(e.findings) != 1 || e.findings[0].Result != want || strings.Contains(e.findings[0].Detail, "s3cret") {
			t.Errorf("doctor says %+v, want %s and no secret", e.findings, want)
		}
		chat.Close()
	}
	e := &healthCheck{cfg: config.Config{Network: config.Mainnet}}
	if e.notices(t.Context()); len(e.findings) != 1 || e.findings[0].Result != resultWarning {
		t.Errorf("without receivers doctor says %+v, want a warning on mainnet", e.findings)
	}
}
