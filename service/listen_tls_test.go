package service_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/tlsfile"
	"github.com/bursar/bursar/tlsfile/tlstest"
)

const adminPassword = "a password of the operators"

// guarded runs a service with given listeners.
func guarded(t *testing.T, files tlsfile.Files, admin service.Admin) *service.Service {
	t.Helper()
	s, err := service.New(service.Parts{DB: storetest.Open(t, storetest.Reused(t)), Keys: someKeys(t), Holder: "a",
		Registry: noCurrencies(t), Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0", TLS: files, Admin: admin})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	return s
}

func someKeys(t *testing.T) *signer.Keys {
	t.Helper()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func noCurrencies(t *testing.T) *bursar.Registry {
	t.Helper()
	registry, err := bursar.NewRegistry(nil)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

func passwordFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// status asks and returns the answer's status and text; 0 where there is no answer.
func status(t *testing.T, client *http.Client, url string, change func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func over(config *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
}

func TestBothListenersServeTLS(t *testing.T) {
	t.Parallel()
	ours := tlstest.New(t)
	for _, name := range []string{"api", "admin", "operator"} {
		ours.Issue(name)
	}
	s := guarded(t, tlsfile.Files{Certificate: ours.Path("api.pem"), Key: ours.Path("api.key")}, service.Admin{
		TLS: tlsfile.Files{Certificate: ours.Path("admin.pem"), Key: ours.Path("admin.key"), Clients: ours.Path("ca.pem")}})
	anybody, operator := over(ours.Client("")), over(ours.Client("operator"))
	for name, c := range map[string]struct {
		client *http.Client
		url    string
		want   int
	}{
		"the API":                   {anybody, s.Address("api") + "/healthz", 200},
		"the API in clear":          {anybody, strings.Replace(s.Address("api"), "https", "http", 1) + "/healthz", 400},
		"an operator":               {operator, s.Address("admin") + "/metrics", 200},
		"without a certificate":     {anybody, s.Address("admin") + "/metrics", 0},
		"not even the admin health": {anybody, s.Address("admin") + "/healthz", 0},
	} {
		if got, text := status(t, c.client, c.url, nil); got != c.want {
			t.Errorf("%s: %d (%.100s), want %d", name, got, text, c.want)
		}
	}
	_, text := status(t, operator, s.Address("admin")+"/metrics", nil)
	for _, want := range []string{`bursar_certificate_expires_timestamp_seconds{listener="api"} 1.`,
		`bursar_certificate_failing{listener="admin"} 0`} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

func TestTheAdminAddressAsksForItsPassword(t *testing.T) {
	t.Parallel()
	s := guarded(t, tlsfile.Files{}, service.Admin{PasswordFile: passwordFile(t, adminPassword+"\nnot this line\n")})
	with := func(password string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth("operator", password) }
	}
	for _, path := range []string{"/", "/metrics", "/chains", "/nowhere"} {
		for name, c := range map[string]struct {
			change func(*http.Request)
			want   int
		}{"none": {nil, 401}, "wrong": {with(adminPassword + "."), 401}, "empty": {with(""), 401},
			"the second line": {with("not this line"), 401}} {
			if got, _ := status(t, http.DefaultClient, s.Address("admin")+path, c.change); got != c.want {
				t.Errorf("%s with password %s: %d, want %d", path, name, got, c.want)
			}
		}
	}
	if got, _ := status(t, http.DefaultClient, s.Address("admin")+"/chains", with(adminPassword)); got != 200 {
		t.Errorf("with the password: %d, want 200", got)
	}
	if got, _ := status(t, http.DefaultClient, s.Address("admin")+"/healthz", nil); got != 200 {
		t.Errorf("the health: %d, want 200 for anyone who watches it", got)
	}
	if _, text := status(t, http.DefaultClient, s.Address("admin")+"/metrics",
		with(adminPassword)); !strings.Contains(text,
		"bursar_admin_wrong_passwords_total 12\n") {
		t.Error("the metrics do not count 12 wrong passwords, want those of four paths")
	}
	var alarms []store.Alarm
	err := s.DB.View(t.Context(), func(tx *store.Tx) (err error) {
		alarms, err = tx.Alarms().List(t.Context(), 10)
		return err
	})
	if err != nil || len(alarms) != 1 || alarms[0].Kind != "admin_password" {
		t.Errorf("the alarms are %+v, %v, want one of passwords that were tried", alarms, err)
	}
}

func TestAWeakPasswordIsRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"short": passwordFile(t, "fifteen letters\n"),
		"empty": passwordFile(t, ""), "missing": filepath.Join(t.TempDir(), "none")} {
		s, err := service.New(service.Parts{DB: storetest.Open(t, storetest.Reused(t)), Keys: someKeys(t), Holder: "a",
			Registry: noCurrencies(t), AdminListen: "127.0.0.1:0", Admin: service.Admin{PasswordFile: file}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Listen(); err == nil {
			t.Errorf("%s: it listens, want an error", name)
		}
	}
}

// A page of somebody else whose name points to this machine (DNS rebinding) reads nothing.
func TestTheAdminAddressAnswersToItsOwnNamesOnly(t *testing.T) {
	t.Parallel()
	s := guarded(t, tlsfile.Files{}, service.Admin{Hosts: []string{"bursar.internal"}})
	for host, want := range map[string]int{"evil.example.com": 421, "evil.example.com:8081": 421,
		"127.0.0.1.evil.example":   421,
		"localhost.evil.example:1": 421, "localhost": 200, "LOCALHOST:8081": 200, "127.0.0.1:1": 200, "[::1]:8081": 200,
		"10.0.0.7": 200, "bursar.internal:8081": 200, "Bursar.Internal.": 200, "xbursar.internal": 421} {
		named := func(r *http.Request) { r.Host = host }
		for _, path := range []string{"/chains", "/healthz"} {
			if got, text := status(t, http.DefaultClient, s.Address("admin")+path, named); got != want {
				t.Errorf("Host %s for %s: %d (%s), want %d", host, path, got, strings.TrimSpace(text), want)
			}
		}
	}
}
