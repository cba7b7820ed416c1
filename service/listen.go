package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// stopGrace bounds how long requests in progress may take when the service ends.
const stopGrace = 20 * time.Second

// side is one of the two servers: the API's and the operator's.
type side struct {
	name     string
	listener net.Listener
	server   *http.Server
}

// Listen binds the configured addresses, so that they are known before Run; Run calls it if it was not called.
func (s *Service) Listen() error {
	if len(s.sides) > 0 {
		return nil
	}
	for _, wanted := range []struct {
		name, message, address string
		server                 func() *http.Server
	}{{"api", "listening", s.parts.Listen, s.apiServer},
		{"admin", "dashboard is listening", s.parts.AdminListen, s.adminServer}} {
		if wanted.address == "" {
			continue
		}
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", wanted.address)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", wanted.address, err)
		}
		s.sides = append(s.sides, side{name: wanted.name, listener: listener, server: wanted.server()})
		s.log.Info(wanted.message, "address", "http://"+listener.Addr().String())
	}
	return nil
}

// Address returns the URL of the server "api" or "admin" once Listen has bound it, "" if it is not served.
func (s *Service) Address(name string) string {
	for _, side := range s.sides {
		if side.name == name {
			return "http://" + side.listener.Addr().String()
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
