package main

import (
	"errors"

	"github.com/bursar/bursar/client"
)

// remote says which service a command of whoever integrates talks to, and with which key. Keys come from the
// environment alone: what is on a command line can be read by every user of the machine.
type remote struct {
	API string `name:"api" placeholder:"URL" help:"The service, without /api/v1. Default: BURSAR_API, or http://127.0.0.1:8080. The API key is read from BURSAR_API_KEY."`
}

// dial returns a client of the service.
func (r remote) dial(c *call) (*client.Client, error) {
	base := r.API
	if base == "" {
		base = c.Getenv("BURSAR_API")
	}
	if base == "" {
		base = "http://127.0.0.1:8080"
	}
	key := c.Getenv("BURSAR_API_KEY")
	if key == "" {
		return nil, usage(errors.New("put the API key into BURSAR_API_KEY"))
	}
	service, err := client.New(client.Config{BaseURL: base, Key: key})
	if err != nil {
		return nil, usage(err)
	}
	return service, nil
}
