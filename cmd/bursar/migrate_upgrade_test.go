package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar/store/storetest"
)

// earlier is a database as a version of the past left it, beside its seed file, marks and signer's state.
type earlier struct {
	file    string // of testdata/upgrade
	schema  int
	key     string   // an API key of its account; empty: that of answers.json
	want    []string // in the answer about the account; what has answers.json wants all of that
	charges int
}

// earlierVersions are databases of released versions, and of the first before any: a service that ran in the sandbox,
// with deposits, sweeps, charges that were paid, in part and too much, and withdrawals on chains of four families.
// record.sh beside them makes such files, and docs/operations/releases.md says when.
var earlierVersions = []earlier{{
	file:   "schema-60.tar.gz",
	schema: 60,
	key:    "bk_e5Lqk8IRujMWX_xIpNihnyxpFbcdZgGneC9Eq95Wrnw",
	want: []string{`"BTC":"0.95998955"`, `"ETH":"0.89999969"`, `"USDT":"450.00"`, `"XRP":"29.99"`,
		`"accountID":"01a21037-6c31-7000-9f30-62f8ebc773f4"`},
	charges: 3,
}, {
	file:    "schema-81.tar.gz",
	schema:  81,
	charges: 11,
}, {
	file:    "schema-81-postgres.tar.gz",
	schema:  81,
	charges: 11,
}, {
	file:    "schema-93.tar.gz", // the candidate 1.0.0-rc.1
	schema:  93,
	charges: 11,
}, {
	file:    "schema-93-postgres.tar.gz",
	schema:  93,
	charges: 11,
}}

// everyChain is a configuration of the chains that an earlier service followed, of which no node answers.
const everyChain = `chains:
  bitcoin: {rpc: 'http://127.0.0.1:1'}
  ethereum: {rpc: 'http://127.0.0.1:1', chain_id: 1337}
  tron: {rpc: 'http://127.0.0.1:1'}
  xrpl: {rpc: 'http://127.0.0.1:1'}
currencies: {USDT: {contract: TUEbpXcumNQmgaYr788yyJtDBRoVUzse78}}`

// unpack writes the files of an archive into the harness's folder.
func (d *harness) unpack(name string) {
	d.Helper()
	f, err := os.Open(filepath.Join("testdata/upgrade", name))
	if err != nil {
		d.Fatal(err)
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		d.Fatal(err)
	}
	for files := tar.NewReader(packed); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			d.Fatal(err)
		}
		content, err := io.ReadAll(files)
		if err == nil {
			err = os.WriteFile(filepath.Join(d.dir, filepath.Base(h.Name)), content, 0o600)
		}
		if err != nil {
			d.Fatal(err)
		}
	}
}

// unpacked returns the URL of the database of an earlier version, as that left it.
func (d *harness) unpacked(was earlier) (url string) {
	d.Helper()
	d.unpack(was.file)
	text, err := os.ReadFile(filepath.Join(d.dir, "bursar.sql"))
	if errors.Is(err, fs.ErrNotExist) {
		return "sqlite:" + filepath.Join(d.dir, "bursar.db")
	}
	if err != nil {
		d.Fatal(err)
	}
	url = storetest.EmptyPostgres(d.T)
	storetest.Load(d.T, url, string(text))
	d.env = append(d.env, "BURSAR_DATABASE="+url)
	return url
}

// schemaOf returns the number of the newest migration that a database has.
func schemaOf(t *testing.T, url string) (number int) {
	t.Helper()
	text := storetest.Ask(t, url, "SELECT CAST(max(version_id) AS TEXT) FROM goose_db_version")
	number, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// answers are what the API of an earlier version said, by what was asked.
type answers struct {
	Key     string
	Answers map[string]json.RawMessage
}

// lacks returns what stands in an earlier answer and not, or as something else, in today's. Fields may be added.
func lacks(path string, was, is any) (missing []string) {
	switch was := was.(type) {
	case map[string]any:
		now, _ := is.(map[string]any)
		for name, value := range was {
			if _, there := now[name]; !there {
				missing = append(missing, path+"."+name+" is not there")
				continue
			}
			missing = append(missing, lacks(path+"."+name, value, now[name])...)
		}
	case []any:
		now, _ := is.([]any)
		if len(now) != len(was) {
			return []string{fmt.Sprintf("%s has %d items, want %d", path, len(now), len(was))}
		}
		for i := range was {
			missing = append(missing, lacks(fmt.Sprintf("%s[%d]", path, i), was[i], now[i])...)
		}
	default:
		if was != is {
			missing = append(missing, fmt.Sprintf("%s is %v, want %v", path, is, was))
		}
	}
	return missing
}

// answersAsBefore asks a service on an upgraded database what was asked before, and returns the key.
func (d *harness) answersAsBefore(base string) (key string) {
	d.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "answers.json"))
	var before answers
	if err == nil {
		err = json.Unmarshal(text, &before)
	}
	if err != nil || len(before.Answers) < 6 {
		d.Fatalf("there are %d answers of the earlier version, %v, want more", len(before.Answers), err)
	}
	for path, answer := range before.Answers {
		var was any
		var is struct{ Response any }
		if err := json.Unmarshal(answer, &was); err != nil {
			d.Fatal(err)
		}
		now := ask(d.T, base+"/api/v1/"+path, before.Key)
		if err := json.Unmarshal([]byte(now), &is); err != nil {
			d.Errorf("%s is answered %s: %v, want JSON", path, now, err)
		}
		if missing := lacks(path, was, is.Response); len(missing) > 0 {
			d.Errorf("%d things are not as they were, such as %q", len(missing), missing[:min(len(missing), 5)])
		}
	}
	return before.Key
}

// A database of an earlier version is upgraded by the service that starts on it: nothing of what clients see has
// changed, the books are whole, and a second start changes nothing more.
func TestADatabaseOfAnEarlierVersionIsUpgraded(t *testing.T) {
	t.Parallel()
	for _, was := range earlierVersions {
		t.Run(was.file, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(was.file, "postgres") && testing.Short() {
				t.Skip("PostgreSQL is left out by -short")
			}
			newHarness(t, everyChain).upgrades(was)
		})
	}
}

func (d *harness) upgrades(was earlier) {
	d.env = []string{"BURSAR_PASSPHRASE=sandbox"}
	url := d.unpacked(was)
	if got := schemaOf(d.T, url); got != was.schema {
		d.Fatalf("the database has the schema %d, want %d", got, was.schema)
	}
	base := d.serving()
	if was.key == "" {
		was.key = d.answersAsBefore(base)
	}
	answer := strings.ReplaceAll(ask(d.T, base+"/api/v1/account", was.key), " ", "")
	for _, want := range was.want {
		if !strings.Contains(answer, want) {
			d.Errorf("the account is\n%s\nwant %s in it", answer, want)
		}
	}
	migrations, err := os.ReadDir("../../store/migrations")
	if err != nil {
		d.Fatal(err)
	}
	newest := migrations[len(migrations)-1].Name()
	if got := fmt.Sprintf("%04d_", schemaOf(d.T, url)); !strings.HasPrefix(newest, got) {
		d.Errorf("the database has the schema %s, want that of %s", got, newest)
	}
	if out := d.ok("ledger", "verify"); !strings.Contains(out, "the books are consistent") {
		d.Errorf("ledger verify says %q, want that the books are consistent", out)
	}
	d.ok("audit", "acts", "verify")
	if list := parse[[]map[string]any](d, "withdrawal", "list", "--json"); len(list) == 0 ||
		list[0]["status"] != "confirmed" {
		d.Errorf("the withdrawals are %v, want confirmed ones", list)
	}
	if list := parse[[]map[string]string](d, "charge", "list", "--json"); len(list) != was.charges {
		d.Errorf("%d charges are listed, want %d", len(list), was.charges)
	}
}

// A rehearsal changes nothing, the schema neither: a service of the earlier version may still run on it.
func TestARehearsalDoesNotUpgradeTheDatabase(t *testing.T) {
	t.Parallel()
	d := newHarness(t, "chains: {bitcoin: {rpc: 'http://127.0.0.1:1'}}")
	d.env = []string{"BURSAR_PASSPHRASE=sandbox"}
	url := d.unpacked(earlierVersions[0])
	const id = "01a21037-6c31-7000-9f30-62f8ebc773f4"
	for _, args := range [][]string{{"key", "revoke", id}, {"withdrawal", "approve", id},
		{"unattributed", "assign", id, "--account", "shop"}} {
		d.fails(exitFailed, "run bursar migrate first", append(args, "--dry-run")...)
		if got := schemaOf(t, url); got != earlierVersions[0].schema {
			t.Fatalf("behind %s --dry-run the database has the schema %d, want %d", args, got, earlierVersions[0].schema)
		}
	}
}
