package patroni

import (
	"os"
	"regexp"
	"testing"

	"gopkg.in/yaml.v3"
)

// What docs/operations/backup.md has operators set in Patroni is what the clusters of the tests run with.
func TestTheDocumentedSettingsAreTheTested(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations/backup.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```\n(bootstrap:\n.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the page has no settings of Patroni, want some")
	}
	type settings struct {
		Bootstrap struct{ DCS map[string]any }
	}
	var shown, used settings
	if err := yaml.Unmarshal(block[1], &shown); err != nil {
		t.Fatal(err)
	}
	forwards, err := newProxy("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = forwards.listener.Close() }) // nothing used it
	m := &member{name: "a", dir: t.TempDir(), proxy: forwards}
	if err := yaml.Unmarshal([]byte(m.settings("etcd", "bin", Config{Synchronous: true, TTL: 6})), &used); err != nil {
		t.Fatal(err)
	}
	if len(shown.Bootstrap.DCS) < 5 {
		t.Errorf("the page sets %v, want at least five", shown.Bootstrap.DCS)
	}
	sameIn(t, shown.Bootstrap.DCS, used.Bootstrap.DCS)
}

// sameIn compares what is shown with what is used, which may be more.
func sameIn(t *testing.T, shown, used map[string]any) {
	t.Helper()
	for name, value := range shown {
		if group, is := value.(map[string]any); is {
			of, _ := used[name].(map[string]any)
			sameIn(t, group, of)
		} else if used[name] != value {
			t.Errorf("the page sets %s to %v, the tests to %v, want the same", name, value, used[name])
		}
	}
}
