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
	for _, wanted := range []wantedSide{
		{"api", "listening", &s.parts.Listen, s.parts.TLS, s.apiServer},
		{"admin", "admin address is listening", &s.parts.AdminListen, s.parts.Admin.TLS, s.adminServer},
	} {
		if *wanted.address == "" {
			continue
		}
		side, err := s.bind(wanted)
		if err != nil {
			return err
		}
		s.sides = append(s.sides, side)
		s.log.Info(wanted.message, "address", side.url())
	}
	return nil
}

// wantedSide is a server that is configured.
type wantedSide struct {
	name, message string
	address       *string // becomes the one that was bound: it has the port where any was asked for
	files         tlsfile.Files
	server        func() (*http.Server, error)
}

// bind binds an address before its server is made, because passkeys are bound to the port that browsers see.
func (s *Service) bind(wanted wantedSide) (side, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", *wanted.address)
	if err != nil {
		return side{}, fmt.Errorf("listen on %s: %w", *wanted.address, err)
	}
	*wanted.address = listener.Addr().String()
	made := side{name: wanted.name}
	if made.server, err = wanted.server(); err == nil {
		err = made.over(listener, wanted.files, api.DefaultConnections(s.parts.Proxies), s.log)
	}
	if err != nil {
		return side{}, errors.Join(err, listener.Close())
	}
	return made, nil
}

// over serves on a listener, by TLS if files are named.
func (side *side) over(
	listener net.Listener, files tlsfile.Files, bounds api.Connections, log *slog.Logger,
) (err error) {
	if files.Named() {
		if side.tls, err = tlsfile.Open(files, log); err != nil {
			return fmt.Errorf("listen on %s: %w", listener.Addr(), err)
		}
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
