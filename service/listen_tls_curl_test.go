package service_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/tlsfile"
	"github.com/bursar/bursar/tlsfile/tlstest"
)

// A client of another make (curl 7.88 with OpenSSL 3.0 and nghttp2 1.52) is served and refused as those of Go are, and
// speaks HTTP/1.1 where it offers HTTP/2 too.
func TestCurlAtTheTLSListeners(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	ours, theirs := tlstest.New(t), tlstest.New(t)
	for _, name := range []string{"api", "admin", "operator"} {
		ours.Issue(name)
	}
	theirs.Issue("operator")
	s := guarded(t, tlsfile.Files{Certificate: ours.Path("api.pem"), Key: ours.Path("api.key")}, service.Admin{
		TLS: tlsfile.Files{Certificate: ours.Path("admin.pem"), Key: ours.Path("admin.key"), Clients: ours.Path("ca.pem")}})
	// ask returns the status and the version of HTTP, "200 1.1", or that there is no answer: which of several errors curl
	// gives then depends on who is faster.
	ask := func(url string, options ...string) string {
		args := append([]string{"--silent", "--show-error", "--max-time", "60", "--output", "/dev/null",
			"--write-out", "%{http_code} %{http_version}", "--noproxy", "*"}, options...)
		cmd := exec.CommandContext(t.Context(), curl, append(args, url)...)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if !cmd.ProcessState.Success() && strings.HasPrefix(out.String(), "000 ") {
			return "refused"
		}
		return out.String()
	}
	trust := []string{"--cacert", ours.Path("ca.pem")}
	with := func(of *tlstest.Authority, more ...string) []string {
		return append(append(trust[:2:2], "--cert", of.Path("operator.pem"), "--key", of.Path("operator.key")), more...)
	}
	api, admin := s.Address("api")+"/healthz", s.Address("admin")+"/chains"
	for name, c := range map[string]struct {
		url     string
		options []string
		want    string
	}{
		"the API":                        {api, trust, "200 1.1"},
		"an offer of HTTP/2":             {api, append(trust[:2:2], "--http2"), "200 1.1"},
		"HTTP/1.0 alone":                 {api, append(trust[:2:2], "--http1.0"), "refused"},
		"HTTP/1.0 without ALPN":          {api, append(trust[:2:2], "--http1.0", "--no-alpn"), "200 1"},
		"TLS 1.2":                        {api, append(trust[:2:2], "--tls-max", "1.2"), "200 1.1"},
		"TLS 1.1":                        {api, append(trust[:2:2], "--tls-max", "1.1"), "refused"},
		"an unknown authority":           {api, nil, "refused"},
		"in clear":                       {strings.Replace(api, "https", "http", 1), nil, "400 1"},
		"an operator":                    {admin, with(ours), "200 1.1"},
		"an operator who offers HTTP/2":  {admin, with(ours, "--http2"), "200 1.1"},
		"an operator with TLS 1.2":       {admin, with(ours, "--tls-max", "1.2"), "200 1.1"},
		"no certificate":                 {admin, trust, "refused"},
		"no certificate, with TLS 1.2":   {admin, append(trust[:2:2], "--tls-max", "1.2"), "refused"},
		"a certificate of somebody else": {admin, with(theirs), "refused"},
		"somebody else's name as Host":   {admin, with(ours, "--header", "Host: evil.example"), "421 1.1"},
		"an empty Host":                  {admin, with(ours, "--header", "Host;"), "421 1.1"},
	} {
		if got := ask(c.url, c.options...); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
