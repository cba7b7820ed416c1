package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/store"
)

func TestAccounts(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	if got := parse[[]listedAccount](d, "account", "list", "--json"); got == nil || len(got) != 0 {
		t.Errorf("no accounts are %v", got)
	}
	shop := parse[createdAccount](d, "account", "create", "--name", "shop", "--json")
	open := parse[createdAccount](d, "account", "create", "--name", "open", "--no-secret", "--json")
	if !strings.HasPrefix(shop.APIKey, "bk_") || !strings.HasPrefix(shop.APISecret, "bs_") || open.APISecret != "" ||
		shop.APIKey == open.APIKey {
		t.Errorf("created %+v and %+v", shop, open)
	}
	if shop.WebhookSecret != d.webhookSecret(shop.AccountID, 1) || shop.WebhookSecret == open.WebhookSecret {
		t.Errorf("webhook secrets are %s and %s", shop.WebhookSecret, open.WebhookSecret)
	}
	got := parse[[]listedAccount](d, "account", "list", "--json")
	if len(got) != 2 || got[0].AccountID != shop.AccountID || got[0].Name != "shop" || got[0].Frozen != nil ||
		got[1].Name != "open" {
		t.Errorf("listed %+v", got)
	}
	if table := d.ok("account", "list"); !strings.Contains(table, "shop") || strings.Count(table, "\n") != 3 {
		t.Errorf("the table is\n%s, want %q in it and 3", table, "shop")
	}
	human := d.run("", "account", "create", "--name", "human")
	for _, name := range []string{"accountID", "apiKey", "apiSecret", "webhookSecret  whsec_"} {
		if !strings.Contains(human.out, name) {
			t.Errorf("the text output lacks %s: %s", name, human.out)
		}
	}
	d.fails(exitFailed, "an account's name has 1 to 200 bytes", "account", "create", "--name", " ")
	d.opens(shop)
}

// webhookSecret derives an account's secret from the harness's seed file.
func (d *harness) webhookSecret(id bursar.ID, generation uint32) string {
	d.Helper()
	cfg, err := config.Load(d.dir+"/bursar.yaml", d.env)
	if err != nil {
		d.Fatal(err)
	}
	keys, err := host.OpenKeys(cfg, (&command.Call{Environ: d.env}).Getenv)
	if err != nil {
		d.Fatal(err)
	}
	return signer.WebhookSecretText(keys.WebhookSecret(id, generation))
}

// opens checks that a key and its secret authenticate the account.
func (d *harness) opens(created createdAccount) {
	d.Helper()
	db, err := store.Open(context.Background(), store.Config{URL: "sqlite:" + d.dir + "/bursar.db"})
	if err != nil {
		d.Fatal(err)
	}
	defer db.Close()
	identity, err := account.NewService(db, bursar.NewIDs(db.Now, nil)).Authenticate(context.Background(),
		account.Credentials{Key: created.APIKey, Secret: created.APISecret})
	if err != nil || identity.Account != created.AccountID {
		d.Errorf("the key authenticates %+v, %v", identity, err)
	}
}

func TestUnfreeze(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	if got := d.ok("account", "unfreeze", id.String()); !strings.Contains(got, "was not frozen") {
		t.Errorf("got %s, want %q in it", got, "was not frozen")
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAccount(id), Kind: store.HaltByReversal, Reason: "of a test"})
	})
	if got := parse[[]listedAccount](d, "account", "list", "--json"); got[0].Frozen == nil ||
		*got[0].Frozen != "of a test" {
		t.Errorf("listed %+v", got)
	}
	if got := d.ok("account", "unfreeze",
		id.String()); !strings.Contains(got, "may withdraw again; it was frozen because of a test") {
		t.Errorf("got %s, want %q in it", got, "may withdraw again; it was frozen because of a test")
	}
	if got := parse[[]listedAccount](d, "account", "list", "--json"); got[0].Frozen != nil {
		t.Errorf("still frozen: %+v", got)
	}
	d.fails(exitFailed, "there is no account 0193a6a0-0000-7000-8000-000000000000: see `bursar account list`", "account",
		"unfreeze", "0193a6a0-0000-7000-8000-000000000000")
}

func TestADatabaseKeepsItsSeed(t *testing.T) {
	encryptsAtFullStrength(t)
	t.Parallel()
	d := newSeededHarness(t)
	d.ok("account", "create", "--name", "shop")
	d.env = append(d.env, "BURSAR_SEED_FILE="+filepath.Join(d.dir, "other.age"))
	d.ok("seed", "new")
	d.fails(exitFailed, "the database belongs to another configuration", "account", "create", "--name", "x")
}

func TestKeys(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	reader := parse[createdKey](d, "key", "create", id.String(), "--scopes", "read", "--life", "1h", "--no-secret",
		"--json")
	if reader.AccountID != id || reader.APISecret != "" || !strings.HasPrefix(reader.APIKey, "bk_") {
		t.Errorf("created %+v, want %v and %q and %q first", reader, id, "", "bk_")
	}
	keys := parse[[]listedKey](d, "key", "list", id.String(), "--json")
	if len(keys) != 2 || len(keys[0].Scopes) != 3 || !keys[0].HasSecret || keys[0].ExpiresAt != nil {
		t.Fatalf("listed %+v", keys)
	}
	if k := keys[1]; k.KeyID != reader.KeyID || len(k.Scopes) != 1 || k.HasSecret || !k.Usable || k.ExpiresAt == nil ||
		k.ExpiresAt.Sub(k.CreatedAt).Round(time.Minute) != time.Hour {
		t.Errorf("the reader is %+v", k)
	}
	next := parse[createdKey](d, "key", "rotate", keys[0].KeyID.String(), "--overlap", "0s", "--json")
	d.ok("key", "revoke", reader.KeyID.String())
	usable := map[bursar.ID]bool{}
	for _, k := range parse[[]listedKey](d, "key", "list", "--json") {
		usable[k.KeyID] = k.Usable
	}
	if usable[keys[0].KeyID] || usable[reader.KeyID] || !usable[next.KeyID] || next.APISecret == "" {
		t.Errorf("usable are %v after the rotation to %+v", usable, next)
	}
	if table := d.ok("key", "list"); !strings.Contains(table, "read wallets withdraw") ||
		strings.Contains(table, next.APIKey) {
		t.Errorf("the table is\n%s, want %q in it and no key", table, "read wallets withdraw")
	}
	nobody := "0193a6a0-0000-7000-8000-000000000000"
	d.fails(exitFailed, "there is no account "+nobody, "key", "create", nobody)
	d.fails(exitFailed, "there is no key "+nobody+": see `bursar key list`", "key", "revoke", nobody)
	d.fails(exitFailed, "there is no key "+nobody, "key", "rotate", nobody)
	d.fails(exitFailed, "there is no account "+nobody, "key", "rotate-webhook", nobody)
	d.fails(exitFailed, "the scopes are read, wallets and withdraw, each once", "key", "create", id.String(),
		"--scopes", "all")
	d.fails(exitFailed, "the key is revoked or has expired", "key", "rotate", reader.KeyID.String())
}

func TestRotateWebhook(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	created := parse[createdAccount](d, "account", "create", "--name", "shop", "--json")
	rotated := parse[rotatedWebhook](d, "key", "rotate-webhook", created.AccountID.String(), "--overlap", "2h", "--json")
	if rotated.WebhookSecret != d.webhookSecret(created.AccountID, 2) || rotated.WebhookSecret == created.WebhookSecret {
		t.Errorf("rotated to %+v", rotated)
	}
	if left := time.Until(rotated.OverlapEnds); left < time.Hour || left > 2*time.Hour {
		t.Errorf("the overlap ends in %s, want at least %v and at most %v", left, time.Hour, 2*time.Hour)
	}
}
