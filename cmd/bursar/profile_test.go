package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// services answers as two services do, and records which key each was sent.
func services(t *testing.T) (urls []string, keys *[2]string) {
	keys = &[2]string{}
	for i := range keys {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			keys[i] = r.Header.Get("X-API-KEY")
			_, _ = w.Write([]byte(`{"success":true,"response":{"account":{"accountID":"0193a6a0-0000-7000-8000-000000000000",` +
				`"balance":{}}}}`)) // a client that has gone fails its own test
		}))
		t.Cleanup(s.Close)
		urls = append(urls, s.URL)
	}
	return urls, keys
}

// A key is sent to the service that it was named with, and to no other, whatever else is set.
func TestAProfilesKeyGoesToItsService(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	urls, keys := services(t)
	for i, name := range []string{"live", "test"} {
		if o := d.run("bk_"+name+"\nbs_"+name+"\n", "profile", "add", name, "--api", urls[i]); o.code != 0 ||
			strings.Contains(o.out+o.err, "bk_") {
			t.Fatalf("profile add exits with %d: %s%s, want 0 and no key", o.code, o.out, o.err)
		}
	}
	file := filepath.Join(d.dir, ".config/bursar/profiles.yaml")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file is %v, %v, want mode 0600", info, err)
	}
	if out := d.ok("profile", "list"); strings.Contains(out, "bk_") || !strings.Contains(out, urls[1]) {
		t.Errorf("profile list prints\n%s\nwant URLs and no keys", out)
	}
	for _, test := range []struct {
		env  []string
		args []string
		want [2]string
	}{
		{nil, nil, [2]string{"bk_live", ""}},
		{nil, []string{"--profile", "test"}, [2]string{"", "bk_test"}},
		{[]string{"BURSAR_PROFILE=test"}, nil, [2]string{"", "bk_test"}},
		{[]string{"BURSAR_API_KEY=bk_env", "BURSAR_API=" + urls[1]}, nil, [2]string{"", "bk_env"}},
		{[]string{"BURSAR_API_KEY=bk_env", "BURSAR_API=" + urls[1]}, []string{"--profile", "live"}, [2]string{"bk_live", ""}},
		{[]string{"BURSAR_API_KEY=bk_env"}, []string{"--api", urls[0]}, [2]string{"bk_env", ""}},
	} {
		*keys, d.env = [2]string{}, test.env
		d.ok(append([]string{"whoami"}, test.args...)...)
		if *keys != test.want {
			t.Errorf("with %v %v the services got %q, want %q", test.env, test.args, *keys, test.want)
		}
	}
	d.env = nil
	*keys = [2]string{}
	d.fails(exitUsage, "put the API key into BURSAR_API_KEY", "whoami", "--api", urls[1])
	d.fails(exitUsage, `there is no profile "lvie"`, "whoami", "--profile", "lvie")
	d.ok("profile", "use", "test")
	d.ok("api", "GET", "account")
	if want := [2]string{"", "bk_test"}; *keys != want {
		t.Errorf("the services got %q, want %q", *keys, want)
	}
	d.ok("profile", "remove", "test")
	d.fails(exitUsage, "or add a profile", "whoami")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	d.fails(exitUsage, "others can read its keys", "whoami", "--profile", "live")
}

// What the commands of clients read in the environment is no mistake of the service's configuration.
func TestAClientsVariablesAreNoSettings(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.env = append(d.env, "BURSAR_API=http://127.0.0.1:1", "BURSAR_API_KEY=bk_x", "BURSAR_API_SECRET=bs_x",
		"BURSAR_PROFILE=live", "BURSAR_WEBHOOK_SECRET=whsec_x")
	d.ok("config", "check")
}
