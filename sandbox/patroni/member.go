package patroni

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bursar/bursar/sandbox/loopback"
)

// member is one server with its Patroni.
type member struct {
	name, dir string
	listen    string // address of PostgreSQL
	rest      string // address of Patroni
	proxy     *proxy // through which the others reach PostgreSQL
	program   string
	patroni   *process
}

func (c *Cluster) newMember(i int) (*member, error) {
	program, bin, err := findPatroni()
	if err != nil {
		return nil, err
	}
	m := &member{name: fmt.Sprintf("member%d", i), dir: c.dir, program: program}
	if m.listen, err = loopback.Free(); err != nil {
		return nil, err
	}
	if m.rest, err = loopback.Free(); err != nil {
		return nil, err
	}
	if m.proxy, err = newProxy(m.listen); err != nil {
		return nil, err
	}
	text := m.settings(c.store, bin, c.cfg)
	return m, os.WriteFile(m.file(".yml"), []byte(text), 0o644)
}

func (m *member) file(suffix string) string { return filepath.Join(m.dir, m.name+suffix) }

// settings is Patroni's configuration. Replication goes through the proxy, so that a test can hold it up. Nothing is
// synchronised with the disk: tests kill processes, not the machine, and what a process has written outlives it.
// A standby is copied at once, not after a checkpoint that the primary takes minutes for.
func (m *member) settings(store, bin string, cfg Config) string {
	return fmt.Sprintf(`scope: bursar
name: %[1]s
restapi: {listen: %[2]s, connect_address: %[2]s}
etcd3: {hosts: [%[3]q]}
bootstrap:
  dcs:
    ttl: %[11]d
    loop_wait: 1
    retry_timeout: 2
    maximum_lag_on_failover: 16777216
    synchronous_mode: %[4]v
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 100, shared_buffers: 64MB, wal_keep_size: 128MB, max_wal_senders: 5, fsync: "off"}
  initdb: [encoding: UTF8, locale: C, data-checksums, no-sync]
  pg_hba: ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
postgresql:
  listen: %[5]s
  connect_address: %[6]s
  bin_dir: %[7]s
  data_dir: %[8]s
  pgpass: %[9]s
  basebackup: [checkpoint: fast, no-sync]
  authentication: {superuser: {username: postgres}, replication: {username: replicator}, rewind: {username: rewinder}}
  parameters: {unix_socket_directories: %[10]s}
`, m.name, m.rest, store, cfg.Synchronous, m.listen, m.proxy.address(), bin, m.file(".data"),
		m.file(".pgpass"), m.dir, cfg.TTL)
}

func (m *member) run() (err error) {
	m.patroni, err = start(m.dir, m.file(".log"), m.program, m.file(".yml"))
	return err
}

// takesWrites asks the server itself, because Patroni's report may be old.
func (m *member) takesWrites(ctx context.Context) bool {
	return m.says(ctx, "SELECT NOT pg_is_in_recovery()")
}

// WaitCaughtUp waits until the standbys have everything that the primary had written when it was called.
func (c *Cluster) WaitCaughtUp(ctx context.Context, primary int) error {
	written, err := c.written(ctx, primary)
	if err != nil {
		return err
	}
	query := fmt.Sprintf("SELECT count(*) = %d FROM pg_stat_replication WHERE replay_lsn >= '%s'::pg_lsn", c.cfg.Members-1,
		written)
	return c.until(ctx, "standbys that have everything", func() bool { return c.members[primary].says(ctx, query) })
}

// written is how far a member has written its log.
func (c *Cluster) written(ctx context.Context, i int) (lsn string, err error) {
	db, err := sql.Open("pgx", "postgres://postgres@"+c.members[i].listen+"/postgres?sslmode=disable")
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT CAST(pg_current_wal_lsn() AS TEXT)").Scan(&lsn)
	return lsn, err
}

// says asks the server a yes-or-no question, as its administrator. No answer means no.
func (m *member) says(ctx context.Context, query string) bool { return m.ask(ctx, "postgres", query) }

func (m *member) ask(ctx context.Context, user, query string) (yes bool) {
	db, err := sql.Open("pgx", "postgres://"+user+"@"+m.listen+"/postgres?sslmode=disable")
	if err != nil {
		return false
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return db.QueryRowContext(ctx, query).Scan(&yes) == nil && yes
}

// Timeline is that of the primary, as eight hexadecimal digits: every promotion begins another.
func (c *Cluster) Timeline(ctx context.Context) (timeline string, err error) {
	db, err := sql.Open("pgx", c.URL())
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)").Scan(&timeline)
	return timeline, err
}

// Kill kills a member, as a power cut would: Patroni first, so that it does not shut PostgreSQL down, then
// PostgreSQL.
func (c *Cluster) Kill(i int) error {
	m := c.members[i]
	if m.patroni != nil {
		m.patroni.kill()
		m.patroni = nil
	}
	m.proxy.drop()
	text, err := os.ReadFile(filepath.Join(m.file(".data"), "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	pid, err := strconv.Atoi(lines[0])
	if err != nil || pid < 2 || len(lines) < 2 || lines[1] != m.file(".data") {
		return fmt.Errorf("postmaster.pid of %s reads %q: %w", m.name, text, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill PostgreSQL of %s: %w", m.name, err)
	}
	return nil
}

// Switchover makes the primary hand over in order, as an operator's `patronictl switchover` does, and returns its
// output.
func (c *Cluster) Switchover(ctx context.Context, primary int) (string, error) {
	m := c.members[primary]
	out, err := exec.CommandContext(ctx, "patronictl", "-c", m.file(".yml"), "switchover", "--leader", m.name, "--force",
		"bursar").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("patronictl: %w\n%s", err, out)
	}
	return string(out), nil
}

// Restart runs a killed member again. It becomes a standby if another is the primary.
func (c *Cluster) Restart(i int) error {
	c.members[i].proxy.resume()
	return c.members[i].run()
}

// HoldReplication stops everything that a member writes from reaching the others, while its clients reach it as
// before.
func (c *Cluster) HoldReplication(i int) { c.members[i].proxy.hold() }
