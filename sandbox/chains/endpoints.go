package chains

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/bursar/bursar/sandbox/fault"
	"github.com/bursar/bursar/sandbox/nodes/host"
)

// Endpoint is one endpoint of a chain's node.
type Endpoint struct {
	URL    string // with credentials where the node requires them
	Faults *fault.Layer

	host *host.Host // nil for the node's own
}

// hosts are names of this machine: two endpoints of one host do not count as a second opinion on a block.
var hosts = []string{"127.0.0.1", "localhost"}

// open opens endpoints besides the node's own, and writes the line of the configuration.
func (c *Chain) open(ctx context.Context, count int) error {
	c.Endpoints = []*Endpoint{{URL: c.RPC, Faults: c.Faults}}
	for i := 1; i < count; i++ {
		e, err := c.beside(ctx, hosts[i%len(hosts)])
		if err != nil {
			return err
		}
		c.Endpoints = append(c.Endpoints, e)
	}
	var urls []string
	for _, e := range c.Endpoints {
		urls = append(urls, strconv.Quote(e.URL))
	}
	c.Settings = fmt.Sprintf("{rpc: [%s], %s}", strings.Join(urls, ", "), c.options)
	return nil
}

// beside serves the node on another port, with the same credentials.
func (c *Chain) beside(ctx context.Context, name string) (*Endpoint, error) {
	at, err := url.Parse(c.RPC)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{Faults: c.Faults.Beside(), host: host.New(string(c.ID)+" endpoint", host.Options{Log: c.log})}
	if err := e.host.Serve(ctx, e.Faults); err != nil {
		return nil, fmt.Errorf("open another endpoint: %w", err)
	}
	_, port, err := net.SplitHostPort(e.host.Address())
	if err != nil {
		return nil, errors.Join(err, e.host.Close())
	}
	at.Host = net.JoinHostPort(name, port)
	e.URL = at.String()
	return e, nil
}

// moved notifies the endpoints that the chain has changed.
func (c *Chain) moved() {
	for _, e := range c.Endpoints {
		e.Faults.Moved()
	}
}

// Close closes the announcements, the endpoints and the node.
func (c *Chain) Close() error {
	var errs []error
	if c.Wire != nil {
		errs = append(errs, c.Wire.Close())
	}
	for _, e := range c.Endpoints {
		if e.host != nil {
			errs = append(errs, e.host.Close())
		}
	}
	return errors.Join(append(errs, c.node.Close())...)
}
