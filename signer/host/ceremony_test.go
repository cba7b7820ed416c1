package host

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/bitcoin/descriptor"
	"github.com/bursar/bursar/config"
)

// account is an extended key of the test vectors of BIP 380.
const account = "xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL"

// A mistake in the list of a cold wallet's addresses is found before money moves there by itself.
func TestASignerDoesNotStartWithAddressesThatADescriptorLacks(t *testing.T) {
	t.Parallel()
	body := "wpkh([deadbeef/84h/0h/0h]" + account + "/<0;1>/*)"
	sum, err1 := descriptor.Checksum(body)
	d, err2 := descriptor.Parse(body + "#" + sum)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	network, err := bitcoin.Bitcoin("main")
	if err != nil {
		t.Fatal(err)
	}
	var bases []string
	for index := range uint32(2) {
		out, err := d.At(0, index)
		if err != nil {
			t.Fatal(err)
		}
		base, err := network.AddressOf(out.Script)
		if err != nil {
			t.Fatal(err)
		}
		bases = append(bases, base)
	}
	for name, test := range map[string]struct {
		addresses []string
		want      string
	}{
		"its own":            {bases, ""},
		"another wallet's":   {[]string{"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}, "none of the first"},
		"one beyond the row": {bases[1:], "none of the first"},
	} {
		cfg, err := config.Parse("bursar.yaml",
			[]byte(`chains: {bitcoin: {rpc: "http://127.0.0.1:1", cold: {vault: {kind: descriptor, `+
				`descriptor: "`+d.String()+`", addresses: [`+strings.Join(test.addresses, ", ")+`]}}}}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Connector{Network: cfg.Network, Registry: cfg.Registry, Log: slog.New(slog.DiscardHandler)}.all(t.Context(),
			cfg)
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
