package main

import (
	"cmp"
	"errors"

	"github.com/bursar/bursar/client"
)

// remote says which service a command that uses the HTTP API talks to, and with which key. Keys come from the
// environment or from a profile: what is on a command line can be read by every user of the machine.
type remote struct {
	API     string `name:"api" xor:"where" placeholder:"URL" help:"URL of the service without /api/v1; key: BURSAR_API_KEY. Default: BURSAR_API, the profile, or http://127.0.0.1:8080."`
	Profile string `xor:"where" placeholder:"NAME" help:"A profile of bursar profile. Default: BURSAR_PROFILE."`
}

// target is a service with a key of it, and where the two come from.
type target struct {
	profile
	from string
}

// localAPI is where a service listens if nothing else is configured.
const localAPI = "http://127.0.0.1:8080"

// target returns the service and the key. Both come from one place: a key is never sent to a service that it is not of.
func (r remote) target(c *call) (t target, err error) {
	key := c.Getenv("BURSAR_API_KEY")
	name := r.Profile
	if name == "" && r.API == "" {
		name = c.Getenv("BURSAR_PROFILE")
	}
	if name == "" && (key != "" || r.API != "") {
		if key == "" {
			return t, errors.New("put the API key into BURSAR_API_KEY, or name a profile instead of --api")
		}
		return target{profile{
			API:    cmp.Or(r.API, c.Getenv("BURSAR_API"), localAPI),
			Key:    key,
			Secret: c.Getenv("BURSAR_API_SECRET"),
		}, "the environment"}, nil
	}
	all, err := c.profiles()
	if err != nil {
		return t, err
	}
	p, found, err := all.named(name)
	if err != nil {
		return t, err
	}
	if !found {
		return t, errors.New("put the API key into BURSAR_API_KEY, or add a profile: `bursar profile add`")
	}
	return target{p, "the profile " + cmp.Or(name, all.Use)}, nil
}

// dial returns a client of the service.
func (r remote) dial(c *call) (*client.Client, error) {
	at, err := r.target(c)
	if err != nil {
		return nil, usage(err)
	}
	service, err := client.New(client.Config{BaseURL: at.API, Key: at.Key, Secret: at.Secret})
	if err != nil {
		return nil, usage(err)
	}
	return service, nil
}
