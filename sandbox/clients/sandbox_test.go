package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	startTime = 3 * time.Minute // for a machine that is busy with other tests; alone it takes a second
	patience  = 5 * time.Minute // for actions that take a few blocks
	maxAnswer = 1 << 20
)

var httpClient = &http.Client{Timeout: time.Minute}

// startInfo is the line that the sandbox prints when it is ready.
type startInfo struct {
	API, Control, APIKey, APISecret string
	Chains                          map[string]struct{ RPC string }
}

// sandbox is a running one.
type sandbox struct {
	startInfo
	log bytes.Buffer // read after the process has ended
}

// build builds the sandbox once for all tests and returns its program.
var build = sync.OnceValues(func() (string, error) {
	program := filepath.Join(programs, "sandbox")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, "..").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the sandbox: %w\n%s", err, out)
	}
	return program, nil
})

// programs is a folder that is removed after the tests.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "bursar-clients-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(programs) // it is in the system's folder for what is temporary
	os.Exit(code)
}

// start runs a sandbox until the test ends.
func start(t *testing.T, args ...string) *sandbox {
	t.Helper()
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	const free = "127.0.0.1:0"
	command := exec.Command(program, append(args, "--json", "--listen", free, "--admin", free, "--control", free,
		"--data", t.TempDir())...)
	// The sandbox takes settings of the service from the environment and refuses BURSAR_CLIENTS, which is of the tests.
	command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "BURSAR_") })
	s := &sandbox{}
	command.Stderr = &s.log
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended already
		_ = command.Wait()         // it was killed
		if t.Failed() {
			t.Logf("the sandbox's log ends with\n%s", s.log.Bytes()[max(0, s.log.Len()-8000):])
		}
	})
	line := make(chan []byte, 1)
	go func() {
		text, _ := bufio.NewReader(output).ReadBytes('\n')
		line <- text
	}()
	select {
	case text := <-line:
		if err := json.Unmarshal(text, &s.startInfo); err != nil {
			t.Fatalf("the sandbox prints %q: %v", text, err)
		}
	case <-time.After(startTime):
		t.Fatalf("the sandbox is not ready after %v", startTime)
	}
	return s
}

// ask sends a request and decodes a successful answer into out.
func ask(method, url string, headers map[string]string, body, out any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := httpClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer)); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %d %s", method, url, answer.StatusCode, text)
	}
	return json.Unmarshal(text, out)
}

// hotWallet returns the service's hotWallet wallet address on each chain.
func (s *sandbox) hotWallet(t *testing.T) map[string]string {
	t.Helper()
	var all struct {
		Chains map[string]struct{ Hot string }
	}
	if err := ask(http.MethodGet, s.Control+"/chains", nil, nil, &all); err != nil {
		t.Fatal(err)
	}
	addresses := map[string]string{}
	for chain, view := range all.Chains {
		addresses[chain] = view.Hot
	}
	return addresses
}

// mine mines a block, so that nothing waits long for finality.
func (s *sandbox) mine(chain string) error {
	var height struct{ Height uint64 }
	return ask(http.MethodPost, s.Control+"/mine", nil, map[string]any{"chain": chain, "blocks": 1}, &height)
}

// eventually mines blocks until check returns nil.
func (s *sandbox) eventually(t *testing.T, chain, what string, check func() error) {
	t.Helper()
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(patience)
	for {
		if err := s.mine(chain); err != nil {
			t.Fatal(err)
		}
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: not after %v: %v", what, patience, err)
		case <-ticker.C:
		}
	}
}
