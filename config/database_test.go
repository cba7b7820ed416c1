package config_test

import "testing"

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
