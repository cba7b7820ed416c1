package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A statement is valid by the schema that ISO 20022 publishes, as xmllint says. The schema is not here: its publisher's
// terms let everybody use it and say nothing about copies. BURSAR_CAMT_XSD names the file camt.053.001.08.xsd of
// iso20022.org; what can be checked without it is in inOrder.
func TestAStatementIsValidByTheSchema(t *testing.T) {
	t.Parallel()
	schema := os.Getenv("BURSAR_CAMT_XSD")
	if schema == "" {
		t.Skip("BURSAR_CAMT_XSD does not name camt.053.001.08.xsd of iso20022.org")
	}
	d := newSeededHarness(t)
	account := d.valued().String()
	text := d.ok("ledger", "export", "--account", account, "--value", "EUR", "--format", "camt.053", "--since",
		"2026-01-01", "--until", "2026-02-01")
	file := filepath.Join(t.TempDir(), "statement.xml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "xmllint", "--noout", "--nonet", "--schema", schema, file)
	said, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("xmllint says %s, %v, want that it is valid:\n%s", said, err, text)
	}
}
