package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
)

// Offline is the commands of the machine with a cold wallet's key, which faces no network.
type Offline struct {
	Key     offlineKeyCommand     `cmd:"" help:"Print the public key of this seed for the descriptor of a cold wallet."`
	Address offlineAddressCommand `cmd:"" help:"Print the address of this seed's account on a chain, for a cold wallet or an owner of one."`
	Show    offlineShowCommand    `cmd:"" help:"Show what a bundle does, or show it as QR codes."`
	Sign    offlineSignCommand    `cmd:"" help:"Sign a bundle with the keys of this seed."`
	Combine offlineCombineCommand `cmd:"" help:"Join the signatures of several copies of a bundle."`
	Read    OfflineRead           `cmd:"" help:"Join frames that a scanner of QR codes read from standard input."`
}

type offlineKeyCommand struct {
	Chain bursar.ChainID `arg:"" placeholder:"CHAIN" help:"Chain, such as bitcoin."`
}

// Help returns an example.
func (offlineKeyCommand) Help() string {
	return "A descriptor has it with /<0;1>/* behind it. The seed must be one that no hot wallet has.\n\n" +
		"Example:\n\n    BURSAR_PASSPHRASE_FILE=/run/passphrase bursar-signer offline key bitcoin"
}

// Run prints the key.
func (cmd *offlineKeyCommand) Run(c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	keys, err := c.openKeys(cfg)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	for _, id := range registry.IDs() {
		if id != cmd.Chain {
			continue
		}
		expression, err := keys.KeyExpression(registry.Of(id).Family)
		if err != nil {
			return err
		}
		return c.Say("%s", expression)
	}
	return Wrong("there is no chain %q", cmd.Chain)
}

type offlineAddressCommand struct {
	Chain bursar.ChainID `arg:"" placeholder:"CHAIN" help:"Chain, such as ethereum."`
}

// Help returns an example.
func (offlineAddressCommand) Help() string {
	return "It is the account that signs bundles of this chain. The seed must be one that no hot wallet has.\n\n" +
		"Example:\n\n    BURSAR_PASSPHRASE_FILE=/run/passphrase bursar-signer offline address ethereum"
}

// Run prints the address.
func (cmd *offlineAddressCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	keys, err := c.openKeys(cfg)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	own, _, err := host.Ceremony(ctx, cfg, keys, cmd.Chain, "")
	if err != nil {
		return err
	}
	if slices.Contains(own.Kinds, bursar.ColdDescriptor) {
		return Wrong("a cold wallet of %s is a descriptor: use `bursar-signer offline key`", cmd.Chain)
	}
	return c.Say("%s", own.Home)
}

// hotFile is the flag of the hot wallet's public keys.
type hotFile struct {
	Hot string `default:"hot.json" placeholder:"FILE" help:"Public keys of the hot wallet's seed, as bursar seed export-public printed them. Default: hot.json."`
}

// own returns what this machine knows of a bundle's chain.
func (f hotFile) own(ctx context.Context, cfg config.Config, b ceremony.Bundle) (ceremony.Own, error) {
	data, err := os.ReadFile(f.Hot)
	if err != nil {
		return ceremony.Own{}, fmt.Errorf("the public keys of the hot wallet are needed to know where a refill goes: %w", err)
	}
	var exported signer.PublicKeys
	if err := json.Unmarshal(data, &exported); err != nil {
		return ceremony.Own{}, fmt.Errorf("%s: %w", f.Hot, err)
	}
	if exported.Network != host.Network(cfg.Network) {
		return ceremony.Own{}, fmt.Errorf("%s is for %s, this configuration for %s", f.Hot, exported.Network, cfg.Network)
	}
	hot, err := signer.FromPublic(exported)
	if err != nil {
		return ceremony.Own{}, fmt.Errorf("%s: %w", f.Hot, err)
	}
	own, _, err := host.Ceremony(ctx, cfg, hot, b.Wallet.Chain, b.Payment.Contract)
	return own, err
}

// read reads a bundle, and the configuration and keys by which it is evaluated.
func (f hotFile) read(
	ctx context.Context, c *Call, path string,
) (cfg config.Config, b ceremony.Bundle, own ceremony.Own, err error) {
	if cfg, err = c.Load(); err != nil {
		return cfg, b, own, err
	}
	if b, err = ReadBundle(path); err != nil {
		return cfg, b, own, err
	}
	own, err = f.own(ctx, cfg, b)
	return cfg, b, own, err
}

// ReadBundle reads a bundle from a file.
func ReadBundle(path string) (ceremony.Bundle, error) {
	data, err := readBounded(path)
	if err != nil {
		return ceremony.Bundle{}, err
	}
	return ceremony.Read(string(data))
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, ceremony.MaxBundle+1))
	if err != nil || len(data) > ceremony.MaxBundle {
		return nil, fmt.Errorf("read %s: more than %d bytes, or: %w", path, ceremony.MaxBundle, err)
	}
	return data, nil
}

// BundleOut is where a bundle is written.
type BundleOut struct {
	Out string `required:"" placeholder:"FILE" help:"File to write; an existing one is not overwritten."`
}

// Free says so if the file is there, before anything is done that a bundle which cannot be written would leave behind.
func (o BundleOut) Free() error {
	_, err := os.Lstat(o.Out)
	if err == nil {
		return &fs.PathError{Op: "write", Path: o.Out, Err: fs.ErrExist}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Write writes a bundle, and says where.
func (o BundleOut) Write(c *Call, text string) error {
	file, err := os.OpenFile(o.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	c.Note("written to %s", o.Out)
	return nil
}

type offlineSignCommand struct {
	File string `arg:"" placeholder:"FILE" help:"The bundle."`
	hotFile
	BundleOut
}

// Help returns an example.
func (offlineSignCommand) Help() string {
	return "Shows what the transaction does, read from its bytes, and asks for the amount on standard input before it " +
		"signs. It signs a payment to the hot wallet of --hot and nothing else.\n\nExample:\n\n    " +
		"BURSAR_PASSPHRASE_FILE=/run/passphrase bursar-signer offline sign refill.txt --out signed.txt"
}

// Run signs a bundle.
func (cmd *offlineSignCommand) Run(ctx context.Context, c *Call) error {
	cfg, b, own, err := cmd.read(ctx, c, cmd.File)
	if err != nil {
		return err
	}
	tx, err := own.Evaluate(b, now())
	if err != nil {
		return err
	}
	c.Note("%s", own.Describe(b, tx))
	if err := c.confirmAmount(own.Asset.Exact(tx.Payments[0].Amount)); err != nil {
		return err
	}
	keys, err := c.openKeys(cfg)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	signed, err := own.Sign(b, keys, now())
	if err != nil {
		return err
	}
	return cmd.Write(c, signed.Text())
}

// confirmAmount has the person type the amount that the transaction pays.
func (c *Call) confirmAmount(amount string) error {
	c.Note("Type the amount to sign it:")
	line, err := bufio.NewReader(io.LimitReader(c.Stdin, 200)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the amount from standard input: %w", err)
	}
	if typed := strings.TrimSpace(line); typed != amount {
		return fmt.Errorf("%q was typed, the transaction pays %q: nothing is signed", typed, amount)
	}
	return nil
}
