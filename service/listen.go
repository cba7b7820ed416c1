package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/tlsfile"
)

// stopGrace bounds how long requests in progress may take when the service ends.
const stopGrace = 20 * time.Second

// side is one of the two servers: the API's and the operator's.
type side struct {
	name     string
	listener net.Listener
	server   *http.Server
	bounded  *api.BoundedListener
	tls      *tlsfile.Source // nil: plain HTTP
}

// Listen binds the configured addresses, so that they are known before Run; Run calls it if it was not called.
func (s *Service) Listen() error {
	if len(s.sides) > 0 {
		return nil
	}
	for _, wanted := range []struct {
		name, message, address string
		files                  tlsfile.Files
		server                 func() (*http.Server, error)
	}{{"api", "listening", s.parts.Listen, s.parts.TLS,
		s.apiServer},
		{"admin", "dashboard is listening", s.parts.AdminListen, s.parts.Admin.TLS, s.adminServer}} {
		if wanted.address == "" {
			continue
		}
		server, err := wanted.server()
		if err != nil {
			return err
		}
		side := side{name: wanted.name, server: server}
		if err := side.listen(wanted.address, wanted.files, api.DefaultConnections(s.parts.Proxies), s.log); err != nil {
			return fmt.Errorf("listen on %s: %w", wanted.address, err)
		}
		s.sides = append(s.sides, side)
		s.log.Info(wanted.message, "address", side.url())
	}
	return nil
}

// listen binds an address, and serves TLS there if files are named.
func (side *side) listen(
	address string, files tlsfile.Files, bounds api.Connections, log *slog.Logger,
) (err error) {
	if files.Named() {
		if side.tls, err = tlsfile.Open(files, log); err != nil {
			return err
		}
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	side.bounded = api.Bounded(listener, bounds)
	side.listener = side.bounded
	if side.tls != nil {
		side.listener = tls.NewListener(side.listener, side.tls.Config())
		side.server.Handler = side.tls.Guard(side.server.Handler)
	}
	return nil
}

func (side side) url() string {
	scheme := "http://"
	if side.tls != nil {
		scheme = "https://"
	}
	return scheme + side.listener.Addr().String()
}

// Address returns the URL of the server "api" or "admin" once Listen has bound it, "" if it is not served.
func (s *Service) Address(name string) string {
	for _, side := range s.sides {
		if side.name == name {
			return side.url()
		}
	}
	return ""
}

// serve serves until ctx ends, and then finishes requests in progress.
func (side side) serve(ctx context.Context, group *errgroup.Group) {
	group.Go(func() error {
		if err := side.server.Serve(side.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve %s: %w", side.name, err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer cancel()
		return side.server.Shutdown(grace)
	})
}
