package main

import (
	"errors"

	"github.com/bursar/bursar/client"
)

// remote says which service a command that uses the HTTP API talks to, and with which key. Keys come from the
// environment alone: what is on a command line can be read by every user of the machine.
type remote struct {
	API string `name:"api" placeholder:"URL" help:"The service, without /api/v1. Default: BURSAR_API, or http://127.0.0.1:8080. The API key is read from BURSAR_API_KEY."`
}

// target returns the service's URL and the key.
func (r remote) target(c *call) (base, key string, err error) {
	base = r.API
	if base == "" {
		base = c.Getenv("BURSAR_API")
	}
	if base == "" {
		base = "http://127.0.0.1:8080"
	}
	if key = c.Getenv("BURSAR_API_KEY"); key == "" {
		return "", "", errors.New("put the API key into BURSAR_API_KEY")
	}
	return base, key, nil
}

// dial returns a client of the service.
func (r remote) dial(c *call) (*client.Client, error) {
	base, key, err := r.target(c)
	if err != nil {
		return nil, usage(err)
	}
	service, err := client.New(client.Config{BaseURL: base, Key: key})
	if err != nil {
		return nil, usage(err)
	}
	return service, nil
}
