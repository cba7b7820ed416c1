package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/tlsfile/tlstest"
)

// pretendNode is a bitcoind with the given answers.
func pretendNode(t *testing.T, says map[string]any) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := map[string]any{"id": ask.ID, "result": says[ask.Method], "error": nil}
		if says[ask.Method] == nil {
			answer["error"] = map[string]any{"code": -32601, "message": "Method not found"}
		}
		_ = json.NewEncoder(w).Encode(answer) // the command compares it with the time of arrival
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func wellNode() map[string]any {
	hash := strings.Repeat("0a", 32)
	return map[string]any{
		"getblockchaininfo": map[string]any{"chain": "regtest", "blocks": 120, "headers": 120, "bestblockhash": hash},
		"getnetworkinfo":    map[string]any{"version": 290100, "subversion": "/Satoshi:29.1.0/", "connections": 8},
		"getblockheader":    map[string]any{"time": time.Now().Unix(), "hash": hash},
		"getindexinfo":      map[string]any{"txindex": map[string]any{"synced": true}},
		"getblockhash":      "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206",
		"getbestblockhash":  hash,
		"getblock":          genesisBlock,
	}
}

// genesisBlock is the first block of Bitcoin's private network, whose hash pretendNode gives for every height (Bitcoin
// Core, kernel/chainparams.cpp, CRegTestParams).
const genesisBlock = "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a" +
	"dae5494dffff7f20020000000101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f" +
	"4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0" +
	"fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000"

// findings runs doctor and returns what it found, by check.
func (d *harness) findings() (found map[string]finding, code int) {
	d.Helper()
	o := d.run("", "doctor", "--json")
	var list []finding
	if err := json.Unmarshal([]byte(o.out), &list); err != nil {
		d.Fatalf("doctor prints %s%s: %v", o.out, o.err, err)
	}
	found = map[string]finding{}
	for _, f := range list {
		found[f.Check] = f
		if (f.Advice == "") != (f.Result == resultOK) {
			d.Errorf("only a finding that is not ok must have advice: %+v", f)
		}
	}
	return found, o.code
}

// A node with every capability passes every check; one without fails with advice, and its password is not printed.
func TestDoctorChecksNodes(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, "chains: {bitcoin: {rpc: '"+pretendNode(t, wellNode())+"'}}")
	found, code := d.findings()
	node := ""
	for check, f := range found {
		if f.Result != resultOK {
			t.Errorf("found %+v, want %v", f, resultOK)
		}
		if name, is := strings.CutPrefix(check, "bitcoin http://"); is {
			node, _, _ = strings.Cut(name, " ")
		}
	}
	for _, check := range []string{"chain", "version", "sync", "clock", "finality", "history", "block", "capabilities"} {
		if found["bitcoin http://"+node+" "+check].Result == "" {
			t.Errorf("%s is not checked", check)
		}
	}
	for _, check := range []string{"configuration", "database", "clock", "disk " + d.dir, "seed", "service",
		"chain bitcoin"} {
		if found[check].Result == "" {
			t.Errorf("%s is not checked", check)
		}
	}
	if code != 0 {
		t.Errorf("all is well, and it exits with %d, want 0", code)
	}

	ill := wellNode()
	ill["getindexinfo"] = map[string]any{}
	ill["getblockheader"] = map[string]any{"time": time.Now().Add(24 * time.Hour).Unix()}
	url := strings.Replace(pretendNode(t, ill), "http://", "http://me:hunter2@", 1)
	d = newSeededHarness(t, "chains: {bitcoin: {rpc: '"+url+"'}}")
	found, code = d.findings()
	var results []string
	for check, f := range found {
		if strings.HasPrefix(check, "bitcoin ") && f.Result != resultOK {
			results = append(results, check[strings.LastIndex(check, " ")+1:]+" "+f.Result)
		}
	}
	slices.Sort(results)
	if !slices.Equal(results, []string{"clock failed", "history warning"}) || code != exitFailed {
		t.Errorf("found %v, and exits with %d", results, code)
	}
	if o := d.run("", "doctor"); !strings.Contains(o.out, "What to do:\n  bitcoin http://") ||
		!strings.Contains(o.out, "txindex=1") || strings.Contains(o.out+o.err, "hunter2") {
		t.Errorf("it prints\n%s%s, want %q in it and %q in it and no %q", o.out, o.err, "What to do:\n  bitcoin http://",
			"txindex=1", "hunter2")
	}
}

// A chain whose only node is down is one failure, that of the node; the chain itself is said to wait for it.
func TestDoctorCountsAMissingNodeOnce(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	d := newSeededHarness(t, "chains: {bitcoin: {rpc: '"+gone.URL+"'}}")
	found, code := d.findings()
	var failed []string
	for check, f := range found {
		if f.Result == resultFailed {
			failed = append(failed, check)
		}
	}
	want := []string{"bitcoin " + gone.URL + " chain"}
	if !slices.Equal(failed, want) || code != exitFailed {
		t.Errorf("failed are %q, exit code %d, want %q and %d", failed, code, want, exitFailed)
	}
	f := found["chain bitcoin"]
	if f.Result != resultWarning || !strings.HasPrefix(f.Detail, "waits for its node") {
		t.Errorf("the chain is %+v, want a %s that says that it waits for its node", f, resultWarning)
	}
}

// doctor's findings about a clock and a disk.
func TestDoctorChecksTheMachine(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		evaluate func(*healthCheck)
		result   string
		detail   string
	}{
		"a database here":     {func(e *healthCheck) { e.clock(time.Time{}, now) }, resultOK, "on this machine"},
		"a clock that agrees": {func(e *healthCheck) { e.clock(now.Add(2*time.Second), now) }, resultOK, "2s off"},
		"a clock that drifts": {func(e *healthCheck) { e.clock(now.Add(-3*time.Second), now) }, resultWarning, "3s off"},
		"a clock that is off": {func(e *healthCheck) { e.clock(now.Add(31*time.Second), now) }, resultFailed, "31s off"},
		"room":                {func(e *healthCheck) { e.disk("/data", 1<<30, nil) }, resultOK, "1.0 GiB are free"},
		"little space": {func(e *healthCheck) {
			e.disk("/data", 1<<30-1, nil)
		}, resultWarning, "1024.0 MiB are free"},
		"no space": {func(e *healthCheck) {
			e.disk("/data", 100<<20-1, nil)
		}, resultFailed, "100.0 MiB are free"},
		"a missing folder": {func(e *healthCheck) {
			e.disk("/data", 0, errors.New("no such file"))
		}, resultFailed, "no such file"},
		"a system without the call": {func(e *healthCheck) {
			e.disk("/data", 0, errNoFreeSpace)
		}, resultWarning, "cannot be read on this system"},
	} {
		e := &healthCheck{}
		c.evaluate(e)
		if f := e.findings[0]; len(e.findings) != 1 || f.Result != c.result || !strings.Contains(f.Detail, c.detail) ||
			(f.Advice == "") != (f.Result == resultOK) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if free, err := freeSpace(t.TempDir()); err != nil || free == 0 {
		t.Errorf("%d bytes are free, %v, want not 0", free, err)
	}
	if _, err := freeSpace("/no/such/folder"); err == nil {
		t.Error("a missing folder has free space")
	}
}

func TestDoctorLooksAtCertificates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		life   time.Duration
		result string
		detail string
	}{"good": {30 * 24 * time.Hour, resultOK, "is valid until"}, "soon": {24 * time.Hour, resultWarning, "expires on"},
		"over": {-time.Minute, resultFailed, "expired on"}} {
		ours := tlstest.New(t)
		ours.IssueFor("api", c.life)
		d := newHarness(t, "tls: {certificate: "+ours.Path("api.pem")+", key: "+ours.Path("api.key")+"}",
			"admin: {tls: {certificate: "+ours.Path("none.pem")+", key: "+ours.Path("api.key")+"}}")
		found, _ := d.findings()
		if f := found["tls"]; f.Result != c.result || !strings.Contains(f.Detail, c.detail) {
			t.Errorf("%s: %+v, want %s: %s", name, f, c.result, c.detail)
		}
		if f := found["admin.tls"]; f.Result != resultFailed || f.Advice == "" {
			t.Errorf("%s: a missing file: %+v, want it failed with advice", name, f)
		}
	}
}
