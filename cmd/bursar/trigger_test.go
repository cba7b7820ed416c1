package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// A profile of a real service is in use, and a sandbox listens on this machine, or what calls itself one: nothing is
// made at that service, and its key goes nowhere.
func TestNothingIsTriggeredAtAnotherService(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	urls, keys := services(t)
	var asked []string
	sandbox := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		_, _ = w.Write([]byte(`{"url":"` + urls[1] + `"}`)) // a client that has gone fails its own test
	}))
	t.Cleanup(sandbox.Close)
	if o := d.run("bk_live\nbs_live\n", "profile", "add", "live", "--api", urls[0]); o.code != 0 {
		t.Fatalf("profile add exits with %d: %s, want 0", o.code, o.err)
	}
	d.fails(exitUsage, "is of "+urls[1], "trigger", "deposit", "--profile", "live", "--control", sandbox.URL)
	if len(asked) != 1 || asked[0] != "GET /api/url" {
		t.Errorf("the sandbox was asked %v, want for its service alone", asked)
	}
	if keys[0] != "" || keys[1] != "" {
		t.Errorf("keys were sent: %v, want none", keys)
	}
}

// asked is a service of a sandbox, with its remote control, that notes the parameters of what it is asked to make.
func asked(t *testing.T) (api, control string, values *[]url.Values) {
	values = new([]url.Values)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			_, _ = w.Write([]byte(`{"success":true,"response":{"events":[],"next":"1"}}`))
			return
		}
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		*values = append(*values, r.PostForm)
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = w.Write([]byte(`{"success":false,"error":{"code":"invalid_request","message":"enough","field":"expires"}}`))
	}))
	t.Cleanup(service.Close)
	sandbox := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]string{"/api/url": service.URL, "/webhooks/url": "http://receiver.example/"}
		_, _ = w.Write([]byte(`{"url":"` + answers[r.URL.Path] + `"}`))
	}))
	t.Cleanup(sandbox.Close)
	return service.URL, sandbox.URL, values
}

// What is asked for is changed by overrides and then by an editor, and what the service refuses is said.
func TestATriggersRequestIsChanged(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	api, control, values := asked(t)
	d.env = append(d.env, "BURSAR_API_KEY=bk_sandbox", "BURSAR_API="+api, "BURSAR_CONTROL="+control)
	args := []string{"trigger", "paid", "--override", "reference=a=b,c", "--override", "events=", "--override",
		"expires=600"}
	d.fails(exitFailed, "enough", args...)
	d.env = append(d.env, `EDITOR=sed -i -e 's/"600"/"900"/'`)
	d.fails(exitFailed, "enough", append(args, "--edit")...)
	plain := "amount=0.01&currency=BTC&expires=%s&reference=a%%3Db%%2Cc&webhook=http%%3A%%2F%%2Freceiver.example%%2F"
	for i, expires := range []string{"600", "900"} {
		if want := fmt.Sprintf(plain, expires); len(*values) != 2 || (*values)[i].Encode() != want {
			t.Fatalf("asked for is %v, want %s as number %d of 2", *values, want, i)
		}
	}
	for editor, want := range map[string]string{
		"":                       "put its name into EDITOR",
		"truncate -s 0":          "the file is empty",
		"sed -i 1d":              "no object of JSON",
		"false":                  "the editor",
		"sed -i s/0.01/[0.01]/;": "the editor",
	} {
		d.env = append(d.env, "EDITOR="+editor)
		o := d.run("", append(args, "--edit")...)
		if o.code == 0 || !strings.Contains(o.err, want) {
			t.Errorf("with the editor %q it exits with %d: %s, want %q", editor, o.code, o.err, want)
		}
	}
	d.fails(exitUsage, `"reference" is not name=value`, "trigger", "paid", "--override", "reference")
	if len(*values) != 2 {
		t.Errorf("%d requests were sent, want none behind the first two", len(*values))
	}
}

// An event of a charge is known by its full name too, and over is short for overpaid.
func TestATriggersEventHasOtherNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"paid": "paid", "charge.paid": "paid", "over": "overpaid",
		"charge.over": "overpaid", "charge.reversed": "reversed", "withdrawal": "withdrawal",
		"charge.withdrawal": "charge.withdrawal", "charge.deposit_reversed": "charge.deposit_reversed"} {
		if got := ofCharge(name); got != want {
			t.Errorf("the event %s is taken for %q, want %q", name, got, want)
		}
	}
	d := newHarness(t)
	api, control, values := asked(t)
	d.env = append(d.env, "BURSAR_API_KEY=bk_sandbox", "BURSAR_API="+api, "BURSAR_CONTROL="+control)
	d.fails(exitFailed, "enough", "trigger", "charge.paid")
	if len(*values) != 1 || (*values)[0].Get("amount") != "0.01" {
		t.Errorf("asked for is %v, want one charge of 0.01", *values)
	}
	d.fails(exitUsage, `event "charge.deposit" cannot be triggered`, "trigger", "charge.deposit")
}

func TestSameServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		one, two string
		want     bool
	}{
		{"http://127.0.0.1:8080", "http://localhost:8080/", true},
		{"http://127.0.0.1:8080", "http://[::1]:8080", true},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8081", false},
		{"http://127.0.0.1:8080", "http://example.com:8080", false},
		{"https://example.com", "https://example.com:443/", true},
		{"https://example.com", "http://example.com", false},
		{"", "", false},
	} {
		if got := sameServer(c.one, c.two); got != c.want {
			t.Errorf("%q and %q: got %v, want %v", c.one, c.two, got, c.want)
		}
	}
}

// What a trigger asks for is not asked of somebody else: the key would go with it.
func TestATriggerFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	urls, keys := services(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			http.Redirect(w, r, urls[0]+r.URL.Path, http.StatusTemporaryRedirect)
			return
		}
		_, _ = w.Write([]byte(`{"success":true,"response":{"events":[],"next":"1"}}`))
	}))
	t.Cleanup(service.Close)
	sandbox := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]string{"/api/url": service.URL, "/webhooks/url": "http://receiver.example/"}
		_, _ = w.Write([]byte(`{"url":"` + answers[r.URL.Path] + `"}`))
	}))
	t.Cleanup(sandbox.Close)
	d.env = append(d.env, "BURSAR_API_KEY=bk_sandbox", "BURSAR_API="+service.URL, "BURSAR_CONTROL="+sandbox.URL)
	d.fails(exitFailed, "307", "trigger", "paid")
	if keys[0] != "" {
		t.Errorf("the other service got the key %q, want none", keys[0])
	}
}

// Each event that can be triggered is listed with what happens, and nothing else is.
func TestEveryTriggeredEventIsDescribed(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	causes := new(trigger).causes()
	lines := strings.Split(strings.TrimSpace(d.ok("trigger", "list")), "\n")
	if len(lines) != len(causes) || len(happens) != len(causes) {
		t.Errorf("%d events are listed and %d described, want %d", len(lines), len(happens), len(causes))
	}
	for _, line := range lines {
		name, what, _ := strings.Cut(line, " ")
		if causes[name] == nil || strings.TrimSpace(what) == "" {
			t.Errorf("listed is %q, want an event that can be triggered, and what happens", line)
		}
	}
}
