package store_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func TestStore(t *testing.T) { storetest.Run(t) }

func TestABadURLIsRefusedWithoutRepeatingIt(t *testing.T) {
	for _, url := range []string{"", "sqlite:", "mysql://x", "postgres://user:secret@host:notaport/db"} {
		_, err := store.Open(context.Background(), store.Config{URL: url})
		if err == nil || len(err.Error()) > 200 || containsSecret(err.Error()) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func containsSecret(s string) bool {
	for i := 0; i+6 <= len(s); i++ {
		if s[i:i+6] == "secret" {
			return true
		}
	}
	return false
}
