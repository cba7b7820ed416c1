package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/bursartest/mainnet"
)

// shellBlock is what a document has typed into a shell.
var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// typedIn returns the lines of a document's shell blocks, each whole.
func typedIn(t *testing.T, document string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		whole := strings.ReplaceAll(block[1], "\\\n", " ")
		lines = append(lines, strings.Split(strings.TrimSpace(whole), "\n")...)
	}
	return lines
}

const firstHourPage = "../../docs/operations/first-hour.md"

// The first hour, as docs/operations/first-hour.md has it: every command of bursar there is run by the real program, in
// the order of the page and against a node of each chain (bursartest/mainnet). At its end doctor finds nothing and a
// shop has its first address. `go test -v` shows the times of the page. release/packages_install_test.go does the same
// with the package of Debian.
func TestTheFirstHour(t *testing.T) {
	encryptsAtFullStrength(t)
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("on mainnet the seed is kept out of swap, which needs a right that only a privileged user is sure to have")
	}
	d := newEmptyHarness(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(d.dir, "etc"), 0o750); err != nil {
		t.Fatal(err)
	}
	replaced := []string{"/etc/bursar", d.dir + "/etc", "/var/lib/bursar", d.dir + "/state",
		"setpriv --reuid=bursar --regid=bursar --init-groups ", "",
		"--owner bursar", "--owner " + me.Username + " --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0"}
	text, err := os.ReadFile(firstHourPage)
	if err != nil {
		t.Fatal(err)
	}
	for chain, url := range mainnet.Nodes(t) {
		documented := regexp.MustCompile("--chain " + chain + `=(http://\S+)`).FindStringSubmatch(string(text))
		if documented == nil {
			t.Fatalf("the page names no node of %s, want all chains", chain)
		}
		replaced = append(replaced, documented[1], url)
	}
	here := strings.NewReplacer(replaced...)
	ran, base, key := 0, "", ""
	for _, line := range typedIn(t, firstHourPage) {
		words, began := strings.Fields(here.Replace(line)), time.Now()
		switch {
		case words[0] == "sed":
			d.edits(here.Replace(line))
		case words[0] == "export":
			d.env = append(d.env, words[1])
		case words[0] != "bursar" && !strings.HasPrefix(words[0], "BURSAR_"):
			// apt-get and systemctl: release/packages_install_test.go installs the package
		case words[1] == "serve":
			base = d.serves(words[1:]...)
			ran++
		default:
			key = d.firstHour(words, base, key)
			ran++
		}
		t.Logf("%6.1f s  %.60s", time.Since(began).Seconds(), line)
	}
	if ran != 7 {
		t.Errorf("%d commands of the page were run, want 7", ran)
	}
}

// firstHour runs one command of the page and looks at what it made; it returns the API key that is known then.
func (d *harness) firstHour(words []string, base, key string) string {
	d.Helper()
	if words[0] != "bursar" {
		d.env = append(d.env, "BURSAR_API="+base, "BURSAR_API_KEY="+key)
		words = words[1:]
	}
	if words[1] == "doctor" {
		d.finds(words[1:])
		return key
	}
	out := d.ok(words[1:]...)
	switch {
	case words[1] == "init":
		lines := strings.Split(out, "\n")
		if len(strings.Fields(lines[0])) != 24 || !strings.Contains(lines[1], "/console/") {
			d.Errorf("init prints %d words and %q, want 24 words and a link", len(strings.Fields(lines[0])), lines[1])
		}
		for _, file := range []string{"etc/bursar.yaml", "etc/passphrase", "state/seed.age", "state/bursar.db"} {
			if info, err := os.Stat(filepath.Join(d.dir, file)); err != nil || info.Mode().Perm() != 0o600 {
				d.Errorf("%s is %v, %v, want mode 0600", file, info, err)
			}
		}
		d.fails(exitUsage, "exists and is not overwritten", words[1:]...)
	case words[1] == "api":
		var made struct {
			Response struct{ Wallet struct{ Address string } }
		}
		if err := json.Unmarshal([]byte(out), &made); err != nil || !strings.HasPrefix(made.Response.Wallet.Address, "bc1q") {
			d.Errorf("the wallet is %s, %v, want an address of mainnet", out, err)
		}
	case strings.Contains(out, "apiKey"):
		_, key, _ = strings.Cut(out, "apiKey")
		key = strings.Fields(key)[0]
	}
	return key
}

// edits runs a line that edits the configuration, which must change it.
func (d *harness) edits(line string) {
	d.Helper()
	file := filepath.Join(d.dir, "etc", "bursar.yaml")
	before, _ := os.ReadFile(file)
	if out, err := exec.CommandContext(d.Context(), "sh", "-c", line).CombinedOutput(); err != nil {
		d.Fatalf("%s: %v: %s", line, err, out)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) == string(before) {
		d.Errorf("%s changes nothing, %v, want another configuration", line, err)
	}
}

// finds runs doctor, which must find nothing but what only persons can do.
func (d *harness) finds(args []string) {
	d.Helper()
	var list []finding
	if err := json.Unmarshal([]byte(d.ok(append(args, "--json")...)), &list); err != nil || len(list) < 90 {
		d.Errorf("doctor makes %d checks, %v, want more", len(list), err)
	}
	for _, f := range list {
		mayWait := f.Result == resultWarning && (f.Check == "policy of people" || f.Check == "notices")
		if f.Result != resultOK && !mayWait {
			d.Errorf("doctor finds %+v, want ok", f)
		}
	}
}

// serves runs the service until the test ends, and returns the URL of its API.
func (d *harness) serves(args ...string) string {
	d.Helper()
	base := listening(d.T, d.start(args...))
	answer, err := http.Get(base + "/healthz")
	if err != nil || answer.StatusCode != http.StatusOK {
		d.Fatalf("the service answers %v, %v, want 200", answer, err)
	}
	_ = answer.Body.Close()
	return base
}
