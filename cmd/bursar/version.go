package main

import (
	"runtime"
	"runtime/debug"
)

type versionCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Help returns an example.
func (versionCommand) Help() string { return "Example:\n\n    bursar version --json" }

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Run prints the version, the Go release and the platform of this program.
func (cmd *versionCommand) Run(c *call) error {
	info := versionInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if build, ok := debug.ReadBuildInfo(); ok {
		info.Version = build.Main.Version
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				info.Revision = s.Value
			}
		}
	}
	if cmd.JSON {
		return c.printJSON(info)
	}
	return c.say("bursar %s %s %s", info.Version, info.Go, info.Platform)
}
