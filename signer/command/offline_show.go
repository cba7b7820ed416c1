package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bursar/bursar/ceremony"
)

// ShowCodes are the flags of a bundle that is shown as QR codes.
type ShowCodes struct {
	QR    bool          `name:"qr" help:"Show the bundle as QR codes in the terminal, one after the other, until interrupted."`
	Every time.Duration `default:"500ms" help:"How long each code is shown. Default: 500ms."`
	Once  bool          `help:"Show each code once."`
	Dir   string        `name:"qr-dir" placeholder:"FOLDER" help:"Write each code as PNG and SVG into this new folder."`
}

// Asked reports whether codes are to be shown.
func (s ShowCodes) Asked() bool { return s.QR || s.Dir != "" }

// Show shows a bundle's text as QR codes.
func (s ShowCodes) Show(ctx context.Context, c *Call, text string) error {
	frames, err := ceremony.Frames(text)
	if err != nil {
		return err
	}
	codes := make([]ceremony.Code, len(frames))
	for i, frame := range frames {
		if codes[i], err = ceremony.Draw(frame); err != nil {
			return err
		}
	}
	if s.Dir != "" {
		if err := s.write(c, codes); err != nil || !s.QR {
			return err
		}
	}
	return s.play(ctx, c, codes)
}

// write writes the codes into a folder that did not exist.
func (s ShowCodes) write(c *Call, codes []ceremony.Code) error {
	if err := os.Mkdir(s.Dir, 0o700); err != nil {
		return err
	}
	for i, code := range codes {
		name := filepath.Join(s.Dir, fmt.Sprintf("frame-%05d", i+1))
		if err := os.WriteFile(name+".png", code.PNG(), 0o600); err != nil {
			return err
		}
		if err := os.WriteFile(name+".svg", []byte(code.SVG()), 0o600); err != nil {
			return err
		}
	}
	c.Note("%d codes are written into %s", len(codes), s.Dir)
	return nil
}

// home moves a terminal's cursor to the first line and clears what follows.
const home = "\x1b[H\x1b[J"

// play shows the codes in turn.
func (s ShowCodes) play(ctx context.Context, c *Call, codes []ceremony.Code) error {
	for {
		for i, code := range codes {
			if _, err := fmt.Fprintf(c.Stdout, "%s%s%d of %d\n", home, code.Terminal(), i+1, len(codes)); err != nil {
				return err
			}
			timer := time.NewTimer(max(s.Every, time.Millisecond))
			select {
			case <-ctx.Done():
				timer.Stop()
				return nil // the way it is ended
			case <-timer.C:
			}
		}
		if s.Once {
			return nil
		}
	}
}

type offlineShowCommand struct {
	File string `arg:"" placeholder:"FILE" help:"The bundle."`
	hotFile
	ShowCodes
}

// Help returns an example.
func (offlineShowCommand) Help() string {
	return "Needs no seed. What it prints is read from the transaction's bytes; a bundle that `bursar-signer offline " +
		"sign` would refuse is refused.\n\nExample:\n\n    bursar-signer offline show refill.txt\n    " +
		"bursar-signer offline show signed.txt --qr"
}

// Run shows a bundle.
func (cmd *offlineShowCommand) Run(ctx context.Context, c *Call) error {
	_, b, own, err := cmd.read(ctx, c, cmd.File)
	if err != nil {
		return err
	}
	tx, err := own.Evaluate(b, now())
	if err != nil {
		return err
	}
	if cmd.Asked() {
		return cmd.Show(ctx, c, b.Text())
	}
	_, err = fmt.Fprint(c.Stdout, own.Describe(b, tx))
	return err
}
