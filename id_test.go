package bursar_test

import (
	"bytes"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

func TestIDsIncreaseAndAreVersion7(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	ids := bursar.NewIDs(func() time.Time { return at }, rand.Reader)
	var last bursar.ID
	for range 10_000 {
		id := ids.Next()
		if bytes.Compare(last[:], id[:]) >= 0 {
			t.Fatalf("%s does not follow %s", id, last)
		}
		last = id
	}
	text := last.String()
	if text[14] != '7' || !bytes.ContainsRune([]byte("89ab"), rune(text[19])) {
		t.Errorf("%s is not a version 7 UUID", text)
	}
	if back, err := bursar.ParseID(text); err != nil || back != last {
		t.Errorf("%s is read back as %s, %v, want %v", text, back, err, last)
	}
	for _, bad := range []string{"", text[1:], text + "0", "{" + text[:34] + "}", text[:8] + "_" + text[9:],
		"g" + text[1:]} {
		if _, err := bursar.ParseID(bad); err == nil {
			t.Errorf("%q is taken for a UUID, want an error", bad)
		}
	}
}

func TestIDsAreUniqueAcrossGoroutines(t *testing.T) {
	ids := bursar.NewIDs(time.Now, nil)
	var mu sync.Mutex
	seen := map[bursar.ID]bool{}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 1000 {
				id := ids.Next()
				mu.Lock()
				if seen[id] {
					t.Error("an id was made twice")
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
}
