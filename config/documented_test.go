package config

import (
	"os"
	"strings"
	"testing"
)

// TestEveryKeyIsDocumented holds the table of docs/operations.md to the keys that are read.
func TestEveryKeyIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	paths := fixedPaths()
	for _, key := range keysOf(chainSettings) {
		paths = append(paths, []string{chainsKey, "<chain>", key})
	}
	for _, key := range currencyKeys() {
		paths = append(paths, []string{currenciesKey, "<code>", key})
	}
	for _, key := range []string{staticKey, pointersKey} {
		paths = append(paths, []string{ratesKey, key, "<code>"})
	}
	if len(paths) < 30 {
		t.Fatalf("only %d keys are known", len(paths))
	}
	for _, path := range paths {
		row := "| `" + strings.Join(path, ".") + "` | `" + variablePrefix + variable(path...) + "` | "
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/operations.md has no row that begins with %s", row)
		}
	}
}
