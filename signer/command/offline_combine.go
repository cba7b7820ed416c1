package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/ceremony"
)

type offlineCombineCommand struct {
	File   string   `arg:"" placeholder:"FILE" help:"A bundle."`
	Others []string `arg:"" placeholder:"OTHER" help:"Other copies: bundles, or what a device or another program returned, as bytes, in base64 or in hexadecimal."`
	hotFile
	BundleOut
}

// Help returns an example.
func (offlineCombineCommand) Help() string {
	return "Needs no seed, and checks every signature. Where it takes something else than a bundle it takes its " +
		"signatures only.\n\nExample:\n\n    bursar-signer offline combine signed-by-ann.txt signed-by-bob.psbt --out " +
		"signed.txt"
}

// Run joins copies.
func (cmd *offlineCombineCommand) Run(ctx context.Context, c *Call) error {
	_, b, own, err := cmd.read(ctx, c, cmd.File)
	if err != nil {
		return err
	}
	for _, path := range cmd.Others {
		other, err := readCopy(b, path)
		if err != nil {
			return err
		}
		if b, err = own.Combine(b, other, now()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	tx, err := own.Evaluate(b, now())
	if err != nil {
		return err
	}
	c.Note("%s", own.Describe(b, tx))
	return cmd.Write(c, b.Text())
}

// readCopy reads the transaction of another copy.
func readCopy(b ceremony.Bundle, path string) ([]byte, error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte("bursar-refill/")) {
		other, err := ceremony.Read(string(data))
		if err == nil && !other.Same(b) {
			err = fmt.Errorf("%s is another refill, %s", path, other.ID)
		}
		return other.Bytes, err
	}
	return ceremony.Decode(data), nil
}

// OfflineRead joins frames.
type OfflineRead struct{ BundleOut }

// Help returns an example.
func (OfflineRead) Help() string {
	return "Takes one frame a line, in any order and as often as the scanner sees it, until the bundle is whole.\n\n" +
		"Example:\n\n    zbarcam --raw | bursar-signer offline read --out refill.txt\n" +
		"    zbarcam --raw | bursar cold read --out signed.txt"
}

// Run joins the frames of standard input.
func (cmd *OfflineRead) Run(c *Call) error {
	var joiner ceremony.Joiner
	lines := bufio.NewScanner(c.Stdin)
	for lines.Scan() {
		missing, err := joiner.Add(lines.Text())
		if err != nil {
			c.Note("passed over: %v", err)
			continue
		}
		if c.Note("%d frames are missing", missing); missing == 0 {
			break
		}
	}
	text, err := joiner.Text()
	if err == nil {
		_, err = ceremony.Read(text)
	}
	if err := errors.Join(err, lines.Err()); err != nil {
		return err
	}
	return cmd.Write(c, text)
}
