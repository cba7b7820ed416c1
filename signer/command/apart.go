package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
)

// What the process that opens the seed writes to its parent: one of these, and the seeds or the error's text.
const (
	handsSeed byte = iota
	handsError
	handsMistake // the operator must change something
)

const (
	maxHanded = 4096
	handedTo  = 3 // the file descriptor of the pipe

	// longestOpening bounds it: a plugin, a token or a person who is to touch one may never answer.
	longestOpening = 5 * time.Minute
)

// OpenKeys returns a function that opens the seed in a process of its own, which ends then: neither the passphrase nor
// the words, of which libraries make copies that nothing can wipe, were ever in the memory of this process. The process
// is this program with the command `seed hand-over`. The errors are those of host.OpenKeys as texts.
func (c *Call) OpenKeys(ctx context.Context) func(cfg config.Config) (*signer.Keys, error) {
	return func(cfg config.Config) (*signer.Keys, error) {
		var handed [1 + maxHanded]byte
		defer clear(handed[:])
		n, err := c.handOver(ctx, handed[:])
		if err != nil {
			return nil, fmt.Errorf("open the seed file in a process of its own: %w", err)
		}
		content := handed[1:max(n, 1)]
		switch {
		case n > 1 && len(content)%host.SeedBytes == 0 && handed[0] == handsSeed:
			return host.KeysOfSeeds(cfg, content)
		case n > 1 && handed[0] == handsMistake:
			return nil, UsageError{errors.New(string(content))}
		case n > 1 && handed[0] == handsError:
			return nil, errors.New(string(content))
		}
		return nil, errors.New("open the seed file in a process of its own: it ended without an answer")
	}
}

// handOver runs the process that opens the seed, and returns how much it wrote.
func (c *Call) handOver(ctx context.Context, to []byte) (n int, err error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, longestOpening)
	defer cancel()
	ours, theirs, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer ours.Close()
	args := []string{"seed", "hand-over"}
	if c.Config != "" {
		args = append(args, "--config", c.Config)
	}
	var says bytes.Buffer
	child := exec.CommandContext(ctx, program, args...)
	child.Env, child.ExtraFiles, child.Stderr = c.Environ, []*os.File{theirs}, &says
	err = child.Start()
	theirs.Close()
	if err != nil {
		return 0, err
	}
	n, err = io.ReadFull(ours, to)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if ended := child.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("%w: %.300s", ended, says.String())
	}
	return n, err
}

type seedHandOverCommand struct{}

// Help says who runs it.
func (seedHandOverCommand) Help() string {
	return "The program runs this itself, when it opens the seed.\n\nExample:\n\n    bursar seed hand-over"
}

// Run writes the seed to the parent.
func (seedHandOverCommand) Run(c *Call) error {
	pipe := os.NewFile(handedTo, "pipe")
	if info, err := pipe.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return Wrong("`bursar seed hand-over` is run by the program itself: use `bursar seed check`")
	}
	kind, content := handsSeed, []byte(nil)
	cfg, err := c.Load()
	if err == nil {
		err = host.Protect(cfg, slog.New(slog.DiscardHandler))
	}
	if err == nil {
		content, err = host.OpenSeeds(cfg, c.Getenv)
	}
	if err != nil {
		kind, content = handsError, []byte(err.Error())
		if Mistaken(err) {
			kind = handsMistake
		}
	}
	defer clear(content)
	if len(content) > maxHanded {
		content = content[:maxHanded]
	}
	if _, err := pipe.Write(append([]byte{kind}, content...)); err != nil {
		return fmt.Errorf("hand over the seed: %w", err)
	}
	return pipe.Close()
}
