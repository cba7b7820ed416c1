package main

import (
	"context"
	"maps"
	"slices"
)

type profileCommands struct {
	Add    profileAddCommand    `cmd:"" help:"Name a service and an API key for it."`
	List   profileListCommand   `cmd:"" help:"List profiles, without their keys."`
	Use    profileUseCommand    `cmd:"" help:"Use a profile wherever none is named."`
	Remove profileRemoveCommand `cmd:"" help:"Forget a profile with its key."`
}

type profileAddCommand struct {
	Name string `arg:"" help:"Name of the profile: small letters, digits, . - and _."`
	API  string `name:"api" required:"" placeholder:"URL" help:"The service, without /api/v1."`
	acting
}

// Help says where the key comes from, and an example.
func (profileAddCommand) Help() string {
	return "The key and its secret are the first two lines of standard input, or BURSAR_API_KEY and BURSAR_API_SECRET. " +
		"The secret may be empty. They are written to profiles.yaml below $XDG_CONFIG_HOME/bursar, or ~/.config/bursar, " +
		"which only you may read. The first profile is used at once; an existing one is replaced.\n\nExample:\n\n    " +
		"bursar profile add test --api https://pay.example.com < key-and-secret"
}

// Run adds a profile.
func (cmd *profileAddCommand) Run(c *call) error {
	if !profileName.MatchString(cmd.Name) {
		return wrong("%.60q is not a name of a profile: use small letters, digits, . - and _", cmd.Name)
	}
	all, err := c.profiles()
	if err != nil {
		return err
	}
	p := profile{API: cmd.API, Key: c.Getenv("BURSAR_API_KEY"), Secret: c.Getenv("BURSAR_API_SECRET")}
	if p.Key == "" {
		a := c.asker(false)
		if p.Key, err = a.ask("API key", ""); err != nil {
			return err
		}
		if p.Secret, err = a.ask("API secret, or Enter", ""); err != nil {
			return err
		}
	}
	if err := p.check(); err != nil {
		return mistaken(err)
	}
	all.Each[cmd.Name] = p
	if all.Use == "" {
		all.Use = cmd.Name
	}
	if err := c.saveProfiles(all); err != nil {
		return err
	}
	return c.Done(actFacts{"profile": cmd.Name, "api": cmd.API, "inUse": all.Use == cmd.Name},
		"profile %s is %s; the profile in use is %s", cmd.Name, cmd.API, all.Use)
}

type profileListCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

type listedProfile struct {
	Profile   string `json:"profile"`
	API       string `json:"api"`
	HasSecret bool   `json:"hasSecret"`
	InUse     bool   `json:"inUse"`
}

// Help returns an example.
func (profileListCommand) Help() string { return "Example:\n\n    bursar profile list" }

// Run lists profiles.
func (cmd *profileListCommand) Run(c *call) error {
	all, err := c.profiles()
	if err != nil {
		return err
	}
	var listed []listedProfile
	for _, name := range slices.Sorted(maps.Keys(all.Each)) {
		p := all.Each[name]
		listed = append(listed, listedProfile{name, p.API, p.Secret != "", name == all.Use})
	}
	return list(c, cmd.JSON, listed, "PROFILE API SECRET IN-USE", func(l listedProfile) []any {
		return []any{l.Profile, l.API, l.HasSecret, l.InUse}
	})
}

type profileUseCommand struct {
	Name string `arg:"" help:"Name of the profile."`
	acting
}

// Help returns an example.
func (profileUseCommand) Help() string {
	return "A command uses another one by --profile or BURSAR_PROFILE.\n\nExample:\n\n    bursar profile use test"
}

// Run sets the profile in use.
func (cmd *profileUseCommand) Run(c *call) error {
	all, err := c.profiles()
	if err != nil {
		return err
	}
	p, _, err := all.named(cmd.Name)
	if err != nil {
		return err
	}
	all.Use = cmd.Name
	if err := c.saveProfiles(all); err != nil {
		return err
	}
	return c.Done(actFacts{"profile": cmd.Name, "api": p.API}, "the profile in use is %s: %s", cmd.Name, p.API)
}

type profileRemoveCommand struct {
	Name string `arg:"" help:"Name of the profile."`
	acting
}

// Help returns an example.
func (profileRemoveCommand) Help() string {
	return "The key stays valid: revoke it where it is not needed any more.\n\nExample:\n\n    bursar profile remove test"
}

// Run forgets a profile.
func (cmd *profileRemoveCommand) Run(c *call) error {
	all, err := c.profiles()
	if err != nil {
		return err
	}
	if _, _, err := all.named(cmd.Name); err != nil {
		return err
	}
	delete(all.Each, cmd.Name)
	if all.Use == cmd.Name {
		all.Use = ""
	}
	if err := c.saveProfiles(all); err != nil {
		return err
	}
	return c.Done(actFacts{"profile": cmd.Name}, "profile %s is removed", cmd.Name)
}

type whoamiCommand struct {
	remote
	acting
}

// Help returns an example.
func (whoamiCommand) Help() string {
	return "Asks the service, so that it also shows whether the key works.\n\nExample:\n\n    bursar whoami --profile test"
}

// Run shows the account of a key.
func (cmd *whoamiCommand) Run(ctx context.Context, c *call) error {
	at, err := cmd.target(c)
	if err != nil {
		return usage(err)
	}
	service, err := cmd.dial(c)
	if err != nil {
		return err
	}
	a, err := service.Account(ctx)
	if err != nil {
		return err
	}
	return c.Done(actFacts{"accountID": a.AccountID, "api": at.API, "from": at.from},
		"account %s at %s, by %s", a.AccountID, at.API, at.from)
}
