package command

import (
	"runtime"
	"runtime/debug"
)

// Version is what a program knows of itself.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ReadVersion returns the version, the Go release and the platform of this program.
func ReadVersion() Version {
	info := Version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if build, ok := debug.ReadBuildInfo(); ok {
		info.Version = build.Main.Version
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				info.Revision = s.Value
			}
		}
	}
	return info
}
