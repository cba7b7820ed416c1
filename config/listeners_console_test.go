package config_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/config"
)

// The console's URL is the origin that browsers send: they write a host in lower case, and leave out the usual port.
func TestTheConsole(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"https://bursar.example", "https://bursar.example:8443", "http://localhost:8081",
		"http://localhost", "https://localhost"} {
		got := parse(t, "console: {url: '"+url+"', role_hold: 36h}").Console
		if want := (config.Console{URL: url, RoleHold: 36 * time.Hour}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", url, got, want)
		}
	}
	for _, text := range []string{"url: https://Bursar.example", "url: 'https://bursar.example:443'",
		"url: 'http://localhost:80'", "url: HTTPS://bursar.example", "url: http://bursar.example",
		"url: https://bursar.example/", "url: https://bursar.example/console", "url: https://ann@bursar.example",
		"url: 'https://bursar.example:'", "url: https://192.0.2.1", "url: 'https://[2001:db8::1]'", "url: bursar.example",
		"role_hold: -1h", "role_hold: soon", "role_hold: 999999h"} {
		_, err := config.Parse("bursar.yaml", []byte("console: {"+text+"}"), nil)
		if key, _, _ := strings.Cut(text, ":"); err == nil || !strings.Contains(err.Error(), "console."+key) {
			t.Errorf("%s: got %v, want a refusal that names the setting", text, err)
		}
	}
}

// Each key is of one person, who may have several.
func TestKeysOfPeople(t *testing.T) {
	t.Parallel()
	const ann = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOX4BNgOsI5lfvjjPCNASGNO/JYfjrIyII37LPVGkwWM"
	const bob = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOfAbR8CLzxACczU3FcravrC6EH6ZQLWEsDeqecN8cBf"
	got := parse(t, "console: {ssh_keys: ['"+ann+" Ann Lee', '"+bob+" Bob']}").Console.SSHKeys
	if len(got) != 2 || got[0].Person != "Ann Lee" || got[0].Key.String() != ann || got[1].Person != "Bob" ||
		got[1].Key.String() != bob {
		t.Errorf("the keys are %+v, want Ann's and Bob's", got)
	}
	for keys, want := range map[string]string{
		"'" + ann + " Ann', '" + ann + " Bob'": "one key is of one person",
		"'" + ann + "'":                        "whose key it is",
		"'" + ann + "  '":                      "whose key it is",
		"ssh-rsa AAAA Ann":                     "is not an ssh-ed25519",
		"Ann":                                  "whose key it is",
	} {
		_, err := config.Parse("bursar.yaml", []byte("console: {ssh_keys: ["+keys+"]}"), nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "console.ssh_keys") {
			t.Errorf("%s: got %v, want a refusal of the setting that says %q", keys, err, want)
		}
	}
}
