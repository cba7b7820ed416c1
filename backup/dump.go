package backup

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/bursar/bursar/store"
)

// tool runs a PostgreSQL program. The password is passed in the environment, because any user can read a command line.
func tool(ctx context.Context, databaseURL, program string, args ...string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return fmt.Errorf("%s is required, of the server's version or later (Debian: postgresql-client): %w", program, err)
	}
	command := exec.CommandContext(ctx, path, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // so that it rolls back
	command.WaitDelay = 10 * time.Second
	command.Env = withRootCAs(os.Environ(), databaseURL)
	if databaseURL != "" {
		bare, password, err := split(databaseURL)
		if err != nil {
			return err
		}
		command.Args = append(command.Args, "--dbname="+bare)
		if password != "" {
			command.Env = append(command.Env, "PGPASSWORD="+password)
		}
	}
	var complaint bytes.Buffer
	command.Stderr = &complaint
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(complaint.String()))
	}
	return nil
}

// split separates the password from a database URL.
func split(databaseURL string) (bare, password string, err error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return "", "", fmt.Errorf("%w (it could not be parsed)",
			store.ErrBadURL) // the cause contains the URL with its password
	}
	if u.User != nil {
		password, _ = u.User.Password()
		u.User = url.User(u.User.Username())
	}
	if query := u.Query(); query.Has("password") {
		password = query.Get("password")
		query.Del("password")
		u.RawQuery = query.Encode()
	}
	return u.String(), password, nil
}

// dump writes one consistent state of a PostgreSQL database, as of a single snapshot.
func dump(ctx context.Context, databaseURL, file string) error {
	return tool(ctx, databaseURL, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--lock-wait-timeout=30s",
		"--file="+file)
}

// listDump reads a dump's table of contents.
func listDump(ctx context.Context, file string) error {
	return tool(ctx, "", "pg_restore", "--list", "--file=/dev/null", file)
}

// load loads a dump into an empty database, completely or not at all.
func load(ctx context.Context, databaseURL, file string) error {
	return tool(ctx, databaseURL, "pg_restore", "--single-transaction", "--exit-on-error", "--no-owner",
		"--no-privileges", file)
}

// loadAndCheck loads a dump into a temporary database on the server, checks it and drops it.
func loadAndCheck(ctx context.Context, databaseURL, file string) (c store.Contents, err error) {
	u, err := url.Parse(databaseURL)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return c,
			errors.New("a dump can be checked completely only on a PostgreSQL server: configure a database on one")
	}
	scratch, err := store.CreateScratch(ctx, databaseURL, "bursar_check_"+strings.ToLower(rand.Text()[:10]))
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, store.DropScratch(context.WithoutCancel(ctx), databaseURL, scratch)) }()
	u.Path = "/" + scratch
	if err := load(ctx, u.String(), file); err != nil {
		return c, err
	}
	db, err := store.OpenAsIs(u.String())
	if err != nil {
		return c, err
	}
	defer db.Close()
	return db.CheckHealth(ctx)
}
