package patroni

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bursar/bursar/sandbox/loopback"
)

const install = "run go run ./test -install patroni and go run ./test -install etcd, or leave such tests out with " +
	"-short"

// process is a program that ends with this one.
type process struct {
	pid   int
	shell *exec.Cmd
	input io.Closer
}

// start runs a program in a directory as a user other than root, because PostgreSQL refuses root. The shell around it
// kills it, and the PostgreSQL that it leaves behind, when its own input closes: that is, when this process ends in
// whatever way.
func start(dir, log, program string, args ...string) (*process, error) {
	const script = `log=$1; shift; "$@" >>"$log" 2>&1 & pid=$!; echo $pid; cat >/dev/null; kill -9 $pid 2>/dev/null
		data=${log%.log}.data/postmaster.pid; [ ! -f "$data" ] || kill -9 $(head -n 1 "$data") 2>/dev/null; wait $pid`
	shell := exec.Command("/bin/sh", append([]string{"-c", script, "sh", log, program}, args...)...)
	attr, err := unprivileged()
	if err != nil {
		return nil, err
	}
	shell.SysProcAttr, shell.Dir = attr, dir
	shell.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + dir}
	input, err := shell.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := shell.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := shell.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, errors.Join(err, input.Close(), shell.Wait()))
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	return &process{pid, shell, input}, err
}

// kill kills the program alone, at once. Its children go on.
func (p *process) kill() {
	_ = syscall.Kill(p.pid, syscall.SIGKILL) // it may have ended already
	_ = p.input.Close()
	_ = p.shell.Wait() // the exit code is that of a killed program
}

func unprivileged() (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != 0 {
		return attr, nil
	}
	uid, gid, err := postgres()
	if err == nil {
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return attr, err
}

// postgres is the user that Debian's packages create.
func postgres() (uid, gid int, err error) {
	account, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, err = strconv.Atoi(account.Uid)
	gid, bad := strconv.Atoi(account.Gid)
	return uid, gid, errors.Join(err, bad)
}

// workFolder creates a directory that belongs to the user of the processes.
func workFolder() (string, error) {
	dir, err := os.MkdirTemp("", "bursar-patroni-")
	if err != nil || os.Getuid() != 0 {
		return dir, err
	}
	uid, gid, err := postgres()
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, os.Chown(dir, uid, gid)
}

// findPatroni returns the program, and the directory of PostgreSQL's programs.
func findPatroni() (program, bin string, err error) {
	if program, err = exec.LookPath("patroni"); err != nil {
		return "", "", fmt.Errorf("patroni is missing: %s", install)
	}
	_, bin, err = findPostgres()
	return program, bin, err
}

// findPostgres returns the server, and its directory.
func findPostgres() (program, bin string, err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // where Debian keeps it off the PATH
	if len(found) == 0 {
		return "", "", errors.New("PostgreSQL is missing: run go run ./test -install postgresql")
	}
	program = found[len(found)-1]
	return program, filepath.Dir(program), nil
}

func findEtcd() (string, error) {
	if program := os.Getenv("BURSAR_ETCD"); program != "" {
		return program, nil
	}
	if program, err := exec.LookPath("etcd"); err == nil {
		return program, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	program := filepath.Join(cache, "bursar-nodes", "etcd", "etcd")
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Errorf("etcd is missing: %s", install)
	}
	return program, nil
}

// startEtcd copies the program first: the cache of root is closed to others.
func (c *Cluster) startEtcd(ctx context.Context) error {
	found, err := findEtcd()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(found)
	if err != nil {
		return err
	}
	program := filepath.Join(c.dir, "etcd")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		return err
	}
	peers, err := loopback.Free()
	if err != nil {
		return err
	}
	if c.store, err = loopback.Free(); err != nil {
		return err
	}
	clients, others := "http://"+c.store, "http://"+peers
	c.etcd, err = start(c.dir, filepath.Join(c.dir, "etcd.log"), program, "--data-dir="+filepath.Join(c.dir, "etcd.store"),
		"--listen-client-urls="+clients, "--advertise-client-urls="+clients, "--listen-peer-urls="+others,
		"--initial-advertise-peer-urls="+others, "--initial-cluster=default="+others)
	if err != nil {
		return err
	}
	return c.until(ctx, "etcd", func() bool {
		answer, err := c.client.Get(clients + "/health")
		if err != nil {
			return false
		}
		return errors.Join(answer.Body.Close()) == nil && answer.StatusCode == http.StatusOK
	})
}

// grace bounds how long a proxy waits for its server.
const grace = 5 * time.Second
