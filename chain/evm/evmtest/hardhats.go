package evmtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hardhats are the processes that a test has left for the next: to start one takes 0.9 s of CPU time, to begin its
// chain again almost none.
var hardhats struct {
	mu    sync.Mutex
	owned bool // Main ends them
	idle  []*hardhatProcess
}

type hardhatProcess struct {
	chainID uint64
	url     string
	project string // its directory
	command *exec.Cmd
}

// Main runs a package's tests and then ends the nodes that they shared.
func Main(m *testing.M) {
	hardhats.owned = true
	code := m.Run()
	for _, p := range hardhats.idle {
		p.end()
	}
	os.Exit(code)
}

// takeHardhat returns a process that no other test uses, until the end of this one. After a failure nobody uses it
// again.
func takeHardhat(t testing.TB, chainID uint64) *hardhatProcess {
	t.Helper()
	if !hardhats.owned {
		t.Fatal("the package's TestMain must call evmtest.Main")
	}
	p := leftHardhat(chainID)
	if p == nil {
		var err error
		if p, err = launchHardhat(findHardhat(t), chainID); err != nil {
			t.Fatalf("start hardhat: %v", err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			p.end()
			return
		}
		hardhats.mu.Lock()
		defer hardhats.mu.Unlock()
		hardhats.idle = append(hardhats.idle, p)
	})
	return p
}

// leftHardhat returns a process that another test has left, or nil.
func leftHardhat(chainID uint64) *hardhatProcess {
	hardhats.mu.Lock()
	defer hardhats.mu.Unlock()
	i := slices.IndexFunc(hardhats.idle, func(p *hardhatProcess) bool { return p.chainID == chainID })
	if i < 0 {
		return nil
	}
	p := hardhats.idle[i]
	hardhats.idle = slices.Delete(hardhats.idle, i, i+1)
	return p
}

// launchHardhat starts a process that mines only on request.
func launchHardhat(home string, chainID uint64) (*hardhatProcess, error) {
	p := &hardhatProcess{chainID: chainID}
	if err := p.configure(home); err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.project))
	}
	p.command = exec.Command("node", filepath.Join("node_modules", "hardhat", "internal", "cli", "cli.js"),
		"node", "--hostname", "127.0.0.1", "--port", "0")
	p.command.Dir = p.project
	p.command.Env = append(os.Environ(), "CI=true", "HARDHAT_DISABLE_TELEMETRY_PROMPT=true", "HOME="+p.project,
		"NO_COLOR=1")
	output, err := p.command.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.project))
	}
	p.command.Stderr = p.command.Stdout
	if err := p.command.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.project))
	}
	lines := &lines{mark: "JSON-RPC server at ", found: make(chan string, 1)}
	go lines.read(output)
	select {
	case url := <-lines.found:
		p.url = strings.TrimSuffix(url, "/")
		return p, nil
	case <-time.After(time.Minute):
		p.end()
		return nil, fmt.Errorf("hardhat does not listen: %s", lines.text())
	}
}

// configure makes the process's directory.
func (p *hardhatProcess) configure(home string) (err error) {
	if p.project, err = os.MkdirTemp("", "bursar-hardhat-"); err != nil {
		return err
	}
	if err := os.Symlink(filepath.Join(home, "node_modules"), filepath.Join(p.project, "node_modules")); err != nil {
		return err
	}
	config := fmt.Sprintf(`module.exports = {solidity: "0.8.28", networks: {hardhat: {chainId: %d,
	hardfork: "prague", initialBaseFeePerGas: 1000000000,
	mining: {auto: false, interval: 0, mempool: {order: "fifo"}}, accounts: {count: 1}}}}`, p.chainID)
	return os.WriteFile(filepath.Join(p.project, "hardhat.config.js"), []byte(config), 0o600)
}

// end kills the process and removes its directory.
func (p *hardhatProcess) end() {
	_ = p.command.Process.Kill() // it may have ended already
	_ = p.command.Wait()         // it was killed
	os.RemoveAll(p.project)
}
