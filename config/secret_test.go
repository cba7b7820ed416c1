package config_test

import "testing"

func TestAPasswordOfTheDatabaseIsASecretWhereverItStands(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"postgres://u:p@db.internal/b":                                  true,
		"postgres:///b?user=u&password=p":                               true,
		"postgres:///b?host=db.internal&passw%6frd=p":                   true,
		"postgres:///b?sslkey=k&sslcert=c&sslpassword=p":                true,
		"postgres:///b?host=/run/postgresql&application_name=password":  false,
		"postgres:///b?host=/run/postgresql&password=&sslmode=disable":  false,
		"sqlite:/var/lib/bursar/bursar.db":                              false,
		"postgres:///b?host=/run/postgresql&passfile=/etc/bursar/.pass": false,
	} {
		if got := parse(t, "network: testnet\ndatabase: '"+url+"'").HoldsSecrets(); got != want {
			t.Errorf("%s holds a secret: %t, want %t", url, got, want)
		}
	}
}
