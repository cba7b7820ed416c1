package config_test

import (
	"testing"

	"github.com/bursar/bursar/config"
)

func TestADatabaseElsewhereIsVerified(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct{ url, unverified string }{
		"postgres://u:p@db.internal/bursar":            {"postgres://u:p@db.internal/bursar?sslmode=verify-full", ""},
		"postgres://u@10.0.0.2:5432/b?a=3":             {"postgres://u@10.0.0.2:5432/b?a=3&sslmode=verify-full", ""},
		"postgres://u@db1,db2/b?x=any":                 {"postgres://u@db1,db2/b?x=any&sslmode=verify-full", ""},
		"postgres://u@localhost,db2/b":                 {"postgres://u@localhost,db2/b?sslmode=verify-full", ""},
		"postgres://u@/b?host=db.internal":             {"postgres://u@/b?host=db.internal&sslmode=verify-full", ""},
		"postgres://u@[2001:db8::1]:5432/b":            {"postgres://u@[2001:db8::1]:5432/b?sslmode=verify-full", ""},
		"postgres://u@db.internal/b?sslmode=verify-ca": {"postgres://u@db.internal/b?sslmode=verify-ca", ""},
		"postgres://u@db.internal/b?sslmode=require":   {"postgres://u@db.internal/b?sslmode=require", "require"},
		"postgres://u@db.internal/b?sslmode=disable":   {"postgres://u@db.internal/b?sslmode=disable", "disable"},
		"postgres://u@127.0.0.1:5432/b":                {"postgres://u@127.0.0.1:5432/b", ""},
		"postgres://u@[::1]:5432/b":                    {"postgres://u@[::1]:5432/b", ""},
		"postgres://u@LocalHost/b?sslmode=disable":     {"postgres://u@LocalHost/b?sslmode=disable", ""},
		"postgres://u@/b?host=/run/postgresql":         {"postgres://u@/b?host=/run/postgresql", ""},
		"postgres:///b":                                {"postgres:///b", ""},
	} {
		cfg := parse(t, "network: testnet\ndatabase: '"+url+"'")
		if got := cfg.Database.Reveal(); got != want.url {
			t.Errorf("%s becomes %s, want %s", url, got, want.url)
		}
		if got := cfg.UnverifiedDatabase(); got != want.unverified {
			t.Errorf("%s is unverified: %q, want %q", url, got, want.unverified)
		}
	}
}

// A URL means what the driver makes of it: the last of two values, an alias, and what the environment adds.
func TestADatabaseElsewhereIsVerifiedHoweverItIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, env, want, unverified string }{
		{"postgres:///b", "PGHOST=db.internal", "postgres:///b?sslmode=verify-full", ""},
		{"postgres:///b", "PGHOST=/run/postgresql", "postgres:///b", ""},
		{"postgres:///b", "PGHOST=localhost", "postgres:///b", ""},
		{"postgres:///b", "PGSERVICE=books", "postgres:///b?sslmode=verify-full", ""},
		{"postgres:///b?service=books", "", "postgres:///b?service=books&sslmode=verify-full", ""},
		{"postgres://u@127.0.0.1/b?service=books", "PGHOST=db.internal", "postgres://u@127.0.0.1/b?service=books", ""},
		{"postgres:///b?sslmode=disable", "PGHOST=db.internal", "postgres:///b?sslmode=disable", "disable"},
		{"postgres:///b?host=&sslmode=disable", "PGHOST=db.internal", "postgres:///b?host=&sslmode=disable", ""},
		{"postgres://u@db1:5432,db2:5433/b", "", "postgres://u@db1:5432,db2:5433/b?sslmode=verify-full", ""},
		{"postgres://u@db.internal/b?sslmode=", "", "postgres://u@db.internal/b?sslmode=&sslmode=verify-full", ""},
		{"postgres://u@db.internal/b?ssl=true", "", "postgres://u@db.internal/b?ssl=true&sslmode=verify-full", ""},
		{"postgres://u@127.0.0.1/b?host=db.internal", "",
			"postgres://u@127.0.0.1/b?host=db.internal&sslmode=verify-full", ""},
		{"postgres://u@db.internal/b?host=10.0.0.2&host=127.0.0.1", "",
			"postgres://u@db.internal/b?host=10.0.0.2&host=127.0.0.1", ""},
		{"postgres://u@127.0.0.1/b?h%6fst=db.internal", "",
			"postgres://u@127.0.0.1/b?h%6fst=db.internal&sslmode=verify-full", ""},
		{"postgres://u@db.internal/b?sslmode=verify-full&sslmode=disable", "",
			"postgres://u@db.internal/b?sslmode=verify-full&sslmode=disable", "disable"},
		{"postgres://u@db.internal/b?sslmode=verify-full&ssl=true", "",
			"postgres://u@db.internal/b?sslmode=verify-full&ssl=true&sslmode=verify-full", ""},
	} {
		cfg := parse(t, "network: testnet\ndatabase: '"+c.url+"'", c.env)
		if got := cfg.Database.Reveal(); got != c.want {
			t.Errorf("%s with %s becomes %s, want %s", c.url, c.env, got, c.want)
		}
		if got := cfg.UnverifiedDatabase(); got != c.unverified {
			t.Errorf("%s with %s is unverified: %q, want %q", c.url, c.env, got, c.unverified)
		}
	}
}

// The driver would take what is behind the last @ for the host.
func TestADatabaseWithAnAtSignInItsQueryIsRefused(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://127.0.0.1?x=@db.internal/b", "postgres://127.0.0.1#@db.internal/b"} {
		if _, err := config.Parse("bursar.yaml", []byte("network: testnet\ndatabase: '"+url+"'"), nil); err == nil {
			t.Errorf("%s is accepted, want an error", url)
		}
	}
}
