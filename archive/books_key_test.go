package archive_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/archive"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A backup is checked without the key, also of books whose oldest links were written before there was one.
func TestABackupOfOldBooksIsCheckedWithoutTheKey(t *testing.T) {
	onBooks(t, func(b *books) {
		plain := storetest.OpenAt(b.t, b.url, b.clock.Now)
		b.clock.Advance(time.Hour)
		b.Must(plain.Do(b.t.Context(), func(tx *store.Tx) error {
			return tx.Ledger().Post(b.t.Context(), ledger.NetworkFee("old", 0, "BTC", bursar.Units(3), b.clock.Now()))
		}))
		cut := b.clock.Now().Add(time.Minute)
		b.history(1)
		b.audit()
		b.clock.Advance(30 * 24 * time.Hour)
		file := filepath.Join(b.t.TempDir(), "a.gz")
		_, err := archive.WriteBooks(b.t.Context(), b.db, file, cut)
		b.Must(err)
		_, err = archive.RemoveBooks(b.t.Context(), b.db, file)
		b.Must(err)
		if _, err := b.db.CheckHealth(b.t.Context()); err != nil {
			b.t.Errorf("with the key: got %v, want well", err)
		}
		if _, err := plain.CheckHealth(b.t.Context()); err != nil {
			b.t.Errorf("without the key: got %v, want well", err)
		}
	})
}

// Anyone who has the database and the files, but not the key, does not change what a statement says.
func TestASwappedFileIsNoStatement(t *testing.T) {
	onBooks(t, func(b *books) {
		b.deposit(shop, 1000)
		b.deposit(shop, 3000)
		cut := b.clock.Now().Add(time.Minute)
		b.audit()
		b.clock.Advance(30 * 24 * time.Hour)
		file := filepath.Join(b.t.TempDir(), "a.gz")
		_, err := archive.WriteBooks(b.t.Context(), b.db, file, cut)
		b.Must(err)
		_, err = archive.RemoveBooks(b.t.Context(), b.db, file)
		b.Must(err)
		raw, err := os.ReadFile(file)
		b.Must(err)
		z, err := gzip.NewReader(bytes.NewReader(raw))
		b.Must(err)
		text, err := io.ReadAll(z)
		b.Must(err)
		text = bytes.ReplaceAll(text, []byte(`"1000"`), []byte(`"X"`))
		text = bytes.ReplaceAll(text, []byte(`"3000"`), []byte(`"1000"`))
		text = bytes.ReplaceAll(text, []byte(`"X"`), []byte(`"3000"`))
		lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		body := bytes.Join(lines[:len(lines)-1], nil)
		sum := sha256.Sum256(body)
		name := hex.EncodeToString(sum[:])
		body = append(body, fmt.Sprintf(`{"links":%d,"sha256":%q}`+"\n", len(lines)-2, name)...)
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(body)
		_ = w.Close()
		b.Must(os.WriteFile(file, out.Bytes(), 0o600))
		b.attack(fmt.Sprintf(`UPDATE checkpoints SET file = '%s'`, name))
		accounts := []ledger.Account{ledger.Available(shop), ledger.Held(shop)}
		if _, err := archive.Statement(b.t.Context(), b.db, accounts, []string{file}); err == nil {
			b.t.Errorf("with the key: got a statement, want an error")
		}
		plain := storetest.OpenAt(b.t, b.url, b.clock.Now)
		if got, err := archive.Statement(b.t.Context(), plain, accounts, []string{file}); err == nil {
			b.t.Errorf("without the key: got a statement that begins with %s, want an error", got.Lines[0].Amount)
		}
	})
}
