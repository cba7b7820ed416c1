// Package bitcoindtest runs a real bitcoind on a private chain for tests.
//
// It owns the process, its data folder and an outsider's wallet in it, all of which end with the test. It never knows the
// adapter: what it says of the chain is the node's own word.
package bitcoindtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/chain/rpc"
)

const (
	user, password = "test", "test"
	wallet         = "outsider"
	patience       = 60 * time.Second // for a start or a stop on a busy machine
)

// Node is a bitcoind with mature coins in an outsider's wallet. Its methods fail the test when the node refuses.
type Node struct {
	URL    string // with credentials
	binary string
	folder string
	port   int
	cmd    *exec.Cmd
	exited chan struct{} // closed when cmd has ended
	output bytes.Buffer
	rpc    *rpc.Client
	wallet *rpc.Client
}

// Start runs a node until the end of the test.
func Start(t testing.TB) *Node {
	t.Helper()
	n := &Node{binary: binary(t), folder: t.TempDir()}
	t.Cleanup(n.kill)
	var err error
	for range 5 { // another process may have taken the port meanwhile
		if err = n.run(t.Context()); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatalf("start %s: %v\n%s", n.binary, err, n.output.String())
	}
	n.fund(t)
	return n
}

// binary finds a bitcoind: BURSAR_BITCOIND, the cache folder that .ci/install-bitcoind fills, or the path.
func binary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("BURSAR_BITCOIND"); path != "" {
		return path
	}
	if cache, err := os.UserCacheDir(); err == nil {
		if found, _ := filepath.Glob(filepath.Join(cache, "bursar-nodes", "bitcoind-*", "bitcoind")); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	path, err := exec.LookPath("bitcoind")
	if err != nil {
		t.Fatal("this test needs a real bitcoind: run .ci/install-bitcoind, or set BURSAR_BITCOIND to one, or run go test -short")
	}
	return path
}

// run starts the process on a free port and waits until it answers.
func (n *Node) run(ctx context.Context) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	n.port = port
	if n.rpc == nil || n.URL != n.url() {
		n.URL = n.url()
		if n.rpc, err = rpc.New(rpc.Config{URLs: []string{n.URL}, Version: rpc.V1, MinPause: time.Millisecond}); err != nil {
			return err
		}
		if n.wallet, err = rpc.New(rpc.Config{URLs: []string{n.URL + "/wallet/" + wallet}, Version: rpc.V1, MinPause: time.Millisecond}); err != nil {
			return err
		}
	}
	return n.launch(ctx)
}

func (n *Node) url() string { return fmt.Sprintf("http://%s:%s@127.0.0.1:%d", user, password, n.port) }

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// launch starts the process on the node's port. Neither the pool nor the wallet brings transactions back after a stop.
func (n *Node) launch(ctx context.Context) error {
	n.output.Reset()
	n.cmd = exec.CommandContext(ctx, n.binary, "-regtest", "-datadir="+n.folder, "-server",
		"-rpcuser="+user, "-rpcpassword="+password, fmt.Sprintf("-rpcport=%d", n.port), "-rpcbind=127.0.0.1",
		"-rpcallowip=127.0.0.1", "-rpcworkqueue=64", "-listen=0", "-dnsseed=0", "-connect=0", "-txindex=1",
		"-fallbackfee=0.0001", "-persistmempool=0", "-walletbroadcast=0", "-keypool=10", "-dbcache=4",
		"-printtoconsole=0", "-nodebuglogfile")
	n.cmd.Stdout, n.cmd.Stderr = &n.output, &n.output
	if err := n.cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	n.exited = exited
	go func(cmd *exec.Cmd) {
		defer close(exited)
		_ = cmd.Wait() // how it ended is told by its output
	}(n.cmd)
	if err := n.await(ctx); err != nil {
		n.kill()
		return err
	}
	return nil
}

// await polls until the node answers, or has exited.
func (n *Node) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		err := n.rpc.Call(ctx, "getblockcount", nil, nil)
		if err == nil {
			return nil
		}
		select {
		case <-poll.C:
		case <-n.exited:
			return errors.New("it exited")
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", err)
		}
	}
}

// restart stops the node and starts it again on the same chain, with an empty pool.
func (n *Node) restart(t testing.TB) {
	t.Helper()
	n.call(t, n.rpc, nil, "stop")
	select {
	case <-n.exited:
	case <-time.After(patience):
		t.Fatal("bitcoind does not stop")
	}
	if err := n.launch(t.Context()); err != nil {
		t.Fatalf("start bitcoind again: %v\n%s", err, n.output.String())
	}
}

// kill ends the process and waits for its end, so that its folder can be removed.
func (n *Node) kill() {
	if n.exited == nil {
		return
	}
	_ = n.cmd.Process.Kill()
	<-n.exited
}
