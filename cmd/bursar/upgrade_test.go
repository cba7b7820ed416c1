package main

import (
	"archive/tar"
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// earlier is a database as a version of the past left it, beside its seed file, marks and signer's state.
type earlier struct {
	file   string // of testdata/upgrade
	schema int
	key    string // an API key of its account
	want   []string
}

// earlierVersions are databases of released versions, and of the first before any: a service that ran in the sandbox,
// with deposits, sweeps, charges that were paid, in part and too much, and withdrawals on chains of four families.
// docs/operations/releases.md says how to add one.
var earlierVersions = []earlier{{
	file:   "schema-60.tar.gz",
	schema: 60,
	key:    "bk_e5Lqk8IRujMWX_xIpNihnyxpFbcdZgGneC9Eq95Wrnw",
	want: []string{`"BTC":"0.95998955"`, `"ETH":"0.89999969"`, `"USDT":"450.00"`, `"XRP":"29.99"`,
		`"accountID":"01a21037-6c31-7000-9f30-62f8ebc773f4"`},
}}

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

// schema returns the number of the newest migration that the database has.
func (d *harness) schema() (number int) {
	d.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(d.dir, "bursar.db"))
	if err != nil {
		d.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT max(version_id) FROM goose_db_version").Scan(&number); err != nil {
		d.Fatal(err)
	}
	return number
}

// A database of an earlier version is upgraded by the service that starts on it: nothing of what clients see has
// changed, the books are whole, and a second start changes nothing more.
func TestADatabaseOfAnEarlierVersionIsUpgraded(t *testing.T) {
	t.Parallel()
	for _, was := range earlierVersions {
		t.Run(was.file, func(t *testing.T) {
			t.Parallel()
			d := newHarness(t, "chains: {bitcoin: {rpc: 'http://127.0.0.1:1'}}")
			d.env = []string{"BURSAR_PASSPHRASE=sandbox"}
			d.unpack(was.file)
			if got := d.schema(); got != was.schema {
				t.Fatalf("the database has the schema %d, want %d", got, was.schema)
			}
			answer := strings.ReplaceAll(ask(t, d.serving()+"/api/v1/account", was.key), " ", "")
			for _, want := range was.want {
				if !strings.Contains(answer, want) {
					t.Errorf("the account is\n%s\nwant %s in it", answer, want)
				}
			}
			migrations, err := os.ReadDir("../../store/migrations")
			if err != nil {
				t.Fatal(err)
			}
			newest := migrations[len(migrations)-1].Name()
			if got := fmt.Sprintf("%04d_", d.schema()); !strings.HasPrefix(newest, got) {
				t.Errorf("the database has the schema %s, want that of %s", got, newest)
			}
			if out := d.ok("ledger", "verify"); !strings.Contains(out, "the books are consistent") {
				t.Errorf("ledger verify says %q, want that the books are consistent", out)
			}
			d.ok("audit", "acts", "verify")
			if list := parse[[]map[string]any](d, "withdrawal", "list", "--json"); len(list) == 0 ||
				list[0]["status"] != "confirmed" {
				t.Errorf("the withdrawals are %v, want confirmed ones", list)
			}
			if list := parse[[]map[string]string](d, "charge", "list", "--json"); len(list) != 3 {
				t.Errorf("%d charges are listed, want 3", len(list))
			}
		})
	}
}

// A rehearsal changes nothing, the schema neither: a service of the earlier version may still run on it.
func TestARehearsalDoesNotUpgradeTheDatabase(t *testing.T) {
	t.Parallel()
	d := newHarness(t, "chains: {bitcoin: {rpc: 'http://127.0.0.1:1'}}")
	d.env = []string{"BURSAR_PASSPHRASE=sandbox"}
	d.unpack(earlierVersions[0].file)
	const id = "01a21037-6c31-7000-9f30-62f8ebc773f4"
	for _, args := range [][]string{{"key", "revoke", id}, {"withdrawal", "approve", id},
		{"unattributed", "assign", id, "--account", "shop"}} {
		d.fails(exitFailed, "run bursar migrate first", append(args, "--dry-run")...)
		if got := d.schema(); got != earlierVersions[0].schema {
			t.Fatalf("behind %s --dry-run the database has the schema %d, want %d", args, got, earlierVersions[0].schema)
		}
	}
}
