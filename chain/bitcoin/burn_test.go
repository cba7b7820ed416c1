package bitcoin

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Addresses that value was lost at, and some that look like it.
func TestBurnAddressesAreRefused(t *testing.T) {
	t.Parallel()
	zero, ones := make([]byte, 20), []byte(strings.Repeat("\xff", 20))
	for name, c := range map[string]struct {
		script []byte
		lost   bool
	}{
		"1111111111111111111114oLvT2":        {pubKeyHashScript([20]byte(zero)), true},
		"1QLbz7JHiBTspS962RLKV8GndWFwi5j6Qr": {pubKeyHashScript([20]byte(ones)), true},
		"31h1vYVSYuKP6AhS86fbRdMw9XHieotbST": {scriptHashScript([20]byte(zero)), true},
		"a witness hash of zeros":            {keyHashScript([20]byte(zero)), true},
		"a witness script of zeros":          {programScript(opZero, make([]byte, 32)), true},
		"one bit":                            {keyHashScript([20]byte(append(make([]byte, 19), 1))), false},
		// secp256k1 has no point with this x coordinate (BIP 341, wallet test vectors of keys that are invalid: BIP 340, 5).
		"no key": {programScript(opOne, unhex(t, "eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34")), true},
		// The generator, from BIP 350's test vectors.
		"a key": {programScript(opOne, unhex(t, "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")), false},
	} {
		if got := refusal(c.script); (got != "") != c.lost {
			t.Errorf("%s: %q, want it refused: %t", name, got, c.lost)
		}
	}
}

func TestKnownBurnAddressesAreRefusedOnTheirNetwork(t *testing.T) {
	t.Parallel()
	main, err := Bitcoin("main")
	if err != nil {
		t.Fatal(err)
	}
	c := &Chain{network: main}
	for _, address := range []string{"1BitcoinEaterAddressDontSendf59kuE", "1CounterpartyXXXXXXXXXXXXXXXUWLpVr",
		"1111111111111111111114oLvT2", "1HT7xU2Ngenf7D4yocz2SAcnNLW7rK8d4E", "31h1vYVSYuKP6AhS86fbRdMw9XHieotbST"} {
		parsed, err := c.ParseAddress(address)
		if err != nil {
			t.Errorf("%s: %v, want an address that is well-formed", address, err)
			continue
		}
		_, err = c.payable(chain.Payment{Address: parsed, Amount: bursar.Units(100_000)})
		var refused *chain.RefusedError
		if !errors.As(err, &refused) || refused.Below {
			t.Errorf("%s: %v, want it refused", address, err)
		}
	}
}
