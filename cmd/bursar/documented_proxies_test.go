package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar/tlsfile/tlstest"
)

// documentedProxy is how a text of docs/operations/proxies.md is run: as it is there, but for the port, the files of
// certificates, the service's address, and what belongs around it on a machine.
type documentedProxy struct {
	fence   string // of the block in the document
	around  string // the whole file, with %s for the block
	replace func(p *proxied) []string
	command func(file, folder string) []string
}

var documentedProxies = map[string]documentedProxy{
	"nginx": {
		fence: "nginx",
		around: "user root;\npid FOLDER/pid;\nerror_log FOLDER/log;\nevents {}\nhttp {\naccess_log off;\n" +
			"client_body_temp_path FOLDER/body;\nproxy_temp_path FOLDER/proxy;\nfastcgi_temp_path FOLDER/f;\n" +
			"uwsgi_temp_path FOLDER/u;\nscgi_temp_path FOLDER/s;\n%s}\n",
		replace: func(p *proxied) []string {
			return []string{"listen 443 ssl", "listen " + p.listen + " ssl", "/etc/ssl/pay.pem", p.authority.Path("pay.pem"),
				"/etc/ssl/pay.key", p.authority.Path("pay.key")}
		},
		command: func(file, folder string) []string {
			return []string{"nginx", "-e", filepath.Join(folder, "log"), "-p", folder, "-c", file, "-g", "daemon off;"}
		},
	},
	"Caddy": {
		fence:  "caddy",
		around: "{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_sni 127.0.0.1\n}\n%s",
		replace: func(p *proxied) []string {
			return []string{"pay.shop.example {", "https://" + p.listen + " {\n\ttls " + p.authority.Path("pay.pem") + " " +
				p.authority.Path("pay.key")}
		},
		command: func(file, _ string) []string {
			return []string{"caddy", "run", "--config", file, "--adapter", "caddyfile"}
		},
	},
	"HAProxy": {
		fence:  "haproxy",
		around: "defaults\n    timeout client 120s\n    timeout http-request 30s\n%s",
		replace: func(p *proxied) []string {
			return []string{"bind :443", "bind " + p.listen, "/etc/ssl/pay-with-key.pem", p.bundle}
		},
		command: func(file, _ string) []string { return []string{"haproxy", "-db", "-f", file} },
	},
}

// proxied is the service behind one proxy.
type proxied struct {
	*testing.T
	authority *tlstest.Authority
	bundle    string // certificate and key in one file
	listen    string // address of the proxy
	service   string // URL of the service itself
	key       string // usable from 127.0.0.2 only
}

// TestTheDocumentedProxies runs the proxies of docs/operations/proxies.md (nginx 1.22, Caddy 2.6, HAProxy 2.6) in front
// of one service.
func TestTheDocumentedProxies(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx, Caddy and HAProxy: left out by -short")
	}
	t.Parallel()
	d := newSeededHarness(t, "proxies: [127.0.0.1/32]", "pay: {url: 'https://pay.shop.example'}",
		"chains: {bitcoin: {rpc: '"+pretendNode(t, wellNode())+"'}}")
	var made createdAccount
	if err := json.Unmarshal([]byte(d.ok("account", "create", "--name", "shop", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	var near createdKey
	out := d.ok("key", "create", "shop", "--allow-ip", "127.0.0.2/32", "--no-secret", "--json")
	if err := json.Unmarshal([]byte(out), &near); err != nil {
		t.Fatal(err)
	}
	authority := tlstest.New(t)
	authority.Issue("pay")
	shared := proxied{authority: authority, bundle: filepath.Join(d.dir, "bundle.pem"), service: d.serving(),
		key: near.APIKey}
	var both []byte
	for _, file := range []string{"pay.pem", "pay.key"} {
		text, err := os.ReadFile(authority.Path(file))
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, text...)
	}
	if err := os.WriteFile(shared.bundle, both, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, documented := range documentedProxies {
		t.Run(name, func(t *testing.T) {
			p := shared
			p.T = t
			p.runs(documented)
			p.passesTheClientsAddress()
			p.bounds()
			p.streams()
			for _, path := range []string{"/console/", "/metrics", "/admin/v1/", "/chains"} {
				p.gets("127.0.0.2", http.MethodGet, path, "", nil, http.StatusNotFound)
			}
		})
	}
}

// runs starts the proxy of a document until the test ends.
func (p *proxied) runs(documented documentedProxy) {
	p.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.Fatal(err)
	}
	p.listen = free.Addr().String()
	if err := free.Close(); err != nil {
		p.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/operations/proxies.md")
	if err != nil {
		p.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```" + documented.fence + "\n(.*?)```").FindStringSubmatch(string(page))
	if block == nil {
		p.Fatalf("the document has no block of %s", documented.fence)
	}
	folder := p.TempDir()
	replace := append(documented.replace(p), "127.0.0.1:8080", strings.TrimPrefix(p.service, "http://"), "FOLDER", folder)
	file := filepath.Join(folder, "configuration")
	text := strings.NewReplacer(replace...).Replace(fmt.Sprintf(documented.around, block[1]))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
	args := documented.command(file, folder)
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Dir, c.Env = folder, append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME="+folder, "XDG_DATA_HOME="+folder)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	var log strings.Builder
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		p.Fatalf("%v: run go run ./test -install proxies, or leave such tests out with -short", err)
	}
	p.Cleanup(func() {
		cancel()
		_ = c.Wait()
		if p.Failed() {
			p.Logf("%s\n%s", text, log.String())
		}
	})
	p.isUp()
}

// isUp waits until the proxy answers with the service's health, by TLS.
func (p *proxied) isUp() {
	p.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); <-ticker.C {
		answer, err := p.client("127.0.0.2").Get("https://" + p.listen + "/healthz")
		if err != nil {
			continue
		}
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK && answer.TLS != nil {
			return
		}
	}
	p.Fatal("the proxy does not answer within two minutes")
}

// client connects from an address of this machine.
func (p *proxied) client(from string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: p.authority.Client(""),
		DisableKeepAlives: true}
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// gets sends a request from an address through the proxy, or to a whole URL, and returns the answer.
func (p *proxied) gets(from, method, path, body string, header map[string]string, status int) string {
	p.Helper()
	url := path
	if !strings.HasPrefix(path, "http") {
		url = "https://" + p.listen + path
	}
	r, err := http.NewRequestWithContext(p.Context(), method, url, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("X-API-KEY", p.key)
	r.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := p.client(from).Do(r)
	// A proxy closes the connection of a body that it refuses before it has read the whole of it, by which its answer may
	// be lost (RFC 9112, section 9.6).
	for try := 0; try < 20 && status == http.StatusRequestEntityTooLarge && closedEarly(err); try++ {
		if r.Body, err = r.GetBody(); err == nil {
			answer, err = p.client(from).Do(r)
		}
	}
	if err != nil {
		p.Fatalf("%s %s from %s: %v, want %d", method, path, from, err, status)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil || answer.StatusCode != status {
		p.Errorf("%s %s from %s %v: %d %.200s, %v, want %d", method, path, from, header, answer.StatusCode, text, err,
			status)
	}
	return string(text)
}

// closedEarly reports whether a connection was closed while a request was written.
func closedEarly(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// passesTheClientsAddress compares addresses by a key that may be used from 127.0.0.2 only.
func (p *proxied) passesTheClientsAddress() {
	p.Helper()
	const account = "/api/v1/account"
	forged := map[string]string{"X-Forwarded-For": "127.0.0.2", "Forwarded": "for=127.0.0.2"}
	p.gets("127.0.0.2", http.MethodGet, account, "", nil, http.StatusOK)
	p.gets("127.0.0.3", http.MethodGet, account, "", nil, http.StatusForbidden)
	p.gets("127.0.0.3", http.MethodGet, account, "", forged, http.StatusForbidden)
	p.gets("127.0.0.2", http.MethodGet, account, "", map[string]string{"X-Forwarded-For": "192.0.2.1"}, http.StatusOK)
	p.gets("127.0.0.3", http.MethodGet, p.service+account, "", forged, http.StatusForbidden) // around the proxy
}

// bounds sends a body that is as long as one may be, and a longer one.
func (p *proxied) bounds() {
	p.Helper()
	body := func(length int) string {
		return `{"ignored":"` + strings.Repeat("a", length-len(`{"ignored":""}`)) + `"}`
	}
	p.gets("127.0.0.2", http.MethodGet, "/api/v1/account", body(64<<10), nil, http.StatusOK)
	p.gets("127.0.0.2", http.MethodPost, "/api/v1/wallet", body(64<<10+1), nil, http.StatusRequestEntityTooLarge)
}

// streams reads two events of a payer's page: the second one is sent while the stream is open.
func (p *proxied) streams() {
	p.Helper()
	var made struct {
		Response struct {
			Charge struct {
				ChargeID string
				Link     string `json:"checkoutURL"`
			}
		}
	}
	answer := p.gets("127.0.0.2", http.MethodPost, "/api/v1/charge",
		`{"currency":"BTC","amount":"0.5","webhook":"https://shop.example/hook"}`, nil, http.StatusOK)
	if err := json.Unmarshal([]byte(answer), &made); err != nil {
		p.Fatal(err)
	}
	path, is := strings.CutPrefix(made.Response.Charge.Link, "https://pay.shop.example")
	if !is {
		p.Fatalf("the charge is %s, want a page of pay.url", answer)
	}
	stream, err := p.client("127.0.0.3").Get("https://" + p.listen + path + "/events")
	if err != nil || stream.StatusCode != http.StatusOK {
		p.Fatalf("the stream answers %v, %v, want 200", stream, err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	event := func(which string) {
		p.Helper()
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "data:") {
				return
			}
		}
		p.Fatalf("the stream ends without its %s event: %v", which, lines.Err())
	}
	event("first")
	p.gets("127.0.0.2", http.MethodPost, "/api/v1/charge/cancel", `{"chargeID":"`+made.Response.Charge.ChargeID+`"}`, nil,
		http.StatusOK)
	event("second")
}
