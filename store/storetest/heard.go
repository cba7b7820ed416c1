package storetest

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// heard is the file that BURSAR_TEST_STATEMENTS names.
var heard = sync.OnceValues(func() (*os.File, error) {
	return os.OpenFile(os.Getenv("BURSAR_TEST_STATEMENTS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
})

// made is what a test made of PostgreSQL, as one line of JSON.
type made struct {
	Test       string
	Seconds    float64
	Statements []string
}

// listener writes down which statements a test makes on PostgreSQL, for who chooses the tests that OnPostgres names:
//
//	BURSAR_TEST_POSTGRES=all BURSAR_TEST_STATEMENTS=/tmp/made.json go test -skip 'TestChaos|TestRandom' ./outgoing
//	go run ./store/storetest/cover /tmp/made.json
func listener(t testing.TB) func(statement string) {
	if os.Getenv("BURSAR_TEST_STATEMENTS") == "" {
		return nil
	}
	file, err := heard()
	if err != nil {
		t.Fatal(err)
	}
	top, _, _ := strings.Cut(t.Name(), "/")
	m, seen, began := made{Test: top}, map[string]bool{}, time.Now()
	var mu sync.Mutex
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		m.Seconds = time.Since(began).Seconds()
		line, err := json.Marshal(m)
		if err == nil {
			_, err = file.Write(append(line, '\n'))
		}
		if err != nil {
			t.Error(err)
		}
	})
	return func(statement string) {
		mu.Lock()
		defer mu.Unlock()
		if !seen[statement] {
			seen[statement] = true
			m.Statements = append(m.Statements, statement)
		}
	}
}
