package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// program is the command: built, or with -short the test program under the command's name.
var program string

const programName = "bursar"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == programName {
		main() // exits
	}
	host.KeepPrivate() // as main does
	dir, err := os.MkdirTemp("", "bursar-command-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, programName)
	flag.Parse() // of go test, for -short
	code := 1
	if err := makeProgram(); err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// makeProgram builds the command as it is released. -short does not link it: the test program contains it, and runs it
// where it is started under its name. That is a hard link, because the command starts itself by the path of its file.
func makeProgram() error {
	if own, err := os.Executable(); testing.Short() && err == nil && os.Link(own, program) == nil {
		return nil
	}
	build := exec.Command("go", "build", "-ldflags=-w", "-o", program, ".")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	return build.Run()
}

// passphrase opens every seed file of the tests.
const passphrase = "correct horse"

// harness is a folder in which the command is run.
type harness struct {
	*testing.T
	dir string
	env []string
	pid int    // of the process that start started
	key []byte // key of the books; nil: not derived yet
}

// newHarness returns a folder with a configuration that has the given lines besides those that keep ports free.
func newHarness(t *testing.T, lines ...string) *harness {
	d := &harness{T: t, dir: storetest.Folder(t), env: []string{"BURSAR_PASSPHRASE=" + passphrase}}
	text := strings.Join(append([]string{"listen: 127.0.0.1:0", "admin_listen: off", "network: regtest"}, lines...), "\n")
	if err := os.WriteFile(filepath.Join(d.dir, "bursar.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// cheap is the work factor of the harnesses' seed files. Most commands open theirs, which with the factor of `seed new`
// takes longer than all else that they do; the tests of that command use its own files.
const cheap = 10

// newSeededHarness is newHarness with a seed file, and with a database of today's schema.
func newSeededHarness(t *testing.T, lines ...string) *harness {
	d := newHarness(t, lines...)
	d.sealSeed()
	storetest.SQLiteIn(t, d.dir)
	return d
}

// sealSeed writes a seed file, cheaper than `seed new` does.
func (d *harness) sealSeed() {
	d.Helper()
	mnemonic, err := signer.NewMnemonic(rand.Reader)
	if err != nil {
		d.Fatal(err)
	}
	secret, err := signer.NewPassphrase(passphrase)
	if err != nil {
		d.Fatal(err)
	}
	sealed, err := signer.SealWith(mnemonic, secret, cheap)
	if err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "seed.age"), sealed, 0o600); err != nil {
		d.Fatal(err)
	}
}

// outcome is the result of a run of the command.
type outcome struct {
	out, err string
	code     int
}

func (d *harness) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env = d.dir, d.environ()
	return c
}

func (d *harness) environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir}, d.env...)
}

// within returns the command line with the configuration file that it finds in its folder, nil if it needs a process of
// its own: one that keeps running, one that names files of its folder, and one that looks for its configuration.
func (d *harness) within(args []string) []string {
	config := filepath.Join(d.dir, config.DefaultFile)
	_, err := os.Stat(config)
	own := []string{"serve", "archive", "backup", "restore", "--config"}
	if err != nil || slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(own, arg) }) ||
		slices.Equal(args, []string{"signer"}) {
		return nil
	}
	return append([]string{"--config=" + config}, args...)
}

// run runs the command with a standard input: within this process where it can be, because a start costs more than most
// commands do.
func (d *harness) run(input string, args ...string) outcome {
	d.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	var out, err bytes.Buffer
	if within := d.within(args); within != nil {
		c := &call{Call: command.Call{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &err, Environ: d.environ()}}
		code := run(ctx, c, within)
		if ctx.Err() != nil {
			d.Fatalf("bursar %s: %v\n%s", args, ctx.Err(), err.String())
		}
		return outcome{out.String(), err.String(), code}
	}
	c := d.command(ctx, args...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &out, &err
	failed := c.Run()
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) || ctx.Err() != nil {
		d.Fatalf("bursar %s: %v\n%s", args, failed, err.String())
	}
	return outcome{out.String(), err.String(), c.ProcessState.ExitCode()}
}

// ok runs a command that must succeed and returns its standard output.
func (d *harness) ok(args ...string) string {
	d.Helper()
	o := d.run("", args...)
	if o.code != 0 {
		d.Fatalf("bursar %s exits with %d: %s, want 0", args, o.code, o.err)
	}
	return o.out
}

// fails runs a command that must fail with a code and a single line of explanation.
func (d *harness) fails(code int, explanation string, args ...string) {
	d.Helper()
	o := d.run("", args...)
	if o.code != code || !strings.Contains(o.err, explanation) {
		d.Errorf("bursar %s exits with %d and says\n%s\nwanted %d and %q", args, o.code, o.err, code, explanation)
	}
	if o.out != "" || strings.Count(o.err, "\n") != 1 || !strings.HasPrefix(o.err, "bursar: ") {
		d.Errorf("bursar %s prints %q and %q", args, o.out, o.err)
	}
}

// parse reads JSON that a command printed on one line.
func parse[T any](d *harness, args ...string) (value T) {
	d.Helper()
	out := d.ok(args...)
	if strings.Count(out, "\n") != 1 {
		d.Fatalf("bursar %s prints %d lines, want 1", args, strings.Count(out, "\n"))
	}
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		d.Fatalf("bursar %s prints %s: %v", args, out, err)
	}
	return value
}

// change modifies the harness's database as the service would. Without a seed file there is no key to seal with.
func (d *harness) change(f func(ctx context.Context, tx *store.Tx) error) {
	d.Helper()
	ctx := context.Background()
	db, err := store.Open(ctx, store.Config{URL: "sqlite:" + filepath.Join(d.dir, "bursar.db")})
	if err != nil {
		d.Fatal(err)
	}
	defer db.Close()
	if _, err := os.Stat(filepath.Join(d.dir, "seed.age")); err == nil {
		db.SealWith(d.booksKey())
	}
	if err := db.Do(ctx, func(tx *store.Tx) error { return f(ctx, tx) }); err != nil {
		d.Fatal(err)
	}
}

// booksKey returns the key with which the service of the harness's seed seals the books.
func (d *harness) booksKey() []byte {
	d.Helper()
	if d.key != nil {
		return d.key
	}
	keys, err := host.OpenKeys(config.Config{SeedFile: filepath.Join(d.dir, "seed.age"), Network: config.Regtest},
		func(name string) string {
			return map[string]string{"BURSAR_PASSPHRASE": passphrase}[name]
		})
	if err != nil {
		d.Fatal(err)
	}
	d.key = keys.BooksKey()
	return d.key
}
