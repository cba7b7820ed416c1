// Package litesvm runs Solana transactions in LiteSVM: the virtual machine, the system programs and the rules of
// accounts of the real validator, as a library without a network or a chain.
//
// It owns a child process, a script for Node.js that loads the library, and the protocol of its standard input and
// output. It knows nothing of slots, blocks or nodes: sandbox/nodes/solana owns those and may use this package to
// execute transactions. Its invariants: one call at a time, each with a time limit; once the child has ended every
// call returns the reason.
package litesvm

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/bursar/bursar/test/pins"
)

//go:embed vm.cjs
var script string

const (
	patience  = 30 * time.Second // for one answer
	maxAnswer = 64 << 20         // bytes of one answer; an account holds up to 10 MiB
	maxStderr = 4 << 10
)

// Find returns the directory that `go run ./test -install litesvm` fills: BURSAR_LITESVM, or one in the user's cache
// directory.
func Find() (string, error) {
	folder := os.Getenv("BURSAR_LITESVM")
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find litesvm: %w", err)
		}
		folder = filepath.Join(cache, "bursar-nodes", "litesvm-"+pins.LiteSVM)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		return "", fmt.Errorf("litesvm is missing in %s: run go run ./test -install litesvm", folder)
	}
	return folder, nil
}

// VM is a running machine, safe for concurrent use.
type VM struct {
	child  *exec.Cmd
	stderr *complaint
	stdin  io.WriteCloser

	mu     sync.Mutex // held during a call
	stdout *bufio.Scanner
	ended  error // why the child gives no more answers
}

// Config configures a machine. The zero value is for a node that keeps blocks itself.
type Config struct {
	// Folder is the directory of the library; default Find.
	Folder string
	// Ledger makes the machine itself refuse transactions that it has processed, and all blockhashes except its
	// newest.
	Ledger bool
}

// Start runs a machine. The context bounds the start only; Close ends it.
func Start(ctx context.Context, cfg Config) (*VM, error) {
	if cfg.Folder == "" {
		folder, err := Find()
		if err != nil {
			return nil, err
		}
		cfg.Folder = folder
	}
	v := &VM{child: exec.Command("node", "-e", script, cfg.Folder), stderr: &complaint{}}
	v.child.Stderr = v.stderr
	stdout, err := v.child.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start litesvm: %w", err)
	}
	if v.stdin, err = v.child.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start litesvm: %w", err)
	}
	v.stdout = bufio.NewScanner(stdout)
	v.stdout.Buffer(nil, maxAnswer)
	if err := v.child.Start(); err != nil {
		return nil, fmt.Errorf("start litesvm: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { v.child.Process.Kill() })
	err = v.call(request{Op: "open", Ledger: cfg.Ledger}, &struct{}{})
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("start litesvm: %w", errors.Join(err, v.Close()))
	}
	return v, nil
}

// Close ends the child process. Every later call is an error.
func (v *VM) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errors.Is(v.ended, os.ErrClosed) {
		return nil
	}
	v.ended = os.ErrClosed
	killed := v.child.Process.Kill()
	if errors.Is(killed, os.ErrProcessDone) {
		killed = nil
	}
	v.stdin.Close()    // the child is gone
	_ = v.child.Wait() // it was killed
	return killed
}

// call sends a request to the child and decodes its answer.
func (v *VM) call(r request, out any) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended != nil {
		return v.ended
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("ask litesvm: %w", err)
	}
	hurry := time.AfterFunc(patience, func() { v.child.Process.Kill() })
	defer hurry.Stop()
	if _, err := v.stdin.Write(append(line, '\n')); err != nil {
		return v.end(err)
	}
	if !v.stdout.Scan() {
		return v.end(errors.Join(v.stdout.Err(), io.ErrUnexpectedEOF))
	}
	var refused struct {
		Failed string `json:"failed"`
	}
	if err := json.Unmarshal(v.stdout.Bytes(), &refused); err != nil {
		return v.end(err)
	}
	if refused.Failed != "" {
		return fmt.Errorf("litesvm refuses to %s: %s", r.Op, refused.Failed)
	}
	if err := json.Unmarshal(v.stdout.Bytes(), out); err != nil {
		return v.end(err)
	}
	return nil
}

// end makes every later call return the reason why the child ended.
func (v *VM) end(why error) error {
	v.child.Process.Kill() // it may have ended already
	v.ended = fmt.Errorf("litesvm ended: %w: %s", why, v.stderr.text())
	return v.ended
}

// complaint keeps the first bytes of the child's standard error.
type complaint struct {
	mu   sync.Mutex
	kept []byte
}

func (t *complaint) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[:min(len(p), maxStderr-len(t.kept))]...)
	return len(p), nil
}

func (t *complaint) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
