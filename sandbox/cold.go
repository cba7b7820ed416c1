package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin/descriptor"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/sandbox/chains"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
)

// coldDir is the folder in place of a machine without a network: a seed, its passphrase, a configuration and the public
// keys of the hot wallet, as docs/operations/refill.md has them.
const coldDir = "cold"

// coldName is the name of the cold wallet of each chain.
const coldName = "vault"

// cold gives each chain a cold wallet of that folder's seed, which it makes at the first start.
func (p dataDir) cold(ctx context.Context, running []*chains.Chain) error {
	dir := dataDir{dir: p.file(coldDir)}
	if err := os.MkdirAll(dir.dir, 0o700); err != nil {
		return err
	}
	if err := dir.seed(); err != nil {
		return err
	}
	if err := dir.write("bursar.yaml", coldConfiguration(running)); err != nil {
		return err
	}
	hot, err := keysIn(p)
	if err != nil {
		return err
	}
	defer hot.Wipe()
	var exported bytes.Buffer
	if err := json.NewEncoder(&exported).Encode(hot.ExportPublic()); err != nil {
		return err
	}
	if err := dir.write("hot.json", exported.Bytes()); err != nil {
		return err
	}
	cfg, err := config.Load(dir.file("bursar.yaml"), nil)
	if err != nil {
		return err
	}
	keys, err := keysIn(dir)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	for _, c := range running {
		wallet, err := coldWallet(ctx, cfg, keys, c)
		if err != nil {
			return fmt.Errorf("a cold wallet of %s: %w", c.ID, err)
		}
		c.Settings = "{cold: {" + coldName + ": " + wallet + "}, " + strings.TrimPrefix(c.Settings, "{")
	}
	return nil
}

// own are the settings of a chain that a machine which asks no node must have configured.
var own = regexp.MustCompile(`(chain_id|network_id): \d+`)

// coldConfiguration is the configuration of the folder: the same chains and tokens, and no node.
func coldConfiguration(running []*chains.Chain) []byte {
	var b strings.Builder
	b.WriteString("network: regtest\nseed_file: seed.age\nchains:\n")
	for _, c := range running {
		settings := append([]string{`rpc: "http://127.0.0.1:1"`}, own.FindAllString(c.Settings, -1)...)
		fmt.Fprintf(&b, "  %s: {%s}\n", c.ID, strings.Join(settings, ", "))
	}
	writeContracts(&b, running)
	return []byte(b.String())
}

// keysIn opens the seed of a folder.
func keysIn(p dataDir) (*signer.Keys, error) {
	phrase, err := signer.NewPassphrase(passphrase)
	if err != nil {
		return nil, err
	}
	mnemonic, err := signer.ReadSeedFile(p.file("seed.age"), phrase)
	if err != nil {
		return nil, err
	}
	defer mnemonic.Wipe()
	return signer.NewKeys(mnemonic, signer.Testnet)
}

// coldWallet is the configuration of a chain's cold wallet.
func coldWallet(ctx context.Context, cfg config.Config, keys *signer.Keys, c *chains.Chain) (string, error) {
	own, adapter, err := host.Ceremony(ctx, cfg, keys, c.ID, "")
	if err != nil {
		return "", err
	}
	if slices.Contains(own.Kinds, bursar.ColdNonce) {
		at, err := c.NonceAccount(own.Home)
		return fmt.Sprintf("{kind: nonce, addresses: [%q], nonce_account: %q}", own.Home, at), err
	}
	if !slices.Contains(own.Kinds, bursar.ColdDescriptor) {
		return fmt.Sprintf("{kind: address, addresses: [%q]}", own.Home), nil
	}
	family := adapter.Capabilities().Family
	text, err := coldDescriptor(keys, family)
	if err != nil {
		return "", err
	}
	// The first address of the descriptor's first row.
	pub, err := keys.Public(chain.KeyRef{Family: family, Branch: chain.DepositBranch})
	if err != nil {
		return "", err
	}
	first, err := adapter.Address(pub, 0)
	return fmt.Sprintf("{kind: descriptor, descriptor: %q, addresses: [%q]}", text, first.Base), err
}

// coldDescriptor is the descriptor of a family's key alone.
func coldDescriptor(keys *signer.Keys, family bursar.Family) (string, error) {
	key, err := keys.KeyExpression(family)
	if err != nil {
		return "", err
	}
	body := "wpkh(" + key + "/<0;1>/*)"
	sum, err := descriptor.Checksum(body)
	return body + "#" + sum, err
}
