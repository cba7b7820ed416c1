package main

import "github.com/bursar/bursar/signer/command"

type versionCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Help returns an example.
func (versionCommand) Help() string { return "Example:\n\n    bursar version --json" }

// Run prints the version, the Go release and the platform of this program.
func (cmd *versionCommand) Run(c *call) error {
	info := command.ReadVersion()
	if cmd.JSON {
		return c.PrintJSON(info)
	}
	return c.Say("bursar %s %s %s", info.Version, info.Go, info.Platform)
}
