package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/config"
)

const screeningKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="

func TestScreening(t *testing.T) {
	t.Parallel()
	if got := parse(t, "").Screening; got.On() {
		t.Errorf("without any it is %+v, want off", got)
	}
	got := parse(t, "screening: {url: 'https://me:hunter2@lists.example/screen', key: '"+screeningKey+"'}").Screening
	if !got.On() || got.Timeout != 30*time.Second || len(got.Key) != 32 || got.AllowNetworks != nil ||
		!strings.Contains(got.URL.Reveal(), "hunter2") || strings.Contains(fmt.Sprintf("%+v", got), "hunter2") {
		t.Errorf("it is %+v, want the key, 30s, and a URL that is not printed", got)
	}
	got = parse(t, "network: regtest", "BURSAR_SCREENING_URL=http://10.0.0.7/", "BURSAR_SCREENING_KEY="+screeningKey,
		"BURSAR_SCREENING_TIMEOUT=5s", "BURSAR_SCREENING_ALLOW_NETWORKS=10.0.0.0/8").Screening
	if !got.On() || got.Timeout != 5*time.Second || fmt.Sprint(got.AllowNetworks) != "[10.0.0.0/8]" {
		t.Errorf("it is %+v, want 5s and 10.0.0.0/8", got)
	}
}

func TestMistakesOfScreening(t *testing.T) {
	t.Parallel()
	url := "url: 'https://lists.example'"
	key := "key: '" + screeningKey + "'"
	for text, want := range map[string]string{
		url:                                "key is required",
		key:                                "url is required",
		url + ", key: abc":                 "not an Ed25519 public key",
		url + ", key: 'AAAA'":              "not an Ed25519 public key",
		"url: 'ftp://a', " + key:           "a URL is not of the form",
		"url: 'http://a', " + key:          "on mainnet it must be https",
		url + ", " + key + ", timeout: 0s": "the value must be between",
		url + ", " + key + ", timeout: 1h": "not a duration that is allowed",
		url + ", " + key + ", keys: x":     "unknown key",
	} {
		_, err := config.Parse("bursar.yaml", []byte("screening: {"+text+"}"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", text, err, want)
		}
	}
}
