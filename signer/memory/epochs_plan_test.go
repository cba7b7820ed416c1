package memory

import (
	"strings"
	"testing"
)

// Each service asks for the entries about epochs whenever it asks which keys there are: the log is not read for them.
func TestEntriesOfEpochsHaveAnIndex(t *testing.T) {
	t.Parallel()
	f, _ := newFile(t, false)
	var id, parent, unused int
	var detail string
	err := f.db.QueryRowContext(t.Context(), `EXPLAIN QUERY PLAN SELECT number`+epochEntries).
		Scan(&id, &parent, &unused, &detail)
	if err != nil || !strings.Contains(detail, "INDEX log_of_epochs") {
		t.Errorf("SQLite reads %q (%v), want by the index log_of_epochs", detail, err)
	}
}
