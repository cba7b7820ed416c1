package e2e

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
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// programs are the two commands.
type programs struct{ sandbox, bursar string }

var builtIn string // the directory of the programs, once they are built

// built compiles the commands from the sources around this package, once for all tests.
var built = sync.OnceValues(func() (p programs, err error) {
	if builtIn, err = os.MkdirTemp("", "bursar-e2e-"); err != nil {
		return p, err
	}
	p = programs{filepath.Join(builtIn, "sandbox"), filepath.Join(builtIn, "bursar")}
	for path, source := range map[string]string{p.sandbox: "..", p.bursar: "../../cmd/bursar"} {
		if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", path, source).CombinedOutput(); err != nil {
			return p, fmt.Errorf("build %s: %w\n%s", source, err, out)
		}
	}
	return p, nil
})

// removeBuilt removes them after all tests.
func removeBuilt() {
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
}

func build(t *testing.T) programs {
	t.Helper()
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// startInfo is the line that the sandbox prints when it is ready.
type startInfo struct {
	API, Dashboard, Control                     string
	AccountID, APIKey, APISecret, WebhookSecret string
	Chains                                      map[string]struct{ RPC string }
}

// sandboxProcess is one run of the sandbox.
type sandboxProcess struct {
	startInfo
	command *exec.Cmd
	log     *tail
	ended   chan struct{} // closed once the process has ended
	err     error         // error of its end
}

// tail keeps the last lines of a log.
type tail struct {
	mu    sync.Mutex
	lines []string
	whole bool // keep all from now on
}

func (l *tail) read(r io.Reader) {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		l.mu.Lock()
		if l.lines = append(l.lines, scanner.Text()); len(l.lines) > 100 && !l.whole {
			l.lines = l.lines[1:]
		}
		l.mu.Unlock()
	}
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b bytes.Buffer
	for _, line := range l.lines {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// start runs the sandbox with all its chains until the test ends and waits until it is ready.
func start(w *harness) *sandboxProcess {
	t := w.t
	t.Helper()
	args := []string{"--json", "--control", "127.0.0.1:0", "--data", w.dir, "--endpoints", fmt.Sprint(w.endpoints)}
	if w.listen != "" {
		args = append(args, "--apart", "--listen", w.listen, "--admin", w.admin)
	} else {
		args = append(args, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	}
	if w.database != "" {
		args = append(args, "--database", w.database)
	}
	if w.cold {
		args = append(args, "--cold")
	}
	if w.screening {
		args = append(args, "--screening")
	}
	if w.chains != "" {
		args = append(args, "--chains", w.chains)
	}
	b := &sandboxProcess{command: exec.Command(w.programs.sandbox, args...), log: &tail{}, ended: make(chan struct{})}
	errors, err := b.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := b.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.kill)
	line := make(chan []byte, 1)
	var reading sync.WaitGroup
	reading.Go(func() { b.log.read(errors) })
	reading.Go(func() {
		text, _ := bufio.NewReader(output).ReadBytes('\n')
		line <- text
		_, _ = io.Copy(io.Discard, output)
	})
	go func() {
		reading.Wait()
		b.err = b.command.Wait()
		close(b.ended)
	}()
	select {
	case text := <-line:
		if err := json.Unmarshal(text, &b.startInfo); err != nil {
			t.Fatalf("the sandbox prints %q: %v\n%s", text, err, b.log)
		}
	case <-time.After(patience):
		t.Fatalf("the sandbox is not ready after %v\n%s", patience, b.log)
	}
	return b
}

// kill kills the process, as a power cut would, and waits until it has ended.
func (b *sandboxProcess) kill() {
	_ = b.command.Process.Kill() // it may have ended already
	<-b.ended
}

// stacks ends the process and returns what its goroutines did in our code: after a wait in vain they show who waits for
// whom.
func (b *sandboxProcess) stacks() string {
	b.log.mu.Lock()
	b.log.lines, b.log.whole = nil, true
	b.log.mu.Unlock()
	if err := b.command.Process.Signal(syscall.SIGQUIT); err != nil { // the runtime prints all stacks and ends
		return err.Error()
	}
	select {
	case <-b.ended:
	case <-time.After(patience):
		return "it does not end"
	}
	var ours []string
	for stack := range strings.SplitSeq(b.log.String(), "\n\n") {
		if short := frames(stack); short != "" {
			ours = append(ours, short)
		}
	}
	return strings.Join(ours, "\n")
}

// frames is what a goroutine waits for, and its calls of our code, innermost first; empty if there are none.
func frames(stack string) string {
	head, calls, _ := strings.Cut(stack, "\n")
	var ours []string
	lines := strings.Split(calls, "\n")
	for i, line := range lines[:len(lines)-1] {
		if strings.HasPrefix(line, "github.com/bursar/bursar") {
			place, name := filepath.Base(strings.Fields(lines[i+1] + " ?")[0]), line[:max(0, strings.LastIndexByte(line, '('))]
			ours = append(ours, strings.TrimPrefix(name, "github.com/bursar/bursar/")+" "+place)
		}
	}
	if len(ours) == 0 {
		return ""
	}
	return head + " " + strings.Join(ours, " < ")
}

// stop asks the process to end and reports whether it ended cleanly.
func (b *sandboxProcess) stop() error {
	if err := b.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-b.ended:
		return b.err
	case <-time.After(patience):
		return fmt.Errorf("the sandbox still runs %v after SIGTERM\n%s", patience, b.log)
	}
}

var httpClient = &http.Client{Timeout: patience}

// ask sends a request to the remote control; the answer is decoded into out unless that is nil.
func (b *sandboxProcess) ask(method, path string, body, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(context.Background(), method, b.Control+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	answer, err := httpClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %d %s", method, path, answer.StatusCode, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// run runs the operator's command on the same configuration.
func (w *harness) run(args ...string) []byte {
	w.t.Helper()
	out, err := w.try(args...)
	w.must(err)
	return out
}

func (w *harness) try(args ...string) ([]byte, error) {
	command := exec.Command(w.programs.bursar, append(args, "--config", filepath.Join(w.dir, "bursar.yaml"))...)
	command.Env = append(append(os.Environ(), "BURSAR_PASSPHRASE_FILE="+filepath.Join(w.dir, "passphrase")),
		w.environment...)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("bursar %v: %w\n%s%s", args, err, out, &complaint)
	}
	return out, err
}
