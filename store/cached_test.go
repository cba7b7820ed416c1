package store

import "testing"

// SQLite prepares a statement again for each value of a parameter that it plans by, so that none stands alone.
func TestNoParameterIsOneThatSQLitePlansBy(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT a FROM b WHERE c = $1 LIMIT $2":         "SELECT a FROM b WHERE c = +$1 LIMIT +$2",
		"SELECT a FROM b\n\t\tWHERE c = $1\n\tLIMIT $2": "SELECT a FROM b\n\t\tWHERE c = +$1\n\tLIMIT +$2",
		"SELECT a FROM b WHERE c <= $1 AND d <> $2":     "SELECT a FROM b WHERE c <= $1 AND d <> $2",
		"INSERT INTO a(b, c) VALUES ($1, $2)":           "INSERT INTO a(b, c) VALUES ($1, $2)",
	} {
		if got := steady(query); got != want {
			t.Errorf("%q becomes %q, want %q", query, got, want)
		}
	}
}
