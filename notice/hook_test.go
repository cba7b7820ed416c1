package notice_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/notice"
)

var hostile = notice.Message{ID: "0193a6a0", At: time.Unix(1_800_000_000, 0).UTC(), Subject: "Shop: alarm",
	Text:    "an alarm <!channel> @everyone [x](http://x) *b*\n  https://shop.example/docs/runbooks#funds_low\n",
	Notices: []notice.Line{{Kind: notice.Alarms, State: "opened", Alarm: "funds_low", Text: "an alarm"}}}

// asked is what a receiver of webhooks was sent.
type asked struct {
	method, path, token string
	query               url.Values
	body                map[string]any
}

// receiver answers with a status and remembers what it was sent.
func receiver(t *testing.T, status int) (address string, got *asked) {
	t.Helper()
	got = &asked{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got.method, got.path, got.token = r.Method, r.URL.Path, r.Header.Get("Authorization")
		got.query = r.URL.Query()
		_ = json.Unmarshal(text, &got.body)
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

func TestEveryFormat(t *testing.T) {
	t.Parallel()
	url, got := receiver(t, http.StatusNoContent)
	for _, test := range []struct {
		format       notice.Format
		method, path string
		want         []string // in the JSON that is sent
	}{
		{notice.Plain, "POST", "/hook", []string{`"id":"0193a6a0"`, `"kind":"alarms"`, `"subject":"Shop: alarm"`}},
		{notice.Slack, "POST", "/hook", []string{`{"text":"Shop: alarm\nan alarm &lt;!channel&gt; @everyone`}},
		{notice.Discord, "POST", "/hook", []string{`"allowed_mentions":{"parse":[]}`, `\\[x\\](http://x) \\*b\\*`,
			`runbooks#funds_low`}},
		{notice.Teams, "POST", "/hook", []string{`"contentType":"application/vnd.microsoft.card.adaptive"`,
			`{"text":"an alarm <!channel> @everyone [x](http://x) *b*","type":"TextRun"}`}},
		{notice.Telegram, "POST", "/hook", []string{`"link_preview_options":{"is_disabled":true}`,
			"an alarm <!channel> @\u200beveryone [x](http://x) *b*"}},
		{notice.Matrix, "PUT", "/hook/0193a6a0", []string{`"m.mentions":{}`, `"msgtype":"m.text"`}},
	} {
		var token func() (string, error)
		if test.format == notice.Matrix {
			token = func() (string, error) { return "letmein", nil }
		}
		*got = asked{}
		err := notice.NewHook(url+"/hook", test.format, token, nil).Send(ctx, hostile)
		if err != nil || got.method != test.method || got.path != test.path {
			t.Errorf("%s: %s %s, %v, want %s %s", test.format, got.method, got.path, err, test.method, test.path)
		}
		if (got.token == "Bearer letmein") != (token != nil) {
			t.Errorf("%s: the token is %q", test.format, got.token)
		}
		var body strings.Builder
		e := json.NewEncoder(&body)
		e.SetEscapeHTML(false)
		if err := e.Encode(got.body); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(body.String(), want) {
				t.Errorf("%s: sent was %s, want in it %s", test.format, body.String(), want)
			}
		}
	}
}

// No error names the URL, whose path is the secret of most receivers.
func TestErrorsNameNoURL(t *testing.T) {
	t.Parallel()
	refusing, _ := receiver(t, http.StatusForbidden)
	redirecting, _ := receiver(t, http.StatusFound)
	for _, url := range []string{refusing, redirecting, "http://127.0.0.1:1", "https://127.0.0.1:1"} {
		err := notice.NewHook(url+"/s3cret", notice.Slack, nil, nil).Send(ctx, hostile)
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("sending to %s gives %v, want an error without the path", url, err)
		}
	}
	failing := errors.New("no token")
	err := notice.NewHook(refusing, notice.Matrix, func() (string, error) { return "", failing }, nil).Send(ctx, hostile)
	if !errors.Is(err, failing) {
		t.Errorf("without a token sending gives %v, want %v", err, failing)
	}
}

func TestWhatAFormatTakesIsCut(t *testing.T) {
	t.Parallel()
	url, got := receiver(t, http.StatusOK)
	long := notice.Message{Subject: "Shop", Text: strings.Repeat("ä[", 6000)}
	for format, want := range map[notice.Format]struct {
		key  string
		most int
	}{notice.Discord: {"content", 2000}, notice.Telegram: {"text", 4096}} {
		if err := notice.NewHook(url, format, nil, nil).Send(ctx, long); err != nil {
			t.Fatal(err)
		}
		content, _ := got.body[want.key].(string)
		if n := len([]rune(content)); n != want.most {
			t.Errorf("%s: the %s has %d characters, want %d", format, want.key, n, want.most)
		}
	}
}

// A bot of Telegram is addressed by the URL alone: its token in the path and the chat as a parameter, which stay beside
// the body.
func TestTelegramIsAddressedByTheURL(t *testing.T) {
	t.Parallel()
	url, got := receiver(t, http.StatusOK)
	at := url + "/bot123:s3cret/sendMessage?chat_id=-1001234567890"
	if err := notice.NewHook(at, notice.Telegram, nil, nil).Send(ctx, hostile); err != nil {
		t.Fatal(err)
	}
	if got.path != "/bot123:s3cret/sendMessage" || got.query.Get("chat_id") != "-1001234567890" ||
		got.body["text"] == nil {
		t.Errorf("asked was %s with %v and %v, want the bot's path, the chat and a text", got.path, got.query, got.body)
	}
	for _, parameter := range []string{"parse_mode", "entities"} {
		if got.body[parameter] != nil {
			t.Errorf("the body has %s, want text without markup", parameter)
		}
	}
}
